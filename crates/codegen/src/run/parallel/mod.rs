//! Steady states on several threads, as an engine graph.
//!
//! ```text
//! caller reads ──batches──▶ segment ──▶ segment ──▶ ... ──batches──▶ caller writes, in order
//! ```
//!
//! **Actors.**
//! - The *caller* ([`team`]) reads input into batches, and writes the output of finished batches in order.
//! - A *segment* ([`cut`]) is a range of consecutive steps of the plan: one node of the engine. If all its
//!   steps are stateless, any number of batches run in it at once; otherwise it runs one batch after the
//!   other, with state and memory of its own ([`node`]).
//! - A *batch* is a range of steady states, with the memory of the buffers between segments. Only its holder
//!   accesses its memory; it moves from holder to holder through channels and engine streams, which order all
//!   accesses.
//!
//! **Overlap.** A batch needs items of the time before it. Those that one segment pushes for another are at
//! the front of the batch's memory: a stateful segment has kept them; a stateless one recomputes them from
//! its input, which is at the front too ([`reach`]). So a stateless region is computed in overlapping pieces.
//!
//! **The same answer.** Each firing has the same input as on one thread, so it pushes the same items and
//! fails in the same way. The first failure in the order of steady states, and within one of steps, is
//! reported, and the output of earlier steady states is written ([`node`]).
//!
//! **Progress.** The number of batches is fixed; a caller without a spare batch waits for a finished one.
//! Only the caller's thread accesses files and standard output. Where all is stateless and files lie in
//! memory, a batch is only places in them, and threads share the steady states without a graph ([`dealt`]).
//!
//! The initialisation and the end of the input are done on one thread ([`run`](super)): afterwards buffers
//! and state are as if one thread had done everything.

mod cut;
mod dealt;
mod files;
mod layout;
mod measure;
mod memory;
mod node;
mod reach;
mod shares;
mod team;

use super::input::LONG;
use super::lend::Gates;
use super::{Printer, Run, Stage};
use crate::build::{Memory, State};
use crate::parts::Part;
use crate::plan::{Facts, Plan};
use crate::threads::{Split, Threads};
use cut::Known;
use dealt::Dealt;
use files::{Copied, Files, InPlace};
use layout::{Layout, deal_roots, repeatable};
use node::{Batch, Begin, Node};
use shares::Shares;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use team::Caller;
use thalweg_lang::interpret::{Options, Stop, Surroundings};

/// The least bytes of a batch, and the most of all batches together.
const BATCH_BYTES: u64 = 256 << 10;
const ALL_BYTES: u64 = 256 << 20;

/// The preferred ratio of a batch's length to what is recomputed for it; and the least ratio.
const OVERLAP: u64 = 32;
const LEAST_OVERLAP: u64 = 4;

/// Batches for each thread where the end is known: enough that an interrupted run ends soon.
const SHARES: u64 = 8;

/// Runs steady states on several threads after `done`, as far as there are batches of them. Returns the
/// steady states done, and the steady states of input with which threads can continue.
pub(super) fn drive(
    run: &mut Run<'_>,
    threads: &Threads,
    (done, options): (u64, Options),
    around: &mut Surroundings<'_>,
) -> Result<(u64, Option<u64>), Stop> {
    let native = run.native;
    let [part] = &native.parts[..] else { return Ok((done, None)) };
    let Some(plan) =
        part.plan.as_ref().filter(|_| threads.count > 1 && !native.exact && native.one_thread().is_none())
    else {
        return Ok((done, None));
    };
    let first = if done == 0 { lead_in(run, options)? } else { done };
    run.copy_back(0);
    let (first, mut layout) = deal(run, (part, plan, first), threads, options, around)?;
    let most = options.iterations.unwrap_or(u64::MAX) - first;
    let begin = begin(run, &layout, first);
    let gates = std::mem::take(&mut run.stages[0].gates);
    let mut team = Team { run, gates: &gates, begin: &begin, threads, around };
    let written = match team.in_place(&mut layout, most) {
        Ok(None) => team.copied(&mut layout, most),
        Ok(Some(written)) => Ok((written, None)),
        Err(stop) => Err(stop),
    };
    run.stages[0].gates = gates;
    written
}

