//! The text form of reports, and their derived figures.

use std::time::Duration;
use thalweg_graph::{ChannelId, Footprint, GraphData, InPort, Item, Link, Node, NodeId, OutPort, Rate};
use thalweg_trace::{ChannelReport, Growth, Limit, MemberCounts, NodeWaits, Report, Service};

/// `read -> squeeze -> write`, where `squeeze` is parallel.
fn graph() -> GraphData {
    let bytes = Item::of::<u64>();
    let one = |name: &str| OutPort::new(name, bytes).with_push(Rate::Static(1));
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
    *report.wall_mut() = ms(100);
    for (worker, idle) in report.workers_mut().iter_mut().zip([2, 12]) {
        *worker.application_mut() = ms(95 - idle);
        *worker.queue_mut() = ms(2);
        *worker.scheduler_mut() = ms(1);
        *worker.idle_mut() = ms(idle);
        *worker.preempted_mut() = ms(2);
        *worker.activations_mut() = 40;
        *worker.refused_mut() = 3;
        *worker.steals_mut() = 1;
        *worker.steal_attempts_mut() = 9;
        *worker.kernel_mut() = ms(3);
        *worker.spins_mut() = 5;
        *worker.parks_mut() = idle;
    }
    for (node, busy) in report.nodes_mut().iter_mut().zip([20, 150, 6]) {
        *node.firings_mut() = 10_000;
        *node.activations_mut() = 30;
        *node.busy_mut() = ms(busy);
        *node.moves_mut() = 4;
    }
    for (channel, leftover) in report.channels_mut().iter_mut().zip([0, 7]) {
        *channel.items_mut() = 10_000;
        *channel.bytes_mut() = 80_000;
        *channel.remote_mut() = 300;
        *channel.capacity_mut() = 1024;
        *channel.peak_mut() = Some(800.0);
        *channel.mean_mut() = Some(511.25);
        *channel.leftover_mut() = leftover;
    }
    *report.channels_mut()[0].producer_waited_mut() = ms(70);
    *report.channels_mut()[1].consumer_waited_mut() = ms(41);
    *report.nodes_mut()[0].other_waits_mut().worker_mut() = ms(5);
    *report.nodes_mut()[1].other_waits_mut().worker_mut() = ms(12);
    let mut service = Service::default();
    service.activation_mut().record(2e6, 98);
    service.activation_mut().record(30e6, 2);
    service.firing_mut().record(15e3, 10_000);
    *report.nodes_mut()[1].service_mut() = Some(Box::new(service));
    report.growths_mut().push(Growth::new(ChannelId(1), Limit::Items, 512, 1024, ms(21)));
    report
}

#[test]
fn prints_three_tables() {
    let expected = "\
100 ms on 2 threads, policy qes

worker  application  queue  scheduler   idle  preempted  kernel  activations  refused  attempts  steals  spins  parks
0             93 ms   2 ms       1 ms   2 ms       2 ms    3 ms           40        3         9       1      5      2
1             83 ms   2 ms       1 ms  12 ms       2 ms    3 ms           40        3         9       1      5     12
all          88.0 %  2.0 %      1.0 %  7.0 %      2.0 %   3.0 %           80        6        18       2     10     14

with the system's part: application 88.0 %, queue 2.0 %, scheduler 1.0 %, stall 0 % by construction, OS kernel 3.0 % \
(counted in ticks: 0 in short runs)

node           kind  firings  activations  moves    busy  per firing  activation p99  of wall  gain                     longest wait
read     sequential    10000           30      4   20 ms        2 us               -   20.0 %     -    70.0 % for room in squeeze.in
squeeze    parallel    10000           30      4  150 ms       15 us         25.2 ms  150.0 %  1.00              12.0 % for a worker
write    sequential    10000           30      4    6 ms      600 ns               -    6.0 %     -  41.0 % for items of squeeze.out

channel                  items     rate  remote  of items     bytes  remote bytes  capacity   peak   mean  left over  consumer waited  producer waited
read.out -> squeeze.in   10000  100 k/s     300     3.0 %  78.1 KiB      2.34 KiB      1024  800.0  511.2          0            0.0 %           70.0 %
squeeze.out -> write.in  10000  100 k/s     300     3.0 %  78.1 KiB      2.34 KiB      1024  800.0  511.2          7           41.0 %            0.0 %

grew squeeze.out -> write.in from 512 to 1024 items after 21 ms
";
    assert_eq!(report().to_string(), expected);
}

#[test]
fn the_table_of_nodes_has_their_state_where_it_is_known() {
    let mut report = report();
    let mut graph = report.graph().clone();
    graph.set_footprint(NodeId(0), Footprint::AtLeast(2048));
    graph.set_footprint(NodeId(1), Footprint::Declared(64));
    *report.graph_mut() = graph;
    let text = report.to_string();
    let lines = text.lines().skip_while(|line| !line.starts_with("node "));
    let ends: Vec<&str> = lines.take(4).map(|line| line.rsplit("  ").next().unwrap()).collect();
    assert_eq!(ends, ["state", ">= 2 KiB", "64 B", "-"]);
}

#[test]
fn bytes_that_cross_follow_from_items() {
    let of = |items, bytes, remote| {
        let mut channel = ChannelReport::default();
        (*channel.items_mut(), *channel.bytes_mut(), *channel.remote_mut()) = (items, bytes, remote);
        (channel.remote_share(), channel.remote_bytes())
    };
    assert_eq!(of(0, 0, 0), (None, 0));
    assert_eq!(of(0, 0, 7), (None, 0), "initial items may cross, which are not counted as items");
    assert_eq!(of(8, 100, 2), (Some(0.25), 25));
    assert_eq!(of(3, 100, 1).1, 33);
    assert_eq!(of(8, 100, 9), (Some(1.0), 100));
    assert_eq!(of(u64::MAX, u64::MAX, u64::MAX), (Some(1.0), u64::MAX));
}

