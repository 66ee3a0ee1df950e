//! What reports show: each finding where its evidence is planted, and none of them in a healthy run.

use std::sync::Arc;
use std::time::Duration;
use thalweg_graph::{ChannelId, GraphData, InPort, Item, Kind, Link, Node, NodeId, OutPort};
use thalweg_plan::{Plan, Wishes};
use thalweg_report::{Finding, FindingKind, ReportExt};
use thalweg_trace::{Growth, Limit, Report, WorkerReport};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A graph of sequential nodes `a`, `b`, ... with these channels.
fn graph(nodes: usize, channels: &[(usize, usize)]) -> GraphData {
    let mut graph = GraphData::new();
    let item = Item::of::<u64>();
    for number in 0..nodes {
        let mut node = Node::sequential(char::from(b'a' + number as u8).to_string());
        for (i, _) in channels.iter().filter(|channel| channel.0 == number).enumerate() {
            node = node.output(OutPort::new(format!("out{i}"), item));
        }
        for (i, _) in channels.iter().filter(|channel| channel.1 == number).enumerate() {
            node = node.input(InPort::new(format!("in{i}"), item));
        }
        graph.add(node);
    }
    for (i, (from, to)) in channels.iter().enumerate() {
        let port = |end: fn(&(usize, usize)) -> usize, node: &usize| {
            channels[..i].iter().filter(|c| end(c) == *node).count()
        };
        let (output, input) = (port(|c| c.0, from), port(|c| c.1, to));
        let feedback = from >= to;
        let link = Link::default().with_feedback(feedback).with_initial(usize::from(feedback));
        graph.connect((NodeId(*from as u32), output), (NodeId(*to as u32), input), link).unwrap();
    }
    graph
}

/// A run of 100 ms in which each worker spends these milliseconds in the five categories.
fn run(graph: GraphData, busy: &[u64], workers: &[[u64; 5]]) -> Report {
    let mut report = Report::new(graph, "auto", workers.len());
    *report.wall_mut() = ms(100);
    for (worker, times) in report.workers_mut().iter_mut().zip(workers) {
        let times = times.map(ms);
        [
            *worker.application_mut(),
            *worker.queue_mut(),
            *worker.scheduler_mut(),
            *worker.idle_mut(),
            *worker.preempted_mut(),
        ] = times;
        *worker.activations_mut() = 10_000;
    }
    for (node, busy) in report.nodes_mut().iter_mut().zip(busy) {
        (*node.busy_mut(), *node.firings_mut()) = (ms(*busy), 1_000);
    }
    for channel in report.channels_mut() {
        (*channel.items_mut(), *channel.capacity_mut(), *channel.mean_mut()) = (1_000, 64, Some(30.0));
    }
    report
}

const BUSY: [u64; 5] = [96, 2, 1, 0, 1];
const IDLE: [u64; 5] = [40, 2, 1, 56, 1];

fn kinds(report: &Report) -> Vec<FindingKind> {
    report.findings().iter().map(|finding| finding.kind()).collect()
}

fn find(report: &Report, kind: FindingKind) -> Finding {
    let found = report.findings().into_iter().find(|finding| finding.kind() == kind);
    found.unwrap_or_else(|| panic!("no {kind:?} in\n{}", report.advice()))
}

#[test]
fn advice_has_the_bound_first_and_a_help_below_its_finding() {
    let mut report = run(graph(3, &[(0, 1), (1, 2)]), &[20, 150, 6], &[[93, 2, 1, 2, 2], [83, 2, 1, 12, 2]]);
    *report.graph_mut().node_mut(NodeId(1)).kind_mut() = Kind::Parallel;
    *report.channels_mut()[0].producer_waited_mut() = ms(70);
    *report.channels_mut()[1].consumer_waited_mut() = ms(41);
    report.growths_mut().push(Growth::new(ChannelId(1), Limit::Items, 512, 1024, ms(21)));
    let expected = "\
the workers spend part of their time outside nodes: they are idle for 7.0 % of it; parallel `b` takes 85.2 % of the time \
in nodes; other nodes wait for `b` for 111 ms in all; sequential `a` is busy for 20.0 % of the wall time, so more threads \
cannot make the run shorter than 20 ms (5.00 times faster)
  help: 16 threads would give 4.40 times the throughput, 50.0 k/s (shared threads over a tandem: x = (P - waiting threads) / sum of t)
`b.out0 -> c.in0` grew, because `b`, `c` waited for each other: from 512 to 1024 items in 1 step, the last after 21 ms
  help: set `capacity(1024)` on `b.out0 -> c.in0`: each growth waits for a search for deadlocked nodes, and the byte \
budget may refuse it";
    assert_eq!(report.advice(), expected);
}

