//! Steady states on several threads: the driver and a chain of segments, as a graph of the engine.
//!
//! ```text
//! driver reads ──batches──▶ segment ──▶ segment ──▶ ... ──batches──▶ driver writes, in order
//! ```
//!
//! **Actors.**
//! - The *driver* ([`team`], [`engine`](super::engine)) reads input into batches, and writes the output of finished
//!   batches in order.
//! - A *segment* ([`cut`]) is a range of consecutive steps of the plan: one node of the engine. If all its
//!   steps are stateless, any number of batches run in it at once; otherwise it runs one batch after the
//!   other, with state and memory of its own ([`node`]).
//! - A *batch* is a range of steady states, with the memory of the buffers between segments. Only its holder
//!   accesses its memory; it moves from holder to holder through the engine's channels, which order all accesses.
//!
//! **Overlap.** A batch needs items of the time before it. Those that one segment pushes for another are at
//! the front of the batch's memory: a stateful segment has kept them; a stateless one recomputes them from
//! its input, which is at the front too ([`reach`]). So a stateless region is computed in overlapping pieces.
//!
//! **The same answer.** Each firing has the same input as on one thread, so it pushes the same items and
//! fails in the same way. The first failure in the order of steady states, and within one of steps, is
//! reported, and the output of earlier steady states is written ([`node`]).
//!
//! **Progress.** The number of batches is fixed; a driver without a spare batch waits for a finished one.
//! Only the driver accesses files and standard output. Where all is stateless and files lie in
//! memory, a batch is only places in them, and workers share the steady states ([`shared_states`]).
//!
//! **One thread.** The initialisation, the end of the input and steady states for which there is too little input are
//! the driver's own ([`run`](super)). Before, the segments give back buffers and state, which are then as if one thread
//! had done everything; afterwards they begin anew ([`Segments`]).

mod cut;
mod cutter;
mod files;
mod layout;
mod measure;
mod memory;
mod node;
mod reach;
mod shared_states;
mod team;

pub(super) use node::{Batch, Flags};

use super::engine::Link;
use super::feeder::Feeder;
use super::units::{Planned, set_costs};
use super::{Run, Stage};
use crate::files::LONG;
use crate::threads::{Split, Threads};
use cutter::Cutter;
use files::{Copied, Files, InPlace};
use layout::Layout;
use node::{Begin, Node};
use shared_states::SharedStates;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use team::Team;
use thalweg::Stream;
use thalweg::embed::plan::{Division, Unit, Units};
use thalweg::loops::Shares;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::{Options, Stop, Surroundings};

/// The least bytes of a batch, the most for which it is made longer because its work is short, and the most of all batches
/// together.
const BATCH_BYTES: u64 = 256 << 10;
const MOST_BATCH_BYTES: u64 = 1 << 20;
const ALL_BYTES: u64 = 256 << 20;

/// The pieces for each thread into which what has state is cut.
const PIECES: u64 = 4;

/// The preferred ratio of a batch's length to what is recomputed for it; and the least ratio.
const OVERLAP: u64 = 32;
const LEAST_OVERLAP: u64 = 4;

/// Batches for each thread where the end is known: enough that an interrupted run ends soon.
const SHARES: u64 = 8;

/// The least seconds of a batch: the hand-over from thread to thread takes some microseconds. And the least seconds of a
/// whole run for which threads start, which takes some tenths of a millisecond.
const LONG_ENOUGH: f64 = 200e-6;
const WORTH: f64 = 500e-6;

/// A program of one region, cut into segments.
pub(super) struct Cut<'a> {
    layout: Layout<'a>,
    /// The files, where all lie in memory.
    in_place: Option<InPlace>,
    /// The number of batches.
    window: u64,
    /// The first steady state that the segments may do.
    first: u64,
    /// The seconds of one thread for a steady state, where threads must be faster.
    alone: Option<f64>,
}

impl Cut<'_> {
    /// By body: its node of the engine, behind the driver.
    pub(super) fn nodes(&self) -> Vec<NodeId> {
        (1..=self.layout.segments.len() as u32).map(NodeId).collect()
    }
}

