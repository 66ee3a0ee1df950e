//! Finds the first of several failures.
//!
//! A step does many steady states before the next step begins. So when a firing fails, the steps behind it
//! have yet to do the steady states before that firing's. If one of them fails meanwhile, its failure comes
//! first in the interpreter's order: by steady state, and within a steady state by step.

use super::fault;
use crate::Native;
use crate::build::{Host, State};
use crate::plan::{Facts, Plan};
use std::ops::Range;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::Stop;

/// The context of a failure.
pub(super) struct Failing<'a> {
    pub(super) native: &'a Native,
    pub(super) plan: &'a Plan,
    pub(super) facts: &'a Facts<'a>,
    /// Steady states before the call.
    pub(super) first: u64,
}

impl Failing<'_> {
    /// After a call of `n` steady states has failed: does what the steps behind the failure still have to do,
    /// up to the last of `steps`. Returns the number of complete steady states, and the first failure.
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
