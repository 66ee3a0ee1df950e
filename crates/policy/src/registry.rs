//! Policies by name.
//!
//! A name is one of [`names`]. A colon and settings `KEY=VALUE`, separated by commas, may follow it: `prs:C=1000`.
//!
//! The name is matched once, at run time; the code that uses the policy is compiled for each policy, because
//! [`dispatch`] calls a [`Visit`] with the concrete type.
//!
//! ```
//! use thalweg_policy::{Policy, registry};
//!
//! struct SizeOfLocal;
//! impl registry::Visit for SizeOfLocal {
//!     type Out = usize;
//!     fn visit<P: Policy>(self, _: &P) -> usize {
//!         size_of::<P::Local>()
//!     }
//! }
//! assert!(registry::dispatch("auto", SizeOfLocal).is_ok());
//! let unknown = registry::dispatch("fifo", SizeOfLocal).unwrap_err();
//! assert!(unknown.to_string().starts_with("unknown policy `fifo`\nhelp: known policies are "));
//! ```

#[cfg(feature = "papers")]
use crate::papers;
use crate::{Auto, Policy};
use std::fmt;

/// The default policy.
pub const DEFAULT: &str = "auto";

/// Code that is generic over the policy.
pub trait Visit {
    /// The result.
    type Out;

    /// Runs the code with a policy.
    fn visit<P: Policy>(self, policy: &P) -> Self::Out;
}

/// Why a name does not denote a policy.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// No policy has this name.
    Policy {
        /// The name.
        name: String,
    },
    /// The policy has no such setting.
    Setting {
        /// The policy.
        policy: &'static str,
        /// The setting, as written.
        setting: String,
        /// The names of the policy's settings.
        known: &'static [&'static str],
    },
    /// The setting does not accept this value.
    Value {
        /// The policy.
        policy: &'static str,
        /// The setting, as written.
        setting: String,
        /// The values that the setting accepts.
        expected: &'static str,
    },
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::Policy { name } => {
                let known: Vec<&str> = names().collect();
                write!(f, "unknown policy `{name}`\nhelp: known policies are {}", known.join(", "))?;
                if cfg!(feature = "papers") {
                    Ok(())
                } else {
                    f.write_str("; the feature `policies` adds those of the papers")
                }
            }
            Unknown::Setting { policy, setting, known: [] } => {
                write!(f, "policy `{policy}` has no setting `{setting}`\nhelp: it has no settings")
            }
            Unknown::Setting { policy, setting, known } => {
                let known = known.join(", ");
                write!(f, "policy `{policy}` has no setting `{setting}`\nhelp: known settings are {known}")
            }
            Unknown::Value { policy, setting, expected } => {
                write!(f, "setting `{setting}` of policy `{policy}`: expected {expected}")
            }
        }
    }
}

thalweg_graph::error_type!(Unknown);

/// A policy's row in the registry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Row {
    name: &'static str,
    describe: &'static str,
    fair: bool,
}