/// With numbers of long runs, the tables fit a wide terminal.
#[test]
fn tables_are_at_most_160_columns_wide() {
    let mut report = report();
    *report.wall_mut() = Duration::from_secs(7200);
    for node in report.nodes_mut() {
        (*node.firings_mut(), *node.activations_mut(), *node.moves_mut()) =
            (123_456_789_012, 12_345_678, 123_456);
        *node.busy_mut() = Duration::from_millis(6_543_210);
    }
    let mut member = MemberCounts::default();
    (*member.loops_mut(), *member.iterations_mut()) = (12_345_678, 123_456_789_012);
    (*member.graphs_mut(), *member.nodes_mut()) = (1_234_567, 12_345_678_901);
    (*member.steals_mut(), *member.attempts_mut()) = (12_345_678, 1_234_567_890);
    (*member.coloured_steals_mut(), *member.coloured_attempts_mut()) = (2_345_678, 123_456_789);
    (*member.accesses_mut(), *member.remote_mut()) = (62_345_678_901, 2_345_678_901);
    report.nodes_mut()[1].jobs_mut().get_or_insert_default().add(0, member);
    for channel in report.channels_mut() {
        (*channel.items_mut(), *channel.bytes_mut(), *channel.remote_mut()) =
            (123_456_789_012, u64::MAX >> 16, 1_234_567);
    }
    for worker in report.workers_mut() {
        (*worker.activations_mut(), *worker.steal_attempts_mut(), *worker.spins_mut(), *worker.parks_mut()) =
            (1 << 40, 1 << 40, 1 << 30, 1 << 30);
    }
    let text = report.to_string();
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|width| width <= 160), "{widest:?}\n{text}");
}

#[test]
fn loops_and_task_graphs_have_a_table() {
    let mut report = report();
    let mut member = MemberCounts::default();
    (*member.loops_mut(), *member.iterations_mut(), *member.joins_mut()) = (2, 300, 2);
    report.nodes_mut()[0].jobs_mut().get_or_insert_default().add(0, member);
    (*member.graphs_mut(), *member.nodes_mut(), *member.steals_mut(), *member.attempts_mut()) =
        (1, 40, 3, 70);
    (
        *member.coloured_steals_mut(),
        *member.coloured_attempts_mut(),
        *member.accesses_mut(),
        *member.remote_mut(),
    ) = (2, 60, 90, 9);
    let jobs = report.nodes_mut()[1].jobs_mut().get_or_insert_default();
    jobs.add(1, member);
    jobs.add(0, MemberCounts::default());
    let expected = "
loops, graphs  loops  iterations  graphs  nodes  members  steals  of attempts  coloured  of attempts  accesses  remote  of accesses
read               2         300       0      0        1       0            0         0            0         0       0            -
squeeze            2         300       1     40        1       3           70         2           60        90       9       10.0 %

";
    assert!(report.to_string().contains(expected), "{report}");
}

#[test]
fn causes_are_named() {
    let named = |change: fn(&mut NodeWaits) -> &mut Duration, cause: &str| {
        let mut report = report();
        *change(report.nodes_mut()[1].other_waits_mut()) = Duration::from_millis(50);
        let text = report.to_string();
        assert!(text.contains(&format!("50.0 % for {cause}\n")), "{text}");
    };
    named(|waits| waits.any_input_mut(), "an item on any input");
    named(|waits| waits.window_mut(), "its own tickets in flight");
    named(|waits| waits.outside_mut(), "an event outside the graph");
    named(|waits| waits.worker_mut(), "a worker");
}

#[test]
fn an_empty_report_prints() {
    let report = Report::new(GraphData::new(), "auto", 1);
    assert_eq!(report.breakdown(), [0.0; 5]);
    assert_eq!(report.busiest_node(), None);
    assert!(report.to_string().starts_with("0 ns on 1 thread, policy auto\n"));
    assert!(Report::default().to_string().contains("worker"));
}

#[test]
fn breakdown_weighs_workers_by_their_time() {
    let mut report = Report::new(graph(), "auto", 2);
    *report.workers_mut()[0].application_mut() = Duration::from_millis(30);
    *report.workers_mut()[1].idle_mut() = Duration::from_millis(10);
    assert_eq!(report.breakdown(), [0.75, 0.0, 0.0, 0.25, 0.0]);
}

#[test]
fn busiest_is_the_first_of_equals() {
    let mut report = report();
    for node in report.nodes_mut() {
        *node.busy_mut() = Duration::from_millis(5);
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

/// Zero is an occupancy too.
#[test]
fn an_occupancy_without_samples_is_no_number() {
    let row = |report: &Report| {
        let text = report.to_string();
        let row = text.lines().rfind(|line| line.contains("1024") && line.contains("10000")).unwrap();
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut report = report();
    let before = row(&report);
    let at = before.iter().position(|cell| cell == "800.0").unwrap();
    let channel = report.channels_mut().last_mut().unwrap();
    (*channel.peak_mut(), *channel.mean_mut()) = (None, None);
    let after = row(&report);
    assert_eq!((&*after[at], &*after[at + 1], after.len()), ("-", "-", before.len()), "{after:?}");
}
