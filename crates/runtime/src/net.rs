//! What all threads of a run share: the nodes, the channels' counters, and who is to be woken.

use crate::account::Account;
use crate::channel::{Grow, Meter};
use crate::error::Error;
use crate::node::{Body, NO_NAP, NodeState};
use crate::process::Owners;
use crate::ready::Ready;
use crate::search::Search;
use crate::sleep::{Sleep, Sleeper};
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, fence, lock};
use crate::useful::{Useful, has_loops};
use crate::words::Words;
use std::sync::{Arc, OnceLock};
use thalweg_analysis::Components;
use thalweg_graph::{Channel, ChannelId, GraphData, Kind, NodeId};
use thalweg_plan::Plan;
use thalweg_trace::Growth;

/// A node.
pub(crate) struct NodeCell<'env> {
    pub(crate) state: NodeState,
    pub(crate) kind: Kind,
    /// A process that any worker may activate at any time.
    pub(crate) is_plain: bool,
    /// It stays on the worker that began it: see `coroutine`.
    pub(crate) stays: bool,
    /// None for an end that the outside holds.
    pub(crate) body: Option<Box<dyn Body + 'env>>,
    /// What every firing moves, where all rates are static and no framing function decides: from
    /// it anybody can see that an activation would be in vain. Empty otherwise.
    pub(crate) needs: Box<[Need]>,
    /// Where its own thread sleeps, if it has one.
    pub(crate) dedicated: Option<u32>,
    /// Whether some peer has a thread of its own.
    pub(crate) dedicated_peers: bool,
}

/// Items that every firing of a node finds, or room that it needs, on one channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    /// So many to be seen.
    Items(ChannelId, usize),
    /// So many places.
    Room(ChannelId, usize),
}

/// How a run is told to stop, and why it did: what needs to know nothing of its graph.
#[derive(Debug)]
pub(crate) struct Signals {
    pub(crate) sleep: Sleep,
    stop: AtomicBool,
    drain: AtomicBool,
    failure: Mutex<Option<Error>>,
    /// The numbers by which ends know their processes.
    pub(crate) owners: Owners,
    /// What the workers are to see to.
    pub(crate) words: Words,
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.owners.leave();
    }
}

impl Signals {
    /// For so many sleepers and nodes.
    pub(crate) fn new(sleepers: usize, nodes: usize) -> Signals {
        Signals {
            owners: Owners::new(nodes),
            sleep: Sleep::new(sleepers),
            stop: AtomicBool::new(false),
            drain: AtomicBool::new(false),
            failure: Mutex::new(None),
            words: Words::new(),
        }
    }

    /// The run is over.
    pub(crate) fn finish(&self) {
        self.stop.store(true, Ordering::Release);
        self.sleep.end();
    }

    /// No further firing starts.
    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Sources end at their next activation.
    #[inline]
    pub(crate) fn draining(&self) -> bool {
        self.drain.load(Ordering::Relaxed)
    }

    pub(crate) fn drain(&self) {
        self.drain.store(true, Ordering::Release);
    }

    /// Stops the run; the first cause stays.
    pub(crate) fn fail(&self, error: Error) {
        self.record(error);
        self.finish();
    }

    /// Notes the cause and stops, without waking anybody: for a caller that holds the sleep lock.
    pub(crate) fn record(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
        self.stop.store(true, Ordering::Release);
    }

    pub(crate) fn take_failure(&self) -> Option<Error> {
        lock(&self.failure).take()
    }
}

/// A run's shared half.
pub(crate) struct Net<'env> {
    pub(crate) graph: GraphData,
    pub(crate) plan: Plan,
    pub(crate) nodes: Vec<NodeCell<'env>>,
    /// The channels of every node's inputs, then of its outputs, node by node.
    ports: Box<[ChannelId]>,
    /// By node: where its inputs begin there, and where its outputs do.
    ports_at: Box<[u32]>,
    /// By channel: its producer, then its consumer.
    ends: Box<[NodeId]>,
    pub(crate) meters: Vec<Arc<Meter>>,
    pub(crate) rings: Vec<Arc<dyn Grow + 'env>>,
    pub(crate) signals: Arc<Signals>,
    /// Nodes with a body that have not ended.
    pub(crate) live: AtomicUsize,
    /// Bytes of ring slots and byte limits, against the budget.
    pub(crate) spent: AtomicUsize,
    /// Of it, for channels in front of circles that starve.
    pub(crate) fed: AtomicUsize,
    pub(crate) growths: Mutex<Vec<Growth>>,
    /// What the workers did, by worker.
    pub(crate) accounts: Mutex<Vec<(usize, Account)>>,
    /// Who is claimable, where the policy is told.
    pub(crate) ready: Ready,
    /// Who is still of use, in a graph with loops.
    pub(crate) useful: Useful,
    /// Made when they are asked for.
    components: OnceLock<Components>,
    pub(crate) has_cycles: bool,
    /// Some node stays on the worker that began it.
    pub(crate) stays: bool,
    /// For circles that wait while the rest goes on.
    pub(crate) search: Search,
    /// Loops that starve end: see [`starve`](crate::starve).
    pub(crate) closes_loops: bool,
    /// Channels with more slots than capacity, with their slot counts: see `dedicated::Rest`.
    pub(crate) wide: Vec<(ChannelId, usize)>,
}

