//! Graphs that cannot be computed: the error has the cycle.

use std::sync::atomic::{AtomicU32, Ordering};
use thalweg_tasks::{OnDemand, StaticGraph, TaskError, TaskGraph, TaskOptions};

/// Runs the graph in which each node has these predecessors, at several numbers of members. Returns the cycle.
fn cycle(sink: u32, predecessors: impl Fn(u32) -> Vec<u32> + Sync) -> Vec<u32> {
    let graph =
        OnDemand::new(|&n: &u32, needs: &mut Vec<u32>| needs.extend(predecessors(n)), |_: &u32, _| ());
    let find = |members: usize| match graph.run_with(sink, &TaskOptions::new().members(members)) {
        Err(TaskError::Cycle { keys }) => keys,
        other => panic!("{other:?}"),
    };
    let cycle = find(1);
    for members in 2..=3 {
        assert_eq!(find(members), cycle);
    }
    for (at, node) in cycle.iter().enumerate() {
        assert!(predecessors(*node).contains(&cycle[(at + 1) % cycle.len()]), "{node} in {cycle:?}");
    }
    cycle
}

#[test]
fn a_node_that_needs_itself_is_a_cycle() {
    assert_eq!(cycle(7, |n| vec![n]), [7]);
    assert_eq!(cycle(7, |n| if n == 3 { vec![2, 3] } else { n.checked_sub(1).into_iter().collect() }), [3]);
}

#[test]
fn a_long_cycle_is_found_whole() {
    let keys = cycle(5, |n| vec![(n + 1) % 100_000]);
    assert_eq!(keys.len(), 100_000);
    let error = TaskError::<u32>::Cycle { keys };
    assert_eq!(
        error.to_string(),
        "the graph has a cycle: 5 waits for 6 waits for 7 waits for 8 waits for 9 waits for 10 waits for 11 waits for \
         12 waits for 13 waits for 14 waits for 99990 others"
    );
    let error = TaskError::<u32>::Cycle { keys: vec![1, 2] };
    assert_eq!(error.to_string(), "the graph has a cycle: 1 waits for 2 waits for 1");
}

#[test]
fn a_cycle_beside_work_that_ends_is_found() {
    // Nodes up to 1000 form a tree that can be computed; 2001 to 2003 need each other.
    let keys = cycle(2000, |n| match n {
        2000 => vec![1, 2001],
        2001..2003 => vec![n + 1, 500],
        2003 => vec![2001],
        _ => [2 * n, 2 * n + 1].into_iter().filter(|n| *n <= 1000).collect(),
    });
    assert_eq!(keys, [2001, 2002, 2003]);
}

#[test]
fn nodes_outside_of_the_cycle_were_computed() {
    crate::in_team(|| {
        let computed = AtomicU32::new(0);
        let graph = OnDemand::new(
            |&n: &u32, needs: &mut Vec<u32>| match n {
                0 => needs.extend([1, 2]),
                1 => needs.push(1),
                2..100 => needs.push(n + 1),
                _ => {}
            },
            |_: &u32, _| _ = computed.fetch_add(1, Ordering::Relaxed),
        );
        let error = graph.run_with(0, &TaskOptions::new().members(2)).unwrap_err();
        assert_eq!(error, TaskError::Cycle { keys: vec![1] });
        assert_eq!(computed.load(Ordering::Relaxed), 99);
    });
}

#[test]
fn a_cycle_among_added_nodes_is_an_error_though_the_sink_is_computed() {
    crate::in_team(|| {
        let graph = OnDemand::new(
            |&n: &u32, needs: &mut Vec<u32>| match n {
                10 => needs.push(11),
                11 => needs.push(10),
                _ => {}
            },
            |&n: &u32, context| {
                if n == 0 {
                    context.also(12);
                    context.also(10);
                }
            },
        );
        for members in 1..=3 {
            let error = graph.run_with(0, &TaskOptions::new().members(members)).unwrap_err();
            let TaskError::Cycle { mut keys } = error else { panic!("{error:?}") };
            keys.sort_unstable();
            assert_eq!(keys, [10, 11]);
        }
    });
}

#[test]
fn explicit_graphs_name_the_cycle_and_can_be_run_again() {
    crate::in_team(|| {
        // 0 -> 1 -> 2 -> 3 -> 1, and 2 -> 4.
        let mut graph = StaticGraph::from_edges(6, [(0, 1), (1, 2), (2, 3), (3, 1), (2, 4)]);
        for members in 1..=3 {
            let computed = AtomicU32::new(0);
            let run = graph.run_with(&TaskOptions::new().members(members), |node| {
                _ = computed.fetch_or(1 << node, Ordering::Relaxed)
            });
            assert_eq!(run, Err(TaskError::Cycle { keys: vec![1, 3, 2] }));
            assert_eq!(computed.into_inner(), 0b10_0001);
        }
        let mut itself = StaticGraph::from_edges(2, [(1, 1)]);
        assert_eq!(itself.run(|_| {}), Err(TaskError::Cycle { keys: vec![1] }));
    });
}
