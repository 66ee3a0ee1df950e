//! What each region costs on one thread, and what threads would cost in addition.

use super::cut::Stretch;
use crate::run::Run;
use crate::run::parts::Sources;
use crate::threads::Threads;
use std::time::Instant;
use thalweg_lang::flat::ChannelId;
use thalweg_lang::interpret::{Stop, Surroundings};

/// The batches that are timed, and the batches before them that are not.
const TIMED: u64 = 8;
const BEFORE: u64 = 2;

/// The seconds that it takes to copy a byte out of a queue into a packet, or back.
const COPY: f64 = 0.25e-9;

/// What some batches have taken on this thread.
pub(super) struct Costs {
    /// By region: seconds.
    pub(super) regions: Vec<f64>,
    /// By channel between regions: items that the consumer has popped.
    pub(super) moved: Vec<u64>,
    /// The number of batches.
    pub(super) rounds: u64,
}

/// Runs and times some batches on this thread.
pub(super) fn costs(
    run: &mut Run<'_>,
    sources: &mut Sources,
    around: &mut Surroundings<'_>,
) -> Result<Costs, Stop> {
    let inputs = inputs(run);
    let mut costs = vec![f64::MIN_POSITIVE; run.regions.len()];
    let mut moved = vec![0; run.native.compiled.flat.channels().len()];
    let mut timed = 0;
    for round in 0..BEFORE + TIMED {
        if sources.over || (around.interrupted)() {
            break;
        }
        sources.sure = sources.done;
        let n = run.next_batch(sources)?;
        for (region, cost) in costs.iter_mut().enumerate() {
            let held: Vec<u64> = inputs[region].iter().map(|input| run.held(*input)).collect();
            let start = Instant::now();
            run.batches(region..region + 1, n, 1)?;
            if round >= BEFORE {
                *cost += start.elapsed().as_secs_f64();
                for (input, held) in inputs[region].iter().zip(held) {
                    moved[input.index()] += held.saturating_sub(run.held(*input));
                }
            }
        }
        timed += u64::from(round >= BEFORE);
        (around.progress)(sources.done);
    }
    Ok(Costs { regions: costs, moved, rounds: timed })
}

/// By region: the channels from other regions.
fn inputs(run: &Run<'_>) -> Vec<Vec<ChannelId>> {
    let compiled = &run.native.compiled;
    let region_of = compiled.schedule.region_of();
    let mut inputs = vec![Vec::new(); run.regions.len()];
    for (at, channel) in compiled.flat.channels().iter().enumerate() {
        let (from, to) = (region_of[channel.from.0.index()], region_of[channel.to.0.index()]);
        if from != to {
            inputs[to].push(ChannelId(at as u32));
        }
    }
    inputs
}

/// The expected duration on this many threads, with the copies of items between stretches.
pub(super) fn longest((costs, copies): (&[f64], &[f64]), stretches: &[Stretch], threads: &Threads) -> f64 {
    let cost =
        |(stretch, copies): (&Stretch, &f64)| costs[stretch.regions.clone()].iter().sum::<f64>() + copies;
    let alone = stretches.iter().zip(copies).filter(|(stretch, _)| stretch.takes.is_none()).map(cost);
    let all: f64 = costs.iter().chain(copies).sum();
    alone.fold(all / threads.count() as f64, f64::max)
}

/// The seconds that each stretch would take to copy items out of packets and into packets, if `moved` items went
/// through the channels.
pub(super) fn copies(run: &Run<'_>, stretches: &[Stretch], moved: &[u64]) -> Vec<f64> {
    let compiled = &run.native.compiled;
    let region_of = compiled.schedule.region_of();
    let bytes = |stretch: &Stretch| {
        let channels = compiled.flat.channels().iter().enumerate();
        let crosses = |(from, to): (usize, usize)| {
            stretch.regions.contains(&region_of[from]) != stretch.regions.contains(&region_of[to])
        };
        let crossing =
            channels.filter(|(_, channel)| crosses((channel.from.0.index(), channel.to.0.index())));
        crossing.map(|(at, _)| moved[at] * run.item_bytes(ChannelId(at as u32)) as u64).sum::<u64>()
    };
    stretches.iter().map(|stretch| bytes(stretch) as f64 * COPY).collect()
}
