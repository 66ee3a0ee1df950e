//! Policies by name.
//!
//! A name is a word of [`names`], and after a colon settings `KEY=VALUE` with commas between
//! them, where the policy has any: `prs:C=1000`.
//!
//! The choice is made once, at run time, and everything behind it is compiled for that policy:
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
//! assert!(registry::dispatch("prs:C=1000", SizeOfLocal).is_ok());
//! let unknown = registry::dispatch("fifo", SizeOfLocal).unwrap_err();
//! assert_eq!(unknown.to_string(), "no policy `fifo`: there are random, qes, pss, prs, ws-cur, ws-last, partition, auto");
//! ```

use crate::work_stealing::{Place, WorkStealing};
use crate::{Auto, Partition, Policy, Prs, Pss, Qes, RandomStealing, partition, prs};
use std::fmt;

/// The policy used where none is named.
pub const DEFAULT: &str = "auto";

/// What is done with the policy behind a name.
pub trait Visit {
    /// What comes of it.
    type Out;

    /// Called with the policy.
    fn visit<P: Policy>(self, policy: &P) -> Self::Out;
}

/// Why a name gives no policy.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unknown {
    /// There is no policy of this name.
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
    },
    /// The setting cannot have this value.
    Value {
        /// The policy.
        policy: &'static str,
        /// The setting, as written.
        setting: String,
        /// What it may be.
        wants: &'static str,
    },
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::Policy { name } => {
                let known: Vec<&str> = names().collect();
                write!(f, "no policy `{name}`: there are {}", known.join(", "))
            }
            Unknown::Setting { policy, setting } => {
                write!(f, "policy `{policy}` has no setting `{setting}`")
            }
            Unknown::Value { policy, setting, wants } => {
                write!(f, "setting `{setting}` of policy `{policy}`: it takes {wants}")
            }
        }
    }
}

impl std::error::Error for Unknown {}

/// What is known of a policy without making it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct About {
    name: &'static str,
    describe: &'static str,
    fair: bool,
}

/// Lists the policies: name, how to make one of its settings, fairness, description.
macro_rules! policies {
    ($($name:literal => $make:path, $fair:literal, $describe:literal;)*) => {
        const POLICIES: &[About] = &[$(About { name: $name, describe: $describe, fair: $fair }),*];

        /// Calls `visit` with the policy of this name and its settings.
        ///
        /// # Errors
        /// There is no such policy, or not with these settings; the message says what there is.
        pub fn dispatch<V: Visit>(name: &str, visit: V) -> Result<V::Out, Unknown> {
            let (policy, settings) = name.split_once(':').unwrap_or((name, ""));
            match policy {
                $($name => Ok(visit.visit(&$make(settings)?)),)*
                _ => Err(Unknown::Policy { name: policy.to_owned() }),
            }
        }
    };
}

policies! {
    "random" => random, true,
        "random work stealing, blind to producers and consumers: DANBI's baseline";
    "qes" => qes, false,
        "queue events: empty goes to the producer, full to the consumer (DANBI III-A2)";
    "pss" => pss, false,
        "qes, and moves by chance before queues run empty or full (DANBI III-A3)";
    "prs" => prs, false,
        "pss, and random moves after long waits (DANBI III-A4); C=N, by default 10000";
    "ws-cur" => ws_cur, true,
        "work stealing; who becomes ready joins the worker that made it so (Nornir 4.2)";
    "ws-last" => ws_last, true,
        "work stealing; who becomes ready joins the worker that ran it last (Nornir 4.2)";
    "partition" => partition, true,
        "nodes have homes by load and traffic, parted anew after idle time (Nornir 4.2); tau=SHARE, by default 0.1, apart=MICROSECONDS";
    "auto" => auto, true,
        "data-flow order with hysteresis for kernels; for processes work stealing that keeps pairs together";
}

/// A policy prints as the name, with settings, that [`dispatch`] makes it of again.
macro_rules! named {
    ($Policy:ty as $policy:ident => $($name:tt)*) => {
        impl fmt::Display for $Policy {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $policy = self;
                write!(f, $($name)*)
            }
        }
    };
}

named!(RandomStealing as _policy => "random");
named!(Qes as _policy => "qes");
named!(Pss as _policy => "pss");
named!(Prs as policy => "prs:C={}", policy.c());
named!(WorkStealing as policy => "{}", policy.name());
named!(Auto as _policy => "auto");

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "partition:tau={}", self.tau())?;
        self.apart().map_or(Ok(()), |apart| write!(f, ",apart={}", apart.div_ceil(1000)))
    }
}

/// All names, the baseline first.
pub fn names() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|about| about.name)
}

/// One line on the policy of this name; settings may follow it.
pub fn describe(name: &str) -> Option<&'static str> {
    about(name).map(|about| about.describe)
}

/// Whether the policy of this name claims that no claimable node starves.
pub fn is_fair(name: &str) -> Option<bool> {
    about(name).map(|about| about.fair)
}

fn about(name: &str) -> Option<&'static About> {
    let policy = name.split(':').next();
    POLICIES.iter().find(|about| Some(about.name) == policy)
}

fn random(settings: &str) -> Result<RandomStealing, Unknown> {
    none("random", settings).map(|()| RandomStealing)
}

fn qes(settings: &str) -> Result<Qes, Unknown> {
    none("qes", settings).map(|()| Qes)
}

fn pss(settings: &str) -> Result<Pss, Unknown> {
    none("pss", settings).map(|()| Pss)
}

fn ws_cur(settings: &str) -> Result<WorkStealing, Unknown> {
    none("ws-cur", settings).map(|()| WorkStealing::new(Place::Current))
}