/// Runs steady states until the content before the readers' items is in the files: until then it is only in
/// buffers, where the initialisation has put it.
fn lead_in(run: &mut Run<'_>, options: Options) -> Result<u64, Stop> {
    let gates = run.stages[0].gates.readers.iter();
    let lacks =
        gates.map(|gate| run.ends.readers[gate.end].1.lacks(gate.before).div_ceil(gate.each().max(1)));
    let most = run.native.parts[0].scale.min(options.iterations.unwrap_or(u64::MAX));
    let want = (lacks.max().unwrap_or(0) as u64).min(most);
    let n = run.ends.available(&run.stages[0].facts, want)?;
    if n > 0 {
        run.steady(0, 0, n)?;
        run.count(0, n);
    }
    Ok(n)
}

/// Partitions the steps; returns the steady states done by then.
fn deal<'a>(
    run: &mut Run<'a>,
    (part, plan, first): (&'a Part, &'a Plan, u64),
    threads: &Threads,
    options: Options,
    around: &mut Surroundings<'_>,
) -> Result<(u64, Layout<'a>), Stop> {
    let native = run.native;
    let ends = |actor: usize| {
        run.ends.is_reader(plan.actors[actor].node) || run.ends.is_writer(plan.actors[actor].node)
    };
    let outside: Vec<bool> = plan.steps.iter().map(|step| step.actors(plan).into_iter().any(ends)).collect();
    let free: Vec<bool> = (0..plan.steps.len()).map(|step| repeatable(plan, &native.keeps, step)).collect();
    let (mut first, mut costs) = (first, vec![1.0; plan.steps.len()]);
    let known = Known { free: &free, outside: &outside, costs: &costs };
    if threads.needs_costs(known.is_free()) {
        first = measure::costs(run, options, around, (first, &mut costs))?;
    }
    let known = Known { free: &free, outside: &outside, costs: &costs };
    let mut segments = match threads.split {
        Split::Auto | Split::DataParallel => known.stretches(threads.count),
        Split::Filters => known.filters(),
        Split::Pipeline => known.balanced(threads.count),
    };
    deal_roots(plan, &mut segments, &outside);
    let facts = Facts::new(&native.compiled, &part.region);
    Ok((first, Layout::new(native, plan, facts, segments, &outside)))
}

fn begin<'a>(run: &Run<'a>, layout: &Layout<'_>, first: u64) -> Begin<'a> {
    let roots = layout.plan.roots.iter().zip(&run.stages[0].buffers);
    let kept = roots.map(|(root, memory)| memory.bytes()[..root.keep as usize * root.bytes].to_vec());
    Begin { state: run.state.fork(), kept: kept.collect(), first }
}

/// A run on threads.
struct Team<'t, 'a, 's> {
    run: &'t mut Run<'a>,
    gates: &'t Gates,
    begin: &'t Begin<'a>,
    threads: &'t Threads,
    around: &'t mut Surroundings<'s>,
}

