//! Regions with dynamic rates on several threads, as an engine graph.
//!
//! ```text
//! driver reads ──packets──▶ group ──▶ group ──▶ ... ──packets──▶ driver writes, in order
//! ```
//!
//! **Actors.**
//! - The *driver* ([`feed`], [`engine`](super::engine)) reads input into packets, and writes the output of finished
//!   packets in order.
//! - A *group* is a range of regions in data-flow order. It is a node of the engine ([`crew`]),
//!   and has a run of its own ([`share`], [`member`]): state, queues, and the stacks of firings that wait.
//!   Between its regions items go through its own queues.
//! - A *packet* ([`packet`]) is several batches, with the items that go from one group to another.
//! - A region that keeps nothing but what is in its input queues, and is much of the work, is a group by
//!   itself with copies, as many as workers ([`free`]): a parallel node. A *dealer* before it records in each packet
//!   where the packet begins.
//!
//! **States** of a packet. Each transition is a send through a channel of the engine, which orders all
//! accesses to the packet's memory; only its holder accesses it.
//!
//! | state | holder | next |
//! |---|---|---|
//! | spare | driver | read |
//! | read | driver | in the first group's channel |
//! | under way | a group or a dealer, or a channel between two | the next group's channel, at last the driver's |
//! | finished | driver | spare, once its output is written |
//!
//! **The same answer.** A group does for each batch what one thread would do, with the same items. So output,
//! prints and the first failure are the same. At the end the shares return to one run, which does what is
//! left.
//!
//! **Progress.** The number of packets is fixed; a driver without a spare packet waits for a finished one. No
//! actor waits for a later packet in order to finish an earlier one, so there is no deadlock. Only the
//! driver accesses files and standard output.
//!
//! **Partitioning** follows the measured cost of each region in some batches. If one region with state
//! dominates, or the program ends soon, one thread does everything: threads and copies have a cost too. If
//! threads turn out to be slower, one thread does the rest ([`trial`]).

mod costs;
mod crew;
mod cut;
mod feed;
mod free;
mod member;
mod packet;
mod ports;
mod share;

pub(super) use packet::Packet;

use super::Run;
use super::batches::Many;
use super::engine::Link;
use super::parts::Sources;
use crate::Mode;
use crate::threads::{Split, Threads};
use costs::{Costs, copies, costs, longest};
use crew::Crew;
use cut::{Cut, Stretch};
use feed::Feeder;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg::Stream;
use thalweg_lang::interpret::{Stop, Surroundings};

/// Packets for each thread of the graph, and where each item is handed over by itself.
const PACKETS: usize = 3;
const QUEUED: usize = 64;

/// The least duration of a packet in seconds, and the most batches in one.
const WORTH: f64 = 600e-6;
const ROUNDS: f64 = 256.0;

/// The least expected speed-up, not counting the cost of copies; and how long a run must have taken before
/// threads start, which takes some tenths of a millisecond.
const GAIN: f64 = 1.5;
const QUICK: Duration = Duration::from_millis(10);

/// The least part of a thread's share of the work at which a region gets copies.
const MUCH: f64 = 0.1;

/// A program cut into groups, and how the driver feeds them.
pub(super) struct Groups<'a> {
    cut: Arc<Cut>,
    crew: Crew<'a>,
    /// Batches in a packet.
    rounds: u64,
    /// The most packets under way.
    packets: usize,
    /// The seconds of one thread for a steady state, where threads must be faster.
    alone: Option<f64>,
}

/// Whether several threads may run the regions.
pub(super) fn may_share(run: &Run<'_>, threads: &Threads) -> bool {
    let wanted = match run.native.mode {
        Mode::Hybrid => threads.count() > 1,
        Mode::OsThread => true,
        Mode::Sequential | Mode::Demand | Mode::NoOp => false,
    };
    wanted && run.regions.len() > 1 && readers_at_sources(run)
}

