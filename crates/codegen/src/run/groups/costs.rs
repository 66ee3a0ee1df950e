//! What each region costs on one thread, and what threads would cost in addition.

use super::ROUNDS;
use crate::run::Run;
use crate::run::parts::Sources;
use std::time::Instant;
use thalweg_lang::flat::{Channel, ChannelId};
use thalweg_lang::interpret::{Stop, Surroundings};

/// The batches that are timed, and the batches before them that are not.
const TIMED: u64 = 8;
const BEFORE: u64 = 2;

/// The seconds that it takes to copy a byte out of a queue into a packet, or back: at 12 GB/s, between caches.
const COPY: f64 = 0.08e-9;

/// The least duration of a packet in seconds.
const WORTH: f64 = 600e-6;

/// What some batches have taken on this thread.
#[derive(Default)]
pub(super) struct Costs {
    /// By region: seconds.
    pub(super) regions: Vec<f64>,
    /// By channel between regions: items that the consumer has popped.
    pub(super) moved: Vec<u64>,
    /// The number of batches.
    pub(super) rounds: u64,
}

impl Costs {
    /// The batches of a packet.
    pub(super) fn rounds_of_packet(&self) -> u64 {
        let all: f64 = self.regions.iter().sum();
        (WORTH * self.rounds as f64 / all.max(f64::MIN_POSITIVE)).clamp(1.0, ROUNDS as f64) as u64
    }
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

/// The channels between regions, as the regions at their ends, and the seconds that it takes to copy their items out of a
/// packet or into one.
pub(super) fn hand_overs(run: &Run<'_>, costs: &Costs) -> Vec<(usize, usize, f64)> {
    let compiled = &run.native.compiled;
    let region_of = compiled.schedule.region_of();
    let moved = costs.moved.iter().zip(compiled.flat.channels()).enumerate();
    let moved = moved.filter(|(_, (moved, _))| **moved > 0);
    let of = |(at, (moved, channel)): (usize, (&u64, &Channel))| {
        let bytes = moved * run.item_bytes(ChannelId(at as u32)) as u64;
        (region_of[channel.from.0.index()], region_of[channel.to.0.index()], bytes as f64 * COPY)
    };
    moved.map(of).collect()
}
