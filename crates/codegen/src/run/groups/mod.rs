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
//!   itself with copies, as many as workers ([`free`]): a parallel node. A *dispatcher* before it records in each packet
//!   where the packet begins.
//!
//! **States** of a packet. Each transition is a send through a channel of the engine, which orders all
//! accesses to the packet's memory; only its holder accesses it.
//!
//! | state | holder | next |
//! |---|---|---|
//! | spare | driver | read |
//! | read | driver | in the first group's channel |
//! | under way | a group or a dispatcher, or a channel between two | the next group's channel, at last the driver's |
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
//! **Partitioning** is a plan's, which follows the measured cost of each region in some batches, or is the caller's. If
//! one region with state dominates, or the program ends soon, one thread does everything: threads and copies have a
//! cost too. If threads turn out to be slower, one thread does the rest ([`trial`]). In the modes [`Mode::Demand`] and
//! [`Mode::OsThread`] each region is a group, without copies, and one thread takes over nothing.

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
use super::feeder::Feeder;
use super::parts::Sources;
use super::units::Planned;
use crate::threads::{Split, Threads};
use crate::{Mode, Native};
use costs::{Costs, costs};
use crew::Crew;
use cut::{Cut, Stretch};
use feed::Feed;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg::Stream;
use thalweg::embed::plan::{Body, Division, Units};
use thalweg::plan::Plan;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::{Stop, Surroundings};

/// Packets for each thread of the graph, and where each item is handed over by itself.
const PACKETS: usize = 3;
const QUEUED: usize = 64;

/// The most batches in a packet, and how many times as long as on one thread they may be: queues may then be in a cache
/// that is farther away, but there are fewer calls for each region.
const ROUNDS: u64 = 32;
const FAR: u64 = 16;

/// The least expected speed-up in percent; and how long a run must have taken before
/// threads start, which takes some tenths of a millisecond.
const GAIN: u64 = 135;
const QUICK: Duration = Duration::from_millis(10);

/// A program cut into groups, and how the driver feeds them.
pub(super) struct Groups<'a> {
    cut: Arc<Cut>,
    crew: Crew<'a>,
    packets: Packets,
    /// The seconds of one thread for a steady state, where threads must be faster.
    alone: Option<f64>,
}

/// The size and number of packets.
#[derive(Clone, Copy)]
struct Packets {
    /// Steady states of the sources in a batch.
    batch: u64,
    /// Batches in a packet.
    rounds: u64,
    /// The most packets under way.
    most: usize,
}

/// Runs some batches on this thread, so that all regions begin, then cuts the program. The times of these batches decide
/// how, if there is no plan. `None` beside the plan where one thread runs the program.
pub(super) fn cut<'a>(
    run: &mut Run<'a>,
    sources: &mut Sources,
    given: Option<Planned>,
    threads: &Threads,
    around: &mut Surroundings<'_>,
) -> Result<(Planned, Option<Groups<'a>>), Stop> {
    let (native, by_thread) = (run.native, run.native.mode == Mode::OsThread);
    let by_region = by_thread || native.mode == Mode::Demand;
    if let Some(batch) = threads.batch.or(native.batch).or(by_thread.then_some(1)) {
        sources.batch = batch.max(1);
    }
    let asked = threads.batch.is_some() || threads.split != Split::Auto || by_region || given.is_some();
    // The caller may have chosen the batch.
    let (near, is_free) = (sources.batch, threads.batch.or(native.batch).is_none() && !by_thread);
    let alone = if asked { None } else { begin(run, sources, around)? };
    if let (Some(alone), true) = (alone, is_free) {
        sources.batch = costs::batch(near, alone);
    }
    let costs = if by_thread {
        // One steady state shows whether the queues fit into their budget.
        run.some_batches(sources, &mut Many::default())?;
        Costs::default()
    } else {
        costs(run, sources, alone, around)?
    };
    let mut takes: Vec<_> = (0..run.regions.len()).map(|_| None).collect();
    if !by_region && (given.is_some() || threads.division() == Division::Copies) {
        run.count_direct();
        takes = (0..takes.len()).map(|region| run.takes(region)).collect();
    }
    let planned = match given {
        Some(planned) => planned,
        None => {
            let mut units = units(native, threads, asked);
            costs.set(run, &mut units);
            for (unit, takes) in units.all_mut().iter_mut().zip(&takes) {
                *unit.stateless_mut() = takes.is_some();
            }
            let packet = if is_free { costs.packet().min(near.saturating_mul(FAR * ROUNDS)) } else { near };
            let batch = packet.clamp(sources.batch, u32::MAX.into());
            let plan = native.choose(&threads.engine, |wishes| {
                let mut plan = Plan::compiled(native.graph(), &units, wishes);
                *plan.batch_mut() = batch as usize;
                plan
            })?;
            Planned::new(native, plan, units)?
        }
    };
    sources.batch = near;
    if sources.over || (planned.is_whole() && !by_thread) {
        run.notes.push(match sources.over {
            true => "one thread ran the program: it ended before others could begin".to_owned(),
            false => "one thread ran the program: its plan has one segment".to_owned(),
        });
        return Ok((planned, None));
    }
    // A packet has memory for all its batches.
    let packet = planned.plan.batch() as u64;
    let batch = if is_free { (packet / ROUNDS).clamp(near, near.saturating_mul(FAR)) } else { near };
    let batch = batch.min(packet).max(1);
    let rounds = (packet / batch).clamp(1, ROUNDS);
    let stretches: Vec<_> = planned.bodies.iter().map(|body| Stretch::new(body, &mut takes)).collect();
    note_copies(run, &stretches, &planned.bodies);
    let members: usize = stretches.iter().map(|stretch| stretch.members).sum();
    let most = members * if by_thread { QUEUED } else { PACKETS };
    let groups = Groups::new(run, stretches, Packets { batch, rounds, most }, alone)?;
    Ok((planned, Some(groups)))
}

