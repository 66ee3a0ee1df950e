//! Channels and nodes of a run: which nodes are claimable, and what claims and publications change.
//!
//! Invariant of each channel: `items + popped + reserved <= capacity` while its consumer is alive.
//!
//! Without foresight ([`Settings::foresight`](crate::Settings)) a sequential node with dynamic ports, called
//! *blind*, behaves as in the engine (`runtime/src/node`):
//!
//! - Its latest activation decides whether it is claimable. If that activation lacked items or room, the node is
//!   claimable when these have come. If it spent its budget, the node is claimable when the next firing lacks
//!   nothing that is known in advance (the needs of dynamic inputs are not). A node that has not run yet is
//!   claimable, and so is one with a neighbour that has ended since its latest activation.
//! - A dynamic output needs room for one item before each firing, whether the firing pushes an item or not.
//! - A node with dynamic inputs checks its outputs first, then its inputs in order.
//!
//! A blind firing pushes at most one item to a dynamic output. Beyond that the engine spills, which is not modelled.

use crate::origins::Origins;
use crate::turns::{Firing, Turns};
use crate::{Model, NodeModel};
use std::collections::VecDeque;
use thalweg_graph::{ChannelId, GraphData, NodeId};
use thalweg_policy::{Event, Occupancy, WorkerId};

#[derive(Debug)]
struct Channel {
    capacity: usize,
    /// Items that are published and not claimed.
    items: usize,
    /// Items claimed by firings that have not ended.
    popped: usize,
    /// Room reserved for unpublished output of firings.
    reserved: usize,
    /// The producer has ended, and everything is published.
    closed: bool,
    /// The consumer has ended: pushed items are discarded.
    abandoned: bool,
    /// The workers that have pushed `items`.
    origins: Origins,
    /// Items published so far.
    published: u64,
    /// Items claimed so far by another worker than the one that has pushed them.
    remote: u64,
}

impl Channel {
    fn room(&self) -> usize {
        if self.abandoned {
            return usize::MAX;
        }
        self.capacity - self.items - self.popped - self.reserved
    }

    /// Publishes `n` items of a worker.
    fn push(&mut self, n: usize, worker: Option<WorkerId>) {
        self.published += n as u64;
        if !self.abandoned {
            self.items += n;
            self.origins.push(n, worker);
        }
    }
}

#[derive(Debug, Default)]
struct Node {
    /// Whether a worker holds the node. Of a sequential node.
    held: bool,
    ended: bool,
    /// The number of the next firing.
    ticket: u64,
    /// The reorder window: claimed and unpublished runs of firings, in ticket order.
    window: VecDeque<Run>,
    /// Runs published so far, which is the number of the front run of the window.
    published: u64,
    /// What the latest activation lacked. Of a blind node.
    wait: Wait,
    /// Whether a neighbour has ended since the latest activation.
    alert: bool,
    /// Present if its firings wait for their tickets.
    turns: Option<Turns>,
}

/// The condition under which a blind node becomes claimable.
#[derive(Clone, Copy, Debug, Default)]
enum Wait {
    #[default]
    Nothing,
    Items(ChannelId, usize),
    Room(ChannelId, usize),
}

/// Firings that were claimed together.
#[derive(Debug)]
struct Run {
    done: bool,
    pops: Vec<usize>,
    pushes: Vec<usize>,
    /// The worker that runs them; `None` for a thread of the node's own.
    worker: Option<WorkerId>,
}

/// A claim that succeeded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    /// The number of the run, for [`World::finish`].
    pub(crate) run: u64,
    pub(crate) firings: u64,
    /// The cost of the firings and of their misses, in ticks.
    pub(crate) cost: u64,
    /// Popped items that another worker has pushed.
    pub(crate) foreign: u64,
}

/// The answer to a computed firing that wants to leave.
pub(crate) enum Answer {
    /// It has left all outputs.
    Left(Firing),
    /// It is not its turn at its next output.
    Waits(Firing),
    /// It is its turn, and the channel is full.
    Full(Firing, ChannelId),
}

/// Why a node cannot fire now.
enum Lack {
    /// The channel has fewer items than this number.
    Items(ChannelId, usize),
    /// The channel has room for fewer items than this number.
    Room(ChannelId, usize),
    /// An input has ended, or a source has made all its firings.
    End,
}

