//! What one worker does next, step by step.
//!
//! ```text
//!   Run(several tasks) ──halve, push──▶ Run(half)
//!   Run(predecessor) ──absent──▶ Run(its predecessors), or Compute if it has none
//!                    ──computed, and the last──▶ Compute(the visiting node)
//!   Run(successor) ──last notification──▶ Compute
//!   Compute ──▶ Notify ──▶ Run(successors)
//!   otherwise: Run(the newest own entry), or else Steal ──▶ Run(the victim's oldest entry) or Steal
//!
//!   before each task: offer entries to thieves
//! ```

use super::nodes::{Nodes, Visit};
use super::{Attempts, TaskGraph, TaskSettings, WorkerCounts};
use std::ops::Range;
use std::rc::Rc;
use thalweg_policy::random::XorShift;
use thalweg_policy::tasks::{Attempt, Colour, Deque, Search, Stolen, colours, group, halves};

/// One task: the visit of a node by a node that needs it, or the notification of a node.
#[derive(Clone, Copy, Debug)]
enum Task {
    Predecessor { node: u32, needed_by: u32 },
    Successor { node: u32 },
}

/// A part of a list of tasks that may run in parallel, grouped by colour. Never empty.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    tasks: Rc<[Task]>,
    part: Range<usize>,
}

/// What a worker is about to do.
#[derive(Clone, Debug)]
enum Next {
    Run(Entry),
    /// The node is computed when this step begins.
    Notify(u32),
    Steal(Attempt),
    Find,
}

/// A worker.
pub(super) struct Worker {
    me: usize,
    search: Search,
    random: XorShift,
    next: Next,
    pub(super) counts: WorkerCounts,
    has_begun: bool,
}

/// What all workers share.
pub(super) struct World<'a> {
    pub(super) graph: &'a TaskGraph,
    pub(super) settings: &'a TaskSettings,
    pub(super) nodes: Nodes,
    pub(super) deques: Vec<Deque<Entry>>,
    /// Each computed node with its worker.
    pub(super) order: Vec<(u32, u32)>,
}

impl Worker {
    pub(super) fn new(settings: &TaskSettings, me: usize) -> Worker {
        let search = Search::new(settings.place(me), settings.workers, me, settings.search);
        let random = XorShift::new(settings.seed, me);
        let counts = WorkerCounts::default();
        Worker { me, search, random, next: Next::Find, counts, has_begun: false }
    }

    /// Gives the worker the sink of the graph, before its first step. Returns the ticks until then.
    pub(super) fn begin(&mut self, world: &mut World) -> u64 {
        self.search.stole();
        self.has_begun = true;
        let sink = world.graph.sink();
        world.nodes.visit(world.graph, sink, None);
        self.created(world, sink)
    }

    /// One step at the time `now`; returns its ticks, after which the next step is due.
    pub(super) fn step(&mut self, world: &mut World, now: u64) -> u64 {
        match std::mem::replace(&mut self.next, Next::Find) {
            Next::Run(entry) if entry.part.len() > 1 => self.halve(world, entry),
            Next::Run(entry) => {
                world.deques[self.me].share();
                world.settings.costs.edge + self.run(world, entry.tasks[entry.part.start])
            }
            Next::Notify(node) => self.notify(world, node),
            Next::Steal(attempt) => self.steal(world, attempt, now),
            Next::Find => self.find(world),
        }
    }

    /// Whether the worker is about to steal, and no deque offers an entry.
    pub(super) fn steals_in_vain(&self, world: &World) -> bool {
        matches!(self.next, Next::Steal(_)) && !world.deques.iter().any(Deque::has_offers)
    }

    /// Makes the attempts to steal that are due from `since` on and before `now`, all of which fail. Returns when the next one is
    /// due.
    pub(super) fn fail_until(&mut self, world: &World, since: u64, now: u64) -> u64 {
        let count = (now - since).div_ceil(world.settings.costs.attempt);
        let mut left = count;
        while left > 0 {
            let Next::Steal(attempt) = self.next else { unreachable!("the worker is about to steal") };
            if !self.search.is_forced() && left > self.search.round() {
                let rounds = (left - 1) / self.search.round();
                self.counts.random.tried += rounds;
                self.counts.coloured.tried += rounds * (self.search.round() - 1);
                left -= rounds * self.search.round();
            }
            self.attempted(attempt, false);
            self.next = Next::Steal(self.search.next(&mut || self.random.number()));
            left -= 1;
        }
        since + count * world.settings.costs.attempt
    }

