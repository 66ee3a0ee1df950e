//! Checks that a plan, which may have been edited, fits a graph.

use crate::explain::MOST_BYTES;
use crate::passes::batch::MOST_FIRINGS;
use crate::passes::capacities::{CHANNEL_BYTES, has_process, min_capacity};
use crate::passes::divide::parts;
use crate::passes::pools::served;
use crate::passes::threads::MOST_THREADS;
use crate::passes::window::MOST_TICKETS;
use crate::{Fingerprint, Misfit, Place, Plan, PlanError};
use std::collections::{BTreeSet, HashMap};
use thalweg_analysis::{regions_through, returning_channel};
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId};

/// The maximum number of bytes of all channels' slots (64 GiB), beside [`BYTES_OF_EACH`].
const MOST_BYTES_IN_ALL: usize = 1 << 36;
/// The maximum number of bytes that a channel takes by default: its limit, and the next power of two.
const BYTES_OF_EACH: usize = 2 * CHANNEL_BYTES;

impl Plan {
    /// Checks that the plan can run `graph`. A plan that [`Plan::new`] has made for `graph` always can, unless the
    /// graph's rates or the wished capacities lead to larger channels than [`Plan::check_sizes`] allows. The policy's
    /// name and the record of raised capacities ([`Plan::raised`]) are not compared with anything, except that the
    /// channels of the latter exist.
    ///
    /// # Errors
    /// The first misfit found.
    pub fn check(&self, graph: &GraphData) -> Result<(), PlanError> {
        let check = Check { plan: self, graph };
        check.graph()?;
        check.numbers()?;
        check.nodes()?;
        check.channels()?;
        self.check_sizes(graph)?;
        check.segments()?;
        check.regions()
    }

    /// Checks what a run under the policy [`POOLS`](crate::POOLS) needs beside [`Plan::check`]: each node without a thread of its
    /// own has workers, and each worker one node at most. For the host that runs the plan; [`Plan::check`] does not read the policy.
    ///
    /// # Errors
    /// The first misfit found.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_plan::{Misfit, POOLS, Plan, Wishes};
    ///
    /// let mut graph = GraphData::new();
    /// let (a, b) = (graph.add(Node::sequential("a")), graph.add(Node::parallel("b")));
    /// let wishes = Wishes::default().policy(POOLS).pools(3);
    /// let mut plan = Plan::new(&graph, &wishes);
    /// assert_eq!((plan.threads(), plan.affinity()[&a], &plan.pools()[&b][..]), (4, 0, &[1, 2, 3][..]));
    /// assert_eq!(plan.check_pools(&graph), Ok(()));
    ///
    /// plan.pools_mut().clear();
    /// assert_eq!(plan.check_pools(&graph).unwrap_err().misfit(), &Misfit::Unserved);
    /// ```
    pub fn check_pools(&self, graph: &GraphData) -> Result<(), PlanError> {
        Check { plan: self, graph }.served()
    }

    /// Checks that no channel would take more than 16 GiB, and all together no more than 64 GiB and 2 MiB for each
    /// channel. Slots count as many as are allocated: a power of two. Weights of items count too, and items without a
    /// size take no memory. (By default a channel takes at most 2 MiB, so a graph of many channels is not refused for its
    /// size.)
    ///
    /// # Errors
    /// The first channel that would take too much, or else the largest of all.
    pub fn check_sizes(&self, graph: &GraphData) -> Result<(), PlanError> {
        let (mut total, mut largest) = (0usize, (0, ChannelId(0)));
        let error = |id: ChannelId, misfit| {
            let (place, name) = (Place::Channel(id), graph.channel_name(id));
            Err(PlanError { place, name, misfit })
        };
        for id in graph.channel_ids().take(self.capacities.len()) {
            let channel = graph.channel(id);
            let weights = if channel.link().weighed() { size_of::<usize>() } else { 0 };
            let (items, bytes) = (self.slots_of(id), channel.item().bytes());
            let all = slot_bytes(items, bytes.saturating_add(weights)).filter(|all| *all <= MOST_BYTES);
            let Some(all) = all else { return error(id, Misfit::Bytes { items, bytes, weights }) };
            total = total.saturating_add(all);
            if all > largest.0 {
                largest = (all, id);
            }
        }
        let most = MOST_BYTES_IN_ALL.saturating_add(graph.channels().len().saturating_mul(BYTES_OF_EACH));
        if total <= most {
            return Ok(());
        }
        error(largest.1, Misfit::BytesInAll { total, most, largest: largest.0 })
    }
}

