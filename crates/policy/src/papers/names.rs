//! Names and settings of these policies, for the [registry](crate::registry).

use super::static_plan::Spare;
use super::{Partition, Pools, Prs, Pss, Qes, RandomStealing, Static};
use crate::registry::{Unknown, each, no_settings};
use crate::work_stealing::{Place, WorkStealing};
use std::fmt;

/// A policy prints as the name, with settings, from which [`dispatch`](crate::registry::dispatch) makes an equal policy.
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
named!(Pools as _policy => "pools");
named!(WorkStealing as policy => "{}", policy.name());

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "partition:tau={}", self.tau())?;
        self.min_interval().map_or(Ok(()), |ns| write!(f, ",apart={}", ns.div_ceil(1000)))
    }
}

impl fmt::Display for Static {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.spare() {
            Spare::Sleep => "static",
            Spare::Help => "static:spare=help",
        })
    }
}

pub(crate) fn random(settings: &str) -> Result<RandomStealing, Unknown> {
    no_settings("random", settings).map(|()| RandomStealing)
}

pub(crate) fn qes(settings: &str) -> Result<Qes, Unknown> {
    no_settings("qes", settings).map(|()| Qes)
}

pub(crate) fn pss(settings: &str) -> Result<Pss, Unknown> {
    no_settings("pss", settings).map(|()| Pss)
}

pub(crate) fn pools(settings: &str) -> Result<Pools, Unknown> {
    no_settings("pools", settings).map(|()| Pools)
}

pub(crate) fn static_execution(settings: &str) -> Result<Static, Unknown> {
    let mut spare = Spare::default();
    for setting in each(settings) {
        let unknown =
            || Unknown::Setting { policy: "static", setting: setting.to_owned(), known: &["spare"] };
        spare = match setting.strip_prefix("spare=").ok_or_else(unknown)? {
            "sleep" => Spare::Sleep,
            "help" => Spare::Help,
            _ => {
                let expected = "`sleep` or `help`, as in `static:spare=help`";
                return Err(Unknown::Value { policy: "static", setting: setting.to_owned(), expected });
            }
        };
    }
    Ok(Static::new(spare))
}

pub(crate) fn ws_cur(settings: &str) -> Result<WorkStealing, Unknown> {
    no_settings("ws-cur", settings).map(|()| WorkStealing::new(Place::Current))
}

pub(crate) fn ws_last(settings: &str) -> Result<WorkStealing, Unknown> {
    no_settings("ws-last", settings).map(|()| WorkStealing::new(Place::Last))
}

pub(crate) fn prs(settings: &str) -> Result<Prs, Unknown> {
    let mut c = super::prs::DEFAULT_C;
    for setting in each(settings) {
        let unknown = || Unknown::Setting { policy: "prs", setting: setting.to_owned(), known: &["C"] };
        let value = setting.strip_prefix("C=").ok_or_else(unknown)?;
        let expected = "a whole number of at least 1, as in `prs:C=1000`";
        let bad = || Unknown::Value { policy: "prs", setting: setting.to_owned(), expected };
        c = value.parse().ok().filter(|&c| c >= 1).ok_or_else(bad)?;
    }
    Ok(Prs::new(c))
}

pub(crate) fn partition(settings: &str) -> Result<Partition, Unknown> {
    let (mut tau, mut min_interval) = (super::partition::DEFAULT_TAU, None);
    for setting in each(settings) {
        let bad = |expected| Unknown::Value { policy: "partition", setting: setting.to_owned(), expected };
        match setting.split_once('=') {
            Some(("tau", value)) => {
                let share = value.parse().ok().filter(|share| (0.0..=1.0).contains(share));
                tau = share.ok_or_else(|| bad("a share from 0 to 1, as in `partition:tau=0.1`"))?;
            }
            Some(("apart", value)) => {
                let expected = "whole microseconds, up to an hour, as in `partition:apart=5000`";
                let us = value.parse::<u64>().ok().filter(|us| *us <= 3_600_000_000);
                min_interval = Some(1000 * us.ok_or_else(|| bad(expected))?);
            }
            _ => {
                let (setting, known) = (setting.to_owned(), &["tau", "apart"]);
                return Err(Unknown::Setting { policy: "partition", setting, known });
            }
        }
    }
    let policy = Partition::new(tau);
    Ok(min_interval.map_or(policy, |ns| policy.with_min_interval(ns)))
}
