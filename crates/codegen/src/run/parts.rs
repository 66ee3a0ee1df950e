//! Runs of programs of several regions, with queues between them that hold what no schedule knows.
//!
//! **Order.** The regions that take from no other, the *sources*, do a batch of steady states; then each other
//! region, in data-flow order, goes on until it is dry. So whatever there is goes down to the end before the
//! sources go on, and a queue holds what comes of a batch, and no more.
//!
//! A region's static part goes by its plan as long as a whole steady state is there. A filter whose firings
//! decide how many items they move stands at the border of its region, and fires for itself: where it takes by
//! its own decision, as often as it can; where it only gives so, as often as its region's schedule has come to.
//! So each region comes to where the interpreter brings it, but for the last steady state, which is done in
//! part: at the end the regions go on by their schedules, node by node, from where they are ([`Region::turn`]).
//!
//! **Node by node** from the beginning go programs in which the order of firings can be seen: where several
//! filters print, or one does and something may fail; where regions wait for each other round a loop; and where
//! a region that takes by its own decision takes elsewhere too and the run ends before its input does, since
//! it must not be ahead then.

use super::turn::Turn;
use super::{Run, Stage, failed};
use crate::Mode;
use crate::plan::held;
use thalweg_lang::flat::{ChannelId, NodeId};
use thalweg_lang::interpret::{Options, Stop, Surroundings};
use thalweg_lang::schedule;

/// The most and the fewest steady states of the sources in a batch, and bytes that queues may take if each gets
/// an item for one of them.
const BATCH: u64 = 4096;
const FEW: u64 = 64;
const NEAR: u64 = 32 << 10;

/// How far the sources have come.
struct Sources {
    most: u64,
    done: u64,
    batch: u64,
    /// There are no whole batches any more.
    over: bool,
}

/// A part of what is done for a batch.
enum Step {
    Region(usize),
    /// Regions that are one filter each, in one call.
    Run(u32),
}

/// A region in a run.
pub(super) struct Region<'a> {
    /// Where its schedule is, of what is done node by node.
    turn: Turn<'a>,
    /// Its static part.
    stage: Option<usize>,
    /// Filters that are run by themselves: those that take from other regions, and others.
    takers: Vec<NodeId>,
    givers: Vec<NodeId>,
    /// Its nodes, with how often each fires in the initialisation, and in a steady state.
    firings: Vec<(NodeId, u64, u64)>,
    /// Whether it takes from no other.
    source: bool,
    /// Steady states after the initialisation, where that is done.
    steady: Option<u64>,
}

/// What it comes to if a region does what it can.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pause {
    /// A steady state has ended.
    Steady,
    /// There is nothing more to be done now.
    Lacks,
}

impl<'a> Region<'a> {
    fn new(region: &'a schedule::Region, home: usize, run: &Run<'a>) -> Region<'a> {
        let (flat, native) = (&run.native.compiled.flat, run.native);
        let nodes = region.nodes.len();
        let (mut begun, mut firings) = (vec![0; flat.nodes.len()], vec![0; flat.nodes.len()]);
        crate::plan::count(&region.init, 1, &mut begun);
        crate::plan::count(&region.steady, 1, &mut firings);
        let flows = region.nodes.iter().copied().filter(|node| native.waits[node.0 as usize].is_some());
        let outside = |channel: &ChannelId| !region.nodes.contains(&flat.channel(*channel).from);
        let (takers, givers) = flows.partition(|node| flat.node(*node).inputs.iter().any(outside));
        let mut source = true;
        for node in &region.nodes {
            for input in &flat.node(*node).inputs {
                let channel = flat.channel(*input);
                source &= channel.back || region.nodes.contains(&channel.from);
            }
        }
        let mut counts = Vec::with_capacity(nodes);
        for node in &region.nodes {
            counts.push((*node, begun[node.0 as usize], firings[node.0 as usize]));
        }
        Region {
            turn: Turn::new(region),
            stage: native.parts.iter().position(|part| part.home == home),
            takers,
            givers,
            firings: counts,
            source,
            steady: None,
        }
    }

    /// How often a node has fired after so many steady states.
    fn due(&self, node: NodeId, steady: u64) -> u64 {
        let counts = self.firings.iter().find(|(other, ..)| *other == node);
        counts.map_or(0, |(_, begun, firings)| begun + firings.saturating_mul(steady))
    }
}