#[derive(Debug)]
pub(crate) struct World<'m> {
    model: &'m Model,
    channels: Vec<Channel>,
    nodes: Vec<Node>,
    /// Maximum length of a reorder window, in runs.
    window: usize,
    /// Nodes that have not ended.
    alive: usize,
    foresight: bool,
}

impl<'m> World<'m> {
    /// The world of a model at the start. With `waits`, firings of parallel nodes wait for their tickets.
    pub(crate) fn new(
        model: &'m Model,
        capacities: &[usize],
        window: usize,
        (foresight, waits): (bool, bool),
    ) -> World<'m> {
        let channel = |id: ChannelId| {
            let initial = model.graph.channel(id).link().initial();
            let mut origins = Origins::default();
            origins.push(initial, None);
            Channel {
                capacity: capacities[id.index()],
                items: initial,
                popped: 0,
                reserved: 0,
                closed: false,
                abandoned: false,
                origins,
                published: 0,
                remote: 0,
            }
        };
        let turns = |id: NodeId| Turns::new(model.graph.node(id).outputs().len());
        let node =
            |id| Node { turns: (waits && model.is_parallel(id)).then(|| turns(id)), ..Node::default() };
        let nodes: Vec<Node> = model.graph.node_ids().map(node).collect();
        World {
            channels: model.graph.channel_ids().map(channel).collect(),
            window,
            alive: nodes.len(),
            nodes,
            model,
            foresight,
        }
    }

    /// Whether the host knows of the next firing only what the latest activation lacked.
    fn is_blind(&self, id: NodeId) -> bool {
        let node = self.graph().node(id);
        let dynamic = node.outputs().iter().any(|port| port.push().fixed().is_none()) || self.is_framed(id);
        !self.foresight && dynamic && !self.model.is_parallel(id)
    }

    fn is_framed(&self, id: NodeId) -> bool {
        self.graph().node(id).inputs().iter().any(|port| port.pop().fixed().is_none())
    }

    pub(crate) fn graph(&self) -> &'m GraphData {
        &self.model.graph
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.alive == 0
    }

    pub(crate) fn alive(&self) -> Vec<NodeId> {
        self.graph().node_ids().filter(|n| !self.nodes[n.index()].ended).collect()
    }

    pub(crate) fn occupancy(&self, id: ChannelId) -> Occupancy {
        let channel = &self.channels[id.index()];
        Occupancy::new(channel.items, channel.capacity)
    }

    /// Whether the producer and the consumer of a channel have not ended.
    pub(crate) fn has_ends(&self, id: ChannelId) -> (bool, bool) {
        let channel = &self.channels[id.index()];
        (!channel.closed, !channel.abandoned)
    }

    /// Items published to a channel so far.
    pub(crate) fn traffic(&self, id: ChannelId) -> u64 {
        self.channels[id.index()].published
    }

    /// The ticket of a node's next firing.
    pub(crate) fn next_ticket(&self, id: NodeId) -> u64 {
        self.nodes[id.index()].ticket
    }

    /// The workers that have pushed the items of a channel.
    pub(crate) fn origins(&self, id: ChannelId) -> &Origins {
        &self.channels[id.index()].origins
    }

    /// By channel: items claimed so far by another worker than the one that has pushed them.
    pub(crate) fn remote(&self) -> Vec<u64> {
        self.channels.iter().map(|channel| channel.remote).collect()
    }

    /// The number of firings, at least 1, before the first one that pops an item which another worker has pushed than the
    /// next item; the largest number if there is no such item. Known of nodes with one input.
    pub(crate) fn before_another(&self, id: NodeId) -> u64 {
        let [port] = self.graph().node(id).inputs() else { return u64::MAX };
        let channel = port.channel().expect("models connect all ports");
        let items = self.origins(channel).before_another();
        items.map_or(u64::MAX, |items| (items as u64 / port.pop().fixed().unwrap_or(1).max(1)).max(1))
    }

    /// Whether an activation would fire or end the node.
    pub(crate) fn claimable(&self, id: NodeId) -> bool {
        let node = &self.nodes[id.index()];
        let dedicated = self.graph().node(id).blocking();
        if dedicated || node.ended || self.is_held(id) {
            return false;
        }
        if let Some(turns) = &node.turns
            && !turns.queue.is_empty()
        {
            return turns.ports().any(|port| self.full_at(id, port).is_none());
        }
        if node.window.len() >= self.window {
            return false;
        }
        if self.is_blind(id) {
            return node.alert || self.is_met(node.wait);
        }
        match self.lack(id, &Tally::default(), node.ticket) {
            None => true,
            Some(Lack::End) => node.window.is_empty(),
            Some(_) => false,
        }
    }

    /// What keeps a node from firing, if that is a channel: see [`thalweg_policy::Host::lack`].
    pub(crate) fn lack_of(&self, id: NodeId) -> Option<Event> {
        let node = &self.nodes[id.index()];
        if let Some(turns) = &node.turns
            && !turns.queue.is_empty()
        {
            return turns.ports().find_map(|port| self.full_at(id, port)).map(Event::Full);
        }
        let waits = self.graph().node(id).blocking() || node.ended || node.window.len() >= self.window;
        if waits || self.is_held(id) {
            return None;
        }
        if self.is_blind(id) {
            return match node.wait {
                _ if node.alert || self.is_met(node.wait) => None,
                Wait::Items(channel, _) => Some(Event::Empty(channel)),
                Wait::Room(channel, _) => Some(Event::Full(channel)),
                Wait::Nothing => None,
            };
        }
        match self.lack(id, &Tally::default(), node.ticket)? {
            Lack::Items(channel, _) => Some(Event::Empty(channel)),
            Lack::Room(channel, _) => Some(Event::Full(channel)),
            Lack::End => None,
        }
    }

    /// The channel of an output on which the firing whose turn it is waits for room, if it does.
    fn full_at(&self, id: NodeId, (port, run, is_queued): (usize, u64, bool)) -> Option<ChannelId> {
        let (node, channel) = (&self.nodes[id.index()], self.output(id, port));
        let left = &node.window[(run - node.published) as usize].pushes[port];
        (is_queued && *left > 0 && self.channels[channel.index()].room() == 0).then_some(channel)
    }

    /// The channel of an output.
    fn output(&self, id: NodeId, port: usize) -> ChannelId {
        self.graph().node(id).outputs()[port].channel().expect("models connect all ports")
    }

    /// Whether the firings of a node wait for their tickets.
    pub(crate) fn waits(&self, id: NodeId) -> bool {
        self.nodes[id.index()].turns.is_some()
    }

    /// Takes the oldest queued firing of a node.
    pub(crate) fn take_queued(&mut self, id: NodeId) -> Option<Firing> {
        self.nodes[id.index()].turns.as_mut()?.queue.pop_front()
    }

    /// Queues a firing.
    pub(crate) fn queue(&mut self, id: NodeId, firing: Firing) {
        self.turns(id).queue.push_back(firing);
    }

    /// Exchanges a firing whose turn it is not.
    pub(crate) fn exchange(&mut self, id: NodeId, firing: Firing) -> Firing {
        self.turns(id).exchange(firing)
    }

    fn turns(&mut self, id: NodeId) -> &mut Turns {
        self.nodes[id.index()].turns.as_mut().expect("its firings wait")
    }

    /// Lets a computed firing leave as far as it can.
    pub(crate) fn ask(&mut self, id: NodeId, mut firing: Firing) -> Answer {
        while firing.port < self.turns(id).turn.len() {
            if self.turns(id).turn[firing.port] != firing.run {
                return Answer::Waits(firing);
            }
            let (channel, at) = (self.output(id, firing.port), firing.run - self.nodes[id.index()].published);
            let run = &mut self.nodes[id.index()].window[at as usize];
            let (left, worker) = (&mut run.pushes[firing.port], run.worker);
            let to = &mut self.channels[channel.index()];
            let now = to.room().min(*left);
            *left -= now;
            to.push(now, worker);
            if *left > 0 {
                return Answer::Full(firing, channel);
            }
            self.turns(id).turn[firing.port] += 1;
            firing.port += 1;
        }
        let node = &mut self.nodes[id.index()];
        let turns = node.turns.as_ref().expect("its firings wait");
        let left = turns.turn.iter().copied().min().unwrap_or(u64::MAX);
        while node.published < left && node.window.front().is_some_and(|run| run.done) {
            node.window.pop_front();
            node.published += 1;
        }
        Answer::Left(firing)
    }

    fn is_met(&self, wait: Wait) -> bool {
        match wait {
            Wait::Nothing => true,
            Wait::Items(id, items) => {
                self.channels[id.index()].items >= items || self.channels[id.index()].closed
            }
            Wait::Room(id, room) => self.channels[id.index()].room() >= room,
        }
    }

    fn is_held(&self, id: NodeId) -> bool {
        !self.model.is_parallel(id) && self.nodes[id.index()].held
    }

    /// Acquires a node for an activation, or returns the event that ends the activation at once.
    pub(crate) fn hold(&mut self, id: NodeId) -> Result<(), Event> {
        if self.nodes[id.index()].ended || self.graph().node(id).blocking() {
            return Err(Event::Done);
        }
        if self.is_held(id) {
            return Err(Event::Refused);
        }
        let node = &mut self.nodes[id.index()];
        (node.held, node.alert) = (true, false);
        Ok(())
    }

    /// Releases a node.
    pub(crate) fn release(&mut self, id: NodeId) {
        self.nodes[id.index()].held = false;
    }

    /// Notes what a held node with a spent budget lacks for its next firing. A source without a next firing ends.
    pub(crate) fn end_budget(&mut self, id: NodeId) -> Event {
        let is_source = self.graph().node(id).is_source() && !self.model.is_parallel(id);
        if is_source && self.nodes[id.index()].ticket >= self.model.nodes[id.index()].firings {
            return self.end(id);
        }
        let lack = match self.is_framed(id) {
            true => self.lack_of_room(id, &Tally::default(), self.nodes[id.index()].ticket),
            false => self.lack(id, &Tally::default(), self.nodes[id.index()].ticket),
        };
        self.note(id, lack.as_ref());
        Event::Budget
    }

    fn note(&mut self, id: NodeId, lack: Option<&Lack>) {
        self.nodes[id.index()].wait = match lack {
            Some(Lack::Items(channel, items)) => Wait::Items(*channel, *items),
            Some(Lack::Room(channel, room)) => Wait::Room(*channel, *room),
            Some(Lack::End) | None => Wait::Nothing,
        };
    }

    /// Makes a source with a thread of its own publish a burst of firings; 0 firings end it.
    pub(crate) fn arrive(&mut self, id: NodeId, firings: u64) {
        if firings == 0 {
            self.end(id);
            return;
        }
        let claim = self.claim(id, firings, None).expect("a burst fits into its channels");
        assert_eq!(claim.firings, firings, "a burst fits into its channels");
        self.finish(id, claim.run);
    }

    /// Claims up to `max` firings of a held node, or returns the event that prevents the first one. Ends the node
    /// if no firing is left. `worker` is `None` for a thread of the node's own.
    pub(crate) fn claim(&mut self, id: NodeId, max: u64, worker: Option<WorkerId>) -> Result<Claim, Event> {
        let node = &self.nodes[id.index()];
        if node.window.len() >= self.window {
            return Err(Event::Waiting);
        }
        let max = if node.turns.is_some() { 1 } else { max };
        let mut tally = Tally::new(&self.model.nodes[id.index()]);
        let (mut firings, mut lack) = (0, None);
        while firings < max && lack.is_none() {
            lack = self.lack(id, &tally, node.ticket + firings);
            if lack.is_none() {
                tally.add(&self.model.nodes[id.index()], node.ticket + firings);
                firings += 1;
            }
        }
        if firings > 0 {
            return Ok(self.take(id, tally, firings, worker));
        }
        self.note(id, lack.as_ref());
        let node = &self.nodes[id.index()];
        Err(match lack.expect("`max` is at least 1") {
            Lack::Items(channel, _) => Event::Empty(channel),
            Lack::Room(channel, _) => Event::Full(channel),
            Lack::End if node.window.is_empty() => self.end(id),
            Lack::End => Event::Waiting,
        })
    }

    /// What the firing with this ticket lacks after the firings of the tally.
    fn lack(&self, id: NodeId, tally: &Tally, ticket: u64) -> Option<Lack> {
        let (model, node) = (&self.model.nodes[id.index()], self.graph().node(id));
        if node.is_source() && ticket >= model.firings {
            return Some(Lack::End);
        }
        let framed = self.is_framed(id) && self.is_blind(id);
        if framed && let Some(lack) = self.lack_of_room(id, tally, ticket) {
            return Some(lack);
        }
        let mut empty = None;
        for (i, port) in node.inputs().iter().enumerate() {
            let id = port.channel().expect("models connect all ports");
            let pop = model.pops[i].at(ticket);
            let need = if pop == 0 { 0 } else { pop.max(usize::try_from(port.peek()).unwrap_or(usize::MAX)) };
            let channel = &self.channels[id.index()];
            if channel.items < of(&tally.pops, i) + need {
                if channel.closed {
                    return Some(Lack::End);
                }
                empty = empty.or(Some(Lack::Items(id, of(&tally.pops, i) + need)));
                if framed {
                    break;
                }
            }
        }
        // A firing that waits for its ticket waits for room once it is computed.
        if empty.is_some() || self.waits(id) {
            return empty;
        }
        self.lack_of_room(id, tally, ticket)
    }

    fn lack_of_room(&self, id: NodeId, tally: &Tally, ticket: u64) -> Option<Lack> {
        let (model, node) = (&self.model.nodes[id.index()], self.graph().node(id));
        let blind = self.is_blind(id);
        for (i, port) in node.outputs().iter().enumerate() {
            let id = port.channel().expect("models connect all ports");
            let push = model.pushes[i].at(ticket);
            let need = if blind && port.push().fixed().is_none() { push.max(1) } else { push };
            if self.channels[id.index()].room() < of(&tally.pushes, i) + need {
                return Some(Lack::Room(id, of(&tally.pushes, i) + need));
            }
        }
        None
    }

    fn take(&mut self, id: NodeId, tally: Tally, firings: u64, worker: Option<WorkerId>) -> Claim {
        let mut foreign = 0;
        for (port, n) in self.graph().node(id).inputs().iter().zip(&tally.pops) {
            let channel = &mut self.channels[port.channel().expect("connected").index()];
            channel.items -= n;
            channel.popped += n;
            let remote = channel.origins.pop(*n, worker) as u64;
            channel.remote += remote;
            foreign += remote;
        }
        let reserves = !self.waits(id);
        for (port, n) in self.graph().node(id).outputs().iter().zip(&tally.pushes).filter(|_| reserves) {
            self.channels[port.channel().expect("connected").index()].reserved += n;
        }
        let node = &mut self.nodes[id.index()];
        let tickets = node.ticket..node.ticket + firings;
        node.ticket += firings;
        node.window.push_back(Run { done: false, pops: tally.pops, pushes: tally.pushes, worker });
        let cost = tickets.map(|ticket| self.model.nodes[id.index()].cost.at(ticket)).sum();
        Claim { run: node.published + node.window.len() as u64 - 1, firings, cost, foreign }
    }

    /// Ends the firings of a run: frees the popped items, and publishes the runs at the front of the window that
    /// are done.
    pub(crate) fn finish(&mut self, id: NodeId, run: u64) {
        let node = &mut self.nodes[id.index()];
        let index = (run - node.published) as usize;
        node.window[index].done = true;
        for (port, n) in self.model.graph.node(id).inputs().iter().zip(&node.window[index].pops) {
            self.channels[port.channel().expect("connected").index()].popped -= n;
        }
        if node.turns.is_some() {
            return; // it leaves by itself
        }
        while node.window.front().is_some_and(|run| run.done)
            && let Some(run) = node.window.pop_front()
        {
            node.published += 1;
            for (port, n) in self.model.graph.node(id).outputs().iter().zip(run.pushes) {
                let channel = &mut self.channels[port.channel().expect("connected").index()];
                channel.reserved -= n;
                channel.push(n, run.worker);
            }
        }
    }

    fn end(&mut self, id: NodeId) -> Event {
        self.nodes[id.index()].ended = true;
        self.alive -= 1;
        for peer in neighbours(self.graph(), id) {
            self.nodes[peer.index()].alert = true;
        }
        let node = self.model.graph.node(id);
        for port in node.inputs() {
            let channel = &mut self.channels[port.channel().expect("connected").index()];
            (channel.abandoned, channel.items) = (true, 0);
            channel.origins.clear();
        }
        for port in node.outputs() {
            self.channels[port.channel().expect("connected").index()].closed = true;
        }
        Event::Done
    }
}