#[test]
fn a_healthy_run_has_one_finding() {
    let mut report = run(graph(3, &[(0, 1), (1, 2)]), &[10, 150, 30], &[BUSY, BUSY]);
    *report.graph_mut().node_mut(NodeId(1)).kind_mut() = Kind::Parallel;
    assert_eq!(kinds(&report), [FindingKind::Saturated], "{}", report.advice());
    let text = report.advice();
    assert!(
        text.starts_with(
            "the workers are in nodes for nearly all of their time: 96.0 % of it; parallel `b` takes"
        ),
        "{text}"
    );
    assert!(
        text.ends_with(
            "help: run with more `threads` on more cores, or reduce the work in `b`; 8 threads would give 3.17 times the \
             throughput, 33.3 k/s (shared threads over a tandem: x = (P - waiting threads) / sum of t)"
        ),
        "{text}"
    );
    let report = run(graph(2, &[(0, 1)]), &[36, 60], &[BUSY]);
    assert_eq!(kinds(&report), [FindingKind::Saturated], "{}", report.advice());
}

#[test]
fn a_sequential_node_bounds_the_run() {
    let report = run(graph(3, &[(0, 1), (1, 2)]), &[10, 80, 6], &[IDLE, IDLE]);
    let finding = find(&report, FindingKind::SerialBound);
    assert_eq!(finding.nodes(), [NodeId(1)]);
    assert_eq!(finding.what(), "sequential `b` bounds the run");
    let evidence = "it is busy for 80.0 % of the wall time, so more threads cannot make the run shorter than 80 ms \
                    (1.25 times faster)";
    assert_eq!(finding.evidence(), evidence);
    assert!(finding.help().contains("divide `b`"), "{}", finding.help());
    let report = run(graph(1, &[]), &[300], &[IDLE, IDLE]);
    let finding = find(&report, FindingKind::SerialBound);
    let evidence = finding.evidence();
    assert!(evidence.ends_with("so more threads cannot make the run shorter"), "{evidence}");
}

/// Busy times include preemption, so they are no limit of a run on a machine without other load.
#[test]
fn preempted_workers_say_no_limit() {
    let mut report = run(graph(3, &[(0, 1), (1, 2)]), &[10, 85, 6], &[[60, 2, 1, 7, 30]; 2]);
    let finding = find(&report, FindingKind::SerialBound);
    let evidence = finding.evidence();
    assert!(
        evidence.contains("this includes time off the processor, which is 30.0 % of the workers' time"),
        "{evidence}"
    );
    assert!(!evidence.contains("cannot") && !evidence.contains("faster"), "{evidence}");
    find(&report, FindingKind::Preempted);
    *report.nodes_mut()[1].busy_mut() = ms(60);
    assert_eq!(kinds(&report), [FindingKind::Unsaturated, FindingKind::Preempted], "{}", report.advice());
    let finding = report.findings().remove(0);
    let evidence = finding.evidence();
    assert!(evidence.starts_with("they are preempted for 30.0 % of it"), "{evidence}");
    assert!(!evidence.contains("cannot") && !evidence.contains("faster"), "{evidence}");
}

/// The plan of a report, changed.
fn with_plan(report: &mut Report, change: impl FnOnce(&mut Plan)) {
    let mut plan = Plan::new(report.graph(), &Wishes::default());
    change(&mut plan);
    *report.plan_mut() = Some(Arc::new(plan));
}