impl std::ops::Deref for Net<'_> {
    type Target = Signals;

    #[inline]
    fn deref(&self) -> &Signals {
        &self.signals
    }
}

impl<'env> Net<'env> {
    pub(crate) fn new(
        graph: GraphData,
        plan: Plan,
        nodes: Vec<NodeCell<'env>>,
        rings: Vec<(Arc<Meter>, Arc<dyn Grow + 'env>)>,
        signals: Arc<Signals>,
    ) -> Net<'env> {
        let (meters, rings): (Vec<Arc<Meter>>, Vec<_>) = rings.into_iter().unzip();
        let dealt: usize = meters.iter().map(|m| m.byte_limit()).filter(|limit| *limit != usize::MAX).sum();
        let live = nodes.iter().filter(|node| node.body.is_some()).count();
        let spent: usize =
            graph.channels().iter().zip(&plan.capacities).map(|(c, size)| c.item.bytes * size).sum();
        let alone =
            plan.threads == 1 && nodes.iter().all(|node| node.dedicated.is_none() && node.body.is_some());
        if alone {
            know_waits(&graph, &rings);
        }
        let stays = nodes.iter().any(|node| node.stays);
        let (ports, ports_at) = ports(&graph);
        Net {
            stays,
            ports,
            ports_at,
            ready: Ready::new(plan.threads, alone),
            search: Search::new(&graph),
            useful: Useful::new(&graph),
            components: OnceLock::new(),
            has_cycles: has_loops(&graph),
            ends: graph.channels().iter().flat_map(|channel| [channel.from.0, channel.to.0]).collect(),
            graph,
            plan,
            nodes,
            meters,
            rings,
            signals,
            live: AtomicUsize::new(live),
            spent: AtomicUsize::new(spent + dealt),
            fed: AtomicUsize::new(0),
            growths: Mutex::new(Vec::new()),
            closes_loops: false,
            wide: Vec::new(),
            accounts: Mutex::new(Vec::new()),
        }
    }

    /// The graph's strongly connected components.
    pub(crate) fn components(&self) -> &Components {
        self.components.get_or_init(|| thalweg_analysis::components(&self.graph))
    }

    pub(crate) fn threads(&self) -> usize {
        self.plan.threads
    }

    #[inline]
    pub(crate) fn meter(&self, channel: ChannelId) -> &Meter {
        &self.meters[channel.index()]
    }

    pub(crate) fn inputs(&self, node: NodeId) -> &[ChannelId] {
        &self.ports[self.ports_at[2 * node.index()] as usize..self.ports_at[2 * node.index() + 1] as usize]
    }

    pub(crate) fn outputs(&self, node: NodeId) -> &[ChannelId] {
        &self.ports
            [self.ports_at[2 * node.index() + 1] as usize..self.ports_at[2 * node.index() + 2] as usize]
    }

    /// Producers and consumers next to a node; one with several channels in between, several times.
    pub(crate) fn peers(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let producers = self.inputs(node).iter().map(|channel| self.ends(*channel).0);
        producers.chain(self.outputs(node).iter().map(|channel| self.ends(*channel).1))
    }

    /// Whether any input of the node that is in the mask passes the test.
    pub(crate) fn any_input(&self, node: NodeId, mask: u64, test: impl Fn(&Meter) -> bool) -> bool {
        let inputs = self.inputs(node).iter().enumerate();
        inputs.filter(|(i, _)| mask >> i & 1 == 1).any(|(_, channel)| test(self.meter(*channel)))
    }

    /// Whether a worker that activates the node would, as far as can be seen, get something done.
    pub(crate) fn claimable(&self, node: NodeId) -> bool {
        let cell = &self.nodes[node.index()];
        cell.dedicated.is_none() && self.actionable(node)
    }