fn ws_last(settings: &str) -> Result<WorkStealing, Unknown> {
    none("ws-last", settings).map(|()| WorkStealing::new(Place::Last))
}

fn auto(settings: &str) -> Result<Auto, Unknown> {
    none("auto", settings).map(|()| Auto)
}

fn prs(settings: &str) -> Result<Prs, Unknown> {
    let mut c = prs::DEFAULT_C;
    for setting in each(settings) {
        let unknown = || Unknown::Setting { policy: "prs", setting: setting.to_owned() };
        let value = setting.strip_prefix("C=").ok_or_else(unknown)?;
        let wants = "a whole number of at least 1, as in `prs:C=1000`";
        let bad = || Unknown::Value { policy: "prs", setting: setting.to_owned(), wants };
        c = value.parse().ok().filter(|&c| c >= 1).ok_or_else(bad)?;
    }
    Ok(Prs::new(c))
}

fn partition(settings: &str) -> Result<Partition, Unknown> {
    let (mut tau, mut apart) = (partition::DEFAULT_TAU, None);
    for setting in each(settings) {
        let bad = |wants| Unknown::Value { policy: "partition", setting: setting.to_owned(), wants };
        match setting.split_once('=') {
            Some(("tau", value)) => {
                let share = value.parse().ok().filter(|share| (0.0..=1.0).contains(share));
                tau = share.ok_or_else(|| bad("a share from 0 to 1, as in `partition:tau=0.1`"))?;
            }
            Some(("apart", value)) => {
                let wants = "whole microseconds, up to an hour, as in `partition:apart=5000`";
                let us = value.parse::<u64>().ok().filter(|us| *us <= 3_600_000_000);
                apart = Some(1000 * us.ok_or_else(|| bad(wants))?);
            }
            _ => return Err(Unknown::Setting { policy: "partition", setting: setting.to_owned() }),
        }
    }
    let policy = Partition::new(tau);
    Ok(apart.map_or(policy, |apart| policy.at_least(apart)))
}

fn none(policy: &'static str, settings: &str) -> Result<(), Unknown> {
    let refuse = |setting: &str| Err(Unknown::Setting { policy, setting: setting.to_owned() });
    each(settings).next().map_or(Ok(()), refuse)
}

fn each(settings: &str) -> impl Iterator<Item = &str> {
    settings.split(',').filter(|setting| !setting.is_empty())
}

#[cfg(test)]
mod tests {
    /// What a policy prints as makes a policy again.
    #[test]
    fn a_policy_prints_as_its_name() {
        assert_eq!(Prs::new(7).to_string(), "prs:C=7");
        assert_eq!(Partition::new(0.25).at_least(10_000).to_string(), "partition:tau=0.25,apart=10");
        let all: [&dyn fmt::Display; 8] = [
            &RandomStealing,
            &Qes,
            &Pss,
            &Prs::new(1000),
            &WorkStealing::new(Place::Current),
            &WorkStealing::new(Place::Last),
            &Partition::default(),
            &Auto,
        ];
        for (policy, name) in all.iter().zip(names()) {
            assert!(policy.to_string().starts_with(name), "{policy}");
            assert_eq!(dispatch(&policy.to_string(), Exists), Ok(()), "{policy}");
        }
    }

    use super::*;

    struct Exists;
    impl Visit for Exists {
        type Out = ();
        fn visit<P: Policy>(self, _: &P) {}
    }

    fn refusal(name: &str) -> String {
        dispatch(name, Exists).unwrap_err().to_string()
    }

    #[test]
    fn every_name_is_dispatched_and_described() {
        for name in names() {
            assert_eq!(dispatch(name, Exists), Ok(()));
            assert!(!describe(name).unwrap().is_empty());
        }
        assert!(names().any(|name| name == DEFAULT));
        assert_eq!(describe("nobody"), None);
    }

    #[test]
    fn settings_reach_the_policy() {
        assert_eq!(dispatch("prs:C=1", Exists), Ok(()));
        assert_eq!(dispatch("qes:", Exists), Ok(()));
        assert_eq!(dispatch("partition:tau=0", Exists), Ok(()));
        assert_eq!(dispatch("partition:apart=10,tau=0.25", Exists), Ok(()));
        assert_eq!(describe("prs:C=7"), describe("prs"));
        assert_eq!(is_fair("prs:C=7"), Some(false));
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        assert_eq!(
            refusal("fast"),
            "no policy `fast`: there are random, qes, pss, prs, ws-cur, ws-last, partition, auto"
        );
        assert_eq!(refusal("qes:C=3"), "policy `qes` has no setting `C=3`");
        assert_eq!(refusal("prs:D=3"), "policy `prs` has no setting `D=3`");
        let value = "it takes a whole number of at least 1, as in `prs:C=1000`";
        for bad in ["C=0", "C=-1", "C=", "C=1e4"] {
            assert_eq!(refusal(&format!("prs:{bad}")), format!("setting `{bad}` of policy `prs`: {value}"));
        }
        let value = "it takes a share from 0 to 1, as in `partition:tau=0.1`";
        for bad in ["tau=-0.1", "tau=1.5", "tau=NaN", "tau="] {
            let said = format!("setting `{bad}` of policy `partition`: {value}");
            assert_eq!(refusal(&format!("partition:{bad}")), said);
        }
        assert_eq!(refusal("partition:tau"), "policy `partition` has no setting `tau`");
        let apart = refusal("partition:apart=-1");
        assert!(apart.ends_with("it takes whole microseconds, up to an hour, as in `partition:apart=5000`"));
    }
}
