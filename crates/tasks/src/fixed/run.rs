//! The run of an explicit graph.
//!
//! A node's counter says how many of its predecessors are not computed. The member that computes the last one has the node
//! next, in its hand or as an entry. It sets the counter back at once, while the cache line is its own, so a run neither
//! allocates nor initialises anything for a node.
//!
//! *Orderings.* As for `waiting` in the store of graphs on demand: the decrements are `AcqRel` and form a release sequence;
//! the last predecessor reads 1 with `Acquire`, and so has the effects of the others. It decrements nothing, since no
//! other thread accesses the counter any more in this run.

use super::{Colours, StaticGraph, cycle, full};
use crate::counts::access;
use crate::entry::{Entry, Task, spawn};
use crate::error::{During, TaskError};
use crate::exec::{self, Ended, Owned, Stop, Work};
use crate::options::TaskOptions;
use std::sync::atomic::Ordering;
use thalweg_policy::tasks::{ColourSet, Place};
use thalweg_runtime::{Counts, MemberCounts};

/// A graph in a run, whose entries are the numbers of nodes.
struct Plain<'g, C> {
    graph: &'g StaticGraph,
    compute: &'g C,
}

/// A graph in a run, whose entries have colours.
struct Coloured<'g, C> {
    graph: &'g StaticGraph,
    colours: &'g Colours,
    compute: &'g C,
}

/// What a member has for itself.
struct Local<E> {
    counts: MemberCounts,
    /// The node whose function is called.
    at: u32,
    cause: Option<E>,
    place: Place,
    domain: Option<ColourSet>,
    /// Empty between tasks: kept for its memory.
    tasks: Vec<Task>,
}

pub(super) fn run<E: Send, C: Fn(u32) -> Result<(), E> + Sync>(
    graph: &StaticGraph,
    options: &TaskOptions,
    compute: &C,
) -> Result<Counts, TaskError<u32, E>> {
    let options = &options.in_team();
    let mut counts = Counts::default();
    *counts.members_mut() = vec![MemberCounts::default(); options.count()];
    let ended = match &graph.colours {
        None => {
            // The last one of the seeds is the first one to be executed.
            let seeds = graph.sources.iter().rev().copied().collect();
            execute(&Plain { graph, compute }, seeds, options)
        }
        Some(colours) => {
            let task = |&id: &u32| Task::new(id, colours.of[id as usize]);
            let seeds = Entry::all(graph.sources.iter().map(task).collect());
            execute(&Coloured { graph, colours, compute }, seeds.into_iter().collect(), options)
        }
    };
    for Ended { me, local, counts: stealing, panic } in ended {
        counts.add(me, local.counts + stealing);
        let key = local.at;
        if let Some(message) = panic {
            return Err(TaskError::Panicked { key, during: During::Compute, message });
        }
        if let Some(cause) = local.cause {
            return Err(TaskError::Failed { key, cause });
        }
    }
    if counts.total().nodes() < graph.nodes().into() {
        return Err(TaskError::Cycle { keys: cycle::find(graph) });
    }
    Ok(counts)
}

/// Executes all entries that follow from the seeds.
fn execute<E: Send, W: Work<Local = Local<E>>>(
    work: &W,
    seeds: Vec<W::Entry>,
    options: &TaskOptions,
) -> Vec<Ended<Local<E>>> {
    exec::run(work, seeds, options, |me| Local::new(me, options))
}

impl<E> Local<E> {
    fn new(me: usize, options: &TaskOptions) -> Local<E> {
        Local {
            counts: MemberCounts::default(),
            at: 0,
            cause: None,
            place: options.place(me),
            domain: options.domain(me),
            tasks: Vec::new(),
        }
    }

    #[inline]
    fn compute(&mut self, node: u32, compute: &impl Fn(u32) -> Result<(), E>) -> Result<(), Stop> {
        self.at = node;
        if let Err(cause) = compute(node) {
            self.cause = Some(cause);
            return Err(Stop);
        }
        *self.counts.nodes_mut() += 1;
        Ok(())
    }
}

impl StaticGraph {
    /// A predecessor of the node was computed; true if it was the last one.
    #[inline]
    fn arrive(&self, node: u32, alone: bool) -> bool {
        let counter = &self.counters[node as usize];
        let seen = counter.load(Ordering::Acquire);
        let is_last = match seen as u32 {
            1 => true,
            _ if alone => {
                counter.store(seen - 1, Ordering::Relaxed);
                false
            }
            _ => counter.fetch_sub(1, Ordering::AcqRel) as u32 == 1,
        };
        if is_last {
            // Relaxed: the next access is in another run, which the end of this one precedes.
            counter.store(full(seen), Ordering::Relaxed);
        }
        is_last
    }
}

impl<E: Send, C: Fn(u32) -> Result<(), E> + Sync> Work for Plain<'_, C> {
    type Entry = u32;
    type Local = Local<E>;

    #[inline]
    fn execute(&self, node: u32, local: &mut Local<E>, owned: &mut Owned<u32>) -> Result<Option<u32>, Stop> {
        local.compute(node, self.compute)?;
        let mut next = None;
        for successor in self.graph.successors.of(node) {
            if self.graph.arrive(*successor, owned.alone) {
                match next {
                    None => next = Some(*successor),
                    Some(_) => owned.push(*successor),
                }
            }
        }
        Ok(next)
    }

    fn counts(local: &Local<E>) -> MemberCounts {
        local.counts
    }

    fn fits(&self, _: &u32, _: &ColourSet) -> bool {
        true
    }
}

impl<C> Coloured<'_, C> {
    /// Counts the accesses of a node that was computed, as section 5.5.2 of the paper does.
    fn count_accesses<E>(&self, node: u32, local: &mut Local<E>) {
        let Some(domain) = local.domain else { return };
        for accessed in std::iter::once(&node).chain(self.colours.predecessors.of(node)) {
            access(&mut local.counts, self.colours.of[*accessed as usize], &domain);
        }
    }
}

impl<E: Send, C: Fn(u32) -> Result<(), E> + Sync> Work for Coloured<'_, C> {
    type Entry = Entry;
    type Local = Local<E>;

    fn execute(
        &self,
        entry: Entry,
        local: &mut Local<E>,
        owned: &mut Owned<Entry>,
    ) -> Result<Option<Entry>, Stop> {
        let id = entry.first(&local.place, owned).id();
        local.compute(id, self.compute)?;
        self.count_accesses(id, local);
        for successor in self.graph.successors.of(id) {
            if self.graph.arrive(*successor, owned.alone) {
                let colour = self.colours.of[*successor as usize];
                local.tasks.push(Task::new(*successor, colour));
            }
        }
        Ok(spawn(&mut local.tasks, &local.place, owned))
    }

    fn counts(local: &Local<E>) -> MemberCounts {
        local.counts
    }

    fn fits(&self, entry: &Entry, colours: &ColourSet) -> bool {
        entry.fits(colours)
    }
}
