//! The law of policies: one worker with counted budgets makes the same decisions in the engine and
//! in the virtual-time host, entry by entry, with the event that each decision answers.
//!
//! The two hosts differ in one thing, which [`Informed`] takes away. The virtual host knows
//! exactly which nodes can fire. The engine reads one word a node: what its latest activation
//! lacked, if it lacked something. A node that spent its budget counts as claimable until it is
//! seen not to be, and one that waited for items does when they come, though its output be full.
//! So the engine's worker makes some activations in vain that the virtual one is spared. With the
//! engine's knowledge the virtual worker makes them too.

mod support;

use std::ops::ControlFlow;
use support::watchdog::watch;
use thalweg::graph::{ChannelId, Graph, Kind, NodeId};
use thalweg::policy::record::{Entry, Log};
use thalweg::policy::virtual_host::{self, Cost, Model, Settings};
use thalweg::policy::{Decision, Event, Host, Occupancy, Policy, Recorded, WorkerId, registry};
use thalweg::{Builder, In, Options, Out, Stream, input, output};

/// What the engine knows of a node.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// Nothing speaks against it.
    Ready,
    /// It lacked an item on this channel.
    Empty(ChannelId),
    /// It lacked room on this channel.
    Full(ChannelId),
    /// It has ended.
    Done,
}

/// A policy that sees of the virtual host what it would see of the engine.
struct Informed<'a, P>(&'a P);

/// The policy itself.
struct Plain<'a, P>(&'a P);

impl<P: Policy> Policy for Plain<'_, P> {
    type Local = P::Local;

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> P::Local {
        self.0.start(worker, host)
    }

    fn next<H: Host>(&self, me: &mut P::Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        self.0.next(me, last, host)
    }
}

/// A host that tells no more than the engine knows.
struct Blurred<'a, H> {
    host: &'a mut H,
    known: &'a [Known],
}

impl<P: Policy> Policy for Informed<'_, P> {
    type Local = (P::Local, Vec<Known>);

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Self::Local {
        let known = vec![Known::Ready; host.graph().nodes().len()];
        (self.0.start(worker, host), known)
    }

    fn next<H: Host>(&self, me: &mut Self::Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        let (local, known) = me;
        if let Some((node, event)) = last {
            note(known, node, event, host);
        }
        self.0.next(local, last, &mut Blurred { host, known })
    }
}

/// What an activation leaves behind.
fn note<H: Host>(known: &mut [Known], node: NodeId, event: Event, host: &H) {
    let graph = host.graph();
    known[node.index()] = match event {
        Event::Empty(channel) => Known::Empty(channel),
        Event::Full(channel) => Known::Full(channel),
        Event::Done => Known::Done,
        // Whoever gives its claim back with its budget spent looks once more at its inputs, and a
        // sequential node at its outputs.
        Event::Budget => {
            let data = graph.node(node);
            let empty = |channel: &ChannelId| host.occupancy(*channel).items == 0;
            let full =
                |channel: &ChannelId| host.occupancy(*channel).items >= host.occupancy(*channel).capacity;
            let input = data.inputs.iter().filter_map(|port| port.channel).find(empty);
            let outputs = data.outputs.iter().filter_map(|port| port.channel);
            let output = outputs.filter(|_| data.kind == Kind::Sequential).find(|channel| full(channel));
            input.map(Known::Empty).or(output.map(Known::Full)).unwrap_or(Known::Ready)
        }
        _ => Known::Ready,
    };
    if event == Event::Done {
        // Neighbours of a node that has ended are to look again, whatever they wait for.
        for channel in graph.channels() {
            for (one, other) in [(channel.from.0, channel.to.0), (channel.to.0, channel.from.0)] {
                if one == node && !matches!(known[other.index()], Known::Done) {
                    known[other.index()] = Known::Ready;
                }
            }
        }
    }
}

