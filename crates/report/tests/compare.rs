//! Comparisons of two reports.

use crate::common::{any_report, example};
use proptest::prelude::*;
use std::time::Duration;
use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort};
use thalweg_report::{Change, Comparison};
use thalweg_trace::{Report, Service};

/// A chain of nodes with these names, measured with equal numbers for all nodes and all channels.
fn chain(names: &[&str]) -> Report {
    let mut graph = GraphData::new();
    let item = Item::of::<u64>();
    let ends: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(i, name)| {
            let node = Node::sequential(*name);
            let node = if i == 0 { node } else { node.input(InPort::new("in", item)) };
            graph.add(if i + 1 == names.len() { node } else { node.output(OutPort::new("out", item)) })
        })
        .collect();
    for pair in ends.windows(2) {
        graph.connect((pair[0], 0), (pair[1], 0), Link::default()).unwrap();
    }
    let mut report = Report::new(graph, "auto", 2);
    *report.wall_mut() = Duration::from_millis(100);
    for worker in report.workers_mut() {
        (*worker.application_mut(), *worker.idle_mut()) =
            (Duration::from_millis(75), Duration::from_millis(25));
    }
    for node in report.nodes_mut() {
        (*node.firings_mut(), *node.busy_mut()) = (1000, Duration::from_millis(10));
    }
    for channel in report.channels_mut() {
        (*channel.capacity_mut(), *channel.mean_mut()) = (64, Some(8.0));
    }
    report
}

const NAMES: [&str; 5] = ["read", "parse", "index", "pack", "write"];

/// The chain before, and after planted changes.
fn changed() -> [Report; 2] {
    let (mut before, mut after) = (chain(&NAMES), chain(&["read", "parse", "index", "pack", "store"]));
    *after.policy_mut() = "qes".to_owned();
    *after.threads_mut() = 4;
    let first = after.workers()[0];
    after.workers_mut().resize(4, first);
    *after.workers_mut()[0].idle_mut() = Duration::from_millis(125);
    *after.wall_mut() = Duration::from_millis(80);
    *after.nodes_mut()[0].busy_mut() = Duration::from_millis(9);
    *after.nodes_mut()[2].busy_mut() = Duration::from_millis(60);
    *after.nodes_mut()[2].firings_mut() = 2000;
    *after.channels_mut()[1].capacity_mut() = 256;
    *after.channels_mut()[2].mean_mut() = Some(0.5);
    *after.channels_mut()[1].consumer_waited_mut() = Duration::from_millis(30);
    *after.nodes_mut()[0].other_waits_mut().worker_mut() = Duration::from_millis(2);
    *after.workers_mut()[0].steal_attempts_mut() = 40;
    *after.workers_mut()[1].steals_mut() = 3;
    // Of a sample, whose means are other than those of all firings.
    for (report, times) in [(&mut before, [49e3, 51e3]), (&mut after, [20e3, 40e3])] {
        let mut service = Service::default();
        times.iter().for_each(|ns| service.firing_mut().record(*ns, 1000));
        *report.nodes_mut()[2].service_mut() = Some(Box::new(service));
    }
    [before, after]
}

#[test]
fn planted_changes_come_first() {
    let [before, after] = changed();
    let expected = "\
policy auto -> qes
threads 2 -> 4
wall time 100 ms -> 80 ms, ratio 0.80

time of workers  before   after
application      75.0 %  60.0 %
queue             0.0 %   0.0 %
scheduler         0.0 %   0.0 %
idle             25.0 %  40.0 %
preempted         0.0 %   0.0 %

steal attempts 0 -> 40, steals 0 -> 3

node        firings            busy      per firing  ratio      deviation
index  1000 -> 2000  10 ms -> 60 ms  10 us -> 30 us   3.00  1 us -> 10 us
read           1000   10 ms -> 9 ms   10 us -> 9 us   0.90              -

node          waited                    longest for
index  0 ns -> 30 ms  nothing -> items of parse.out
read    0 ns -> 2 ms            nothing -> a worker

channel                 capacity        mean
index.out -> pack.in          64  8.0 -> 0.5
parse.out -> index.in  64 -> 256         8.0

nodes of the first report alone: `write`
nodes of the second report alone: `store`
channels of the first report alone: `pack.out -> write.in`
channels of the second report alone: `pack.out -> store.in`
";
    assert_eq!(Comparison::new(&before, &after).to_string(), expected);
}