    /// The same, whoever's node it is.
    pub(crate) fn actionable(&self, node: NodeId) -> bool {
        let cell = &self.nodes[node.index()];
        let Some(body) = &cell.body else { return false };
        !cell.state.is_done()
            && ((cell.state.satisfied(self, node) && !body.is_held() && self.missing(node).is_none())
                || cell.state.unstuck(self, node))
    }

    /// Something that surely keeps the node from firing and from ending, whatever its wait word
    /// says: the word names one thing, and another may be lacking by the time that is there.
    ///
    /// It follows from counters that peers change before they look for sleepers, as the word does,
    /// so a wake-up hangs on it as safely.
    pub(crate) fn missing(&self, node: NodeId) -> Option<Need> {
        let cell = &self.nodes[node.index()];
        if cell.needs.is_empty() {
            return None;
        }
        let (mut missing, mut heard) = (None, self.outputs(node).is_empty());
        for need in &cell.needs {
            let lacks = match *need {
                Need::Items(channel, count) => {
                    let (meter, short) = (self.meter(channel), self.meter(channel).items() < count);
                    if short && meter.ended() {
                        return None; // it will end
                    }
                    short
                }
                Need::Room(channel, count) => {
                    let meter = self.meter(channel);
                    heard |= !meter.gone();
                    !meter.gone() && meter.items() + count > meter.capacity()
                }
            };
            missing = missing.or(lacks.then_some(*need));
        }
        missing.filter(|_| heard && !cell.state.is_cancelled())
    }

    /// Producer and consumer of a channel.
    #[inline]
    pub(crate) fn ends(&self, channel: ChannelId) -> (NodeId, NodeId) {
        (self.ends[2 * channel.index()], self.ends[2 * channel.index() + 1])
    }

    /// The node at the other end of an operation's channel: who gave what is received, who takes
    /// what is sent.
    #[inline]
    pub(crate) fn peer(&self, operation: u64) -> NodeId {
        self.ends[operation as usize]
    }

    /// A token of the node, if it is claimable and there is one left.
    #[inline]
    pub(crate) fn take_token(&self, node: NodeId) -> bool {
        let cell = &self.nodes[node.index()];
        match cell.kind {
            Kind::Process => cell.dedicated.is_none() && self.take_token_of(cell, node),
            _ => {
                cell.state.tokens.are_left()
                    && self.claimable(node)
                    && cell.state.tokens.make(self.ready.is_alone())
            }
        }
    }

    /// The same for a process that workers run. If its token is left it is nobody's, and its wait word
    /// alone says what there is to know.
    #[inline]
    pub(crate) fn take_token_of(&self, process: &NodeCell<'_>, node: NodeId) -> bool {
        let state = &process.state;
        state.tokens.are_left()
            && state.satisfied(self, node)
            && !state.is_done()
            && process.body.is_some()
            && state.tokens.make(self.ready.is_alone())
    }

    /// Whether there is a token of the node.
    pub(crate) fn has_token(&self, node: NodeId) -> bool {
        !self.nodes[node.index()].state.tokens.is_there_none()
    }

    /// The policy has begun with the tokens there were. What became claimable since they were made nobody was
    /// told of: ends and lent messages may be given up on any thread.
    pub(crate) fn tell_from_now_on(&self) {
        self.ready.tell();
        fence(Ordering::SeqCst); // pairs with those of changers, who look after it whether the policy is told
        let others = self.graph.node_ids().filter(|node| !self.has_token(*node));
        others.for_each(|node| self.tell_outside(node));
    }

    /// Tells whatever worker looks next, if there is anything to tell; from any thread, where the
    /// policy is told.
    pub(crate) fn tell_outside(&self, node: NodeId) {
        if self.take_token(node) && !self.pass_on(node, usize::MAX) {
            match self.ready.homes().and_then(|homes| homes.of(node)) {
                Some(home) => self.push_home(home, node),
                None => self.push_outside(node),
            }
        }
    }

    /// Gives a token to the one worker that is to run it.
    pub(crate) fn push_home(&self, home: usize, node: NodeId) {
        self.ready.push(home, node);
        if self.sleep.any_asleep() {
            self.sleep.wake_worker(home);
        }
    }

    fn push_outside(&self, node: NodeId) {
        self.ready.push_outside(node);
        if self.sleep.wants_waking() {
            self.sleep.wake_one();
        }
    }