impl<H: Host> Host for Blurred<'_, H> {
    fn claimable(&self, node: NodeId) -> bool {
        let has = |channel| self.host.occupancy(channel);
        match self.known[node.index()] {
            Known::Ready => true,
            Known::Empty(channel) => has(channel).items > 0 || self.host.claimable(node),
            Known::Full(channel) => has(channel).items < has(channel).capacity || self.host.claimable(node),
            Known::Done => false,
        }
    }

    fn graph(&self) -> &Graph {
        self.host.graph()
    }
    fn workers(&self) -> usize {
        self.host.workers()
    }
    fn random(&mut self) -> u64 {
        self.host.random()
    }
    fn occupancy(&self, channel: ChannelId) -> Occupancy {
        self.host.occupancy(channel)
    }
    fn push(&mut self, to: WorkerId, node: NodeId) {
        self.host.push(to, node);
    }
    fn pop(&mut self) -> Option<NodeId> {
        self.host.pop()
    }
    fn steal(&mut self, from: WorkerId) -> Option<NodeId> {
        self.host.steal(from)
    }
}

/// A graph in both worlds: all rates are 1.
struct Twin {
    model: Model,
    graph: Builder<'static>,
}

/// Firings of every source: no multiple of a budget, so that its end comes within one.
const FIRINGS: u64 = 5003;

fn source(graph: &mut Builder<'static>) -> Stream<u64> {
    let mut left = FIRINGS;
    graph
        .kernel("source", (), (output("out").push(1),))
        .sequential(move |(): &mut (), (out,): &mut (Out<u64>,)| {
            left -= 1;
            out.push(left);
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .0
}

fn stage(graph: &mut Builder<'static>, name: &str, items: Stream<u64>, parallel: bool) -> Stream<u64> {
    let kernel = graph.kernel(name, (input("in", items),), (output("out").push(1),));
    let pass = |(items,): &mut (In<u64>,), (out,): &mut (Out<u64>,)| out.push(items.pop());
    if parallel { kernel.parallel(pass).0 } else { kernel.sequential(pass).0 }
}

const COST: Cost = Cost::Fixed(100);

fn chain(nodes: usize) -> Twin {
    let (mut model, mut graph) = (Model::new(), Builder::new());
    let mut from = model.source("source", FIRINGS, COST);
    let mut stream = source(&mut graph);
    for i in 2..nodes {
        let name = format!("stage{i}");
        let to = model.sequential(&name, COST);
        model.join(from, to);
        from = to;
        stream = stage(&mut graph, &name, stream, false);
    }
    let sink = model.sequential("sink", COST);
    model.join(from, sink);
    graph.sink("sink", stream, |_| {});
    Twin { model, graph }
}

fn farm() -> Twin {
    let (mut model, mut graph) = (Model::new(), Builder::new());
    let first = model.source("source", FIRINGS, COST);
    let farm = model.parallel("farm", COST);
    let sink = model.sequential("sink", COST);
    model.join(first, farm);
    model.join(farm, sink);
    let items = source(&mut graph);
    let results = stage(&mut graph, "farm", items, true);
    graph.sink("sink", results, |_| {});
    Twin { model, graph }
}

fn diamond() -> Twin {
    let (mut model, mut graph) = (Model::new(), Builder::new());
    let first = model.source("source", FIRINGS, COST);
    let split = model.sequential("split", COST);
    let left = model.parallel("left", COST);
    let right = model.sequential("right", COST);
    let meet = model.sequential("meet", COST);
    model.join(first, split);
    model.join(split, left);
    model.join(split, right);
    model.join(left, meet);
    model.join(right, meet);
    let items = source(&mut graph);
    let outs = (output("left").push(1), output("right").push(1));
    let (a, b) = graph.kernel("split", (input("in", items),), outs).sequential(
        |(items,): &mut (In<u64>,), (left, right): &mut (Out<u64>, Out<u64>)| {
            let item = items.pop();
            left.push(item);
            right.push(item);
        },
    );
    let (a, b) = (stage(&mut graph, "left", a, true), stage(&mut graph, "right", b, false));
    graph
        .kernel("meet", (input("left", a), input("right", b)), ())
        .sequential(|(a, b): &mut (In<u64>, In<u64>), (): &mut ()| assert_eq!(a.pop(), b.pop()));
    Twin { model, graph }
}

/// Sizes that both worlds share.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    run: usize,
    capacity: usize,
    seed: u64,
}

fn in_the_engine<P: Policy>(policy: &P, graph: Builder<'static>, sizes: Sizes) -> Vec<Entry> {
    let options = Options::new().threads(1).counted().run_length(sizes.run).capacity(sizes.capacity);
    let log = Log::new();
    let prepared = graph.build().unwrap().prepare(&options.seed(sizes.seed)).unwrap();
    watch(format!("{sizes:?}"), || prepared.run_under(&Recorded::new(Plain(policy), &log)).unwrap());
    log.take()
}

fn in_virtual_time<P: Policy>(policy: &P, model: Model, sizes: Sizes) -> Vec<Entry> {
    let run = sizes.run as u64;
    // What the engine does where budgets are counted; its window has 32 tickets at least.
    let shared = Settings { budget: 4 * run, slice: run, run, window: 32, ..Settings::default() };
    let settings = Settings { seed: sizes.seed, ..shared };
    virtual_host::run(&Informed(policy), &model.capacity(sizes.capacity), &settings).unwrap().decisions
}

/// A comparison as a visit of the registry.
struct Compare<'a> {
    twin: Twin,
    sizes: Sizes,
    until: &'a dyn Fn(&Entry) -> bool,
}