#[test]
fn the_data_is_that_of_the_text() {
    let [before, after] = changed();
    let comparison = Comparison::new(&before, &after);
    assert_eq!(comparison.threads(), &Change::new(2, 4));
    assert_eq!(comparison.breakdown().after(), &[0.6, 0.0, 0.0, 0.4, 0.0]);
    let names: Vec<&str> = comparison.nodes().iter().map(|change| change.name()).collect();
    assert_eq!(names, ["index", "read", "parse", "pack"]);
    assert_eq!(comparison.nodes()[0].ratio(), Some(3.0));
    assert_eq!(comparison.nodes()[0].node().after(), &after.nodes()[2]);
    assert_eq!(comparison.channels()[0].factor(), 6.0);
    assert_eq!(comparison.steals(), &Change::new([0, 0], [40, 3]));
    assert_eq!(comparison.nodes()[0].variance(), Some(Change::new(1e6, 1e8)));
    assert_eq!(comparison.nodes()[1].variance(), None);
    assert_eq!(comparison.nodes()[0].waited().after(), &Duration::from_millis(30));
    assert_eq!(comparison.nodes()[0].longest_wait().after().as_deref(), Some("items of parse.out"));
    assert_eq!(comparison.other_nodes().after().as_slice(), ["store"]);
}

#[test]
fn equal_reports_have_no_changes() {
    let text = Comparison::new(&example(), &example()).to_string();
    assert!(text.starts_with("wall time 1.00 us, ratio 1.00\n"), "{text}");
    assert!(text.ends_with("\n\nno changes of nodes\n\nno changes of channels\n"), "{text}");
}

#[test]
fn at_most_ten_are_printed() {
    let names: Vec<String> = (0..13).map(|i| format!("n{i}")).collect();
    let before = chain(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut after = before.clone();
    for (i, node) in after.nodes_mut().iter_mut().enumerate() {
        *node.busy_mut() += Duration::from_micros(1 + i as u64);
    }
    let text = Comparison::new(&before, &after).to_string();
    let printed: Vec<&str> = text.lines().filter(|line| line.starts_with('n')).collect();
    assert!(printed[1].starts_with("n12 ") && printed[10].starts_with("n3 "), "{text}");
    assert!(text.contains("and 3 more nodes that changed less\n"), "{text}");
    let text = Comparison::new(&before, &chain(&["other"])).to_string();
    assert!(text.contains("`n8`, `n9` and 3 more\nnodes of the second report alone: `other`\n"), "{text}");
}

#[test]
fn a_ratio_needs_times_and_firings() {
    let before = chain(&["a"]);
    let ratio = |change: fn(&mut Report)| {
        let mut after = before.clone();
        change(&mut after);
        let changes = [Comparison::new(&before, &after), Comparison::new(&after, &before)];
        changes.map(|comparison| comparison.nodes()[0].ratio())
    };
    assert_eq!(ratio(|report| *report.nodes_mut()[0].busy_mut() = Duration::ZERO), [Some(0.0), None]);
    assert_eq!(ratio(|report| *report.nodes_mut()[0].firings_mut() = 0), [None, None]);
    assert_eq!(ratio(|report| *report.nodes_mut()[0].firings_mut() = 500), [Some(2.0), Some(0.5)]);
    assert!(Comparison::new(&Report::default(), &before).to_string().starts_with("policy  -> auto\n"));
}

proptest! {
    #[test]
    fn any_reports_can_be_compared(before in any_report(), after in any_report()) {
        let comparison = Comparison::new(&before, &after);
        prop_assert!(!comparison.to_string().is_empty());
        prop_assert_eq!(comparison.nodes().len() + comparison.other_nodes().before().len(), before.nodes().len());
        prop_assert_eq!(comparison.channels().len() + comparison.other_channels().after().len(), after.channels().len());
        let unchanged = Comparison::new(&before, &before);
        prop_assert!(unchanged.channels().iter().all(|change| change.factor() == 1.0));
        prop_assert_eq!(unchanged.other_nodes().before().len() + unchanged.other_nodes().after().len(), 0);
    }
}