impl Team<'_, '_, '_> {
    /// Uses the files' own memory, if all lie in memory; returns the steady states done.
    fn in_place(&mut self, layout: &mut Layout<'_>, most: u64) -> Result<Option<u64>, Stop> {
        let (Run { ends, around, state, stages, .. }, first) = (&mut *self.run, self.begin.first);
        let printer = &mut around.printer;
        let Some(files) = InPlace::new(layout.plan, self.gates, ends, first, most) else { return Ok(None) };
        let roots = files.roots();
        let Some(window) = bounds_in_place(layout, self.threads, &files, &roots) else { return Ok(None) };
        let layout = &*layout;
        let work = Work { layout, begin: self.begin, threads: self.threads, until: first + files.states };
        let memory = (state, &mut stages[0].buffers[..]);
        let (written, end) = if layout.is_bare(&roots) && self.threads.leaves_it_to_us() {
            work.share(&files, self.around, memory)
        } else {
            let spare = (0..window).map(|_| Batch::new(layout.set(&roots))).collect();
            work.go(Files::InPlace(files), spare, printer, self.around, memory)
        };
        files::settle(layout, self.gates, ends, &mut stages[0].buffers, written - first)?;
        self.count(written - first);
        end.map(|()| Some(written))
    }

    /// Copies input and output; also returns the steady states of input with which threads can start.
    fn copied(&mut self, layout: &mut Layout<'_>, most: u64) -> Result<(u64, Option<u64>), Stop> {
        let (Run { ends, around, state, stages, .. }, first) = (&mut *self.run, self.begin.first);
        let printer = &mut around.printer;
        let Stage { facts, buffers, .. } = &mut stages[0];
        let Some(window) = bounds(layout, self.threads) else { return Ok((first, None)) };
        let (there, least) = (ends.there(facts, layout.batch, LONG), layout.least());
        if most < layout.batch || there.over {
            return Ok((first, None));
        }
        if there.n < least {
            return Ok((first, Some(least)));
        }
        let layout = &*layout;
        let files = Files::Copied(Copied::new(layout, facts, ends, self.begin));
        let until = first.saturating_add(most);
        let work = Work { layout, begin: self.begin, threads: self.threads, until };
        let spare = (0..window).map(|_| Batch::new(layout.set(&[]))).collect();
        let (written, end) = work.go(files, spare, printer, self.around, (state, buffers));
        self.count(written - first);
        end.map(|()| (written, Some(least)))
    }

    fn count(&mut self, states: u64) {
        for (fired, more) in self.run.fired.iter_mut().zip(&self.run.stages[0].facts.firings) {
            *fired += states * more;
        }
    }
}

/// Chooses the length and number of batches; `None` where there is not enough memory.
fn bounds(layout: &mut Layout<'_>, threads: &Threads) -> Option<u64> {
    let each = layout.bytes(1, &[]) - layout.bytes(0, &[]);
    let again = layout.reach.states;
    let chosen = layout.calls((BATCH_BYTES / each.max(1)).max(OVERLAP * again));
    layout.set_batch(threads.batch.unwrap_or(chosen).max(again).max(1));
    window(layout, threads, &[])
}

/// Like [`bounds`], where files lie in memory and the end is known.
fn bounds_in_place(
    layout: &mut Layout<'_>,
    threads: &Threads,
    files: &InPlace<'_>,
    roots: &[usize],
) -> Option<u64> {
    let again = layout.reach.states;
    let share = files.states / (SHARES * threads.count as u64);
    let least = shortest(layout, files);
    let set = layout.bytes(1, roots) - layout.bytes(0, roots);
    let most = BATCH_BYTES.checked_div(set).unwrap_or(u64::MAX).max(OVERLAP * again);
    // Shorter batches rather than fewer than threads.
    let even = (files.states / threads.count as u64).max(LEAST_OVERLAP * again);
    let chosen = layout.calls(share.max(least).min(even).min(most));
    layout.set_batch(threads.batch.unwrap_or(chosen).max(again).max(1));
    if files.states < layout.batch { None } else { window(layout, threads, roots) }
}

/// The least steady states for which a batch pays.
fn shortest(layout: &Layout<'_>, files: &InPlace<'_>) -> u64 {
    (BATCH_BYTES / files.each().max(1)).max(OVERLAP * layout.reach.states)
}

fn window(layout: &Layout<'_>, threads: &Threads, lent: &[usize]) -> Option<u64> {
    let window = match threads.split {
        Split::DataParallel => threads.count as u64,
        _ => 3 * threads.count as u64 + 2,
    };
    let fits = ALL_BYTES / layout.bytes(layout.batch, lent).max(1);
    (fits >= 2).then(|| window.min(fits))
}

/// The work of threads, once it is partitioned.
struct Work<'w, 'a> {
    layout: &'w Layout<'a>,
    begin: &'w Begin<'a>,
    threads: &'w Threads,
    until: u64,
}

