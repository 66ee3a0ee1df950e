//! The passes that make a plan, in the order of [`PASSES`], then of [`BY_PROFILE`].
//!
//! Each pass is a pure function of what is given (the graph, the user's wishes, a profile if there is one) and of what
//! the passes before it have decided. It returns one decision, and the table stores it. So a pass can be read and
//! tested alone.
//!
//! | pass | decides | reads of the plan so far |
//! |---|---|---|
//! | `threads` | the number of workers | |
//! | [`claims`] | firings in a claim | |
//! | [`batch`] | firings in an activation | |
//! | [`own_threads`] | nodes with a thread of their own | |
//! | [`pools`] | the workers that serve one node each, and so the number of workers, under the policy `pools` | threads, own threads |
//! | [`capacities`] | items that a channel holds at most, and the user's capacities that had to be raised | threads, claims |
//! | [`widen`] | slots for channels that may widen, and the capacities with which these begin | threads, own threads, capacities |
//! | [`window`] | tickets of a reorder window | threads |
//! | [`bytes`] | bytes of weighed channels, reorder windows and gates | capacities |
//! | [`replicate`] | workers of a parallel node, from a profile or units | threads, own threads |
//! | [`segments`] | nodes for each worker, from a profile or units | threads, own threads |
//! | [`affinity`] | the worker of each node, from a profile or units | segments |
//! | [`regions`] | nodes to fuse, from a profile | replicas, segments |

mod affinity;
pub(crate) mod balance;
pub(crate) mod batch;
mod bytes;
mod cache;
pub(crate) mod capacities;
mod claims;
pub(crate) mod divide;
mod own_threads;
pub(crate) mod pools;
mod regions;
mod replicate;
mod segments;
pub(crate) mod threads;
mod widen;
pub(crate) mod window;

#[cfg(test)]
mod snapshots;

use crate::{Fingerprint, Plan, Profile, Units, Wishes};
use std::collections::{BTreeMap, BTreeSet};
use thalweg_graph::GraphData;

/// What the passes decide from.
pub(crate) struct Given<'a> {
    pub(crate) graph: &'a GraphData,
    /// The measurements of an earlier run, if there was one.
    pub(crate) profile: Option<&'a Profile>,
    /// The units of a compiled graph.
    pub(crate) units: Option<&'a Units>,
    pub(crate) wishes: &'a Wishes,
}

/// A pass, which stores its decision in the plan.
type Pass = fn(&Given<'_>, &mut Plan);

/// The passes that decide from the graph and the wishes, with their names, in order.
const PASSES: [(&str, Pass); 9] = [
    ("threads", |given, plan| plan.threads = threads::decide(given)),
    ("claims", |given, plan| plan.claim_lengths = claims::decide(given)),
    ("batch", |given, plan| plan.batch = batch::decide(given)),
    ("own threads", |given, plan| plan.own_threads = own_threads::decide(given)),
    ("pools", |given, plan| (plan.threads, plan.pools, plan.affinity) = pools::decide(given, plan)),
    ("capacities", |given, plan| (plan.capacities, plan.raised) = capacities::decide(given, plan)),
    ("widen", |given, plan| (plan.capacities, plan.slots) = widen::decide(given, plan)),
    ("window", |_, plan| plan.window = window::decide(plan)),
    ("bytes", |given, plan| {
        plan.byte_limits = bytes::channels(given, plan);
        plan.held = bytes::held(given);
        plan.kept = bytes::kept(given);
    }),
];

/// The passes that decide from the profile or the units, with their names, in order. Without either they decide nothing.
const BY_PROFILE: [(&str, Pass); 4] = [
    ("replicate", |given, plan| plan.replicas = replicate::decide(given, plan)),
    ("segments", |given, plan| plan.segments = segments::decide(given, plan)),
    ("affinity", |given, plan| plan.affinity = affinity::decide(given, plan)),
    ("regions", |given, plan| plan.regions = regions::decide(given, plan)),
];

/// Runs all passes.
pub(crate) fn run(given: &Given<'_>) -> Plan {
    let mut plan = undecided(given);
    PASSES.iter().for_each(|(_, pass)| pass(given, &mut plan));
    refine(given, &mut plan);
    plan
}

/// Decides anew what follows from the profile. Where each worker serves one node, which the user's number of workers decides, a
/// profile has nothing to decide.
pub(crate) fn refine(given: &Given<'_>, plan: &mut Plan) {
    if plan.has_pools() && given.units.is_none() {
        return;
    }
    BY_PROFILE.iter().for_each(|(_, pass)| pass(given, plan));
}

/// A plan in which nothing is decided that needs a pass.
fn undecided(given: &Given<'_>) -> Plan {
    Plan {
        graph: Fingerprint::of(given.graph),
        threads: 1,
        policy: given.wishes.policy.clone().unwrap_or_else(|| "auto".to_owned()),
        mapper: None,
        notes: Vec::new(),
        budget: given.wishes.budget,
        batch: 1,
        window: 1,
        held: 0,
        kept: 0,
        claim_lengths: Vec::new(),
        replicas: BTreeMap::new(),
        pools: BTreeMap::new(),
        shares: BTreeMap::new(),
        affinity: BTreeMap::new(),
        own_threads: BTreeSet::new(),
        capacities: Vec::new(),
        slots: BTreeMap::new(),
        byte_limits: BTreeMap::new(),
        raised: Vec::new(),
        segments: Vec::new(),
        regions: Vec::new(),
    }
}
