//! Schedules of engine graphs, by execution. The tests of `lang` have those of StreamIt programs.

use crate::common::execution::verify;
use crate::common::{Wire, graph, make_dynamic, wire};
use crate::cycles::ring;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use thalweg_analysis::dead_cycles;
use thalweg_analysis::schedule::{Cursor, Phase, Unschedulable, schedule};
use thalweg_graph::{ChannelId, GraphData, Node, NodeId, Rate};

#[test]
fn a_cycle_against_the_ids_is_scheduled() {
    let back = Wire { initial: 3, ..wire(0, 2, 1, 1) };
    let graph = graph(4, &[wire(2, 1, 1, 1), wire(1, 0, 2, 2), back, wire(3, 2, 5, 1)]);
    let schedule = schedule(&graph).unwrap();
    verify(&graph, &schedule).unwrap();
    let expected = "region 0
 repetitions
  n3 1
  n0 5
  n2 5
  n1 5
 steady
  n3 1
  n2 3
  n1 3
  n0 3
  n2 2
  n1 2
  n0 2
buffers
  n2 -> n1: 3
  n1 -> n0: 6
  n0 -> n2: 3
  n3 -> n2: 5
";
    assert_eq!(schedule.show(&graph).to_string(), expected);
}

#[test]
fn a_node_that_feeds_itself_fires_as_often_as_its_items_allow() {
    let itself = Wire { initial: 2, ..wire(1, 1, 1, 1) };
    let graph = graph(3, &[wire(0, 1, 5, 1), itself, wire(1, 2, 1, 5)]);
    let schedule = schedule(&graph).unwrap();
    verify(&graph, &schedule).unwrap();
    assert_eq!(schedule.regions[0].repetitions, [1, 5, 1]);
    assert_eq!(schedule.buffers[1], Some(2));
}

#[test]
fn a_loop_without_items_says_how_many_it_needs() {
    let graph = graph(3, &[wire(0, 1, 1, 1), wire(1, 2, 3, 2), wire(2, 1, 2, 3)]);
    let errors = schedule(&graph).unwrap_err();
    assert_eq!(errors, [Unschedulable::Loop { channel: ChannelId(2), needed: Some(4) }]);
}

#[test]
fn a_first_firing_is_in_the_initialisation() {
    let mut graph = graph(2, &[wire(0, 1, 2, 1)]);
    *graph.node_mut(NodeId(0)).outputs_mut()[0].first_mut() = Some(Rate::Static(7));
    let alone = graph.add(Node::sequential("alone"));
    graph.set_prework(alone);
    let schedule = schedule(&graph).unwrap();
    verify(&graph, &schedule).unwrap();
    assert_eq!(schedule.regions[0].init, [Phase::Fire(NodeId(0), 1), Phase::Fire(NodeId(1), 7)]);
    assert_eq!(schedule.regions[1].init, [Phase::Fire(alone, 1)]);
    let mut cursor = Cursor::new(&schedule.regions[0]);
    assert!(cursor.is_initialising());
    cursor.advance(1);
    cursor.advance(3);
    assert_eq!(cursor.due(), Some((NodeId(1), 4)));
    cursor.advance(4);
    assert_eq!((cursor.is_initialising(), cursor.due()), (false, Some((NodeId(0), 1))));
}

#[test]
fn a_schedule_takes_linear_time() {
    const NODES: usize = 200_000;
    let wires: Vec<Wire> = (1..NODES).map(|i| wire(i - 1, i, 3, 3)).collect();
    let schedule = schedule(&graph(NODES, &wires)).unwrap();
    assert_eq!(schedule.regions[0].steady.len(), NODES);
}

