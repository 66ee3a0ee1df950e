//! The run of a graph on demand: recursive exploration from the sink (section 5.2 of the paper), without recursion on the
//! thread's stack.
//!
//! | task | what it does | what follows |
//! |---|---|---|
//! | explore | lists the predecessors, creates those that are new, waits for those without result | explores the new ones; computes the node itself if nothing is left to wait for |
//! | compute | computes the node | computes the nodes for which nothing else is left to wait; explores added ones |

use super::hash::hash;
use super::store::{Block, Full, Named, Node, Store};
use super::table::{Place, View};
use super::{Context, Outcome, TaskGraph, TaskResults, cycle};
use crate::counts::access;
use crate::entry::{Entry, Task, spawn};
use crate::error::{During, TaskError};
use crate::exec::{self, Ended, Owned, Stop, Work};
use crate::options::TaskOptions;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use thalweg_policy::tasks::ColourSet;
use thalweg_runtime::{Counts, MemberCounts, into_message};

/// Bit of a task's number: it explores its node, and does not compute it.
const EXPLORE: u32 = 1 << 31;
/// The sink's number.
const SINK: u32 = 0;

/// A graph in a run.
struct Run<'g, G: TaskGraph> {
    graph: &'g G,
    store: &'g Store<G::Key, G::Output>,
}

type NamedOf<'s, G> = Named<'s, <G as TaskGraph>::Key, <G as TaskGraph>::Output>;

/// What a member has for itself.
struct Local<'t, G: TaskGraph> {
    me: usize,
    table: View<'t>,
    place: thalweg_policy::tasks::Place,
    /// The colours of the member's domain, if accesses are counted.
    domain: Option<ColourSet>,
    counts: MemberCounts,
    /// Nodes that the member has created.
    created: u64,
    nodes: Block,
    edges: Block,
    /// Empty between tasks: kept for their memory.
    needs: Vec<G::Key>,
    more: Vec<G::Key>,
    tasks: Vec<Task>,
    /// The node whose functions are called, and which one.
    at: (u32, During),
    failure: Option<Failure<G::Error>>,
}

/// Why a run has ended early.
enum Failure<E> {
    Failed(E),
    /// The message of the panic.
    Panicked(String),
    Full(Full),
}

/// Runs a graph: see [`TaskGraph::run`].
pub(super) fn run<G: TaskGraph>(graph: &G, sink: G::Key, options: &TaskOptions) -> Outcome<G> {
    let options = &options.in_team();
    let members = options.count();
    let mut store = Store::new(members);
    let mut first = Block::default();
    _ = store.next_node(&mut first);
    store.created(&mut first);
    _ = store.nodes.make(SINK).key.set(sink);
    let insert = || {
        let (hash, mut view) = (hash(store.nodes.get(SINK).key()), store.table.view());
        view.find(hash, true, |_| false).err().is_some_and(|place| view.insert(place, SINK, true))
    };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(insert)) {
        return Err(error(store, (SINK, During::Predecessors), Failure::Panicked(into_message(panic))));
    }
    let seeds = vec![Entry::One(Task::new(SINK | EXPLORE, None))];
    let new_local = |me| Local::new(me, store.table.view(), options);
    let ended = exec::run(&Run { graph, store: &store }, seeds, options, new_local);
    let (mut created, mut counts, mut failure) = (1, Counts::default(), None);
    *counts.members_mut() = vec![MemberCounts::default(); members];
    for Ended { me, local, counts: stealing, panic } in ended {
        created += local.created;
        counts.add(me, local.counts + stealing);
        // One failure is reported, of whichever member.
        failure =
            failure.or(panic.map(Failure::Panicked).or(local.failure).map(|failure| (local.at, failure)));
    }
    if let Some((at, failure)) = failure {
        return Err(error(store, at, failure));
    }
    if counts.total().nodes() < created {
        let cycle = cycle::find(&store, SINK);
        return Err(TaskError::Cycle {
            keys: cycle.into_iter().map(|node| take_key(&mut store, node)).collect(),
        });
    }
    Ok(TaskResults { store, sink: SINK, counts })
}

/// The error of a run that has failed in a function of a node.
fn error<K: std::fmt::Debug, R, E>(
    mut store: Store<K, R>,
    (node, during): (u32, During),
    failure: Failure<E>,
) -> TaskError<K, E> {
    let mut key = || take_key(&mut store, node);
    match failure {
        Failure::Failed(cause) => TaskError::Failed { key: key(), cause },
        Failure::Panicked(message) => TaskError::Panicked { key: key(), during, message },
        Failure::Full(Full { what, limit }) => TaskError::TooLarge { what, limit },
    }
}

fn take_key<K, R>(store: &mut Store<K, R>, node: u32) -> K {
    store.nodes.get_mut(node).key.take().expect("each key is taken once")
}

impl<'g, G: TaskGraph> Run<'g, G> {
    /// The node with this key, and whether it was created by this call.
    #[inline]
    fn node(
        &self,
        key: G::Key,
        local: &mut Local<'_, G>,
        alone: bool,
    ) -> Result<(NamedOf<'_, G>, bool), Stop> {
        let hash = hash(&key);
        let place = match self.find(hash, &key, local, alone) {
            Ok(node) => return Ok((node, false)),
            Err(place) => place,
        };
        let number =
            self.store.next_node(&mut local.nodes).map_err(|full| local.fail(Failure::Full(full)))?;
        self.store.created(&mut local.nodes);
        let node = self.store.nodes.make(number);
        _ = node.key.set(key);
        let (mut place, made) = (place, Named { number, node });
        while !local.table.insert(place, number, alone) {
            match self.find(hash, node.key(), local, alone) {
                // Another member has created the node; this one is no part of the graph.
                Ok(node) => return Ok((node, false)),
                Err(later) => place = later,
            }
        }
        local.created += 1;
        Ok((made, true))
    }

