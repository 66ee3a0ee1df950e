//! Invented reports of graphs of any size, as the tests of pages and the example `page_time` draw them.

use std::sync::Arc;
use std::time::Duration;
use thalweg_graph::{GraphData, InPort, Item, Link, Node, NodeId, OutPort};
use thalweg_plan::{Plan, Wishes};
use thalweg_trace::{Ended, Event, Growth, Limit, Report, Service, Timeline, Track, What};

/// The wall time of all these runs, in nanoseconds.
const WALL: u64 = 100_000_000;

/// A report of a graph with about this number of nodes, with measurements in all fields and a timeline.
pub fn report(nodes: usize) -> Report {
    let graph = match nodes {
        0..=3 => chain(nodes),
        4..=12 => fork(),
        13..=400 => pipelines(nodes),
        _ => branches(nodes),
    };
    measured(graph)
}

fn item() -> Item {
    Item::of::<u64>()
}

fn join(graph: &mut GraphData, from: NodeId, to: NodeId) {
    let link = Link::default();
    joined(graph, from, to, link);
}

/// Adds a port to each node, and a channel.
fn joined(graph: &mut GraphData, from: NodeId, to: NodeId, link: Link) {
    let outputs = graph.node_mut(from).outputs_mut();
    outputs.push(OutPort::new(format!("out{}", outputs.len()), item()));
    let output = outputs.len() - 1;
    let inputs = graph.node_mut(to).inputs_mut();
    inputs.push(InPort::new(format!("in{}", inputs.len()), item()));
    let input = inputs.len() - 1;
    graph.connect((from, output), (to, input), link).unwrap();
}

/// `read -> squeeze -> write`, or the first of these.
fn chain(nodes: usize) -> GraphData {
    let mut graph = GraphData::new();
    let mut before = None;
    for name in ["read", "squeeze", "write"].into_iter().take(nodes) {
        let mut node = if name == "squeeze" { Node::parallel(name) } else { Node::sequential(name) };
        *node.blocking_mut() = name == "read";
        let node = graph.add(node);
        if let Some(before) = before {
            join(&mut graph, before, node);
        }
        before = Some(node);
    }
    graph
}

/// Twelve nodes: branches that meet again, and a loop.
fn fork() -> GraphData {
    let mut graph = GraphData::new();
    let names = ["read", "split", "resize large", "resize small", "thumbnail", "merge", "encode", "checksum"];
    let ids: Vec<NodeId> = names.into_iter().map(|name| graph.add(Node::sequential(name))).collect();
    let [read, split, large, small, thumb, merge, encode, checksum] = ids[..] else { unreachable!() };
    let rate = graph.add(Node::sequential("rate control").into_process());
    let index = graph.add(Node::sequential("index with a very long name"));
    let log = graph.add(Node::sequential("log"));
    let write = graph.add(Node::sequential("write"));
    *graph.node_mut(merge).merge_mut() = true;
    *graph.node_mut(encode).kind_mut() = thalweg_graph::Kind::Parallel;
    *graph.node_mut(encode).workers_mut() = Some(3);
    (*graph.node_mut(read).blocking_mut(), *graph.node_mut(write).blocking_mut()) = (true, true);
    for (from, to) in [
        (read, split),
        (split, large),
        (split, small),
        (split, thumb),
        (large, merge),
        (small, merge),
        (thumb, merge),
        (merge, encode),
        (encode, checksum),
        (checksum, write),
        (encode, rate),
        (read, index),
        (index, write),
        (merge, log),
    ] {
        join(&mut graph, from, to);
    }
    joined(&mut graph, rate, split, Link::default().with_feedback(true).with_initial(2));
    graph
}

/// Pipelines of distinct stages between a source and a sink.
fn pipelines(nodes: usize) -> GraphData {
    let mut graph = GraphData::new();
    let [source, sink] = ["demultiplex", "multiplex"].map(|name| graph.add(Node::sequential(name)));
    let stages = ["parse", "decode", "filter", "scale", "overlay", "encode"];
    let clock = graph.add(Node::sequential("clock"));
    join(&mut graph, clock, source);
    for _ in 0..nodes.saturating_sub(3) / stages.len() {
        let mut before = source;
        for stage in stages {
            let node = graph.add(Node::sequential(stage));
            join(&mut graph, before, node);
            before = node;
        }
        join(&mut graph, before, sink);
    }
    graph
}

/// Nodes of distinct names: chains of words that fork and meet at random, and a tenth of workers of one name.
fn branches(nodes: usize) -> GraphData {
    let mut graph = GraphData::new();
    let mut random = Random(7);
    let letter = |number: u64| char::from(b'a' + (number % 26) as u8);
    let start = graph.add(Node::sequential("start"));
    let mut ends = vec![start; 8];
    while graph.nodes().len() + 8 < nodes {
        let at = random.below(ends.len() as u64) as usize;
        let name: String = (0..5).map(|_| letter(random.next())).collect();
        let name = if random.below(10) == 0 { "worker".to_owned() } else { name };
        let node = graph.add(Node::sequential(name));
        join(&mut graph, ends[at], node);
        if random.below(200) == 0 {
            let other = random.below(ends.len() as u64) as usize;
            join(&mut graph, ends[other], node);
        }
        ends[at] = node;
    }
    let sink = graph.add(Node::sequential("finish"));
    ends.into_iter().for_each(|end| join(&mut graph, end, sink));
    graph
}

