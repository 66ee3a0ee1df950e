//! Runs of programs of several regions, with growing queues between them.
//!
//! **Batches.** The first batch is one steady state of the sources. Longer ones follow as far as the queues use a quarter of
//! their budget ([`Sources::grow`]). A batch that comes to half of the budget all the same is finished firing by firing, and
//! batches are one steady state again ([`relief`](super::relief)). So a program that fits into its budget steady state by
//! steady state does not fail for the length of batches.
//!
//! **Order.** The *sources*, the regions that take from no other, do a batch of steady states; then each
//! other region, in data-flow order, runs until it lacks input. So all items reach the sinks before the
//! sources continue, and a queue holds the items of one batch; except that a static region may wait until its
//! input is worth a call (`Native::is_patient`). On several threads, each body does this with some of the
//! regions ([`groups`]).
//!
//! **A region** has a static part and filters that run on their own. The static part runs by its plan as long
//! as there is input for whole steady states. A filter with dynamic rates is at the border of its region: a
//! *taker*, which decides how much it pops, fires as often as it can; a *giver*, which only decides how much
//! it pushes, fires as often as its region's schedule requires. So each region gets as far as in the
//! interpreter, except for the last steady state, which is only done in part: at the end of the input all
//! regions continue node by node by their schedules, from where they are ([`Region::cursor`]).
//!
//! **Node by node** from the beginning run programs in which the order of firings is visible: several filters
//! print, or one prints and another may fail; regions wait for each other around a loop; or a region with a
//! taker also takes from elsewhere and the number of iterations is limited, since the region must not be
//! ahead at the end.

use super::Run;
use super::batches::Many;
use super::by_schedule::Pause;
use super::engine::Link;
use super::groups::{Groups, Packet};
use super::queues::Budget;
use crate::Mode;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::{Options, Stop, Surroundings, deadlock, may_deadlock};
use thalweg_lang::schedule::{self, Cursor};

/// The most and the fewest steady states of the sources in a batch, and the bytes of queues when each gets an
/// item for each of them.
const BATCH: u64 = 4096;
const FEW: u64 = 64;
const NEAR: u64 = 32 << 10;

/// The most consecutive firings of a filter with dynamic rates before the rest of its region continues.
const IN_ONE_GO: u64 = 1 << 14;

/// The progress of the sources.
pub(super) struct Sources {
    pub(super) most: u64,
    pub(super) done: u64,
    /// The steady states after which all other regions have done what they can.
    pub(super) sure: u64,
    /// The steady states that a batch shall have.
    pub(super) batch: u64,
    /// The steady states that a batch may have, as far as the budget of queues is known to suffice.
    may: u64,
    /// Whether there are no more whole batches.
    pub(super) over: bool,
}

/// How many times as long as a batch the next one may be.
const GROWTH: u64 = 16;

impl Sources {
    /// The steady states of the next batch.
    pub(super) fn size(&self) -> u64 {
        self.batch.min(self.may)
    }

    /// Makes the next batch longer, after one of the present size that all regions have done, if the queues have room for
    /// it: for each of `members` threads, since some may have needed none so far. The first batch has one steady state: how many
    /// items filters with dynamic rates push is not known before.
    pub(super) fn grow(&mut self, members: u64, budget: &Budget) {
        let room = budget.room_to_grow() / members.max(1);
        self.may = self.size().saturating_mul(room.clamp(1, GROWTH));
    }

    /// Makes the next batches one steady state long, after one that has come to the limit of queues.
    pub(super) fn shrink(&mut self) {
        self.may = 1;
    }

    /// The same before the first batch for `members` threads, each of which may need as much as one has needed so far. Batches
    /// may become shorter.
    pub(super) fn grow_for(&mut self, members: u64, budget: &Budget) {
        if self.done > 0 {
            let most = self.size().saturating_mul(GROWTH);
            self.may = (self.size().saturating_mul(budget.room_to_grow()) / members.max(1)).clamp(1, most);
        }
    }
}

/// A region in a run.
#[derive(Clone)]
pub(super) struct Region<'a> {
    /// The position in its schedule, where it runs node by node.
    pub(super) cursor: Cursor<'a>,
    /// The index of its static part.
    pub(super) stage: Option<usize>,
    /// Filters that run on their own: those that take from other regions, and the others.
    pub(super) takers: Vec<NodeId>,
    givers: Vec<NodeId>,
    /// Its nodes, with their firings in the initialisation and in a steady state.
    pub(super) firings: Vec<(NodeId, u64, u64)>,
    /// Whether it takes from no other region.
    pub(super) source: bool,
    /// Steady states after the initialisation; `None` before the initialisation is complete.
    pub(super) steady: Option<u64>,
}