/// The table of policies: name, constructor from settings, fairness, description.
macro_rules! policies {
    ($($(#[$when:meta])? $name:literal => $make:path, $fair:literal, $describe:literal;)*) => {
        const POLICIES: &[Row] =
            &[$($(#[$when])? Row { name: $name, describe: $describe, fair: $fair }),*];

        /// Calls `visit` with the policy of this name and its settings.
        ///
        /// # Errors
        /// The name or a setting is unknown; the message lists the known ones.
        pub fn dispatch<V: Visit>(name: &str, visit: V) -> Result<V::Out, Unknown> {
            let (policy, settings) = name.split_once(':').unwrap_or((name, ""));
            match policy {
                $($(#[$when])? $name => Ok(visit.visit(&$make(settings)?)),)*
                _ => Err(Unknown::Policy { name: policy.to_owned() }),
            }
        }
    };
}

policies! {
    #[cfg(feature = "papers")]
    "random" => papers::random, true,
        "random work stealing that ignores the graph: DANBI's baseline";
    #[cfg(feature = "papers")]
    "qes" => papers::qes, false,
        "queue events: an empty input leads to the producer, a full output to the consumer (DANBI III-A2)";
    #[cfg(feature = "papers")]
    "pss" => papers::pss, false,
        "qes, and random moves before queues run empty or full (DANBI III-A3)";
    #[cfg(feature = "papers")]
    "prs" => papers::prs, false,
        "pss, and random moves after long waits (DANBI III-A4); C=N, by default 10000";
    #[cfg(feature = "papers")]
    "ws-cur" => papers::ws_cur, true,
        "work stealing; a ready node goes to the worker that made it ready (Nornir 4.2)";
    #[cfg(feature = "papers")]
    "ws-last" => papers::ws_last, true,
        "work stealing; a ready node goes to the worker that ran it last (Nornir 4.2)";
    #[cfg(feature = "papers")]
    "partition" => papers::partition, true,
        "nodes belong to workers, by load and traffic, repartitioned after idle time (Nornir 4.2); \
         tau=SHARE, by default 0.1, apart=MICROSECONDS";
    #[cfg(feature = "papers")]
    "pools" => papers::pools, true,
        "each worker serves one node and no other; a parallel node has several";
    #[cfg(feature = "papers")]
    "static" => papers::static_execution, true,
        "each worker runs the segments that the plan gives it, the one farthest downstream with half its input first, and no \
         others; spare=help, by default sleep: a worker with none that is ready helps others";
    "auto" => auto, true,
        "data-flow order with hysteresis for kernels; work stealing that keeps communicating processes together";
}

impl fmt::Display for Auto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("auto")
    }
}

/// All names, the baseline first.
pub fn names() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|row| row.name)
}

/// A one-line description of the policy of this name; settings may follow the name.
pub fn describe(name: &str) -> Option<&'static str> {
    row(name).map(|row| row.describe)
}

/// Whether the policy of this name is fair: no claimable node starves.
pub fn is_fair(name: &str) -> Option<bool> {
    row(name).map(|row| row.fair)
}

fn row(name: &str) -> Option<&'static Row> {
    let policy = name.split(':').next();
    POLICIES.iter().find(|row| Some(row.name) == policy)
}

fn auto(settings: &str) -> Result<Auto, Unknown> {
    no_settings("auto", settings).map(|()| Auto)
}

pub(crate) fn no_settings(policy: &'static str, settings: &str) -> Result<(), Unknown> {
    let unknown = |setting: &str| Err(Unknown::Setting { policy, setting: setting.to_owned(), known: &[] });
    each(settings).next().map_or(Ok(()), unknown)
}

pub(crate) fn each(settings: &str) -> impl Iterator<Item = &str> {
    settings.split(',').filter(|setting| !setting.is_empty())
}

#[cfg(all(test, feature = "papers"))]
mod tests {
    use super::*;
    use crate::papers::static_plan::Spare;
    use crate::papers::{Partition, Pools, Prs, Pss, Qes, RandomStealing, Static};
    use crate::work_stealing::{Place, WorkStealing};

    #[test]
    fn a_policy_prints_as_a_name_that_dispatches() {
        assert_eq!(Prs::new(7).to_string(), "prs:C=7");
        assert_eq!(Partition::new(0.25).with_min_interval(10_000).to_string(), "partition:tau=0.25,apart=10");
        assert_eq!(Static::new(Spare::Help).to_string(), "static:spare=help");
        let all: [&dyn fmt::Display; 10] = [
            &RandomStealing,
            &Qes,
            &Pss,
            &Prs::new(1000),
            &WorkStealing::new(Place::Current),
            &WorkStealing::new(Place::Last),
            &Partition::default(),
            &Pools,
            &Static::default(),
            &Auto,
        ];
        for (policy, name) in all.iter().zip(names()) {
            assert!(policy.to_string().starts_with(name), "{policy}");
            assert_eq!(dispatch(&policy.to_string(), Exists), Ok(()), "{policy}");
        }
    }

    struct Exists;
    impl Visit for Exists {
        type Out = ();
        fn visit<P: Policy>(self, _: &P) {}
    }

    fn error(name: &str) -> String {
        dispatch(name, Exists).unwrap_err().to_string()
    }

    #[test]
    fn every_name_is_dispatched_and_described() {
        for name in names() {
            assert_eq!(dispatch(name, Exists), Ok(()));
            assert!(!describe(name).unwrap().is_empty());
        }
        assert!(names().any(|name| name == DEFAULT));
        assert_eq!(describe("fifo"), None);
    }

    #[test]
    fn settings_reach_the_policy() {
        assert_eq!(dispatch("prs:C=1", Exists), Ok(()));
        assert_eq!(dispatch("qes:", Exists), Ok(()));
        assert_eq!(dispatch("partition:tau=0", Exists), Ok(()));
        assert_eq!(dispatch("partition:apart=10,tau=0.25", Exists), Ok(()));
        assert_eq!(dispatch("static:spare=sleep,spare=help", Exists), Ok(()));
        assert_eq!(describe("prs:C=7"), describe("prs"));
        assert_eq!(is_fair("prs:C=7"), Some(false));
    }

    #[test]
    fn errors_name_the_mistake_and_the_accepted_values() {
        assert_eq!(
            error("fast"),
            "unknown policy `fast`\nhelp: known policies are random, qes, pss, prs, ws-cur, ws-last, partition, pools, static, auto"
        );
        assert_eq!(error("qes:C=3"), "policy `qes` has no setting `C=3`\nhelp: it has no settings");
        assert_eq!(error("prs:D=3"), "policy `prs` has no setting `D=3`\nhelp: known settings are C");
        let value = "expected a whole number of at least 1, as in `prs:C=1000`";
        for bad in ["C=0", "C=-1", "C=", "C=1e4"] {
            assert_eq!(error(&format!("prs:{bad}")), format!("setting `{bad}` of policy `prs`: {value}"));
        }
        assert_eq!(error("static:C"), "policy `static` has no setting `C`\nhelp: known settings are spare");
        assert_eq!(
            error("static:spare=steal"),
            "setting `spare=steal` of policy `static`: expected `sleep` or `help`, as in `static:spare=help`"
        );
        let value = "expected a share from 0 to 1, as in `partition:tau=0.1`";
        for bad in ["tau=-0.1", "tau=1.5", "tau=NaN", "tau="] {
            let message = format!("setting `{bad}` of policy `partition`: {value}");
            assert_eq!(error(&format!("partition:{bad}")), message);
        }
        assert_eq!(
            error("partition:tau"),
            "policy `partition` has no setting `tau`\nhelp: known settings are tau, apart"
        );
        let interval = error("partition:apart=-1");
        assert!(
            interval.ends_with("expected whole microseconds, up to an hour, as in `partition:apart=5000`")
        );
    }
}