/// Measurements that fit each other roughly.
fn measured(graph: GraphData) -> Report {
    let mut random = Random(1);
    let mut report = Report::new(graph, "auto", 4);
    let ns = Duration::from_nanos;
    *report.wall_mut() = ns(WALL);
    let wishes = Wishes::default().threads(4).budget(256 << 20);
    *report.plan_mut() = Some(Arc::new(Plan::new(report.graph(), &wishes)));
    let wall = report.wall();
    for worker in report.workers_mut() {
        let queue = random.below(WALL / 20);
        (*worker.application_mut(), *worker.queue_mut()) = (ns(WALL * 6 / 10), ns(queue));
        (*worker.scheduler_mut(), *worker.preempted_mut()) =
            (ns(random.below(WALL / 30)), ns(random.below(WALL / 50)));
        *worker.idle_mut() =
            wall - worker.application() - worker.queue() - worker.scheduler() - worker.preempted();
        *worker.kernel_mut() = ns(random.below(WALL / 10));
        (*worker.activations_mut(), *worker.refused_mut()) =
            (20_000 + random.below(5_000), random.below(900));
        (*worker.steals_mut(), *worker.parks_mut()) = (random.below(300), random.below(2_000));
    }
    let nodes = report.nodes().len() as u64;
    for (i, node) in report.nodes_mut().iter_mut().enumerate() {
        let busy = if i as u64 == nodes / 2 { WALL * 93 / 100 } else { random.below(WALL / 5 + 1) };
        (*node.busy_mut(), *node.firings_mut()) = (ns(busy), 100 + random.below(100_000));
        *node.activations_mut() = node.firings() / 20;
        *node.other_waits_mut().worker_mut() = ns(random.below(WALL / 40));
        let mut service = Service::default();
        for _ in 0..40 {
            let long = node.busy().as_nanos() as f64 / node.firings() as f64;
            service.firing_mut().record(long * (0.2 + random.below(1000) as f64 / 200.0), 100);
        }
        *node.service_mut() = Some(Box::new(service));
    }
    waits(&mut report, &mut random);
    let grows = report.channels().len() > 4;
    report
        .growths_mut()
        .extend(grows.then(|| Growth::new(thalweg_graph::ChannelId(2), Limit::Items, 64, 128, ns(WALL / 3))));
    *report.searches_mut() = report.growths().len() as u64;
    *report.timeline_mut() = Some(Box::new(timeline(&report, &mut random)));
    report
}

/// Channels before the busiest node are full, and those behind it empty.
fn waits(report: &mut Report, random: &mut Random) {
    let busiest = report.graph().nodes().len() / 2;
    let graph = report.graph().clone();
    for (channel, stats) in graph.channels().iter().zip(report.channels_mut()) {
        let before = channel.to().0.index() <= busiest && !channel.link().feedback();
        *stats.items_mut() = 1_000 << random.below(8);
        (*stats.bytes_mut(), *stats.capacity_mut()) = (8 * stats.items(), 256);
        let full = if before { 0.7 + random.part() * 0.3 } else { random.part() * 0.2 };
        (*stats.mean_mut(), *stats.peak_mut()) = (Some(256.0 * full), Some(256.0 * (full + 0.2).min(1.0)));
        let waited = Duration::from_nanos(WALL / 2 + random.below(WALL / 4));
        if before { *stats.producer_waited_mut() = waited } else { *stats.consumer_waited_mut() = waited }
    }
}

fn timeline(report: &Report, random: &mut Random) -> Timeline {
    let mut timeline = Timeline::default();
    let nodes = report.nodes().len() as u64;
    for worker in 0..report.threads() as u64 {
        let mut track = Track::default();
        (*track.name_mut(), *track.lost_mut()) =
            (format!("worker {worker}"), if worker == 1 { 1234 } else { 0 });
        let mut at = if worker == 1 { WALL / 8 } else { 0 };
        while at < WALL && nodes > 0 {
            let ns = 500 + random.below(60_000);
            let node = NodeId((random.next() % nodes.min(1 + random.below(nodes))) as u32);
            let what = match random.below(30) {
                0 => What::Spin { ns },
                1 => What::Park { ns: 20 * ns },
                2 => What::Steal { node, from: 0 },
                _ => What::Activation { node, firings: 9, ns, ended: Ended::Budget },
            };
            track.events_mut().push(Event::new(at, what));
            at += what.length().as_nanos() as u64 + 50;
        }
        for growth in report.growths().iter().filter(|_| worker == 0) {
            let what = What::Growth { channel: growth.channel(), to: growth.to() };
            track.events_mut().push(Event::new(growth.at().as_nanos() as u64, what));
        }
        timeline.tracks_mut().push(track);
    }
    timeline
}

/// A linear congruential generator: the same pages each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn part(&mut self) -> f64 {
        self.below(1000) as f64 / 1000.0
    }
}