    /// Ends the worker's life at the time `now`.
    pub(super) fn end(&mut self, now: u64) {
        if !self.has_begun {
            self.counts.waited = now;
        }
    }

    fn halve(&mut self, world: &mut World, entry: Entry) -> u64 {
        let Entry { tasks, part } = entry;
        let colour = |task: &Task| world.colour(task);
        let halves = halves(&tasks[part.clone()], colour, self.search.place());
        let [first, rest] =
            [halves.first, halves.rest].map(|half| part.start + half.start..part.start + half.end);
        let seen = colours(&tasks[rest.clone()], colour);
        world.deques[self.me].push(Entry { tasks: tasks.clone(), part: rest }, seen);
        self.next = Next::Run(Entry { tasks, part: first });
        world.settings.costs.spawn
    }

    fn run(&mut self, world: &mut World, task: Task) -> u64 {
        let waiting = match task {
            Task::Successor { node } => node,
            Task::Predecessor { node, needed_by } => {
                match world.nodes.visit(world.graph, node, Some(needed_by)) {
                    Visit::Created => return self.created(world, node),
                    Visit::Waits => return 0,
                    Visit::Computed => needed_by,
                }
            }
        };
        if world.nodes.notify(waiting) { self.compute(world, waiting) } else { 0 }
    }

    fn created(&mut self, world: &mut World, node: u32) -> u64 {
        let predecessors = world.graph.predecessors(node);
        if predecessors.is_empty() {
            return self.compute(world, node);
        }
        let tasks = predecessors.iter().map(|&before| Task::Predecessor { node: before, needed_by: node });
        self.next = world.run_all(tasks.collect());
        0
    }

    fn compute(&mut self, world: &mut World, node: u32) -> u64 {
        let ticks = world.settings.memory().compute(world.graph, node, self.me, &mut self.counts);
        self.next = Next::Notify(node);
        ticks
    }

    fn notify(&mut self, world: &mut World, node: u32) -> u64 {
        let successors = world.nodes.computed(node);
        world.order.push((node, self.me as u32));
        if !successors.is_empty() {
            self.next = world.run_all(successors.iter().map(|&node| Task::Successor { node }).collect());
        }
        0
    }

    fn find(&mut self, world: &mut World) -> u64 {
        if let Some(entry) = world.deques[self.me].pop() {
            self.next = Next::Run(entry);
            return 0;
        }
        self.next = Next::Steal(self.search.next(&mut || self.random.number()));
        world.settings.costs.attempt
    }

    fn steal(&mut self, world: &mut World, attempt: Attempt, now: u64) -> u64 {
        let stolen = world.deques[attempt.victim].steal(self.search.place(), attempt.level);
        self.attempted(attempt, stolen.is_some());
        let Some(Stolen { oldest, others }) = stolen else {
            return self.find(world);
        };
        if !std::mem::replace(&mut self.has_begun, true) {
            self.counts.waited = now;
        }
        world.deques[self.me].extend(others);
        self.next = Next::Run(oldest);
        world.settings.costs.steal
    }

    /// Counts an attempt.
    fn attempted(&mut self, attempt: Attempt, stole: bool) {
        let count = Attempts { tried: 1, stole: u64::from(stole) };
        match attempt.level {
            Some(_) => self.counts.coloured += count,
            None => self.counts.random += count,
        }
        if self.search.is_forced() {
            self.counts.forced += count;
        }
        if stole { self.search.stole() } else { self.search.failed() }
    }
}

impl World<'_> {
    /// The colour that the scheduler sees.
    fn colour(&self, task: &Task) -> Colour {
        let (Task::Predecessor { node, .. } | Task::Successor { node }) = *task;
        let data = self.graph.nodes()[node as usize].data;
        self.settings.colouring.seen(data, self.settings.workers)
    }

    fn run_all(&self, mut tasks: Vec<Task>) -> Next {
        group(&mut tasks, |task| self.colour(task));
        let part = 0..tasks.len();
        Next::Run(Entry { tasks: tasks.into(), part })
    }
}