/// The regions as units of a plan, without costs.
fn units(native: &Native, threads: &Threads, asked: bool) -> Units {
    let division = match native.mode {
        Mode::OsThread | Mode::Demand => Division::Each,
        Mode::Hybrid | Mode::Sequential => threads.division(),
    };
    let mut units = native.divided(division);
    if threads.batch.is_some() {
        *units.least_copied_mut() = 0;
    }
    *units.least_gain_mut() = if asked { 0 } else { GAIN };
    units
}

/// Notes the bodies that a plan gives copies and that cannot have any.
fn note_copies(run: &mut Run<'_>, stretches: &[Stretch], bodies: &[Body]) {
    let lacking = stretches.iter().zip(bodies).filter(|(stretch, body)| stretch.members < body.copies());
    for (stretch, _) in lacking {
        let regions = &run.native.compiled.schedule.regions[stretch.regions.clone()];
        let nodes: Vec<_> = regions.iter().flat_map(|region| region.nodes.iter().copied()).collect();
        run.notes.push(format!(
            "`{}` has no copies, whatever the plan says: only one region by itself can have them, if nothing but its \
             queues keeps items",
            run.native.name_of(&nodes)
        ));
    }
}

impl<'a> Groups<'a> {
    fn new(
        run: &mut Run<'a>,
        stretches: Vec<Stretch>,
        packets: Packets,
        alone: Option<f64>,
    ) -> Result<Groups<'a>, Stop> {
        let cut = Arc::new(Cut::new(run, stretches));
        let crew = Crew::new(run, &cut)?;
        run.within_budget()?;
        Ok(Groups { crew, cut, packets, alone })
    }

    /// The most packets under way.
    pub(super) fn most(&self) -> usize {
        self.packets.most
    }

    /// By body: its node of the engine.
    pub(super) fn nodes(&self) -> Vec<NodeId> {
        self.crew.nodes()
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
        let Packets { batch, rounds, most } = self.packets;
        let near = std::mem::replace(&mut sources.batch, batch);
        sources.grow_for(self.crew.members(), run.around.queues.budget());
        let (mut feed, spare) = Feed::new(run, sources, (&self.cut, &self.crew), (rounds, most));
        let mut feeder = Feeder::new(spare, self.alone);
        feeder.feed(&mut feed, link, around)?;
        sources.batch = near;
        self.crew.give_back(run);
        run.take_over(sources)?;
        if !feeder.is_worth_it {
            run.note_slow(sources.done);
        }
        Ok(())
    }
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
