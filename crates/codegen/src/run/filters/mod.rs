//! A mode for comparison: an operating-system thread for each filter, splitter and joiner, queues with a lock
//! between them, each item passed by itself, and scheduling by the system (Soulé and others, sections 3 and
//! 6.2.1).
//!
//! **Actors.** The *caller* reads and writes the files. Each *node's thread* has a run of its own with the
//! node's share of the state ([`Share`](super::groups)), and fires the node whenever it can. Nodes without
//! inputs need a *permission* for each firing, which the caller sends through a queue.
//!
//! **States** of a node's thread, counted in [`Links`]:
//!
//! | state | enters it by | leaves it by |
//! |---|---|---|
//! | running | start; being woken by a producer or the caller | popping from an empty queue; ending |
//! | waiting | popping from an empty queue | an item, or the end of the queue |
//! | ended | the end of its input, or a failure | - |
//!
//! **Bounds.** The caller admits a few steady states at a time, and no more while many items are on their
//! way, unless all threads wait or have ended. So queues stay short, and the run never blocks for lack of
//! admitted input. When all threads rest and there is no more input, the caller ends all queues; the shares
//! go back into one run, which does what is left on one thread.
//!
//! **Flags.** `failed` is set by a node's thread before it counts itself as ended, and read by the caller
//! after it has seen that count or a timeout; both are `SeqCst`. `stopped` is set by the caller on
//! interruption and read, relaxed, in firings; it publishes no data.
//!
//! Nodes run ahead of their regions' schedules here. Where that would be visible, because a run is to end
//! before its input does, the regions run filter by filter on one thread instead ([`in_step`]). Of several
//! failures the one furthest downstream is reported: nothing behind another failure can have reached it.

mod link;

use super::Run;
use super::ends::Ends;
use super::groups::{Ports, Share};
use super::parts::Sources;
use crate::Native;
use link::{Link, Links};
use std::io;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle};
use thalweg::Error;
use thalweg_lang::flat::{ChannelId, Firing, NodeId};
use thalweg_lang::interpret::{Options, Stop, Surroundings};

/// The number of items on their way at which no more input is admitted.
const FEW: i64 = 1 << 14;

/// The steady states of the sources that are admitted at once.
const AT_ONCE: u64 = 64;

/// The content of a permission to fire.
const LEAVE: [u8; 1] = [0];

/// Whether a node that is as far ahead as possible is within its region's schedule: each region is a chain of
/// nodes that fire in turn.
pub(super) fn in_step(native: &Native) -> bool {
    let flat = &native.compiled.flat;
    native.compiled.schedule.regions.iter().all(|region| {
        let chain = |node: &NodeId| flat.node(*node).inputs.len() < 2 && flat.node(*node).outputs.len() < 2;
        let plain = |node: &NodeId| {
            native.codes[node.0 as usize].as_ref().is_none_or(|codes| codes.prework.is_none())
        };
        region.nodes.len() == 1
            || region.repetitions.iter().all(|times| *times == 1)
                && region.nodes.iter().all(|node| chain(node) && plain(node))
    })
}

/// Whether only sources have nodes without inputs.
pub(super) fn begins_at_sources(run: &Run<'_>) -> bool {
    let flat = &run.native.compiled.flat;
    run.regions.iter().zip(&run.native.compiled.schedule.regions).all(|(region, schedule)| {
        region.is_source() || schedule.nodes.iter().all(|node| !flat.node(*node).inputs.is_empty())
    })
}

/// The state that the caller and the threads share.
struct Team<'t> {
    links: Links,
    /// By channel.
    queues: Vec<Link>,
    /// By node without inputs: its permissions to fire.
    leaves: Vec<Link>,
    threads: Vec<NodeId>,
    failed: AtomicBool,
    /// Tells all threads to stop, in the middle of firings if need be.
    stopped: Arc<AtomicBool>,
    text: Mutex<Vec<u8>>,
    native: &'t Native,
}