impl<'a> Region<'a> {
    pub(super) fn new(region: &'a schedule::Region, home: usize, run: &Run<'a>) -> Region<'a> {
        let (flat, native) = (&run.native.compiled.flat, run.native);
        let nodes = region.nodes.len();
        let (mut begun, mut firings) = (vec![0; flat.nodes().len()], vec![0; flat.nodes().len()]);
        crate::plan::count(&region.init, 1, &mut begun);
        crate::plan::count(&region.steady, 1, &mut firings);
        let flows = region.nodes.iter().copied().filter(|node| native.waits[node.0 as usize].is_some());
        let outside = |channel| !region.nodes.contains(&flat.channel(channel).from().0);
        let (takers, givers) = flows.partition(|node| flat.inputs(*node).any(outside));
        let mut source = true;
        for node in &region.nodes {
            for input in flat.inputs(*node) {
                let channel = flat.channel(input);
                source &= channel.link().feedback() || region.nodes.contains(&channel.from().0);
            }
        }
        let mut counts = Vec::with_capacity(nodes);
        for node in &region.nodes {
            counts.push((*node, begun[node.0 as usize], firings[node.0 as usize]));
        }
        Region {
            cursor: Cursor::new(region),
            stage: native.parts.iter().position(|part| part.home == home),
            takers,
            givers,
            firings: counts,
            source,
            steady: None,
        }
    }

    /// Whether a node belongs to it.
    pub(super) fn has(&self, node: NodeId) -> bool {
        self.firings.iter().any(|(other, ..)| *other == node)
    }

    /// Whether it takes from no other region.
    pub(super) fn is_source(&self) -> bool {
        self.source
    }

    /// The firings of a node after this many steady states.
    pub(super) fn due(&self, node: NodeId, steady: u64) -> u64 {
        let counts = self.firings.iter().find(|(other, ..)| *other == node);
        counts.map_or(0, |(_, begun, firings)| begun + firings.saturating_mul(steady))
    }
}