/// Cuts the program as `given` or by a new plan, after steady states that one thread has to do. `None` beside the plan
/// where one thread runs the program.
pub(super) fn cut<'a>(
    run: &mut Run<'a>,
    given: Option<Planned>,
    threads: &Threads,
    options: Options,
    around: &mut Surroundings<'_>,
) -> Result<(Planned, Option<Cut<'a>>), Stop> {
    let native = run.native;
    let [part] = &native.parts[..] else { unreachable!("a program of one region has one part") };
    lead_in(run, options)?;
    run.copy_back(0);
    let (units, alone) = match &given {
        Some(_) => (native.divided(Division::Whole), None),
        None => measured(run, threads, options, around)?,
    };
    run.copy_back(0);
    let (first, most) = (run.iterations, options.iterations.unwrap_or(u64::MAX) - run.iterations);
    let gates = &run.stages[0].gates;
    let plan = part.plan.as_ref().expect("`Native::one_thread` has checked it");
    let in_place = InPlace::new(plan, gates, &mut run.ends, first, most);
    let cutter = Cutter { native, part, plan, threads, alone, files: in_place.as_ref() };
    let (planned, cut) = match given {
        Some(planned) => cutter.follow(planned),
        None => cutter.decide(&units)?,
    };
    if let (None, Some(why)) = (&cut, cutter.why_whole(&planned)) {
        run.notes.push(why);
    }
    let cut = cut.map(|(layout, window)| (layout, window, in_place));
    Ok((planned, cut.map(|(layout, window, in_place)| Cut { layout, in_place, window, first, alone })))
}

/// Runs steady states until the content before the readers' items is in the files: until then it is only in
/// buffers, where the initialisation has put it.
fn lead_in(run: &mut Run<'_>, options: Options) -> Result<(), Stop> {
    let gates = run.stages[0].gates.readers.iter();
    let lacks =
        gates.map(|gate| run.ends.readers[gate.end].1.lacks(gate.before).div_ceil(gate.each().max(1)));
    let most = run.native.parts[0].scale.min(options.iterations.unwrap_or(u64::MAX));
    let want = (lacks.max().unwrap_or(0) as u64).min(most);
    let n = run.ends.available(&run.stages[0].facts, want)?;
    if n > 0 {
        run.steady(0, 0, n)?;
        run.count(0, n);
        run.iterations += n;
    }
    Ok(())
}

/// Runs some steady states on this thread, and times them as far as the division depends on it. Returns the units, and
/// the seconds of one thread for a steady state, if the caller has left the division and the batches open.
fn measured(
    run: &mut Run<'_>,
    threads: &Threads,
    options: Options,
    around: &mut Surroundings<'_>,
) -> Result<(Units, Option<f64>), Stop> {
    let native = run.native;
    let mut units = native.divided(threads.division());
    let asked = threads.batch.is_some() || threads.split != Split::Auto;
    let needs_costs = match units.division() {
        Division::Copies => !units.all().iter().all(Unit::stateless),
        Division::Pipeline => true,
        Division::Each | Division::Whole => false,
    };
    let mut alone = None;
    if needs_costs {
        let mut costs = vec![1.0; units.all().len()];
        run.iterations = measure::costs(run, options, around, (run.iterations, &mut costs))?;
        alone = Some(costs.iter().sum());
        set_costs(&mut units, &costs);
    } else if !asked {
        alone = measure::alone(run, options, around)?;
    }
    *units.pieces_mut() = PIECES;
    Ok((units, alone.filter(|_| !asked)))
}

/// The segments of a run on the engine, as the driver and the bodies share them.
pub(super) struct Segments<'s, 'a> {
    cut: &'s Cut<'a>,
    threads: &'s Threads,
    flags: &'s Flags<'s>,
    nodes: Vec<Node<'s, 'a>>,
    /// Where workers share the steady states.
    shared: Option<SharedStates>,
    /// Threads were slower than one thread, which does the rest.
    slow: AtomicBool,
}

impl<'s, 'a> Segments<'s, 'a> {
    pub(super) fn new(cut: &'s Cut<'a>, threads: &'s Threads, flags: &'s Flags<'s>) -> Segments<'s, 'a> {
        let node = |at| Node::new(&cut.layout, at, flags);
        let nodes = (0..cut.layout.segments.len()).map(node).collect();
        let bare = |files: &&InPlace| cut.layout.is_bare(&files.buffers()) && threads.leaves_it_to_us();
        let shared = cut.in_place.as_ref().filter(bare).map(|files| cut.shares(files, threads));
        let shared = shared.map(|shares| SharedStates::new(shares, cut.first));
        Segments { cut, threads, flags, nodes, shared, slow: AtomicBool::new(false) }
    }

