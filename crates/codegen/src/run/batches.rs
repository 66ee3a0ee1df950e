//! Batches: each region's part of a batch, in data-flow order.
//!
//! Generated code runs batch after batch as far as it can ([`emit::schedule`](crate::emit)). Where a region that
//! it does not run can continue, it returns here, and is called again for the regions behind.

use super::parts::Sources;
use super::{Run, failed};
use crate::Mode;
use crate::build::BatchesEnd;
use std::ops::Range;
use std::time::{Duration, Instant};
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::Stop;

/// The most time that several batches may take before the run checks for input and interruptions again.
const LONG: Duration = Duration::from_millis(1);

/// The number of batches done in one call.
pub(super) struct Many(u64);

impl Default for Many {
    fn default() -> Many {
        Many(1)
    }
}

impl Run<'_> {
    /// Runs the next batch; or several, where that is quick and no input has to be read.
    pub(super) fn some_batches(&mut self, sources: &mut Sources, many: &mut Many) -> Result<(), Stop> {
        sources.sure = sources.done;
        let size = sources.size();
        let whole = (sources.most - sources.done) / size;
        let free =
            self.regions.iter().enumerate().all(|(at, region)| !region.is_source() || self.hands_over(at));
        if many.0 < 2 || whole < 2 || !free {
            let n = self.next_batch(sources)?;
            let start = Instant::now();
            self.batches(0..self.regions.len(), n, 1)?;
            self.resize(sources);
            many.0 = if start.elapsed() < LONG / 2 { 2 } else { 1 };
            return Ok(());
        }
        let (count, start) = (whole.min(many.0), Instant::now());
        sources.done += count * size;
        self.batches(0..self.regions.len(), size, count)?;
        self.resize(sources);
        many.0 = if start.elapsed() < LONG / 2 { many.0.saturating_mul(2) } else { many.0.div_ceil(2) };
        sources.over = sources.done == sources.most;
        Ok(())
    }

    /// Makes the next batch longer if the queues have room for it, and short if the last one has come to their limit.
    pub(super) fn resize(&mut self, sources: &mut Sources) {
        if std::mem::take(&mut self.relieved) {
            sources.shrink();
        } else {
            sources.grow(1, self.around.queues.budget());
        }
    }

    /// Whether generated code schedules a region.
    pub(super) fn hands_over(&self, region: usize) -> bool {
        self.native.mode == Mode::Hybrid && self.native.direct[region]
    }

    /// Whether generated code schedules a node.
    pub(super) fn is_direct(&self, node: NodeId) -> bool {
        let mut regions = self.native.compiled.schedule.regions.iter().zip(&self.native.direct);
        regions.any(|(region, direct)| *direct && region.nodes == [node])
    }

    /// Runs `count` batches of a range of regions; of all regions, if `count` is more than one.
    pub(super) fn batches(&mut self, regions: Range<usize>, n: u64, count: u64) -> Result<(), Stop> {
        self.choose_rule(n);
        if self.has_left() {
            return self.sources_of_batch(regions, n);
        }
        let before = self.direct_sources(&regions);
        let (mut left, mut from) = (count, regions.start);
        while left > 0 {
            let to = self.next_here(from..regions.end);
            let here = if to == regions.end && regions.start == 0 { left } else { 1 };
            let nothing = to == from && to < regions.end;
            match if nothing { BatchesEnd::Done } else { self.run_batches((from, to), n, here) } {
                BatchesEnd::Failed => return Err(failed(self.native, &mut self.state, &mut self.around)),
                BatchesEnd::Done if to == regions.end => {
                    left -= here;
                    from = regions.start;
                    continue;
                }
                BatchesEnd::Done => from = to,
                BatchesEnd::At(region, done) => {
                    left -= done;
                    from = region;
                }
            }
            if !self.around.queues.is_stopped() {
                self.region_of_batch(from, n)?;
            }
            from = self.relieve(from..regions.end, n, (&before, n * (count - left + 1)))?;
            if from == regions.end {
                left -= 1;
                from = regions.start;
            }
        }
        Ok(())
    }

    fn run_batches(&mut self, regions: (usize, usize), n: u64, count: u64) -> BatchesEnd {
        self.state.batches(regions, n, count, &mut self.around)
    }

    /// The first region of a range that generated code cannot run: it has not begun, or the mode is another.
    fn next_here(&self, mut regions: Range<usize>) -> usize {
        let end = regions.end;
        let here = |at: &usize| !self.native.direct[*at] && self.regions[*at].steady.is_none();
        regions.find(|at| self.native.mode != Mode::Hybrid || here(at)).unwrap_or(end)
    }

    /// Runs a region's part of a batch.
    pub(super) fn region_of_batch(&mut self, region: usize, n: u64) -> Result<(), Stop> {
        if self.hands_over(region) {
            let node = self.native.compiled.schedule.regions[region].nodes[0];
            return self.fire_some(node, u64::MAX).map(|_| ());
        }
        let source = self.regions[region].is_source();
        if let (Some(stage), true) = (self.regions[region].stage, source) {
            self.ends.available(&self.stages[stage].facts, n)?;
        }
        self.advance(region, source.then_some(n)).map(|_| ())
    }

    /// Takes over the firings that generated code has counted.
    pub(super) fn count_direct(&mut self) {
        for region in (0..self.regions.len()).filter(|region| self.native.direct[*region]) {
            let node = self.native.compiled.schedule.regions[region].nodes[0];
            let at = node.0 as usize;
            if self.awaited[at].is_none() {
                self.fired[at] = self.state.fired(node.0);
            }
            self.regions[region].steady = Some(self.fired[at]);
        }
    }
}