#[test]
fn the_plan_limits_workers_too() {
    let mut report = run(graph(2, &[(0, 1)]), &[190, 5], &[IDLE, IDLE, IDLE, IDLE]);
    *report.graph_mut().node_mut(NodeId(0)).kind_mut() = Kind::Parallel;
    for of_graph in [None, Some(3)] {
        *report.graph_mut().node_mut(NodeId(0)).workers_mut() = of_graph;
        with_plan(&mut report, |plan| _ = plan.replicas_mut().insert(NodeId(0), 2));
        let finding = find(&report, FindingKind::WorkersLimit);
        assert!(finding.what().contains("the limit of 2 workers on parallel `a`"), "{finding}");
        assert!(finding.help().contains("raise `replicas 2` of `a` in the plan"), "{finding}");
        assert!(report.to_html().contains("parallel ≤ 2"));
    }
    // The graph's own limit is the smaller one.
    *report.graph_mut().node_mut(NodeId(0)).workers_mut() = Some(2);
    with_plan(&mut report, |plan| _ = plan.replicas_mut().insert(NodeId(0), 3));
    assert!(find(&report, FindingKind::WorkersLimit).help().contains("raise `workers(2)` of `a`"));
    with_plan(&mut report, |plan| _ = plan.replicas_mut().insert(NodeId(0), 1));
    let finding = find(&report, FindingKind::SerialBound);
    assert_eq!(finding.nodes(), [NodeId(0)]);
    assert!(finding.help().contains("raise `replicas 1` of `a` in the plan"), "{finding}");
}

/// In a run of one to one, a node on its own thread bounds the run although the one worker is always in others.
#[test]
fn the_plan_gives_nodes_threads_of_their_own() {
    let mut report = run(graph(2, &[(0, 1)]), &[97, 94], &[BUSY]);
    assert_eq!(kinds(&report), [FindingKind::Saturated], "{}", report.advice());
    with_plan(&mut report, |plan| _ = plan.own_threads_mut().insert(NodeId(0)));
    assert_eq!(find(&report, FindingKind::SerialBound).nodes(), [NodeId(0)]);
    assert!(report.to_html().contains("sequential, own thread"));
}

#[test]
fn a_limit_on_workers_bounds_the_run() {
    let mut report = run(graph(2, &[(0, 1)]), &[190, 5], &[IDLE, IDLE, IDLE, IDLE]);
    let node = report.graph_mut().node_mut(NodeId(0));
    (*node.kind_mut(), *node.workers_mut()) = (Kind::Parallel, Some(2));
    let finding = find(&report, FindingKind::WorkersLimit);
    assert!(finding.help().contains("raise `workers(2)` of `a`"), "{finding}");
}

#[test]
fn a_blocking_node_is_not_called_serial() {
    let mut report = run(graph(2, &[(0, 1)]), &[95, 20], &[[10, 1, 1, 88, 0]; 2]);
    *report.graph_mut().node_mut(NodeId(0)).blocking_mut() = true;
    let finding = find(&report, FindingKind::Outside);
    assert!(finding.what().contains("`a`, which is blocking"), "{finding}");
    assert!(finding.evidence().contains("includes the time in which calls block it"), "{finding}");
}

#[test]
fn waits_lead_to_the_world_outside() {
    let mut report = run(graph(3, &[(0, 1), (1, 2)]), &[5, 5, 5], &[[10, 1, 1, 88, 0]; 2]);
    *report.nodes_mut()[0].other_waits_mut().outside_mut() = ms(90);
    *report.channels_mut()[0].consumer_waited_mut() = ms(90);
    *report.channels_mut()[1].consumer_waited_mut() = ms(90);
    let finding = find(&report, FindingKind::Outside);
    assert_eq!(finding.nodes(), [NodeId(0)]);
}