impl<'a> Run<'a> {
    /// Runs until the iterations are done, the input is over, or somebody interrupts; how many there were.
    pub(super) fn drive_parts(
        &mut self,
        options: Options,
        around: &mut Surroundings<'_>,
    ) -> Result<u64, Stop> {
        let regions = self.native.compiled.schedule.regions.iter().enumerate();
        self.regions = regions.map(|(home, region)| Region::new(region, home, self)).collect();
        let most = options.iterations.unwrap_or(u64::MAX);
        let mut iterations = 0;
        if !self.exact(options) {
            iterations = self.in_batches(most, around)?;
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
                break;
            }
            iterations += 1;
            (around.progress)(iterations);
        }
        Ok(iterations)
    }

    /// Whether the order of firings can be seen.
    fn exact(&self, options: Options) -> bool {
        let flat = &self.native.compiled.flat;
        let region_of = self.native.compiled.schedule.region_of();
        let between = |channel: &&thalweg_lang::flat::Channel| {
            region_of[channel.from.0 as usize] != region_of[channel.to.0 as usize]
        };
        let mut inputs = vec![0; self.regions.len()];
        for channel in flat.channels.iter().filter(between) {
            inputs[region_of[channel.to.0 as usize]] += 1;
        }
        let ahead =
            self.regions.iter().zip(&inputs).any(|(region, inputs)| {
                !region.takers.is_empty() && *inputs > 1 && options.iterations.is_some()
            });
        self.native.exact
            || self.native.mode == Mode::Sequential
            || ahead
            || flat.channels.iter().filter(between).any(|channel| channel.back)
    }

    /// Steady states in batches, as long as there are whole ones of all sources; how many there were.
    fn in_batches(&mut self, most: u64, around: &mut Surroundings<'_>) -> Result<u64, Stop> {
        let mut sources = Sources { most, done: 0, batch: self.batch(), over: most == 0 };
        if most > 0 && !(around.interrupted)() {
            for region in 0..self.regions.len() {
                if self.regions[region].source {
                    sources.over |= !self.begin(region)?;
                }
            }
        }
        let (steps, demand) = (self.steps(), self.native.mode == Mode::Demand);
        while !sources.over && !(around.interrupted)() {
            let before = sources.done;
            if demand {
                self.pull_all(&mut sources)?;
            } else {
                let n = self.next_batch(&mut sources)?;
                for step in &steps {
                    self.step_of_batch(step, n)?;
                }
            }
            if sources.done > before {
                (around.progress)(sources.done);
            }
        }
        self.by_schedule();
        Ok(sources.done)
    }

    /// The next batch's steady states, of all sources together.
    fn next_batch(&mut self, sources: &mut Sources) -> Result<u64, Stop> {
        let want = (sources.most - sources.done).min(sources.batch);
        let n = self.available(want)?;
        sources.done += n;
        sources.over = n < want || sources.done == sources.most;
        Ok(n)
    }

    fn step_of_batch(&mut self, step: &Step, n: u64) -> Result<(), Stop> {
        match step {
            Step::Region(region) => {
                let steady = self.regions[*region].source.then_some(n);
                self.advance(*region, steady)?;
            }
            Step::Run(run) if self.state.run(*run, n, &mut self.around) => {}
            Step::Run(_) => return Err(failed(self.native, &mut self.state, &mut self.around)),
        }
        Ok(())
    }

    /// What is done for a batch, in order.
    fn steps(&self) -> Vec<Step> {
        let (native, mut steps) = (self.native, Vec::new());
        let handed_over = native.mode == Mode::Hybrid;
        for (at, region) in native.compiled.schedule.regions.iter().enumerate() {
            let run = native.runs.iter().position(|run| region.nodes.iter().any(|node| run.contains(node)));
            match run.filter(|_| handed_over) {
                None => steps.push(Step::Region(at)),
                Some(run) if native.runs[run][..1] == region.nodes[..] => steps.push(Step::Run(run as u32)),
                Some(_) => {}
            }
        }
        steps
    }

    /// Steady states of the sources in a batch: as many as let the queues between regions stay near.
    fn batch(&self) -> u64 {
        if self.native.mode == Mode::NoOp {
            return 1;
        }
        let sources = self.regions.iter().filter(|region| region.source);
        let scales = sources.filter_map(|region| Some(self.native.parts[region.stage?].scale));
        let most = scales.fold(BATCH, u64::min);
        self.native.batch.unwrap_or_else(|| {
            let (flat, region_of) = (&self.native.compiled.flat, self.native.compiled.schedule.region_of());
            let between = flat.channels.iter().enumerate().filter(|(_, channel)| {
                region_of[channel.from.0 as usize] != region_of[channel.to.0 as usize]
            });
            let bytes: usize = between.map(|(at, _)| self.around.queues.item_bytes(at)).sum();
            most.min((NEAR / bytes.max(1) as u64).max(FEW))
        })
    }

    /// How many steady states, up to a number, all sources have items for.
    fn available(&mut self, want: u64) -> Result<u64, Stop> {
        let mut n = want;
        for region in &self.regions {
            if let (true, Some(stage)) = (region.source, region.stage) {
                n = n.min(self.ends.available(&self.stages[stage].facts, want)?);
            }
        }
        Ok(n)
    }

    /// Does a region's initialisation, as far as it goes; whether it is done.
    fn begin(&mut self, region: usize) -> Result<bool, Stop> {
        while self.regions[region].turn.begins() {
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

    /// A region goes on until it is dry, or for so many steady states; whether it has done anything.
    fn advance(&mut self, region: usize, steady: Option<u64>) -> Result<bool, Stop> {
        self.moved = false;
        if !self.begin(region)? {
            return Ok(self.moved);
        }
        let mut moved = self.moved;
        for at in 0..self.regions[region].takers.len() {
            let node = self.regions[region].takers[at];
            moved |= self.fire_some(node, u64::MAX)? > 0;
        }
        let before = self.regions[region].steady.unwrap_or(0);
        let n = match (self.regions[region].stage, steady) {
            (_, Some(n)) => n,
            (Some(stage), None) => self.possible(stage),
            (None, None) => self.taken(region) - before,
        };
        if let Some(stage) = self.regions[region].stage {
            let (mut left, scale) = (n, self.native.parts[stage].scale);
            while left > 0 {
                let now = left.min(scale);
                self.steady(stage, before + n - left, now)?;
                left -= now;
            }
        }
        self.regions[region].steady = Some(before + n);
        for at in 0..self.regions[region].givers.len() {
            let node = self.regions[region].givers[at];
            let due = self.regions[region].due(node, before + n);
            moved |= self.fire_some(node, due.saturating_sub(self.fired[node.0 as usize]))? > 0;
        }
        Ok(moved || n > 0)
    }

    /// Each end of the graph gets something, if there is anything left for it: whoever it lacks items from
    /// goes on before it, and so on up to the sources.
    fn pull_all(&mut self, sources: &mut Sources) -> Result<(), Stop> {
        let region_of = self.native.compiled.schedule.region_of();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.regions.len()];
        let mut ends = vec![true; self.regions.len()];
        for channel in &self.native.compiled.flat.channels {
            let (from, to) = (region_of[channel.from.0 as usize], region_of[channel.to.0 as usize]);
            if from != to {
                before[to].push(from);
                ends[from] = false;
            }
        }
        while !sources.over {
            for region in (0..ends.len()).filter(|region| ends[*region]) {
                self.pull(region, &before, sources)?;
            }
        }
        Ok(())
    }

    fn pull(&mut self, region: usize, before: &[Vec<usize>], sources: &mut Sources) -> Result<bool, Stop> {
        if self.regions[region].source {
            return self.feed(sources);
        }
        while !self.advance(region, None)? {
            let mut any = false;
            for other in &before[region] {
                any |= self.pull(*other, before, sources)?;
            }
            if !any {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A batch of all sources; whether there was one.
    fn feed(&mut self, sources: &mut Sources) -> Result<bool, Stop> {
        if sources.over {
            return Ok(false);
        }
        let n = self.next_batch(sources)?;
        for region in 0..self.regions.len() {
            if self.regions[region].source {
                self.advance(region, Some(n))?;
            }
        }
        Ok(n > 0)
    }

    /// Whole steady states that filters which take as they decide have begun.
    fn taken(&self, region: usize) -> u64 {
        let region = &self.regions[region];
        let steady = |(node, begun, firings): &(NodeId, u64, u64)| {
            let takes = *firings > 0 && region.takers.contains(node);
            takes.then(|| (self.fired[node.0 as usize].saturating_sub(*begun)) / firings)
        };
        region.firings.iter().filter_map(steady).min().unwrap_or(0)
    }

    /// Steady states of a part that all its inputs have items for.
    fn possible(&mut self, stage: usize) -> u64 {
        let mut n = u64::MAX;
        for at in 0..self.stages[stage].inputs.len() {
            let (channel, items, ahead) = self.stages[stage].inputs[at];
            n = n.min(self.held(channel).saturating_sub(ahead) / items);
        }
        // One that takes nothing, though others stand before it, never goes on.
        if n == u64::MAX { 0 } else { n }
    }

    /// From now on regions go by their schedules, node by node, from where they are.
    fn by_schedule(&mut self) {
        for run in &self.native.runs {
            for node in run {
                self.fired[node.0 as usize] = self.state.fired(node.0);
                let region = self.regions.iter_mut().find(|region| region.firings[0].0 == *node);
                if let Some(region) = region {
                    region.steady = Some(self.fired[node.0 as usize]);
                }
            }
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
            self.regions[region].turn.again();
        }
    }

    /// Fires what is next in a region's schedule, as often as it can; whether that was as often as it should.
    /// What has been done ahead is passed.
    fn fire_next(&mut self, region: usize) -> Result<bool, Stop> {
        let Some((node, left)) = self.regions[region].turn.next() else { return Ok(true) };
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
        self.regions[region].turn.advance(done);
        Ok(true)
    }

    /// Whether a node's firings may wait in their middle, so that nobody knows when they have ended.
    fn one_by_one(&self, node: NodeId) -> bool {
        self.native.waits[node.0 as usize].is_some_and(|stack| stack > 0)
    }

    /// Runs a region to the end of a steady state, or as far as it goes; whether anything was done.
    fn step(&mut self, region: usize) -> Result<(Pause, bool), Stop> {
        self.moved = false;
        loop {
            if self.regions[region].turn.next().is_none() {
                self.regions[region].turn.again();
                return Ok((Pause::Steady, self.moved));
            }
            if !self.fire_next(region)? {
                return Ok((Pause::Lacks, self.moved));
            }
        }
    }

    /// Runs the regions that take from others until none goes on.
    fn settle(&mut self, around: &mut Surroundings<'_>) -> Result<(), Stop> {
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

impl Stage<'_> {
    /// Where a part takes items from others: how many in a steady state, and how many must be there besides.
    pub(super) fn inputs(facts: &crate::plan::Facts<'_>) -> Vec<(ChannelId, u64, u64)> {
        let flat = &facts.compiled.flat;
        let ports = flat.ports();
        let mut inputs = Vec::new();
        for (at, channel) in flat.channels.iter().enumerate() {
            if facts.has(channel.from) || !facts.has(channel.to) {
                continue;
            }
            let id = ChannelId(at as u32);
            let (now, next) = (held(facts, id, ports[at], 0), held(facts, id, ports[at], 1));
            if next.0 > now.0 {
                inputs.push((id, (next.0 - now.0) as u64, (now.1 - now.0) as u64));
            }
        }
        inputs
    }
}
