//! What comes before a failure.
//!
//! A step fires for many steady states before the next one does; so when one fails in a steady state, those
//! behind it have still to do the steady states before that one. If one of them fails meanwhile it is
//! the first to do so, as the interpreter counts: in the order of steady states, and there of steps.

use super::fault;
use crate::Native;
use crate::build::{Host, State};
use crate::plan::{Facts, Plan};
use std::ops::Range;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::Stop;

/// Where a failure is looked for.
pub(super) struct Failing<'a> {
    pub(super) native: &'a Native,
    pub(super) plan: &'a Plan,
    pub(super) facts: &'a Facts<'a>,
    /// Steady states before the call.
    pub(super) first: u64,
}

impl Failing<'_> {
    /// After a call of so many steady states that has failed: does what the steps behind have to do, up to
    /// the last one of these; how many steady states are done, and why no more.
    pub(super) fn settle(
        &self,
        state: &mut State<'_>,
        mut steps: Range<usize>,
        mut n: u64,
        host: &mut dyn Host,
    ) -> (u64, Stop) {
        loop {
            let failure = state.failure();
            if failure.is_stopped() {
                return (0, Stop::Interrupted);
            }
            let (node, firing) = (NodeId(failure.node), failure.firing as u64);
            let stop = fault(self.native, failure, None);
            let at = node.0 as usize;
            let done = (firing - 1 - self.facts.begun[at]) / self.facts.firings[at].max(1);
            n = done.saturating_sub(self.first).min(n.saturating_sub(1));
            steps.start = self.step_of(node).map_or(steps.end, |step| (step + 1).min(steps.end));
            if state.steps(steps.clone(), n, host) {
                return (n, stop);
            }
        }
    }

    fn step_of(&self, node: NodeId) -> Option<usize> {
        let of = |actor: usize| self.plan.actors[actor].node == node;
        self.plan.steps.iter().position(|step| step.actors(self.plan).into_iter().any(of))
    }
}