#[test]
fn waits_lead_to_the_node_that_blocks_the_others() {
    let mut report = run(graph(4, &[(0, 1), (1, 2), (2, 3)]), &[10, 10, 60, 10], &[IDLE, IDLE]);
    (*report.channels_mut()[0].producer_waited_mut(), *report.channels_mut()[1].producer_waited_mut()) =
        (ms(85), ms(85));
    *report.channels_mut()[2].consumer_waited_mut() = ms(85);
    let finding = find(&report, FindingKind::Unsaturated);
    assert!(finding.evidence().contains("other nodes wait for `c` for 255 ms in all"), "{finding}");
}

#[test]
fn a_near_miss_of_a_deadlock_names_its_cycle() {
    // a -> b -> c -> d, and a -> d.
    let mut report = run(graph(5, &[(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)]), &[20; 5], &[BUSY, BUSY]);
    for (from, to, at) in [(8, 16, 3), (16, 32, 5)] {
        report.growths_mut().push(Growth::new(ChannelId(3), Limit::Items, from, to, ms(at)));
    }
    let finding = find(&report, FindingKind::GrownCycle);
    assert_eq!(finding.nodes(), [0, 1, 2, 3].map(NodeId));
    assert_eq!(finding.channels(), [ChannelId(3)]);
    assert_eq!(finding.what(), "`a.out1 -> d.in1` grew, because `a`, `b`, `c`, `d` waited for each other");
    assert_eq!(finding.evidence(), "from 8 to 32 items in 2 steps, the last after 5 ms");
    assert!(finding.help().starts_with("set `capacity(32)` on `a.out1 -> d.in1`"), "{}", finding.help());
}

/// `a` feeds the loop of `b` and `c`.
fn looped() -> Report {
    let mut report = run(graph(4, &[(0, 1), (1, 2), (2, 1), (2, 3)]), &[1, 48, 46, 1], &[IDLE, IDLE]);
    (*report.channels_mut()[1].mean_mut(), *report.channels_mut()[2].mean_mut()) = (Some(0.2), Some(0.1));
    report
}

#[test]
fn a_starving_loop_is_named() {
    let mut report = looped();
    let finding = find(&report, FindingKind::StarvedLoop);
    assert_eq!(finding.nodes(), [NodeId(1), NodeId(2)]);
    assert_eq!(finding.what(), "the loop of `b`, `c` has few items in flight");
    assert!(
        finding.help().contains("give `c.out0 -> b.in1` more initial items, at least 2"),
        "{}",
        finding.help()
    );
    // The same from the waits alone, where messages and not the nodes take the time.
    report.nodes_mut().iter_mut().for_each(|node| *node.busy_mut() = ms(5));
    (*report.channels_mut()[1].consumer_waited_mut(), *report.channels_mut()[2].consumer_waited_mut()) =
        (ms(80), ms(80));
    assert!(
        find(&report, FindingKind::StarvedLoop).evidence().contains("wait 160 ms for each other's items")
    );
}

#[test]
fn a_full_loop_is_not_starved() {
    let mut report = looped();
    (*report.channels_mut()[1].mean_mut(), *report.channels_mut()[2].mean_mut()) = (Some(20.0), Some(20.0));
    assert!(!kinds(&report).contains(&FindingKind::StarvedLoop));
    let mut report = looped();
    *report.nodes_mut()[1].busy_mut() = ms(95);
    assert!(!kinds(&report).contains(&FindingKind::StarvedLoop), "its node bounds it");
    let mut report = looped();
    report
        .workers_mut()
        .iter_mut()
        .for_each(|worker| (*worker.application_mut(), *worker.idle_mut()) = (ms(96), ms(1)));
    assert!(!kinds(&report).contains(&FindingKind::StarvedLoop), "the workers have other work");
}

#[test]
fn a_channel_with_little_room_is_named() {
    let mut report = run(graph(2, &[(0, 1)]), &[50, 50], &[IDLE, IDLE]);
    let channel = &mut report.channels_mut()[0];
    (*channel.capacity_mut(), *channel.consumer_waited_mut(), *channel.producer_waited_mut()) =
        (2, ms(40), ms(45));
    let finding = find(&report, FindingKind::LittleRoom);
    assert!(finding.help().contains("set `capacity(16)`"), "{finding}");
    *report.channels_mut()[0].consumer_waited_mut() = ms(1);
    assert!(!kinds(&report).contains(&FindingKind::LittleRoom), "the consumer alone is slow");
}