/// Runs until the input has ended, the steady states are done, or the run is interrupted.
pub(super) fn drive(
    run: &mut Run<'_>,
    sources: &mut Sources,
    around: &mut Surroundings<'_>,
) -> Result<(), Stop> {
    run.empty_all_buffers();
    let (native, flat) = (run.native, &run.native.compiled.flat);
    let nodes = (0..flat.nodes().len() as u32).map(NodeId);
    let threads = nodes.filter(|node| !run.ends.is_reader(*node) && !run.ends.is_writer(*node)).collect();
    let team = Team {
        links: Links::default(),
        queues: flat.channels().iter().map(|_| Link::default()).collect(),
        leaves: flat.nodes().iter().map(|_| Link::default()).collect(),
        threads,
        failed: AtomicBool::new(false),
        stopped: Arc::default(),
        text: Mutex::default(),
        native,
    };
    let shares: Vec<Share<'_>> = team.threads.iter().map(|node| run.give(&[*node])).collect();
    let ends = std::thread::scope(|scope| {
        let team = &team;
        let begin = |(node, share): (&NodeId, _)| {
            let node = *node;
            Builder::new().spawn_scoped(scope, move || team.fire(node, share))
        };
        let all: io::Result<Vec<_>> = team.threads.iter().zip(shares).map(begin).collect();
        let all = all.map_err(|error| Stop::Output(Error::Thread(error).to_string()));
        let fed = all.and_then(|all| team.feed(run, sources, around).map(|()| all));
        team.queues.iter().chain(&team.leaves).for_each(Link::end);
        let end =
            |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        fed.map(|all| all.into_iter().map(end).collect::<Vec<Result<Share<'_>, Stop>>>())
    })?;
    team.write(run)?;
    if let Some(stop) = ends.iter().rev().find_map(|end| end.as_ref().err()) {
        return Err(stop.clone());
    }
    for share in ends {
        run.adopt(share?);
    }
    for (at, queue) in team.queues.iter().enumerate() {
        run.put(ChannelId(at as u32), &queue.take());
    }
    run.pass_ahead();
    Ok(())
}

impl<'t> Team<'t> {
    /// A node's thread: fires the node as often as possible. Returns its share, or its failure.
    fn fire<'a>(&self, node: NodeId, share: Share<'a>) -> Result<Share<'a>, Stop>
    where
        't: 'a,
    {
        let mut ports = Ports::default();
        let ends = Ends::open(&self.native.compiled, Options::default(), &mut ports);
        let stopped = self.stopped.clone();
        let interrupted = Rc::new(move || stopped.load(Ordering::Relaxed));
        let made = ends.map(|ends| Run::new(self.native, ends, (ports.text(), interrupted)));
        let end = made.and_then(|mut run: Run<'a>| {
            run.begin_regions();
            run.adopt(share);
            let done = self.turns(&mut run, node);
            ports.printed(&mut self.text.lock().unwrap_or_else(PoisonError::into_inner));
            done.map(|()| run.give(&[node]))
        });
        self.failed.fetch_or(end.is_err(), Ordering::SeqCst);
        self.links.rests(self.threads.len());
        end
    }

    fn turns(&self, run: &mut Run<'_>, node: NodeId) -> Result<(), Stop> {
        let ports = self.native.compiled.flat.node(node);
        let outputs = self.native.compiled.flat.outputs(node);
        let mut given: Vec<(ChannelId, Vec<u8>)> = outputs.map(|to| (to, Vec::new())).collect();
        for (channel, _) in &given {
            let queue = run.queue(*channel);
            (queue.read, queue.written) = (0, 0);
        }
        let mut leave = !ports.inputs.is_empty();
        loop {
            if !leave
                && !self.leaves[node.0 as usize].pop(&self.links, self.threads.len(), &mut LEAVE.clone())
            {
                return Ok(());
            }
            let done = run.fire_some(node, 1);
            for (channel, items) in &mut given {
                items.clear();
                run.move_out(*channel, items);
                self.hand_over(*channel, items, run.item_bytes(*channel));
            }
            leave = !ports.inputs.is_empty();
            if done? == 0 && leave && !self.fetch(run, node) {
                return Ok(());
            }
        }
    }

    /// Passes items on one by one. Stops early on interruption, since a firing may have pushed very many.
    fn hand_over(&self, channel: ChannelId, items: &[u8], bytes: usize) {
        let to = self.native.compiled.flat.channel(channel).to.0;
        let counts = self.threads.contains(&to);
        let goes_on = |_: &&[u8]| !self.stopped.load(Ordering::Relaxed);
        for item in items.chunks_exact(bytes.max(1)).take_while(goes_on) {
            self.queues[channel.0 as usize].push(&self.links, item, counts);
        }
    }

    /// Fetches one item that a node lacks; returns false where there are no more.
    fn fetch(&self, run: &mut Run<'_>, node: NodeId) -> bool {
        let flat = &self.native.compiled.flat;
        let firing = if run.fired[node.0 as usize] == 0 { Firing::First } else { Firing::Later };
        let inputs: Vec<ChannelId> = flat.inputs(node).collect();
        let lacks = |port: &usize| run.held(inputs[*port]) < flat.peek(node, *port, firing);
        let channel = inputs[(0..inputs.len()).find(lacks).unwrap_or(0)];
        let mut item = vec![0; run.item_bytes(channel)];
        let there = self.queues[channel.0 as usize].pop(&self.links, self.threads.len(), &mut item);
        if there {
            run.put(channel, &item);
        }
        there
    }

    /// Admits input and writes output.
    fn feed(
        &self,
        run: &mut Run<'_>,
        sources: &mut Sources,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Stop> {
        sources.batch = sources.batch.min(AT_ONCE);
        let interrupted = around.interrupted.as_ref();
        // A thread may be in a firing that never ends.
        let look = || _ = self.stopped.fetch_or(interrupted(), Ordering::Relaxed);
        while !sources.over && !interrupted() && !self.failed.load(Ordering::SeqCst) {
            let n = run.next_batch(sources)?;
            self.let_in(run, n)?;
            self.links.settle(self.threads.len(), FEW, &look);
            self.write(run)?;
            (around.progress)(sources.done);
        }
        while !self.links.settle(self.threads.len(), 0, &look) {}
        Ok(())
    }

    /// Admits this many steady states of the sources.
    fn let_in(&self, run: &mut Run<'_>, n: u64) -> Result<(), Stop> {
        for (region, schedule) in self.native.compiled.schedule.regions.iter().enumerate() {
            if !run.regions[region].is_source() {
                continue;
            }
            for node in &schedule.nodes {
                let firings = run.regions[region].due(*node, n) - run.regions[region].due(*node, 0);
                let ports = self.native.compiled.flat.node(*node);
                if run.ends.is_reader(*node) {
                    let items = run.ends.read(*node, firings)?;
                    run.fired[node.0 as usize] += firings;
                    for output in self.native.compiled.flat.outputs(*node) {
                        self.hand_over(output, &items, run.item_bytes(output));
                    }
                } else if ports.inputs.is_empty() {
                    let leaves = &self.leaves[node.0 as usize];
                    (0..firings).for_each(|_| leaves.push(&self.links, &LEAVE, true));
                }
            }
        }
        Ok(())
    }

    /// Writes and prints the output so far.
    fn write(&self, run: &mut Run<'_>) -> Result<(), Stop> {
        let text = std::mem::take(&mut *self.text.lock().unwrap_or_else(PoisonError::into_inner));
        run.around.printer.write_bytes(&text).map_err(Stop::Output)?;
        for (at, channel) in self.native.compiled.flat.channels().iter().enumerate() {
            if run.ends.is_writer(channel.to.0) {
                let items = self.queues[at].take();
                run.ends.write(&self.native.compiled, channel.to.0, &items)?;
                run.fired[channel.to.0.index()] +=
                    (items.len() / run.item_bytes(ChannelId(at as u32)).max(1)) as u64;
            }
        }
        Ok(())
    }
}