    /// Whether workers share out the steady states: the driver then waits once, for all batches.
    pub(super) fn are_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// The most batches under way.
    pub(super) fn most(&self) -> usize {
        self.cut.window as usize
    }

    /// The nodes of the engine: a chain, since each segment follows all that it depends on.
    pub(super) fn chain<'t>(&'t self, mut stream: Stream<'t, Batch>) -> Stream<'t, Batch>
    where
        'a: 't,
    {
        if let (Some(shared), Some(files)) = (&self.shared, &self.cut.in_place) {
            let node = &self.nodes[0];
            return stream.par_map(|token| shared.work(node, files, token)).unordered().named(&self.name(0));
        }
        for (at, (segment, node)) in self.cut.layout.segments.iter().zip(&self.nodes).enumerate() {
            stream = if segment.is_parallel() {
                stream.par_map(|batch| node.run(batch)).workers(segment.copies as u32)
            } else {
                stream.map(|batch| node.run(batch))
            };
            stream = stream.named(&self.name(at));
        }
        stream
    }

    /// The name of a segment: those of its first and last filter.
    fn name(&self, segment: usize) -> String {
        let Layout { native, plan, segments, .. } = &self.cut.layout;
        let steps = plan.steps[segments[segment].steps.clone()].iter();
        let nodes: Vec<_> =
            steps.flat_map(|step| step.actors(plan)).map(|actor| plan.actors[actor].node).collect();
        native.name_of(&nodes)
    }

    /// The driver's part: runs steady states as far as there are batches of them. Counts the run's steady states.
    /// Returns the steady states of input with which the segments can continue.
    pub(super) fn drive(
        &self,
        run: &mut Run<'a>,
        link: &mut Link<Batch>,
        options: Options,
        around: &mut Surroundings<'_>,
    ) -> Result<Option<u64>, Stop> {
        match &self.cut.in_place {
            Some(_) if run.iterations > self.cut.first => Ok(None),
            _ if self.slow.load(Ordering::Relaxed) => Ok(None),
            Some(files) => self.in_place(run, files, link, around).map(|()| None),
            None => self.copied(run, link, options, around),
        }
    }

    /// Uses the files' own memory.
    fn in_place(
        &self,
        run: &mut Run<'a>,
        files: &InPlace,
        link: &mut Link<Batch>,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Stop> {
        let (layout, first) = (&self.cut.layout, self.cut.first);
        self.begin(run);
        let (written, end) = match &self.shared {
            Some(shared) => {
                let token = |share| Batch { share, ..Batch::new(layout.no_set()) };
                let tokens = (0..shared.shares()).map(token).collect();
                let (written, end) = shared.drive(tokens, link);
                let mut last = Batch::new(layout.no_set());
                last.first = written;
                files.lend(&mut last);
                (written, end.map(|()| (written > first).then_some(last)))
            }
            None => {
                let printer = &mut run.around.printer;
                let mut team = self.team(Files::InPlace(files), printer, (first, first + files.states));
                let mut feeder = self.feeder(&files.buffers());
                let end = feeder.feed(&mut team, link, around);
                self.slow.store(!feeder.is_worth_it, Ordering::Relaxed);
                (team.written, end)
            }
        };
        let end = end.map(|last| self.give_back(run, last));
        let gates = std::mem::take(&mut run.stages[0].gates);
        let settled =
            files::settle(layout, &gates, &mut run.ends, &mut run.stages[0].memories, written - first);
        run.stages[0].gates = gates;
        self.count(run, written);
        if self.slow.load(Ordering::Relaxed) {
            run.note_slow(written);
        }
        settled.and(end)
    }

    /// Copies input and output; returns the steady states of input with which the segments can continue.
    fn copied(
        &self,
        run: &mut Run<'a>,
        link: &mut Link<Batch>,
        options: Options,
        around: &mut Surroundings<'_>,
    ) -> Result<Option<u64>, Stop> {
        let (layout, first) = (&self.cut.layout, run.iterations);
        let most = options.iterations.unwrap_or(u64::MAX) - first;
        let (there, least) = (run.ends.there(&run.stages[0].facts, layout.batch, LONG), layout.least());
        if most < layout.batch || there.over {
            return Ok(None);
        }
        if there.n < least {
            return Ok(Some(least));
        }
        run.copy_back(0);
        let begin = self.begin(run);
        let Run { ends, around: own, stages, .. } = run;
        let Stage { facts, .. } = &stages[0];
        let files = Files::Copied(Copied::new(layout, facts, ends, &begin));
        let until = first.saturating_add(most);
        let (mut team, mut feeder) = (self.team(files, &mut own.printer, (first, until)), self.feeder(&[]));
        let end = feeder.feed(&mut team, link, around);
        let written = team.written;
        self.slow.store(!feeder.is_worth_it, Ordering::Relaxed);
        let end = end.map(|last| self.give_back(run, last));
        self.count(run, written);
        if self.slow.load(Ordering::Relaxed) {
            run.note_slow(written);
        }
        end.map(|()| Some(least))
    }

    /// The batches, without the buffers that are lent.
    fn feeder(&self, lent: &[usize]) -> Feeder<Batch> {
        let spare = (0..self.cut.window).map(|_| Batch::new(self.cut.layout.set(lent))).collect();
        Feeder::new(spare, self.cut.alone).with_barrier(self.threads.split == Split::DataParallel)
    }

    fn team<'f, 'p>(
        &'f self,
        files: Files<'f, 'a>,
        printer: &'f mut super::Printer<'p>,
        (first, until): (u64, u64),
    ) -> Team<'f, 'a, 'p> {
        Team {
            layout: &self.cut.layout,
            threads: self.threads.count(),
            flags: self.flags,
            files,
            printer,
            next: first,
            until,
            written: first,
        }
    }