#[test]
fn workers_show_what_the_machine_did() {
    let with = |change: fn(&mut WorkerReport), expected: FindingKind| {
        let mut report = run(graph(2, &[(0, 1)]), &[50, 50], &[IDLE, IDLE]);
        report.nodes_mut().iter_mut().for_each(|node| *node.firings_mut() = 1_000_000);
        report.workers_mut().iter_mut().for_each(change);
        find(&report, expected);
    };
    with(|worker| (*worker.preempted_mut(), *worker.idle_mut()) = (ms(30), ms(27)), FindingKind::Preempted);
    with(|worker| (*worker.queue_mut(), *worker.idle_mut()) = (ms(30), ms(28)), FindingKind::ShortFirings);
    with(|worker| (*worker.queue_mut(), *worker.refused_mut()) = (ms(12), 4_000), FindingKind::RefusedClaims);
    let mut report = run(graph(2, &[(0, 1)]), &[50, 50], &[[90, 2, 1, 6, 1], [5, 2, 1, 91, 1]]);
    *report.nodes_mut()[1].other_waits_mut().worker_mut() = ms(40);
    find(&report, FindingKind::Imbalance);
    *report.channels_mut()[0].items_mut() = 100_000;
    *report.channels_mut()[0].remote_mut() = 90_000;
    *report.workers_mut()[0].queue_mut() = ms(40);
    find(&report, FindingKind::RemoteTraffic);
}

#[test]
fn the_bytes_that_cross_are_named() {
    let mut report = run(graph(3, &[(0, 1), (1, 2)]), &[50, 50, 50], &[IDLE, IDLE]);
    report.workers_mut().iter_mut().for_each(|worker| *worker.queue_mut() = ms(40));
    for (channel, remote, bytes) in [(0, 180_000, 2 << 20), (1, 120_000, 30 << 20)] {
        let channel = &mut report.channels_mut()[channel];
        (*channel.items_mut(), *channel.remote_mut(), *channel.bytes_mut()) = (200_000, remote, bytes);
    }
    let finding = find(&report, FindingKind::RemoteTraffic);
    assert_eq!(finding.channels(), [ChannelId(1)], "more bytes of it cross, though fewer items");
    assert_eq!(finding.evidence(), "61.9 % of the bytes cross: 300000 of 400000 items, 19.8 MiB");
    assert!(finding.help().contains("mimalloc") && !finding.help().contains("`policy"), "{finding}");
    *report.policy_mut() = "pss".into();
    let finding = find(&report, FindingKind::RemoteTraffic);
    let help = finding.help();
    assert!(help.starts_with("use `policy(\"auto\")`; make the items larger"), "{help}");
    report.channels_mut().iter_mut().for_each(|channel| *channel.bytes_mut() = 0);
    let finding = find(&report, FindingKind::RemoteTraffic);
    let evidence = finding.evidence();
    assert_eq!(evidence, "75.0 % of the items cross: 300000 of 400000");
}

/// Thresholds are crossed by no measurement that a quiet run has.
#[test]
fn small_shares_are_no_findings() {
    let mut report = run(graph(3, &[(0, 1), (1, 2)]), &[70, 60, 50], &[[60, 4, 3, 30, 3]; 3]);
    report.workers_mut().iter_mut().for_each(|worker| *worker.refused_mut() = 800);
    report
        .channels_mut()
        .iter_mut()
        .for_each(|channel| (*channel.items_mut(), *channel.remote_mut()) = (50_000, 10_000));
    report.channels_mut().iter_mut().for_each(|channel| *channel.consumer_waited_mut() = ms(10));
    assert_eq!(kinds(&report), [FindingKind::Unsaturated], "{}", report.advice());
}