/// No rates make the analysis panic.
#[test]
fn extreme_rates_are_scheduled_or_refused() {
    let most = u64::MAX;
    let numbers = [0, 1, 2, 3, 65_537, most / 2, most - 4, most];
    for (one, two) in numbers.iter().flat_map(|one| numbers.iter().map(move |two| (*one, *two))) {
        for initial in [0, 5, usize::MAX] {
            let wide = Wire { peek: most, ..wire(0, 2, two, one) };
            let back = Wire { initial, ..wire(3, 2, one, one) };
            let itself = Wire { initial, ..wire(4, 4, two, two) };
            let wires = [wire(0, 1, one, two), wide, wire(1, 2, one, one), wire(2, 3, one, one), back];
            let mut graph = graph(5, &[&wires[..], &[wire(3, 4, two, one), itself]].concat());
            for first in [None, Some(one), Some(most)] {
                let source = graph.node_mut(NodeId(0));
                source.outputs_mut().iter_mut().for_each(|port| *port.first_mut() = first.map(Rate::Static));
                _ = thalweg_analysis::check(&graph);
                match schedule(&graph) {
                    Ok(schedule) => assert!(!schedule.show(&graph).to_string().is_empty()),
                    Err(errors) => assert!(!errors.is_empty()),
                }
            }
        }
    }
}

/// A random graph with cycles, dynamic channels and first firings. Its static rates are consistent, its nodes in any
/// order.
fn any_graph() -> impl Strategy<Value = GraphData> {
    let channel = (any::<Index>(), any::<Index>(), 1_u64..3, 0_u64..3, 0_usize..12);
    let first = (any::<Index>(), 0_u64..5, 0_u64..4);
    let channels = proptest::collection::vec(channel, 1..10);
    let (firings, firsts) =
        (proptest::collection::vec(1_u64..5, 2..8), proptest::collection::vec(first, 0..3));
    let dynamic = proptest::collection::vec(any::<Index>(), 0..3);
    (firings, channels, firsts, dynamic).prop_map(|(firings, channels, firsts, dynamic)| {
        let end = |index: Index| index.index(firings.len());
        let wires = channels.into_iter().map(|(from, to, times, more, initial)| {
            let (from, to) = (end(from), end(to));
            let balanced = wire(from, to, times * firings[to], times * firings[from]);
            Wire { peek: balanced.pop + more, initial: if from < to { 0 } else { initial * 4 }, ..balanced }
        });
        let mut graph = graph(firings.len(), &wires.collect::<Vec<_>>());
        for (node, items, more) in firsts {
            let node = graph.node_mut(NodeId(end(node) as u32));
            node.outputs_mut().iter_mut().for_each(|port| *port.first_mut() = Some(Rate::Static(items)));
            for port in node.inputs_mut() {
                *port = port.clone().with_first(Rate::Static(items), items + more);
            }
        }
        for id in dynamic {
            let channel = ChannelId(id.index(graph.channels().len()) as u32);
            make_dynamic(&mut graph, channel);
        }
        graph
    })
}

fn set_initial(graph: &mut GraphData, channel: ChannelId, initial: usize) {
    let link = graph.channel_mut(channel).link_mut();
    *link = link.with_initial(initial);
}

/// Whether there is a schedule. Verifies it by execution, or else that loops alone prevent it, and that more items help
/// as much as is said.
fn scheduled_or_refused(graph: &GraphData) -> bool {
    let errors = match schedule(graph) {
        Ok(schedule) => {
            verify(graph, &schedule).unwrap();
            return true;
        }
        Err(errors) => errors,
    };
    for error in &errors {
        match error {
            Unschedulable::Loop { channel, needed: Some(needed) } if errors.len() == 1 => {
                let mut enough = graph.clone();
                let needed = usize::try_from(*needed).unwrap();
                set_initial(&mut enough, *channel, needed);
                verify(&enough, &schedule(&enough).unwrap()).unwrap();
                set_initial(&mut enough, *channel, needed - 1);
                assert!(schedule(&enough).is_err());
            }
            Unschedulable::Loop { .. } | Unschedulable::TooLong { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn schedules_run(graph in any_graph()) {
        scheduled_or_refused(&graph);
    }

    #[test]
    fn a_cycle_has_a_schedule_if_it_is_live((nodes, wires) in ring()) {
        let graph = graph(nodes, &wires);
        prop_assert_eq!(scheduled_or_refused(&graph), dead_cycles(&graph).is_empty());
    }
}

/// Keeps the property test above meaningful.
#[test]
fn most_random_graphs_have_schedules() {
    let mut runner = TestRunner::deterministic();
    let graphs = any_graph();
    let mut next = || graphs.new_tree(&mut runner).unwrap().current();
    let scheduled = (0..300).filter(|_| scheduled_or_refused(&next())).count();
    assert!((100..300).contains(&scheduled), "{scheduled} of 300");
}