    /// A worker in the middle of an activation tells its own queue.
    pub(crate) fn tell_worker(&self, worker: usize, node: NodeId) {
        self.ready.fence();
        if self.take_token(node) {
            if self.ready.homes().is_some() {
                return self.push_outside(node); // a parallel node: nobody steals it from a queue
            }
            self.ready.push(worker, node);
            if self.sleep.wants_waking() {
                self.sleep.wake_one();
            }
        }
    }

    /// [`Net::changed`] for threads that are no workers.
    pub(crate) fn changed_outside(&self, node: NodeId) {
        fence(Ordering::SeqCst); // pairs with `Sleep::announce`, `doze`, and the protocol of `ready`
        let sleepers = self.nodes[node.index()].dedicated_peers || self.sleep.any_asleep();
        if sleepers || self.ready.is_told() {
            self.ring_peers(node);
        }
    }

    /// Whether there is something for a worker to do.
    pub(crate) fn any_work(&self, worker: usize) -> bool {
        if self.ready.is_told() {
            self.take_words();
            return self.ready.any_for(worker);
        }
        self.find_claimable(worker).is_some()
    }

    /// Some node that the worker could claim, looked for from the one of its number on.
    pub(crate) fn find_claimable(&self, worker: usize) -> Option<NodeId> {
        self.take_words();
        let count = self.nodes.len();
        let mut nodes = (0..count).map(|i| NodeId(((worker + i) % count) as u32));
        nodes.find(|node| self.claimable(*node) && self.may_take(*node, worker))
    }

    /// To be called after every change a neighbour may have waited for: items published or
    /// released, an end. One fence and two loads when nobody sleeps.
    #[inline]
    pub(crate) fn changed(&self, node: NodeId) {
        fence(Ordering::SeqCst); // pairs with `Sleep::announce` and `doze`
        if self.sleep.any_asleep() {
            self.ring_peers(node);
        } else if self.nodes[node.index()].dedicated_peers {
            // Workers are awake: a policy that is notified hears of the others when the activation ends.
            self.ring_dedicated_peers(node);
        }
    }

    #[cold]
    fn ring_dedicated_peers(&self, node: NodeId) {
        self.peers(node).for_each(|peer| self.ring_dedicated(peer));
    }

    #[cold]
    fn ring_peers(&self, node: NodeId) {
        self.ring_dedicated_peers(node);
        if self.ready.is_told() {
            return self.peers(node).for_each(|peer| self.tell_outside(peer));
        }
        if self.stays {
            let claimable = self.peers(node).filter(|peer| self.claimable(*peer));
            return claimable.for_each(|peer| self.rouse(peer));
        }
        if self.sleep.wants_waking() && self.peers(node).any(|peer| self.claimable(peer)) {
            self.sleep.wake_one();
        }
    }

    /// Wakes the thread of a dedicated node if its wait is over.
    pub(crate) fn ring_dedicated(&self, node: NodeId) {
        let cell = &self.nodes[node.index()];
        let Some(sleeper) = cell.dedicated else { return };
        let nap = cell.state.nap.load(Ordering::Relaxed);
        let wakes = match nap {
            NO_NAP => cell.state.dozing.load(Ordering::Relaxed) && cell.state.satisfied(self, node),
            until => cell.state.nap_is_over(self, until),
        };
        if wakes {
            self.sleep.wake_dedicated(sleeper as Sleeper);
        }
    }

    /// After the resting graph was examined: whoever can go on does.
    pub(crate) fn resume(&self) {
        fence(Ordering::SeqCst);
        if self.stopped() {
            return self.finish();
        }
        self.graph.node_ids().for_each(|node| self.ring_dedicated(node));
        if self.ready.is_told() {
            return self.graph.node_ids().for_each(|node| self.tell_outside(node));
        }
        self.take_words();
        self.rouse_all();
    }

    /// A worker about to activate `node` wakes another if there is work elsewhere.
    #[inline]
    pub(crate) fn share(&self, node: NodeId) {
        if self.sleep.wants_waking() {
            self.share_slowly(node);
        }
    }

    #[cold]
    fn share_slowly(&self, node: NodeId) {
        fence(Ordering::SeqCst);
        let all = self.nodes.len();
        let mut others = (1..all.min(64)).map(|i| NodeId(((node.index() + i) % all) as u32));
        let free = |other: &NodeId| !self.stays || self.nodes[other.index()].home().is_none();
        if others.any(|other| self.claimable(other) && free(&other)) {
            self.sleep.wake_one();
        }
    }

