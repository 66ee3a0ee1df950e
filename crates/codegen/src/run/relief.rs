//! What follows where a region has stopped at the limit of queues, with input left; see [`queues`](super::queues).
//!
//! On one thread, a batch that has come to the limit is finished in another order: always the region nearest to the sinks
//! that can continue. So each firing's items have left before the next firing, and the batches that follow have one steady
//! state. On several threads a region leaves its input in its queue, until the driver has the state of all regions and does
//! the same.

use super::Run;
use super::parts::{Region, Sources};
use super::queues::Rule;
use std::ops::Range;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::Stop;

/// The sources that generated code schedules: the region, its node, and its firings before a batch.
pub(super) type Direct = Vec<(usize, NodeId, u64)>;

impl Run<'_> {
    /// Chooses what happens at the limit of queues in batches of `n` steady states on one thread.
    pub(super) fn choose_rule(&mut self, n: u64) {
        let queues = &mut self.around.queues;
        match queues.rule() {
            Rule::Refuse | Rule::Stop => queues.set_rule(if n == 1 { Rule::Refuse } else { Rule::Stop }),
            Rule::Leave | Rule::Exceed => {}
        }
        queues.take_stopped();
    }

    /// Whether regions on several threads leave their input, since the driver is to take over.
    pub(super) fn has_left(&self) -> bool {
        self.around.queues.rule() == Rule::Leave && self.around.queues.budget().is_full()
    }

    pub(super) fn direct_sources(&mut self, regions: &Range<usize>) -> Direct {
        let mut direct = Vec::new();
        for region in regions.clone() {
            if self.regions[region].is_source() && self.hands_over(region) {
                let node = self.native.compiled.schedule.regions[region].nodes[0];
                direct.push((region, node, self.state.fired(node.0)));
            }
        }
        direct
    }

    /// The sources' part of a batch of `n` steady states of which the other regions leave theirs.
    pub(super) fn sources_of_batch(&mut self, regions: Range<usize>, n: u64) -> Result<(), Stop> {
        let before = self.direct_sources(&regions);
        for region in regions {
            if self.regions[region].is_source() {
                self.source_of_batch(region, n)?;
                self.finish(region, (&before, n))?;
            }
        }
        Ok(())
    }

    /// Runs a source's part of a batch, unless generated code schedules it: [`Run::finish`] fires it as often as is due.
    fn source_of_batch(&mut self, region: usize, n: u64) -> Result<(), Stop> {
        if self.hands_over(region) { Ok(()) } else { self.region_of_batch(region, n) }
    }

    /// Continues a batch of `n` steady states after the first of `regions`, which may have stopped at the limit of queues;
    /// the direct sources fire `due` times more than `before`. Returns the next region of the batch.
    pub(super) fn relieve(
        &mut self,
        regions: Range<usize>,
        n: u64,
        (before, due): (&Direct, u64),
    ) -> Result<usize, Stop> {
        let first = regions.start;
        if !self.around.queues.take_stopped() {
            return Ok(first + 1);
        }
        self.within_budget()?;
        let rule = self.around.queues.rule();
        if !rule.yields() {
            self.finish(first, (before, due))?;
            return Ok(first + 1);
        }
        self.relieved = true;
        let end = regions.end;
        let sources: Vec<bool> = self.regions.iter().map(Region::is_source).collect();
        for region in regions.filter(|region| sources[*region]) {
            if rule == Rule::Stop {
                self.drain()?;
            }
            if region > first {
                self.source_of_batch(region, n)?;
            }
            self.finish(region, (before, due))?;
        }
        if rule == Rule::Stop {
            self.drain()?;
            self.around.queues.shrink(self.state.queues());
        }
        Ok(end)
    }

    /// Continues a region until it lacks input or, for a source, until it has done its part of the batch; on one thread the
    /// regions behind a source that stops continue first.
    fn finish(&mut self, region: usize, (before, due): (&Direct, u64)) -> Result<(), Stop> {
        let direct =
            before.iter().find(|(at, ..)| *at == region).map(|(_, node, fired)| (*node, fired + due));
        let source = self.regions[region].is_source();
        loop {
            let more = match direct {
                Some((node, until)) => {
                    let left = until.saturating_sub(self.state.fired(node.0));
                    left > 0 && self.fire_some(node, left)? > 0
                }
                None if source => {
                    self.advance(region, Some(0))?;
                    false
                }
                None => self.run_region(region)?,
            };
            let stopped = self.around.queues.take_stopped();
            if !(more || stopped) || self.is_interrupted() {
                return Ok(());
            }
            if stopped && source && self.around.queues.rule() == Rule::Stop {
                self.drain()?;
            }
        }
    }

    /// After threads: does what the regions have left, if they came to the limit of queues. Short batches follow.
    pub(super) fn take_over(&mut self, sources: &mut Sources) -> Result<(), Stop> {
        // What firings hold comes on top of the limit.
        self.around.queues.set_rule(Rule::Stop);
        self.within_budget()?;
        if !self.around.queues.budget().is_full() {
            return Ok(());
        }
        self.around.queues.budget().set_full(false);
        self.drain()?;
        self.around.queues.shrink(self.state.queues());
        sources.shrink();
        self.notes.push(format!(
            "queues came to half of their budget on several threads, so one thread ran the program after {} steady states",
            sources.done
        ));
        Ok(())
    }

    /// Runs the regions behind the sources until none can continue, those nearest to the sinks first.
    pub(super) fn drain(&mut self) -> Result<(), Stop> {
        let mut at = self.regions.len();
        while at > 0 && !self.is_interrupted() {
            at -= 1;
            if !self.regions[at].is_source() && self.run_region(at)? {
                at = self.regions.len();
            }
        }
        self.around.queues.take_stopped();
        // At the limit firings were granted more room than it leaves. What is left of that is no room for the next one.
        self.around.queues.take_back(self.state.queues());
        Ok(())
    }

    /// Runs a region that takes from others; returns whether it has fired or popped anything.
    fn run_region(&mut self, region: usize) -> Result<bool, Stop> {
        let before = self.waiting(region);
        let moved = if self.hands_over(region) {
            let node = self.native.compiled.schedule.regions[region].nodes[0];
            let fired = self.fire_some(node, u64::MAX)?;
            self.within_budget()?;
            fired > 0
        } else {
            self.advance(region, None)?
        };
        Ok(moved || self.waiting(region) < before)
    }

    /// The items that a region can take from others.
    fn waiting(&mut self, region: usize) -> u64 {
        let flat = &self.native.compiled.flat;
        let nodes = &self.native.compiled.schedule.regions[region].nodes;
        let inputs: Vec<_> = nodes.iter().flat_map(|node| flat.inputs(*node)).collect();
        let counted: Vec<_> =
            inputs.into_iter().filter(|input| self.around.queues.is_counted(input.index())).collect();
        counted.into_iter().map(|input| self.held(input)).sum()
    }
}
