//! Steady states on several threads, as a graph of our engine.
//!
//! ```text
//!  the caller reads ──batches──▶ segment ──▶ segment ──▶ ... ──batches──▶ the caller writes, in order
//! ```
//!
//! A *batch* is a run of steady states, with the memory of the buffers that go from one segment to
//! another; whoever has the batch has its memory, so nothing is shared. A *segment* is a run of neighbouring
//! steps of the plan ([`cut`]): one node of the engine. Where none of its steps has state any number of
//! batches go through it at once; else one after the other, with state and memory of its own.
//!
//! **What came before.** A batch needs items of the time before it. Those that one segment makes for
//! another are at the front of the batch's memory: a segment with state has kept them, one without makes
//! them again, and what it needs to do so is at the front too ([`reach`]). So a whole region without
//! state is computed in pieces that overlap.
//!
//! **The same answer.** Each firing has the inputs that it has on one thread, so it gives the same items
//! and fails in the same way. Of several failures the first one in the order of steady states, and there of
//! steps, is told; what steady states before it have given is written ([`node`]).
//!
//! **Bounds.** There are so many batches, made at the beginning; who reads waits for one that is written.
//! Files and standard output are the caller's thread's alone.
//!
//! What is left at the end, the beginning and the end of the input are done on one thread
//! ([`run`](super)): this gives back buffers and state as if it had not been.

mod cut;
mod ends;
mod layout;
mod measure;
mod memory;
mod node;
mod reach;

use super::Run;
use crate::plan::Facts;
use crate::threads::{Mode, Threads};
use cut::Known;
use ends::Carry;
use layout::{Layout, deal_roots, repeatable};
use node::{Batch, Begin, Node};
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, Sender, channel};
use thalweg::{Error, Options as Engine};
use thalweg_lang::interpret::{Options, Stop, Surroundings};

/// Bytes of a batch, and of all of them together at most.
const BATCH_BYTES: u64 = 256 << 10;
const ALL_BYTES: u64 = 256 << 20;

/// A batch is at least so many times as long as what is done again for it.
const OVERLAP: u64 = 32;

/// Steady states on several threads, as far as there are batches of them; how many have been done.
pub(super) fn drive(
    run: &mut Run<'_>,
    threads: &Threads,
    options: Options,
    around: &mut Surroundings<'_>,
) -> Result<u64, Stop> {
    let native = run.native;
    let [part] = &native.parts[..] else { return Ok(0) };
    let Some(plan) = part.plan.as_ref().filter(|_| threads.count > 1 && !native.alone) else { return Ok(0) };
    let outside: Vec<bool> = plan
        .steps
        .iter()
        .map(|step| {
            let ends = |actor: usize| {
                run.ends.is_reader(plan.actors[actor].node) || run.ends.is_writer(plan.actors[actor].node)
            };
            step.actors().into_iter().any(ends)
        })
        .collect();
    let free: Vec<bool> = (0..plan.steps.len()).map(|step| repeatable(plan, &native.codes, step)).collect();
    let mut iterations = 0;
    let mut costs = vec![1.0; plan.steps.len()];
    let known = Known { free: &free, outside: &outside, costs: &costs };
    if threads.needs_costs(known.is_free()) {
        iterations = measure::costs(run, options, around, &mut costs)?;
    }
    let known = Known { free: &free, outside: &outside, costs: &costs };
    let mut segments = match threads.mode {
        Mode::Auto | Mode::DataParallel => known.stretches(threads.count),
        Mode::Filters => known.filters(),
        Mode::Pipeline => known.balanced(threads.count),
    };
    deal_roots(plan, &mut segments, &outside);
    let mut layout =
        Layout::new(native, plan, Facts::new(&native.compiled, &part.region), segments, &outside);
    let Some(window) = bounds(&mut layout, threads) else { return Ok(iterations) };
    let most = options.iterations.unwrap_or(u64::MAX) - iterations;
    if most < layout.batch || run.ends.available(&run.stages[0].facts, layout.batch)? < layout.batch {
        return Ok(iterations);
    }
    let begin = begin(run, &layout, iterations);
    Team { run, layout: &layout, begin: &begin, threads, window }.go(iterations + most, around)
}

/// Chooses the length of batches and how many there are; none where the memory does not do.
fn bounds(layout: &mut Layout<'_>, threads: &Threads) -> Option<u64> {
    let each = (layout.bytes(1) - layout.bytes(0)).max(1);
    let scale = layout.native.parts[0].scale;
    let least = layout.reach.states.max(1);
    let batch = threads.batch.unwrap_or_else(|| {
        let batch = (BATCH_BYTES / each).max(OVERLAP * layout.reach.states);
        batch.next_multiple_of(scale)
    });
    let batch = batch.max(least);
    layout.set_batch(batch);
    let window = match threads.mode {
        Mode::DataParallel => threads.count as u64,
        _ => 3 * threads.count as u64 + 2,
    };
    let fits = ALL_BYTES / layout.bytes(batch).max(1);
    (fits >= 2).then(|| window.min(fits))
}

fn begin<'a>(run: &Run<'a>, layout: &Layout<'_>, first: u64) -> Begin<'a> {
    let roots = layout.plan.roots.iter().zip(&run.stages[0].buffers);
    let kept = roots.map(|(root, memory)| memory.bytes()[..root.keep as usize * root.bytes].to_vec());
    Begin { state: run.state.fork(), kept: kept.collect(), first }
}

/// A run's threads.
struct Team<'t, 'a> {
    run: &'t mut Run<'a>,
    layout: &'t Layout<'t>,
    begin: &'t Begin<'t>,
    threads: &'t Threads,
    window: u64,
}