    /// The node with this key, or its place.
    #[inline]
    fn find(
        &self,
        hash: u64,
        key: &G::Key,
        local: &mut Local<'_, G>,
        alone: bool,
    ) -> Result<NamedOf<'_, G>, Place> {
        let found = Cell::new(None);
        let is_it = |number| {
            let node = self.store.nodes.get(number);
            found.set(Some(node));
            node.key() == key
        };
        let number = local.table.find(hash, alone, is_it)?;
        Ok(Named { number, node: found.get().expect("the node was compared last") })
    }

    #[inline]
    fn task(&self, node: NamedOf<'_, G>, kind: u32, local: &mut Local<'_, G>) {
        let before = std::mem::replace(&mut local.at, (node.number, During::Colour));
        let colour = self.graph.colour(node.node.key());
        local.at = before;
        local.tasks.push(Task::new(node.number | kind, colour));
    }

    fn explore(
        &self,
        node: NamedOf<'_, G>,
        local: &mut Local<'_, G>,
        owned: &mut Owned<Entry>,
    ) -> Result<Option<Entry>, Stop> {
        local.at = (node.number, During::Predecessors);
        let mut needs = std::mem::take(&mut local.needs);
        self.graph.predecessors(node.node.key(), &mut needs);
        let edges = self.store.begin(node.node, needs.len(), &mut local.edges);
        let edges = edges.map_err(|full| local.fail(Failure::Full(full)))?;
        let mut done = 1; // The one more that the node waits for while it is explored.
        for (at, key) in (0..).zip(needs.drain(..)) {
            let (predecessor, is_new) = self.node(key, local, owned.alone)?;
            done += u32::from(!self.store.follow(node, (edges, at), predecessor, owned.alone));
            if is_new {
                self.task(predecessor, EXPLORE, local);
            }
        }
        local.needs = needs;
        if node.node.arrive(done, owned.alone) {
            return self.compute(node, local, owned);
        }
        Ok(spawn(&mut local.tasks, &local.place, owned))
    }

    fn compute(
        &self,
        node: NamedOf<'_, G>,
        local: &mut Local<'_, G>,
        owned: &mut Owned<Entry>,
    ) -> Result<Option<Entry>, Stop> {
        let Named { number, node } = node;
        local.at = (number, During::Compute);
        let mut context = Context { store: self.store, node, member: local.me, more: &mut local.more };
        match self.graph.compute(node.key(), &mut context) {
            Ok(result) => _ = node.result.set(result),
            Err(cause) => return Err(local.fail(Failure::Failed(cause))),
        }
        *local.counts.nodes_mut() += 1;
        self.count_accesses(number, node, local);
        self.store.finish(node, owned.alone, |follower| self.task(follower, 0, local));
        if !local.more.is_empty() {
            self.add(local, owned.alone)?;
        }
        Ok(spawn(&mut local.tasks, &local.place, owned))
    }

    /// Creates the nodes that the node computed last has added.
    fn add(&self, local: &mut Local<'_, G>, alone: bool) -> Result<(), Stop> {
        let mut more = std::mem::take(&mut local.more);
        for key in more.drain(..) {
            if let (node, true) = self.node(key, local, alone)? {
                self.task(node, EXPLORE, local);
            }
        }
        local.more = more;
        Ok(())
    }

    /// Counts the accesses of a node that was computed, as section 5.5.2 of the paper does.
    #[inline]
    fn count_accesses(&self, number: u32, node: &Node<G::Key, G::Output>, local: &mut Local<'_, G>) {
        let Some(domain) = local.domain else { return };
        let before = local.at;
        for accessed in std::iter::once(number).chain(self.store.predecessors(node)) {
            local.at = (accessed, During::Colour);
            let colour = self.graph.colour(self.store.nodes.get(accessed).key());
            access(&mut local.counts, colour, &domain);
        }
        local.at = before;
    }
}

impl<'g, G: TaskGraph> Work for Run<'g, G> {
    type Entry = Entry;
    type Local = Local<'g, G>;

    #[inline]
    fn execute(
        &self,
        entry: Entry,
        local: &mut Local<'_, G>,
        owned: &mut Owned<Entry>,
    ) -> Result<Option<Entry>, Stop> {
        let id = entry.first(&local.place, owned).id();
        let node = self.store.named(id & !EXPLORE);
        if id & EXPLORE != 0 { self.explore(node, local, owned) } else { self.compute(node, local, owned) }
    }

    fn counts(local: &Local<'_, G>) -> MemberCounts {
        local.counts
    }

    fn fits(&self, entry: &Entry, colours: &ColourSet) -> bool {
        entry.fits(colours)
    }
}

impl<'t, G: TaskGraph> Local<'t, G> {
    fn new(me: usize, table: View<'t>, options: &TaskOptions) -> Local<'t, G> {
        Local {
            me,
            table,
            place: options.place(me),
            domain: options.domain(me),
            counts: MemberCounts::default(),
            created: 0,
            nodes: Block::default(),
            edges: Block::default(),
            needs: Vec::new(),
            more: Vec::new(),
            tasks: Vec::new(),
            at: (SINK, During::Predecessors),
            failure: None,
        }
    }

    fn fail(&mut self, failure: Failure<G::Error>) -> Stop {
        self.failure = Some(failure);
        Stop
    }
}