/// The producers and consumers of a node, in order of its ports.
pub(crate) fn neighbours(graph: &GraphData, node: NodeId) -> Vec<NodeId> {
    let data = graph.node(node);
    let inputs = data.inputs().iter().filter_map(|port| port.channel()).map(|id| graph.channel(id).from().0);
    let outputs = data.outputs().iter().filter_map(|port| port.channel()).map(|id| graph.channel(id).to().0);
    inputs.chain(outputs).collect()
}

/// By port: items that the firings of a claim move. The default has no ports, and stands for no firings.
#[derive(Default)]
struct Tally {
    pops: Vec<usize>,
    pushes: Vec<usize>,
}

fn of(counts: &[usize], port: usize) -> usize {
    counts.get(port).copied().unwrap_or(0)
}

impl Tally {
    fn new(node: &NodeModel) -> Tally {
        Tally { pops: vec![0; node.pops.len()], pushes: vec![0; node.pushes.len()] }
    }

    fn add(&mut self, model: &NodeModel, ticket: u64) {
        for (n, ratio) in self.pops.iter_mut().zip(&model.pops) {
            *n += ratio.at(ticket);
        }
        for (n, ratio) in self.pushes.iter_mut().zip(&model.pushes) {
            *n += ratio.at(ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    const FARM: NodeId = NodeId(1);

    /// The world of a model with its own capacities.
    fn world(model: &Model, window: usize) -> World<'_> {
        let capacities: Vec<usize> = model.graph.channel_ids().map(|id| model.capacity_of(id)).collect();
        World::new(model, &capacities, window, (true, false))
    }

    /// The world of a farm after the source has published `items`.
    fn farm(items: u64, window: usize, model: &Model) -> World<'_> {
        let mut world = world(model, window);
        world.hold(NodeId(0)).unwrap();
        let run = world.claim(NodeId(0), items, Some(0)).unwrap().run;
        world.finish(NodeId(0), run);
        world.release(NodeId(0));
        world
    }

    #[test]
    fn runs_are_published_in_ticket_order() {
        let model = shapes::farm(8, 1, 1);
        let mut world = farm(8, 4, &model);
        let first = world.claim(FARM, 3, Some(0)).unwrap();
        let second = world.claim(FARM, 2, Some(0)).unwrap();
        world.finish(FARM, second.run);
        assert_eq!(world.occupancy(ChannelId(1)).items(), 0);
        world.finish(FARM, first.run);
        assert_eq!(world.occupancy(ChannelId(1)).items(), 5);
    }

    #[test]
    fn a_full_window_makes_the_node_wait() {
        let model = shapes::farm(8, 1, 1);
        let mut world = farm(8, 1, &model);
        let run = world.claim(FARM, 1, Some(0)).unwrap().run;
        assert!(!world.claimable(FARM));
        assert_eq!(world.claim(FARM, 1, Some(0)).unwrap_err(), Event::Waiting);
        world.finish(FARM, run);
        assert!(world.claimable(FARM));
    }

    #[test]
    fn a_held_sequential_node_refuses() {
        let model = shapes::chain(2, 1);
        let mut world = world(&model, 1);
        world.hold(NodeId(0)).unwrap();
        assert_eq!(world.hold(NodeId(0)), Err(Event::Refused));
        assert!(!world.claimable(NodeId(0)));
        world.release(NodeId(0));
        assert!(world.claimable(NodeId(0)));
    }

    #[test]
    fn channels_stop_claims_and_ends_flow_downstream() {
        let model = shapes::chain_of(2, 5, 1).capacity(3);
        let mut world = world(&model, 1);
        assert_eq!(world.claim(NodeId(1), 9, Some(0)).unwrap_err(), Event::Empty(ChannelId(0)));
        let mut passed = 0;
        while !world.has_ended() {
            for node in [NodeId(0), NodeId(1)] {
                match world.claim(node, 9, Some(0)) {
                    Ok(claim) => {
                        passed += claim.firings * u64::from(node.0);
                        world.finish(node, claim.run);
                    }
                    Err(event) => assert_eq!(event, Event::Done),
                }
            }
        }
        assert_eq!(passed, 5);
    }
}
