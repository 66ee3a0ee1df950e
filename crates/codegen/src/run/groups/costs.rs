//! What each region costs on one thread, and what threads would cost in addition.

use crate::run::Run;
use crate::run::parts::Sources;
use crate::run::units::set_costs;
use std::time::{Duration, Instant};
use thalweg::embed::plan::{HandOver, Units};
use thalweg_lang::flat::{ChannelId, NodeId};
use thalweg_lang::interpret::{Stop, Surroundings};

/// The least batches that are timed, and their least duration; and the batches before them that are not timed.
const TIMED: u64 = 8;
const LONG: Duration = Duration::from_millis(1);
const BEFORE: u64 = 2;

/// The seconds that it takes to copy a byte out of a queue into a packet, or back: at 12 GB/s, between caches.
const COPY: f64 = 0.08e-9;

/// The least duration of a packet in seconds, and of a batch in one: a call for a region takes some tenths of a
/// microsecond.
const PACKET: f64 = 600e-6;
const BATCH: f64 = 20e-6;

/// What some batches have taken on this thread.
#[derive(Default)]
pub(super) struct Costs {
    /// By region: seconds.
    regions: Vec<f64>,
    /// By channel between regions: items that the consumer has popped.
    moved: Vec<u64>,
    /// By reader, then by writer: the node, and its firings.
    files: Vec<(NodeId, u64)>,
    /// The steady states of the sources.
    states: u64,
    /// The seconds of one thread for a steady state, where threads must be faster.
    pub(super) alone: Option<f64>,
}

impl Costs {
    /// The seconds of one thread for a steady state of the sources.
    fn each(&self) -> Option<f64> {
        let timed = self.regions.iter().sum::<f64>() / self.states as f64;
        self.alone.or((self.states > 0).then_some(timed))
    }

    /// The steady states of a packet, without regard to memory.
    pub(super) fn packet(&self) -> u64 {
        self.each().map_or(1, |each| (PACKET / each.max(1e-12)) as u64)
    }

    /// Sets the costs of the regions, which are `units`, and of the items that pass between them.
    pub(super) fn set(&self, run: &Run<'_>, units: &mut Units) {
        let (compiled, region_of) = (&run.native.compiled, run.native.compiled.schedule.region_of());
        let scale = set_costs(units, &self.regions);
        *units.whole_mut() = self.alone.map(|alone| scale.cost(alone * self.states as f64));
        let cost = |channel, items| scale.cost((items * run.item_bytes(channel) as u64) as f64 * COPY);
        let between = self.moved.iter().zip(compiled.flat.channels()).enumerate();
        let between = between.map(|(at, (moved, channel))| {
            let (from, to) = (region_of[channel.from().0.index()], region_of[channel.to().0.index()]);
            HandOver::new(Some(from), Some(to), cost(ChannelId(at as u32), *moved))
        });
        let files = self.files.iter().filter_map(|(node, items)| {
            let region = region_of[node.index()];
            let (read, written) = (compiled.flat.output(*node), compiled.flat.input(*node));
            Some(match run.ends.is_reader(*node) {
                true => HandOver::new(None, Some(region), cost(read?, *items)),
                false => HandOver::new(Some(region), None, cost(written?, *items)),
            })
        });
        *units.hand_overs_mut() = between.chain(files).filter(|items| items.cost() > 0).collect();
    }
}

/// The steady states of a batch in a packet or while regions are timed, with `near` in one that keeps the queues in the
/// nearest cache and `alone` seconds for each on one thread.
pub(super) fn batch(near: u64, alone: f64) -> u64 {
    ((BATCH / alone.max(1e-12)) as u64).clamp(near, near.saturating_mul(super::FAR))
}

/// Runs and times some batches on this thread.
pub(super) fn costs(
    run: &mut Run<'_>,
    sources: &mut Sources,
    alone: Option<f64>,
    around: &mut Surroundings<'_>,
) -> Result<Costs, Stop> {
    let inputs = inputs(run);
    let mut costs = Costs {
        regions: vec![f64::MIN_POSITIVE; run.regions.len()],
        moved: vec![0; run.native.compiled.flat.channels().len()],
        files: Vec::new(),
        states: 0,
        alone,
    };
    let (mut round, mut timed, mut before) = (0, Duration::ZERO, Vec::new());
    while (round < BEFORE + TIMED || timed < LONG) && !sources.over && !(around.interrupted)() {
        if round == BEFORE {
            before = of_files(run);
        }
        sources.sure = sources.done;
        let n = run.next_batch(sources)?;
        for (region, inputs) in inputs.iter().enumerate() {
            let held: Vec<u64> = inputs.iter().map(|input| run.held(*input)).collect();
            let start = Instant::now();
            run.batches(region..region + 1, n, 1)?;
            if round >= BEFORE {
                timed += start.elapsed();
                costs.regions[region] += start.elapsed().as_secs_f64();
                for (input, held) in inputs.iter().zip(held) {
                    costs.moved[input.index()] += held.saturating_sub(run.held(*input));
                }
            }
        }
        run.resize(sources);
        costs.states += if round >= BEFORE { n } else { 0 };
        round += 1;
        (around.progress)(sources.done);
    }
    let since = of_files(run).into_iter().zip(before);
    costs.files = since.map(|((node, fired), (_, before))| (node, fired - before)).collect();
    Ok(costs)
}

/// The firings of the readers, then of the writers, so far.
fn of_files(run: &Run<'_>) -> Vec<(NodeId, u64)> {
    let (readers, writers) = (run.ends.readers.iter(), run.ends.writers.iter());
    let nodes = readers.map(|(node, _)| *node).chain(writers.map(|(node, _)| *node));
    nodes.map(|node| (node, run.fired[node.index()])).collect()
}

/// By region: the channels from other regions.
fn inputs(run: &Run<'_>) -> Vec<Vec<ChannelId>> {
    let compiled = &run.native.compiled;
    let region_of = compiled.schedule.region_of();
    let mut inputs = vec![Vec::new(); run.regions.len()];
    for (at, channel) in compiled.flat.channels().iter().enumerate() {
        let (from, to) = (region_of[channel.from().0.index()], region_of[channel.to().0.index()]);
        if from != to {
            inputs[to].push(ChannelId(at as u32));
        }
    }
    inputs
}