/// The bytes of a channel's slots; `None` if they exceed a `usize`. Items without a size take none, however many.
fn slot_bytes(items: usize, bytes: usize) -> Option<usize> {
    if bytes == 0 { Some(0) } else { items.checked_next_power_of_two()?.checked_mul(bytes) }
}

/// A plan and the graph that it is to run.
struct Check<'a> {
    plan: &'a Plan,
    graph: &'a GraphData,
}

/// An error, unless `fits`.
fn ensure(fits: bool, error: impl FnOnce() -> PlanError) -> Result<(), PlanError> {
    if fits { Ok(()) } else { Err(error()) }
}

fn general(place: Place, misfit: Misfit) -> PlanError {
    PlanError { place, name: String::new(), misfit }
}

impl Check<'_> {
    fn graph(&self) -> Result<(), PlanError> {
        let Check { plan, graph } = self;
        let (nodes, channels) = (graph.nodes().len(), graph.channels().len());
        for have in [plan.claim_lengths.len(), plan.graph.nodes] {
            let misfit = Misfit::Nodes { plan: have, graph: nodes };
            ensure(have == nodes, || general(Place::Fingerprint, misfit))?;
        }
        for have in [plan.capacities.len(), plan.graph.channels] {
            let misfit = Misfit::Channels { plan: have, graph: channels };
            ensure(have == channels, || general(Place::Fingerprint, misfit))?;
        }
        let misfit = Misfit::Fingerprint { plan: plan.graph, graph: Fingerprint::of(graph) };
        ensure(plan.graph == Fingerprint::of(graph), || general(Place::Fingerprint, misfit))
    }

    fn numbers(&self) -> Result<(), PlanError> {
        let Plan { threads, batch, window, .. } = *self.plan;
        let threads_fit = (1..=MOST_THREADS).contains(&threads);
        ensure(threads_fit, || general(Place::Threads, Misfit::Threads(threads)))?;
        let batch_fits = (1..=MOST_FIRINGS).contains(&batch);
        ensure(batch_fits, || general(Place::Batch, Misfit::Batch(batch)))?;
        let window_fits = window.is_power_of_two() && (2..=MOST_TICKETS).contains(&window);
        ensure(window_fits, || general(Place::Window, Misfit::Window(window)))
    }

    fn is_parallel(&self, node: NodeId) -> bool {
        self.graph.node(node).kind() == Kind::Parallel
    }

    /// The misfit of a node at a place.
    fn of_node(&self, place: Place, node: NodeId, misfit: Misfit) -> PlanError {
        let name = self.graph.nodes().get(node.index()).map_or(String::new(), |node| node.name().to_string());
        PlanError { place, name, misfit }
    }

    fn node(&self, node: NodeId, fits: bool, misfit: Misfit) -> Result<(), PlanError> {
        ensure(fits, || self.of_node(Place::Node(node), node, misfit))
    }

    /// Checks that the graph has the node.
    fn known(&self, place: Place, node: NodeId) -> Result<(), PlanError> {
        ensure(node.index() < self.graph.nodes().len(), || general(place, Misfit::Unknown))
    }

    fn nodes(&self) -> Result<(), PlanError> {
        let plan = self.plan;
        for (id, claim) in self.graph.node_ids().zip(&plan.claim_lengths) {
            self.node(id, *claim > 0, Misfit::Claim)?;
            let blocks = self.graph.node(id).blocking() && !plan.own_threads.contains(&id);
            self.node(id, !blocks, Misfit::Blocks)?;
        }
        for (id, replicas) in &plan.replicas {
            self.known(Place::Node(*id), *id)?;
            self.node(*id, *replicas > 0, Misfit::Replicas)?;
            self.node(*id, self.is_parallel(*id), Misfit::ReplicasOfSequential)?;
        }
        for id in &plan.own_threads {
            self.known(Place::Node(*id), *id)?;
            self.node(*id, !self.is_parallel(*id), Misfit::ThreadOfParallel)?;
        }
        for (id, worker) in &plan.affinity {
            self.known(Place::Node(*id), *id)?;
            let misfit = Misfit::Worker { worker: *worker, threads: plan.threads };
            self.node(*id, (*worker as usize) < plan.threads, misfit)?;
            self.node(*id, !self.is_parallel(*id), Misfit::WorkerOfParallel)?;
            self.node(*id, !plan.own_threads.contains(id), Misfit::WorkerAndOwnThread)?;
        }
        plan.pools.iter().try_for_each(|(id, workers)| self.pool(*id, workers))?;
        for (id, shares) in &plan.shares {
            self.known(Place::Node(*id), *id)?;
            let workers = plan.pools.get(id).map_or(0, Vec::len);
            let fits = shares.len() == workers && !shares.contains(&0);
            self.node(*id, fits, Misfit::Shares { shares: shares.len(), workers })?;
        }
        Ok(())
    }

    /// Checks the list of workers of a node.
    fn pool(&self, id: NodeId, workers: &[u32]) -> Result<(), PlanError> {
        self.known(Place::Node(id), id)?;
        self.node(id, self.is_parallel(id), Misfit::WorkersOfSequential)?;
        self.node(id, !workers.is_empty(), Misfit::NoWorkers)?;
        let mut seen = BTreeSet::new();
        for worker in workers.iter().copied() {
            let misfit = Misfit::Worker { worker, threads: self.plan.threads };
            self.node(id, (worker as usize) < self.plan.threads, misfit)?;
            self.node(id, seen.insert(worker), Misfit::WorkerTwice(worker))?;
        }
        let limits = [self.graph.node(id).workers(), self.plan.replicas.get(&id).copied()];
        let Some(limit) = limits.into_iter().flatten().min() else { return Ok(()) };
        let misfit = Misfit::TooManyWorkers { workers: workers.len(), limit };
        self.node(id, workers.len() <= limit as usize, misfit)
    }

    /// Checks that each node that workers run has a worker, and no worker two nodes.
    fn served(&self) -> Result<(), PlanError> {
        let threads = self.plan.threads;
        ensure(threads <= MOST_THREADS, || general(Place::Threads, Misfit::PoolThreads(threads)))?;
        let mut serves: HashMap<u32, NodeId> = HashMap::new();
        for id in served(self.graph, self.plan) {
            let workers = self.plan.servers(id);
            self.node(id, !workers.is_empty(), Misfit::Unserved)?;
            for worker in workers {
                if let Some(other) = serves.insert(*worker, id) {
                    let other = self.graph.node(other).name().to_string();
                    return Err(self.of_node(
                        Place::Node(id),
                        id,
                        Misfit::ServesTwo { worker: *worker, other },
                    ));
                }
            }
        }
        Ok(())
    }

    fn channel(&self, channel: ChannelId, fits: bool, misfit: Misfit) -> Result<(), PlanError> {
        let name = || self.graph.channel_name(channel);
        ensure(fits, || PlanError { place: Place::Channel(channel), name: name(), misfit })
    }

    fn channels(&self) -> Result<(), PlanError> {
        let Check { plan, graph } = self;
        for (id, planned) in graph.channel_ids().zip(plan.capacities.iter().copied()) {
            let needed = min_capacity(graph, graph.channel(id));
            self.channel(id, planned >= needed, Misfit::Capacity { planned, needed })?;
        }
        let known = |id: ChannelId| {
            let known = id.index() < graph.channels().len();
            ensure(known, || general(Place::Channel(id), Misfit::Unknown))
        };
        for (id, slots) in &plan.slots {
            known(*id)?;
            let (slots, capacity) = (*slots, plan.capacities[id.index()]);
            self.channel(*id, slots >= capacity, Misfit::Slots { slots, capacity })?;
            self.channel(*id, self.can_widen(*id), Misfit::Widen)?;
        }
        for (id, bytes) in &plan.byte_limits {
            known(*id)?;
            self.channel(*id, graph.channel(*id).link().weighed(), Misfit::Unweighed)?;
            self.channel(*id, *bytes > 0, Misfit::ByteLimit)?;
        }
        plan.raised.iter().try_for_each(|raised| known(raised.channel))?;
        Ok(())
    }

    /// Whether the run can widen a channel: its items own memory, or the thread of a kernel does it, and the budget does not
    /// count its slots.
    fn can_widen(&self, id: ChannelId) -> bool {
        let channel = self.graph.channel(id);
        let own = |node: NodeId| self.plan.own_threads.contains(&node);
        let by_thread = self.plan.budget.is_none()
            && !channel.link().weighed()
            && !has_process(self.graph, channel)
            && (own(channel.from().0) || own(channel.to().0));
        channel.link().owns() || by_thread
    }

    /// Checks what holds for segments and for regions: known nodes that workers run, each once, with one worker.
    fn set(&self, place: Place, nodes: &[NodeId], seen: &mut [bool]) -> Result<(), PlanError> {
        let mut worker = None;
        for node in nodes.iter().copied() {
            self.known(place, node)?;
            let error = |misfit| self.of_node(place, node, misfit);
            ensure(!std::mem::replace(&mut seen[node.index()], true), || error(Misfit::Twice))?;
            ensure(!self.plan.own_threads.contains(&node), || error(Misfit::OwnThread))?;
            if let Some(second) = self.plan.affinity.get(&node).copied() {
                let first = *worker.get_or_insert(second);
                ensure(first == second, || error(Misfit::Workers { first, second }))?;
            }
        }
        Ok(())
    }

    fn segments(&self) -> Result<(), PlanError> {
        if self.plan.segments.is_empty() {
            return Ok(());
        }
        let mut seen = vec![false; self.graph.nodes().len()];
        for (i, nodes) in self.plan.segments.iter().enumerate() {
            let place = Place::Segment(i);
            ensure(!nodes.is_empty(), || general(place, Misfit::TooFew))?;
            self.set(place, nodes, &mut seen)?;
        }
        let segment = parts(self.graph.nodes().len(), &self.plan.segments);
        // A node with a thread of its own belongs to no worker, and so to no segment.
        let counts = |node: NodeId| !self.plan.own_threads.contains(&node);
        let returning = returning_channel(self.graph, counts, |node| segment[node.index()]);
        let Some(channel) = returning else { return Ok(()) };
        let (from, to) = (self.graph.channel(channel).from().0, self.graph.channel(channel).to().0);
        let place = Place::Segment(segment[to.index()].unwrap_or(0));
        Err(self.of_node(place, to, Misfit::Returns { from: self.graph.node(from).name().to_string() }))
    }

    fn regions(&self) -> Result<(), PlanError> {
        let (plan, count) = (self.plan, self.graph.nodes().len());
        if plan.regions.is_empty() {
            return Ok(());
        }
        let mut seen = vec![false; count];
        let segment = parts(count, &plan.segments);
        for (i, nodes) in plan.regions.iter().enumerate() {
            let place = Place::Region(i);
            ensure(nodes.len() > 1, || general(place, Misfit::TooFew))?;
            self.set(place, nodes, &mut seen)?;
            let other = nodes.iter().find(|node| segment[node.index()] != segment[nodes[0].index()]);
            other.map_or(Ok(()), |node| Err(self.of_node(place, *node, Misfit::OtherSegment)))?;
        }
        let joined = self.joined();
        for (i, nodes) in plan.regions.iter().enumerate() {
            let apart = nodes.iter().find(|node| joined[node] != joined[&nodes[0]]);
            apart.map_or(Ok(()), |node| Err(self.of_node(Place::Region(i), *node, Misfit::Unconnected)))?;
        }
        Ok(())
    }

    /// By node of a region: the set of nodes that channels of static rates inside its region join it to.
    fn joined(&self) -> HashMap<NodeId, usize> {
        let region = parts(self.graph.nodes().len(), &self.plan.regions);
        let inside = |id: ChannelId| {
            let channel = self.graph.channel(id);
            let (from, to) = (region[channel.from().0.index()], region[channel.to().0.index()]);
            from.is_some() && from == to
        };
        let sets = regions_through(self.graph, inside);
        let sets = sets.iter().enumerate().flat_map(|(i, set)| set.nodes.iter().map(move |node| (*node, i)));
        sets.filter(|(node, _)| region[node.index()].is_some()).collect()
    }
}
