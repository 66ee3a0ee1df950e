//! Regions of dynamic rates on several threads, as a graph of our engine.
//!
//! ```text
//!  the caller reads ──packets──▶ group ──▶ group ──▶ ... ──packets──▶ the caller writes, in order
//! ```
//!
//! A *group* is a stretch of the regions in data-flow order, as it is on one thread: what its regions give one
//! another is handed over in its own queues. It is one node of the engine, on a thread of its own, and has a run
//! of its own ([`share`]): state, queues, and stacks of firings that wait. A *packet* is some batches on their way
//! through all groups, with the items that go from one group to another ([`packet`]).
//!
//! A region that keeps nothing but what stands in the queues that it takes from is a group by itself, where it is
//! much of the work, that each thread has a copy of ([`free`]). Packets go to the copies in turns and come back in
//! their order ([`crew`]). No more threads are at work at once than were asked for ([`permits`]).
//!
//! **The same answer.** A group does for each batch what one thread would do for it, with the same items, so all is
//! as it would be there: what is written, what is printed, and which failure comes first. At the end the parts go
//! back into one run, which does what is left.
//!
//! **Bounds.** There are so many packets, made at the beginning; who reads waits for one that is written. Nobody
//! waits for items of a later packet to go on with an earlier one, so nothing can be stuck. Files and standard
//! output are the caller's thread's alone.
//!
//! **Who does what** follows from what some batches have cost, region by region. Where one region that keeps
//! something is most of it, or all is soon over, one thread does everything: threads and copies have their price too.
//! Where they turn out to be slower, one thread does the rest ([`trial`]).

mod caller;
mod crew;
mod cut;
mod free;
mod member;
mod packet;
mod permits;
mod ports;
mod share;
mod trial;

pub(super) use ports::Ports;
pub(super) use share::Share;

use super::Run;
use super::batches::Many;
use super::parts::Sources;
use crate::Mode;
use crate::threads::{Split, Threads};
use caller::Caller;
use cut::{Cut, Stretch};
use std::ops::Range;
use std::time::{Duration, Instant};
use thalweg_lang::interpret::{Stop, Surroundings};

/// Batches that are timed, and those before them.
const TIMED: u64 = 8;
const BEFORE: u64 = 2;

/// Seconds that a packet is worth, and the most batches in one.
const WORTH: f64 = 600e-6;
const ROUNDS: f64 = 256.0;

/// How much faster it must get, not counting what copies cost, and how long a run must have taken before: to begin
/// with threads takes some tenths of a millisecond.
const GAIN: f64 = 1.5;
const QUICK: Duration = Duration::from_millis(10);

/// How much of a thread's share a region must be to be done by several at once.
const MUCH: f64 = 0.1;

/// Batches on several threads, as far as there are some, if that is worth it.
pub(super) fn drive(
    run: &mut Run<'_>,
    sources: &mut Sources,
    threads: &Threads,
    around: &mut Surroundings<'_>,
) -> Result<(), Stop> {
    if threads.count < 2
        || run.native.mode != Mode::Hybrid
        || run.regions.len() < 2
        || !readers_at_sources(run)
    {
        return Ok(());
    }
    if let Some(batch) = threads.batch {
        sources.batch = batch.max(1);
    }
    let asked = threads.batch.is_some() || threads.split != Split::Auto;
    let alone = if asked { None } else { begin(run, sources, around)? };
    let (costs, rounds) = costs(run, sources, around)?;
    let stretches = stretches(run, &costs, threads);
    let all: f64 = costs.iter().sum();
    let one = matches!(&stretches[..], [Stretch { takes: None, .. }]);
    if sources.over || one || (!asked && all < GAIN * longest(&costs, &stretches, threads)) {
        return Ok(());
    }
    let rounds = if threads.batch.is_some() { 1.0 } else { (WORTH * rounds as f64 / all).clamp(1.0, ROUNDS) };
    let cut = Cut::new(run, stretches);
    Caller::new(run, sources, &cut, (rounds as u64, threads.count), alone).run(around)
}

/// Who does what.
fn stretches(run: &mut Run<'_>, costs: &[f64], threads: &Threads) -> Vec<Stretch> {
    let one_by_one = |regions: Vec<Range<usize>>| regions.into_iter().map(Stretch::one_thread).collect();
    match threads.split {
        Split::Filters => one_by_one((0..costs.len()).map(|region| region..region + 1).collect()),
        Split::Pipeline => one_by_one(cut::balanced(costs, threads.count)),
        Split::Auto | Split::DataParallel => {
            run.count_direct();
            let free = (0..costs.len()).map(|region| run.takes(region)).collect();
            let much = if threads.batch.is_some() { 0.0 } else { MUCH };
            cut::dealt(costs, free, (threads.count, much))
        }
    }
}

/// How long all takes on so many threads, not counting what copies cost.
fn longest(costs: &[f64], stretches: &[Stretch], threads: &Threads) -> f64 {
    let cost = |stretch: &Stretch| costs[stretch.regions.clone()].iter().sum::<f64>();
    let alone = stretches.iter().filter(|stretch| stretch.takes.is_none()).map(cost);
    alone.fold(costs.iter().sum::<f64>() / threads.count as f64, f64::max)
}

/// Whether files are read by sources alone, so that it is known when that is.
fn readers_at_sources(run: &Run<'_>) -> bool {
    run.ends.readers.iter().all(|(node, _)| {
        let of = |region: &&super::parts::Region<'_>| region.has(*node);
        run.regions.iter().find(of).is_some_and(|region| region.is_source())
    })
}

/// Does batches on this thread for a while, as if no other threads were there: the seconds that a steady state of the
/// sources takes by then.
fn begin(
    run: &mut Run<'_>,
    sources: &mut Sources,
    around: &mut Surroundings<'_>,
) -> Result<Option<f64>, Stop> {
    let (start, mut many, mut half) = (Instant::now(), Many::default(), None);
    run.state.set_patient(run.native.is_patient());
    while start.elapsed() < QUICK && !sources.over && !(around.interrupted)() {
        if start.elapsed() >= QUICK / 2 {
            half.get_or_insert_with(|| (Instant::now(), sources.done));
        }
        run.some_batches(sources, &mut many)?;
        (around.progress)(sources.done);
    }
    run.state.set_patient(false);
    let half = half.filter(|(_, done)| sources.done > *done);
    Ok(half.map(|(since, done)| since.elapsed().as_secs_f64() / (sources.done - done) as f64))
}

/// Does some batches on this thread: the seconds that each region has taken in so many of them.
fn costs(
    run: &mut Run<'_>,
    sources: &mut Sources,
    around: &mut Surroundings<'_>,
) -> Result<(Vec<f64>, u64), Stop> {
    let mut costs = vec![f64::MIN_POSITIVE; run.regions.len()];
    let mut timed = 0;
    for round in 0..BEFORE + TIMED {
        if sources.over || (around.interrupted)() {
            break;
        }
        sources.sure = sources.done;
        let n = run.next_batch(sources)?;
        for (region, cost) in costs.iter_mut().enumerate() {
            let start = Instant::now();
            run.batches(region..region + 1, n, 1)?;
            if round >= BEFORE {
                *cost += start.elapsed().as_secs_f64();
            }
        }
        timed += u64::from(round >= BEFORE);
        (around.progress)(sources.done);
    }
    Ok((costs, timed))
}