    /// A worker has given back the claim of a parallel node, of which it took at most `claimed` firings: it
    /// wakes another worker to claim there too.
    #[inline]
    pub(crate) fn share_claim(&self, node: NodeId, claimed: usize) {
        if self.sleep.wants_waking() {
            fence(Ordering::SeqCst);
            // This worker sees to the node's end itself.
            let all_claimed = |meter: &Meter| meter.ended() && meter.items() <= claimed;
            let last = self.inputs(node).iter().any(|input| all_claimed(self.meter(*input)));
            if !last && self.claimable(node) {
                self.sleep.wake_one();
            }
        }
    }

    /// A node has ended: its neighbours must see that, whatever they wait for.
    pub(crate) fn ended(&self, node: NodeId) {
        let cell = &self.nodes[node.index()];
        cell.state.done.store(true, Ordering::Release);
        cell.state.wait.never();
        self.alert_peers(node);
        self.not_wanted(node);
        self.changed(node);
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.finish();
        }
    }

    /// Makes the neighbours look, whatever they wait for.
    pub(crate) fn alert_peers(&self, node: NodeId) {
        for peer in self.peers(node) {
            self.nodes[peer.index()].state.alert.store(true, Ordering::Release);
        }
    }

    /// An outside end has left: who gives to it alone is no longer needed.
    pub(crate) fn left(&self, node: NodeId) {
        self.not_wanted(node);
        self.changed_outside(node);
    }

    /// Whether the node has outputs, and nobody reads any of them any more.
    pub(crate) fn unheard(&self, node: NodeId) -> bool {
        let outputs = self.outputs(node);
        !outputs.is_empty() && outputs.iter().all(|id| self.meter(*id).gone())
    }

    /// Whether no end can be reached from the node, where from others one can: it is run for what it
    /// does besides.
    pub(crate) fn is_for_itself(&self, node: NodeId) -> bool {
        self.useful.is_for_itself(node)
    }

    /// Whether the graph is run for the node: it has no outputs, or returns a value.
    pub(crate) fn is_end(&self, node: NodeId) -> bool {
        crate::useful::is_end(self.graph.node(node))
    }

    /// An end that has not ended, and still reads or returns a value.
    pub(crate) fn is_live_end(&self, node: NodeId) -> bool {
        let cell = &self.nodes[node.index()];
        let read = |id: &ChannelId| !self.meter(*id).gone();
        let inputs = self.inputs(node);
        let goes_on = || inputs.is_empty() || inputs.iter().any(read) || self.graph.node(node).returns;
        self.is_end(node) && !cell.state.is_done() && goes_on()
    }

    pub(crate) fn fail_node(&self, node: NodeId, cause: Box<dyn std::error::Error + Send + Sync>) {
        self.fail(Error::Node { node: self.graph.node(node).name.to_string(), cause });
    }

    pub(crate) fn fail_panic(&self, node: NodeId, panic: Box<dyn std::any::Any + Send>) {
        let message = crate::panic_message(&*panic);
        self.fail(Error::Panic { node: self.graph.node(node).name.to_string(), message });
        // Those of the poll that panicked.
        crate::process::end_streams(self.owners.of(node), crate::process::Cause::Failed);
    }

    pub(crate) fn fail_short(&self, node: NodeId, port: usize) {
        let data = self.graph.node(node);
        self.fail(Error::Rate {
            node: data.name.to_string(),
            port: data.outputs[port].name.to_string(),
            rate: data.outputs[port].push.fixed().unwrap_or(0),
        });
    }
}

/// Where one worker does everything: processes know of each other who waits.
fn know_waits<'env>(graph: &GraphData, rings: &[Arc<dyn Grow + 'env>]) {
    let is_process = |node: NodeId| graph.node(node).kind == Kind::Process;
    let between = |channel: &Channel| is_process(channel.from.0) && is_process(channel.to.0);
    let channels = graph.channels().iter().zip(rings).filter(|(channel, _)| between(channel));
    channels.for_each(|(_, ring)| ring.know_waits());
}

/// The channels at every node's ports, and where they begin: see [`Net`].
fn ports(graph: &GraphData) -> (Box<[ChannelId]>, Box<[u32]>) {
    let mut ports = Vec::with_capacity(2 * graph.channels().len());
    let mut at = Vec::with_capacity(2 * graph.nodes().len() + 1);
    for node in graph.nodes() {
        at.push(ports.len() as u32);
        ports.extend(node.inputs.iter().filter_map(|port| port.channel));
        at.push(ports.len() as u32);
        ports.extend(node.outputs.iter().filter_map(|port| port.channel));
    }
    at.push(ports.len() as u32);
    (ports.into(), at.into())
}
