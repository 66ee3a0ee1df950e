//! Regions by their schedules, node by node.

use super::Run;
use super::queues::Rule;
use crate::Mode;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::{Stop, Surroundings};

/// Why a region pauses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// A steady state has ended.
    Steady,
    /// Nothing more can be done now.
    Lacks,
}

impl Run<'_> {
    /// Continues all regions node by node by their schedules, from where they are.
    pub(super) fn by_schedule(&mut self) {
        self.around.queues.set_rule(Rule::Refuse);
        if self.native.mode == Mode::Hybrid {
            self.count_direct();
        }
        for region in 0..self.regions.len() {
            let Some(steady) = self.regions[region].steady else { continue };
            if let Some(stage) = self.regions[region].stage {
                self.empty_buffers(stage, steady);
            }
            for at in 0..self.regions[region].firings.len() {
                let (node, begun, firings) = self.regions[region].firings[at];
                self.passed[node.0 as usize] = begun + firings * steady;
            }
            self.regions[region].cursor.start_steady_state();
        }
    }

    /// Does the next firings of a region's schedule, as far as possible; returns whether any could be passed.
    /// Firings done ahead of the schedule are passed.
    pub(super) fn fire_next(&mut self, region: usize) -> Result<bool, Stop> {
        let Some((node, left)) = self.regions[region].cursor.due() else { return Ok(true) };
        let at = node.0 as usize;
        let mut done = left.min(self.fired[at] - self.passed[at]);
        if done == 0 {
            done = left.min(self.fire_some(node, if self.one_by_one(node) { 1 } else { left })?);
            self.moved |= done > 0;
            if done == 0 {
                return Ok(false);
            }
        }
        self.passed[at] += done;
        self.regions[region].cursor.advance(done);
        Ok(true)
    }

    /// Whether a node's firings may wait in the middle, so that it is not known in advance when they end.
    fn one_by_one(&self, node: NodeId) -> bool {
        self.native.waits[node.0 as usize].is_some_and(|stack| stack > 0)
    }

    /// Runs a region to the end of a steady state, or as far as possible; also returns whether anything
    /// fired.
    pub(super) fn step(&mut self, region: usize) -> Result<(Pause, bool), Stop> {
        self.moved = false;
        loop {
            if self.regions[region].cursor.due().is_none() {
                self.regions[region].cursor.start_steady_state();
                return Ok((Pause::Steady, self.moved));
            }
            if !self.fire_next(region)? {
                return Ok((Pause::Lacks, self.moved));
            }
        }
    }

    /// Runs the regions that take from others until none can continue.
    pub(super) fn settle(&mut self, around: &mut Surroundings<'_>) -> Result<(), Stop> {
        let mut goes_on = true;
        while std::mem::take(&mut goes_on) {
            for region in 0..self.regions.len() {
                while !self.regions[region].source && !(around.interrupted)() {
                    let (pause, moved) = self.step(region)?;
                    goes_on |= moved;
                    if pause != Pause::Steady || !moved {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}