    /// Lets the segments begin with the run's state and the content of its buffers.
    fn begin(&self, run: &Run<'a>) -> Arc<Begin<'a>> {
        let buffers = self.cut.layout.plan.buffers.iter().zip(&run.stages[0].memories);
        let kept =
            buffers.map(|(buffer, memory)| memory.bytes()[..buffer.keep as usize * buffer.bytes].to_vec());
        let begin = Arc::new(Begin { state: run.state.fork(), kept: kept.collect(), first: run.iterations });
        self.nodes.iter().for_each(|node| node.begin(&begin, self.threads.count()));
        begin
    }

    fn count(&self, run: &mut Run<'_>, written: u64) {
        let states = written - run.iterations;
        run.iterations = written;
        run.count(0, states);
    }

    /// Sets the run's buffers and state to those after the last batch.
    fn give_back(&self, run: &mut Run<'a>, last: Option<Batch>) {
        let Some(mut last) = last else { return };
        let (layout, plan) = (&self.cut.layout, self.cut.layout.plan);
        let Run { state, stages, .. } = run;
        let memories = &mut stages[0].memories;
        for (node, segment) in self.nodes.iter().zip(&layout.segments) {
            let own = node.at_end(&mut last);
            for buffer in &segment.own {
                if let Some(memory) = &own.memories[*buffer] {
                    let items = memory.items(0, plan.buffers[*buffer].keep as usize);
                    memories[*buffer].bytes_mut()[..items.len()].copy_from_slice(items);
                }
            }
            for actor in plan.steps[segment.steps.clone()].iter().flat_map(|step| step.actors(plan)) {
                state.join(&own.state, plan.actors[actor].node.0);
            }
        }
        for (at, buffer) in plan.buffers.iter().enumerate() {
            if let Some(memory) = &last.set[at] {
                let items = memory.items(buffer.advance * last.n as i64, buffer.keep as usize);
                memories[at].bytes_mut()[..items.len()].copy_from_slice(items);
            }
        }
        state.seek(last.first + last.n);
    }
}

impl Cut<'_> {
    /// The shares of the workers.
    fn shares(&self, files: &InPlace, threads: &Threads) -> Shares {
        let (layout, all) = (&self.layout, self.first..self.first + files.states);
        let unit = layout.calls(cutter::shortest(layout, files)).min(layout.batch);
        let workers = layout.segments[0].copies.min(threads.count());
        let workers = workers.min((all.end - all.start).div_ceil(unit) as usize);
        Shares::new(all, workers, unit, layout.batch)
    }
}