impl Team<'_, '_> {
    fn go(mut self, until: u64, around: &mut Surroundings<'_>) -> Result<u64, Stop> {
        let (layout, begin) = (self.layout, self.begin);
        let failed = AtomicU64::new(u64::MAX);
        let nodes: Vec<Node<'_>> =
            (0..layout.segments.len()).map(|at| Node::new(layout, begin, at, &failed)).collect();
        let mut last = std::thread::scope(|scope| {
            let ((jobs, queue), (give, results)) = (channel(), channel());
            let graph = graph(layout, &nodes, queue, give);
            let engine = self.engine();
            let ran = scope.spawn(move || graph.and_then(|graph| graph.run(&engine)));
            let last = self.feed(jobs, &results, until, around);
            drop(results);
            let ran = ran.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            ran.map_err(|error: Error| Stop::Output(error.to_string()))?;
            last
        })?;
        self.give_back(&nodes, &mut last);
        Ok(last.first + last.n)
    }

    /// Keeps all batches busy; the last one.
    fn feed(
        &mut self,
        jobs: Sender<Batch>,
        results: &Receiver<Batch>,
        until: u64,
        around: &mut Surroundings<'_>,
    ) -> Result<Batch, Stop> {
        let mut carries = ends::carries(self.run, self.layout, self.begin);
        let mut spare: Vec<Batch> = (0..self.window).map(|_| self.batch()).collect();
        let (mut next, mut under_way, mut last) = (self.begin.first, 0, None);
        let mut jobs = Some(jobs);
        loop {
            let wants = under_way == 0 || self.threads.mode != Mode::DataParallel;
            while let (true, Some(sender)) = (wants, &jobs) {
                let over = next >= until || (around.interrupted)();
                let Some(mut batch) = (if over { None } else { spare.pop() }) else {
                    if over {
                        jobs = None;
                    }
                    break;
                };
                let n = self.read(&mut carries, &mut batch, next, until)?;
                if n > 0 && sender.send(batch).is_ok() {
                    next += n;
                    under_way += 1;
                }
                if n < self.layout.batch {
                    jobs = None;
                }
            }
            if under_way == 0 {
                break;
            }
            let Ok(batch) = results.recv() else { break };
            under_way -= 1;
            let batch = self.write(batch, around)?;
            spare.extend(last.replace(batch));
        }
        last.ok_or_else(|| Stop::Output("the engine has stopped".into()))
    }

    fn batch(&self) -> Batch {
        Batch { first: 0, n: 0, set: self.layout.set(), text: Vec::new(), failure: None }
    }

    fn read(&mut self, carries: &mut [Carry], batch: &mut Batch, next: u64, until: u64) -> Result<u64, Stop> {
        (batch.first, batch.n) = (next, self.layout.batch.min(until - next));
        ends::read(self.run, self.layout, carries, batch)
    }

    fn write(&mut self, mut batch: Batch, around: &mut Surroundings<'_>) -> Result<Batch, Stop> {
        let run = &mut *self.run;
        run.printer.write_bytes(&batch.text).map_err(Stop::Output)?;
        batch.text.clear();
        ends::write(run, self.layout, &batch)?;
        if let Some(stop) = batch.failure.take() {
            return Err(stop);
        }
        for (fired, more) in run.fired.iter_mut().zip(&run.stages[0].facts.firings) {
            *fired += batch.n * more;
        }
        (around.progress)(batch.first + batch.n);
        Ok(batch)
    }

    fn engine(&self) -> Engine {
        let engine = Engine::new().threads(self.threads.count).run_length(1);
        let engine = match &self.threads.policy {
            Some(policy) => engine.policy(policy),
            None => engine,
        };
        if self.threads.mode == Mode::Filters { engine.one_to_one() } else { engine }
    }

    /// Buffers and state as after the last batch.
    fn give_back(&mut self, nodes: &[Node<'_>], last: &mut Batch) {
        let (layout, run) = (self.layout, &mut *self.run);
        let done = last.first + last.n;
        for (at, root) in layout.plan.roots.iter().enumerate() {
            if let Some(buffer) = &last.set[at] {
                let items = buffer.items(root.advance * last.n as i64, root.keep as usize);
                run.stages[0].buffers[at].bytes_mut()[..items.len()].copy_from_slice(items);
            }
        }
        for (node, segment) in nodes.iter().zip(&layout.segments) {
            let own = node.at_end(last);
            for root in &segment.own {
                if let Some(buffer) = &own.buffers[*root] {
                    let items = buffer.items(0, layout.plan.roots[*root].keep as usize);
                    run.stages[0].buffers[*root].bytes_mut()[..items.len()].copy_from_slice(items);
                }
            }
            for actor in layout.plan.steps[segment.steps.clone()].iter().flat_map(|step| step.actors()) {
                run.state.join(&own.state, layout.plan.actors[actor].node.0);
            }
        }
        run.state.seek(done);
    }
}

/// The engine's graph: a chain, since each segment comes behind all that it needs.
fn graph<'t>(
    layout: &'t Layout<'t>,
    nodes: &'t [Node<'t>],
    queue: Receiver<Batch>,
    give: Sender<Batch>,
) -> Result<thalweg::Network<'t>, Error> {
    let mut chain = thalweg::from_blocking_iter(queue).named("input");
    for (at, (segment, node)) in layout.segments.iter().zip(nodes).enumerate() {
        chain = if segment.parallel {
            chain.par_map(move |batch| node.run(batch))
        } else {
            chain.map(move |batch| node.run(batch))
        };
        chain = chain.named(&format!("segment {at}"));
    }
    // Where nobody listens any more the run is about to end.
    chain.for_each(move |batch| _ = give.send(batch)).named("output").build()
}