impl registry::Visit for Compare<'_> {
    type Out = Result<usize, String>;

    fn visit<P: Policy>(self, policy: &P) -> Self::Out {
        let mut real = in_the_engine(policy, self.twin.graph, self.sizes);
        let mut imagined = in_virtual_time(policy, self.twin.model, self.sizes);
        for entries in [&mut real, &mut imagined] {
            let end = entries.iter().position(self.until).unwrap_or(entries.len());
            entries.truncate(end);
        }
        let same = real.iter().zip(&imagined).take_while(|(a, b)| a == b).count();
        match real == imagined {
            true => Ok(same),
            false => Err(format!("entry {same}: {:?} and {:?}", real.get(same), imagined.get(same))),
        }
    }
}

/// Every policy and several sizes, batches that fit the channels and others.
fn compare(twin: impl Fn() -> Twin, until: impl Fn(&Entry) -> bool) {
    for name in registry::names().chain(["prs:C=3"]) {
        for (run, capacity) in [(1, 2), (4, 16), (16, 40), (5, 7), (64, 256)] {
            for seed in 1..4 {
                let sizes = Sizes { run, capacity, seed };
                let compared =
                    registry::dispatch(name, Compare { twin: twin(), sizes, until: &until }).unwrap();
                let same = compared.unwrap_or_else(|why| panic!("{name}, {sizes:?}: {why}"));
                assert!(same > 10, "{name}, {sizes:?}: only {same} decisions");
            }
        }
    }
}

fn never(_: &Entry) -> bool {
    false
}

#[test]
fn on_a_chain() {
    compare(|| chain(2), never);
    compare(|| chain(7), never);
}

/// Has one of these ended?
fn has_ended(entry: &Entry, nodes: &[u32]) -> bool {
    matches!(entry.last, Some((node, Event::Done)) if nodes.contains(&node.0))
}

/// To the end of the source: a parallel node whose input has ended while its output is full ends at
/// once in the virtual host, and in the engine when there is room.
#[test]
fn on_a_farm() {
    compare(farm, |entry| has_ended(entry, &[0]));
}

/// To the end of a branch: a zip with one short input and another that has ended is over for the
/// engine, while the virtual host waits for the first.
#[test]
fn on_a_diamond() {
    compare(diamond, |entry| has_ended(entry, &[2, 3]));
}
