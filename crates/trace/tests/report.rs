//! The text form of reports, and their derived figures.

use std::time::Duration;
use thalweg_graph::{ChannelId, GraphData, InPort, Item, Link, Node, OutPort, Rate};
use thalweg_trace::{Growth, Limit, Report};

/// `read -> squeeze -> write`, where `squeeze` is parallel.
fn graph() -> GraphData {
    let bytes = Item::of::<u64>();
    let one = |name: &str| OutPort::new(name, bytes).push(Rate::Static(1));
    let mut graph = GraphData::new();
    let read = graph.add(Node::sequential("read").output(one("out")));
    let squeeze = graph.add(Node::parallel("squeeze").input(InPort::new("in", bytes)).output(one("out")));
    let write = graph.add(Node::sequential("write").input(InPort::new("in", bytes)));
    graph.connect((read, 0), (squeeze, 0), Link::default()).unwrap();
    graph.connect((squeeze, 0), (write, 0), Link::default()).unwrap();
    graph
}

fn report() -> Report {
    let ms = Duration::from_millis;
    let mut report = Report::new(graph(), "qes", 2);
    report.wall = ms(100);
    for (worker, idle) in report.workers.iter_mut().zip([2, 12]) {
        worker.application = ms(95 - idle);
        worker.queue = ms(2);
        worker.scheduler = ms(1);
        worker.idle = ms(idle);
        worker.preempted = ms(2);
        worker.activations = 40;
        worker.refused = 3;
        worker.steals = 1;
        worker.spins = 5;
        worker.parks = idle;
    }
    for (node, busy) in report.nodes.iter_mut().zip([20, 150, 6]) {
        node.firings = 10_000;
        node.activations = 30;
        node.busy = ms(busy);
        node.moves = 4;
    }
    for (channel, leftover) in report.channels.iter_mut().zip([0, 7]) {
        channel.items = 10_000;
        channel.bytes = 80_000;
        channel.remote = 300;
        channel.capacity = 1024;
        channel.peak = 800.0;
        channel.mean = 511.25;
        channel.leftover = leftover;
    }
    report.growths.push(Growth {
        channel: ChannelId(1),
        limit: Limit::Items,
        from: 512,
        to: 1024,
        at: Duration::ZERO,
    });
    report
}

#[test]
fn prints_three_tables_and_advice() {
    let expected = "\
100 ms on 2 threads, policy qes

worker  application  queue  scheduler   idle  preempted  activations  refused  steals  spins  parks
0             93 ms   2 ms       1 ms   2 ms       2 ms           40        3       1      5      2
1             83 ms   2 ms       1 ms  12 ms       2 ms           40        3       1      5     12
all          88.0 %  2.0 %      1.0 %  7.0 %      2.0 %           80        6       2     10     14

node           kind  firings  activations  moves    busy  per firing  of wall
read     sequential    10000           30      4   20 ms        2 us   20.0 %
squeeze    parallel    10000           30      4  150 ms       15 us  150.0 %
write    sequential    10000           30      4    6 ms      600 ns    6.0 %

channel                  items  remote     bytes  capacity   peak   mean  left over
read.out -> squeeze.in   10000     300  78.1 KiB      1024  800.0  511.2          0
squeeze.out -> write.in  10000     300  78.1 KiB      1024  800.0  511.2          7

grew squeeze.out -> write.in from 512 to 1024 items

the workers spend part of their time outside nodes: 7.0 % of it idle; parallel `squeeze` has 85.2 % of the time in \
nodes; sequential `read`: busy for 20.0 % of the wall time; more threads cannot take the run below its 20 ms, \
5.00 times faster than this run
`squeeze.out -> write.in` grew, because `squeeze`, `write` waited for each other: from 512 to 1024 items in 1 step
  help: set `capacity(1024)` on `squeeze.out -> write.in`: each growth waits for a search, and fails where the byte \
budget ends
";
    assert_eq!(report().to_string(), expected);
}

#[test]
fn an_empty_report_prints() {
    let report = Report::new(GraphData::new(), "auto", 1);
    assert_eq!(report.breakdown(), [0.0; 5]);
    assert_eq!(report.busiest_node(), None);
    assert_eq!(report.advice(), "no time was measured in any node");
    assert!(report.to_string().starts_with("0 ns on 1 thread, policy auto\n"));
    assert!(Report::default().to_string().contains("no time"));
}

#[test]
fn breakdown_weighs_workers_by_their_time() {
    let mut report = Report::new(graph(), "auto", 2);
    report.workers[0].application = Duration::from_millis(30);
    report.workers[1].idle = Duration::from_millis(10);
    assert_eq!(report.breakdown(), [0.75, 0.0, 0.0, 0.25, 0.0]);
}

#[test]
fn busiest_is_the_first_of_equals() {
    let mut report = report();
    for node in &mut report.nodes {
        node.busy = Duration::from_millis(5);
    }
    assert_eq!(report.busiest_node().map(|n| n.index()), Some(0));
}

#[test]
fn counts_leftovers() {
    assert_eq!(report().leftover(), 7);
}

#[test]
fn newlines_in_names_are_escaped() {
    let mut graph = GraphData::new();
    graph.add(Node::sequential("two\nlines"));
    let text = Report::new(graph, "auto", 1).to_string();
    assert!(text.contains("\ntwo\\nlines  sequential"), "{text}");
}