impl<'a> Work<'_, 'a> {
    /// Runs the graph; returns the steady states done and written, and the failure if that is why there are
    /// no more.
    fn go<'m>(
        &'m self,
        files: Files<'m>,
        spare: Vec<Batch<'m>>,
        printer: &mut Printer<'_>,
        around: &mut Surroundings<'_>,
        (state, buffers): (&mut State<'_>, &mut [Memory]),
    ) -> (u64, Result<(), Stop>) {
        let (failed, stopped) = (Arc::new(AtomicU64::new(u64::MAX)), Arc::new(AtomicBool::new(false)));
        let node = |at| Node::new(self.layout, self.begin, at, (failed.clone(), stopped.clone()));
        let nodes: Vec<Node<'m>> = (0..self.layout.segments.len()).map(node).collect();
        nodes.iter().for_each(|node| node.stock(self.threads.count));
        let first = self.begin.first;
        let mut caller = Caller {
            layout: self.layout,
            threads: self.threads,
            stopped: &stopped,
            files,
            printer,
            next: first,
            until: self.until,
            written: first,
            spare,
        };
        let end = caller.run(&nodes, around);
        let written = caller.written;
        let end = end.map(|last| {
            if let Some(mut last) = last {
                self.give_back(&nodes, &mut last, state, buffers);
            }
        });
        (written, end)
    }

    /// Like [`Work::go`], where threads share the steady states without a graph.
    fn share<'m>(
        &'m self,
        files: &InPlace<'m>,
        around: &mut Surroundings<'_>,
        (state, buffers): (&mut State<'_>, &mut [Memory]),
    ) -> (u64, Result<(), Stop>) {
        let (layout, all) = (self.layout, self.begin.first..self.until);
        let stopped = Arc::new(AtomicBool::new(false));
        let node = Node::new(layout, self.begin, 0, (Arc::new(AtomicU64::new(u64::MAX)), stopped.clone()));
        let unit = layout.calls(shortest(layout, files)).min(layout.batch);
        let threads = self.threads.count.min((all.end - all.start).div_ceil(unit) as usize);
        let dealt = Dealt {
            node: &node,
            files,
            shares: Shares::new(all.clone(), threads, unit, layout.batch),
            stopped: &stopped,
            over: AtomicBool::new(false),
            done: AtomicU64::new(all.start),
            failure: Mutex::default(),
        };
        let (written, end) = dealt.run(threads, around);
        if end.is_ok() && written > all.start {
            let mut last = Batch::new(layout.no_set());
            last.first = written;
            // SAFETY: the batch has no steady states.
            unsafe { files.lend(&mut last) };
            self.give_back(&[node], &mut last, state, buffers);
        }
        (written, end)
    }

    /// Sets buffers and state to those after the last batch.
    fn give_back<'m>(
        &self,
        nodes: &[Node<'m>],
        last: &mut Batch<'m>,
        state: &mut State<'_>,
        buffers: &mut [Memory],
    ) {
        let (layout, plan) = (self.layout, self.layout.plan);
        for (node, segment) in nodes.iter().zip(&layout.segments) {
            let own = node.at_end(last);
            for root in &segment.own {
                if let Some(buffer) = &own.buffers[*root] {
                    let items = buffer.items(0, plan.roots[*root].keep as usize);
                    buffers[*root].bytes_mut()[..items.len()].copy_from_slice(items);
                }
            }
            for actor in
                plan.steps[segment.steps.clone()].iter().flat_map(|step| step.actors(self.layout.plan))
            {
                state.join(&own.state, plan.actors[actor].node.0);
            }
        }
        for (at, root) in plan.roots.iter().enumerate() {
            if let Some(buffer) = &last.set[at] {
                let items = buffer.items(root.advance * last.n as i64, root.keep as usize);
                buffers[at].bytes_mut()[..items.len()].copy_from_slice(items);
            }
        }
        state.seek(last.first + last.n);
    }
}