impl<'a> Run<'a> {
    /// Runs until the iterations are done, the input has ended, or the run is interrupted; returns the
    /// iterations. The regions have begun.
    pub(super) fn drive_parts(
        &mut self,
        groups: Option<(&Groups<'a>, &mut Link<Packet>)>,
        options: Options,
        around: &mut Surroundings<'_>,
    ) -> Result<u64, Stop> {
        let most = options.iterations.unwrap_or(u64::MAX);
        let batched = if self.native.in_order(options).is_some() { 0 } else { most };
        self.rounds(batched, most, groups, around)
    }

    /// Runs `most` steady states of the sources, of which the first `batched` may go in batches.
    pub(super) fn rounds(
        &mut self,
        batched: u64,
        most: u64,
        groups: Option<(&Groups<'a>, &mut Link<Packet>)>,
        around: &mut Surroundings<'_>,
    ) -> Result<u64, Stop> {
        let loops = may_deadlock(&self.native.compiled);
        let mut iterations = 0;
        if batched > 0 {
            iterations = self.in_batches(batched, groups, around)?;
            if iterations > 0 {
                self.settle(around)?;
            }
        }
        while iterations < most && !(around.interrupted)() {
            let mut over = false;
            for region in 0..self.regions.len() {
                if self.regions[region].source {
                    over |= self.step(region)?.0 != Pause::Steady;
                }
            }
            self.settle(around)?;
            if over {
                self.flush(&*around.interrupted)?;
            }
            if loops && !(around.interrupted)() {
                self.unstuck()?;
            }
            if over {
                break;
            }
            iterations += 1;
            (around.progress)(iterations);
        }
        Ok(iterations)
    }

    /// Fails where streams wait for each other and can never continue. Must be called when no node can fire.
    fn unstuck(&mut self) -> Result<(), Stop> {
        let flat = &self.native.compiled.flat;
        let stuck = deadlock(flat, |node| self.lacking(node));
        stuck.map_or(Ok(()), |error| Err(Stop::Fault(Box::new(error))))
    }

    /// Sets up all regions before anything fires.
    pub(super) fn begin_regions(&mut self) {
        let regions = self.native.compiled.schedule.regions.iter().enumerate();
        self.regions = regions.map(|(home, region)| Region::new(region, home, self)).collect();
    }

    /// Runs steady states in batches, as long as all sources have whole ones; returns their number.
    fn in_batches(
        &mut self,
        most: u64,
        groups: Option<(&Groups<'a>, &mut Link<Packet>)>,
        around: &mut Surroundings<'_>,
    ) -> Result<u64, Stop> {
        let mut sources = match self.sources.take() {
            Some(sources) => sources,
            None => self.begin_sources(most, around)?,
        };
        let done = self.batches_of(&mut sources, groups, around);
        self.note_failure(&done, &sources);
        done?;
        self.by_schedule();
        Ok(sources.done)
    }

    /// Remembers which batches were complete before a failure.
    pub(super) fn note_failure<T>(&mut self, done: &Result<T, Stop>, sources: &Sources) {
        if done.is_err() {
            self.failed = Some((sources.sure, sources.done.max(1)));
        }
    }

    /// Runs the initialisation of the sources, before the first batch.
    pub(super) fn begin_sources(
        &mut self,
        most: u64,
        around: &mut Surroundings<'_>,
    ) -> Result<Sources, Stop> {
        let mut sources = Sources { most, done: 0, sure: 0, batch: self.batch(), may: 1, over: most == 0 };
        if most > 0 && !(around.interrupted)() {
            for region in 0..self.regions.len() {
                if self.regions[region].source {
                    let begun = self.begin(region);
                    self.note_failure(&begun, &sources);
                    sources.over |= !begun?;
                }
            }
        }
        Ok(sources)
    }

    fn batches_of(
        &mut self,
        sources: &mut Sources,
        groups: Option<(&Groups<'a>, &mut Link<Packet>)>,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Stop> {
        if let Some((groups, link)) = groups {
            groups.drive(self, sources, link, around)?;
        }
        let mut many = Many::default();
        self.state.set_patient(self.native.is_patient());
        while !sources.over && !(around.interrupted)() {
            let before = sources.done;
            self.some_batches(sources, &mut many)?;
            if sources.done > before {
                (around.progress)(sources.done);
            }
        }
        if sources.done > 0 && self.native.mode == Mode::Hybrid {
            self.flush_partial_batches()?;
        }
        Ok(())
    }

    /// Runs what static regions have held back until it is worth a call.
    fn flush_partial_batches(&mut self) -> Result<(), Stop> {
        self.state.set_patient(false);
        for region in 0..self.regions.len() {
            if !self.regions[region].source {
                self.batches(region..region + 1, 0, 1)?;
            }
        }
        self.relieved = false;
        Ok(())
    }

    /// The steady states of the next batch, for all sources.
    pub(super) fn next_batch(&mut self, sources: &mut Sources) -> Result<u64, Stop> {
        let want = (sources.most - sources.done).min(sources.size());
        let n = self.available(want)?;
        sources.done += n;
        sources.over = n < want || sources.done == sources.most;
        Ok(n)
    }

    /// The steady states of the sources in a batch: as many as keep the queues between regions in the cache.
    fn batch(&self) -> u64 {
        let sources = self.regions.iter().filter(|region| region.source);
        let scales = sources.filter_map(|region| Some(self.native.parts[region.stage?].scale));
        let most = scales.fold(BATCH, u64::min);
        self.native.batch.unwrap_or_else(|| {
            let between = self.native.compiled.between_regions();
            let bytes: usize = between.map(|at| self.around.queues.item_bytes(at.index())).sum();
            most.min((NEAR / bytes.max(1) as u64).max(FEW))
        })
    }

    /// The steady states, up to `want`, that all sources have items for.
    fn available(&mut self, want: u64) -> Result<u64, Stop> {
        let mut n = want;
        for region in &self.regions {
            if let (true, Some(stage)) = (region.source, region.stage) {
                n = n.min(self.ends.available(&self.stages[stage].facts, want)?);
            }
        }
        Ok(n)
    }

    /// Runs a region's initialisation as far as possible; returns whether it is complete.
    fn begin(&mut self, region: usize) -> Result<bool, Stop> {
        while self.regions[region].cursor.is_initialising() {
            if !self.fire_next(region)? {
                return Ok(false);
            }
        }
        if self.regions[region].steady.is_none() {
            self.regions[region].steady = Some(0);
            if let Some(stage) = self.regions[region].stage {
                self.fill_buffers(stage, 0);
            }
        }
        Ok(true)
    }

    /// Runs a region until it lacks input or stops at the limit of queues, or for `steady` steady states; returns whether
    /// anything fired.
    pub(super) fn advance(&mut self, region: usize, mut steady: Option<u64>) -> Result<bool, Stop> {
        self.moved = false;
        if !self.begin(region)? {
            return Ok(self.moved);
        }
        let mut moved = self.moved;
        loop {
            let (any, more) = self.advance_some(region, steady)?;
            moved |= any;
            steady = steady.map(|_| 0);
            let stopped = self.around.queues.take_stopped();
            if stopped && self.around.queues.rule().yields() {
                self.around.queues.stop();
                return Ok(moved);
            }
            if !(more || stopped) || (self.around.interrupted)() {
                return Ok(moved);
            }
        }
    }

    /// Runs a limited number of a region's firings, so that a filter that pops little and pushes very much,
    /// or forever, does not fill its queues. Returns whether anything fired, and whether more may be
    /// possible.
    fn advance_some(&mut self, region: usize, steady: Option<u64>) -> Result<(bool, bool), Stop> {
        let (mut moved, mut more) = (false, false);
        for at in 0..self.regions[region].takers.len() {
            let node = self.regions[region].takers[at];
            // A firing that has waited continues with as many firings as were requested when it began.
            let waited = self.awaited[node.0 as usize].is_some();
            let fired = self.fire_some(node, IN_ONE_GO)?;
            moved |= fired > 0;
            more |= fired >= IN_ONE_GO || waited && fired > 0;
        }
        let before = self.regions[region].steady.unwrap_or(0);
        let n = match (self.regions[region].stage, steady) {
            (_, Some(n)) => n,
            (Some(stage), None) => {
                // Files may be read here too, and end before the queues are empty.
                let mut n = self.possible(stage);
                // The items of a firing that has not ended are in the queue, but the schedule has not come to
                // use them.
                if let Some(taken) = self.taken(region) {
                    n = n.min(taken.saturating_sub(before));
                }
                let fits = self.fitting(stage);
                let there = self.ends.available(&self.stages[stage].facts, n.min(fits))?;
                // At the end of a file no room would help.
                if fits < n && there == fits {
                    self.around.queues.stop();
                }
                there
            }
            (None, None) => self.taken(region).unwrap_or(0).saturating_sub(before),
        };
        if let Some(stage) = self.regions[region].stage {
            let (mut left, scale) = (n, self.native.parts[stage].scale);
            while left > 0 {
                let now = left.min(scale);
                self.steady(stage, before + n - left, now)?;
                left -= now;
            }
            self.count(stage, n);
        }
        self.regions[region].steady = Some(before + n);
        for at in 0..self.regions[region].givers.len() {
            let node = self.regions[region].givers[at];
            let due = self.regions[region].due(node, before + n);
            moved |= self.fire_some(node, due.saturating_sub(self.fired[node.0 as usize]))? > 0;
        }
        self.within_budget()?;
        Ok((moved || n > 0, more))
    }

    /// The steady states of a part whose output fits into the queues; at least one.
    fn fitting(&mut self, stage: usize) -> u64 {
        let bytes = self.stages[stage].output;
        if bytes == 0 { u64::MAX } else { self.around.queues.fitting(self.state.queues(), bytes) }
    }

    /// Whole steady states that takers have done, if there are takers.
    fn taken(&self, region: usize) -> Option<u64> {
        let region = &self.regions[region];
        let steady = |(node, begun, firings): &(NodeId, u64, u64)| {
            let takes = *firings > 0 && region.takers.contains(node);
            takes.then(|| (self.fired[node.0 as usize].saturating_sub(*begun)) / firings)
        };
        region.firings.iter().filter_map(steady).min()
    }

    /// Steady states of a part that all its inputs have items for.
    fn possible(&mut self, stage: usize) -> u64 {
        let mut n = u64::MAX;
        for at in 0..self.stages[stage].inputs.len() {
            let (channel, items, ahead) = self.stages[stage].inputs[at];
            n = n.min(self.held(channel).saturating_sub(ahead) / items);
        }
        // A part that takes nothing, although other regions precede it, never continues.
        if n == u64::MAX { 0 } else { n }
    }
}