/// Runs and times some batches on this thread, then cuts the program. `None` where several threads do not pay.
pub(super) fn cut<'a>(
    run: &mut Run<'a>,
    sources: &mut Sources,
    threads: &Threads,
    around: &mut Surroundings<'_>,
) -> Result<Option<Groups<'a>>, Stop> {
    if run.native.mode == Mode::OsThread {
        return one_by_one(run, sources, threads).map(Some);
    }
    if let Some(batch) = threads.batch {
        sources.batch = batch.max(1);
    }
    let asked = threads.batch.is_some() || threads.split != Split::Auto;
    let alone = if asked { None } else { begin(run, sources, around)? };
    let Costs { regions: costs, moved, rounds } = costs(run, sources, around)?;
    let stretches = stretches(run, &costs, threads);
    let all: f64 = costs.iter().sum();
    let one = matches!(&stretches[..], [Stretch { takes: None, .. }]);
    if sources.over || one {
        return Ok(None);
    }
    let copies = copies(run, &stretches, &moved);
    if !asked && all < GAIN * longest((&costs, &copies), &stretches, threads) {
        return Ok(None);
    }
    let rounds = if threads.batch.is_some() { 1.0 } else { (WORTH * rounds as f64 / all).clamp(1.0, ROUNDS) };
    Groups::new(run, stretches, threads, (rounds as u64, PACKETS), alone).map(Some)
}

/// The paper's schedule of the operating system: a thread for each region, each item handed over by itself.
fn one_by_one<'a>(run: &mut Run<'a>, sources: &mut Sources, threads: &Threads) -> Result<Groups<'a>, Stop> {
    sources.batch = threads.batch.or(run.native.batch).unwrap_or(1).max(1);
    let stretches = each_region(run.regions.len());
    Groups::new(run, stretches, threads, (1, QUEUED), None)
}

fn each_region(regions: usize) -> Vec<Stretch> {
    (0..regions).map(|region| Stretch::one_thread(region..region + 1)).collect()
}

impl<'a> Groups<'a> {
    /// Groups of these regions, with `packets` packets for each thread of the graph.
    fn new(
        run: &mut Run<'a>,
        stretches: Vec<Stretch>,
        threads: &Threads,
        (rounds, packets): (u64, usize),
        alone: Option<f64>,
    ) -> Result<Groups<'a>, Stop> {
        let cut = Arc::new(Cut::new(run, stretches));
        let crew = Crew::new(run, &cut, threads.count())?;
        let members: usize = cut.groups.iter().map(|group| group.members(threads.count())).sum();
        Ok(Groups { cut, crew, rounds, packets: packets * members, alone })
    }

    /// The most packets under way.
    pub(super) fn most(&self) -> usize {
        self.packets
    }

    /// The nodes of the engine.
    pub(super) fn chain<'t>(&'t self, stream: Stream<'t, Packet>) -> Stream<'t, Packet>
    where
        'a: 't,
    {
        self.crew.chain(stream)
    }

    /// The driver's part: runs batches, as long as threads pay. The state of the regions is in the run afterwards.
    pub(super) fn drive(
        &self,
        run: &mut Run<'a>,
        sources: &mut Sources,
        link: &mut Link<Packet>,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Stop> {
        let settings = (self.rounds, self.packets);
        Feeder::new(run, sources, (&self.cut, &self.crew), settings, self.alone).feed(link, around)?;
        self.crew.give_back(run);
        Ok(())
    }
}

/// Partitions the regions.
fn stretches(run: &mut Run<'_>, costs: &[f64], threads: &Threads) -> Vec<Stretch> {
    match threads.split {
        Split::Filters => each_region(costs.len()),
        Split::Pipeline => {
            cut::balanced(costs, threads.count()).into_iter().map(Stretch::one_thread).collect()
        }
        Split::Auto | Split::DataParallel => {
            run.count_direct();
            let free = (0..costs.len()).map(|region| run.takes(region)).collect();
            let much = if threads.batch.is_some() { 0.0 } else { MUCH };
            cut::dealt(costs, free, (threads.count(), much))
        }
    }
}

/// Whether only sources read files, so that it is known when they do.
fn readers_at_sources(run: &Run<'_>) -> bool {
    run.ends.readers.iter().all(|(node, _)| {
        let of = |region: &&super::parts::Region<'_>| region.has(*node);
        run.regions.iter().find(of).is_some_and(|region| region.is_source())
    })
}

/// Runs batches on this thread for a while, as without other threads; returns the seconds for a steady state
/// of the sources.
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
