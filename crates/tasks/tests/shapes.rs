//! Graphs of extreme shapes: deep, wide, empty; and many short runs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use thalweg_tasks::{OnDemand, StaticGraph, TaskGraph, TaskOptions};

/// Runs on a stack that a recursion as deep as the graph would overflow.
fn on_small_stack(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, test);
        thread.expect("a thread").join().expect("the test passes");
    });
}

#[test]
fn a_chain_of_a_million_nodes_needs_no_deep_stack() {
    on_small_stack(|| {
        crate::in_team(|| {
            let chain = OnDemand::new(
                |&n: &u32, needs: &mut Vec<u32>| needs.extend(n.checked_sub(1)),
                |_: &u32, context| context.inputs().next().map_or(0, |before| before + 1),
            );
            for members in [1, 3] {
                let finished =
                    chain.run_with(1_000_000, &TaskOptions::new().members(members)).expect("no cycle");
                assert_eq!(finished.into_sink(), 1_000_000);
            }
            let mut chain = StaticGraph::from_edges(1_000_000, (1..1_000_000).map(|node| (node - 1, node)));
            let last = AtomicU32::new(0);
            let next = |node: u32| assert_eq!(last.swap(node, Ordering::Relaxed), node.saturating_sub(1));
            chain.run_with(&TaskOptions::new().members(2), next).expect("no cycle");
        });
    });
}

#[test]
fn a_node_may_have_a_hundred_thousand_predecessors() {
    crate::in_team(|| {
        let star = OnDemand::new(
            |&n: &u32, needs: &mut Vec<u32>| {
                if n == u32::MAX {
                    needs.extend(0..100_000);
                }
            },
            |&n: &u32, context| if n == u32::MAX { context.inputs().sum() } else { u64::from(n) },
        );
        for members in 1..=3 {
            let finished = star.run_with(u32::MAX, &TaskOptions::new().members(members)).expect("no cycle");
            assert_eq!(finished.sink(), &(99_999 * 100_000 / 2));
            assert_eq!((finished[&5], finished.len()), (5, 100_001));
        }
    });
}

#[test]
fn a_node_may_have_a_hundred_thousand_successors() {
    crate::in_team(|| {
        // Each leaf needs the root.
        let fan = OnDemand::new(
            |&n: &u32, needs: &mut Vec<u32>| match n {
                0 => {}
                u32::MAX => needs.extend(1..=100_000),
                _ => needs.push(0),
            },
            |_: &u32, context| context.inputs().sum::<u64>().max(1),
        );
        for members in 1..=3 {
            let finished = fan.run_with(u32::MAX, &TaskOptions::new().members(members)).expect("no cycle");
            assert_eq!(finished.sink(), &100_000);
        }
    });
}

#[test]
fn an_empty_graph_ends_at_once() {
    crate::in_team(|| {
        for members in 1..=3 {
            let counts = StaticGraph::from_edges(0, [])
                .run_with(&TaskOptions::new().members(members), |_| panic!("no node"));
            assert_eq!(counts.expect("no cycle").total().nodes(), 0);
        }
    });
}

#[test]
fn a_graph_of_one_node_has_its_result() {
    crate::in_team(|| {
        let one = OnDemand::new(
            |(): &(), _: &mut Vec<()>| {},
            |(): &(), context| {
                assert!(context.is_empty() && context.get(&()).is_none());
                7
            },
        );
        for members in 0..=3 {
            assert_eq!(
                one.run_with((), &TaskOptions::new().members(members)).expect("no cycle").into_sink(),
                7
            );
        }
    });
}

#[test]
fn many_short_runs_end_each_time() {
    crate::in_team(|| {
        // Members begin late, sleep and wake in all of these.
        let mut graph = StaticGraph::from_edges(12, (1..12).map(|node| (node / 3, node)));
        for round in 0..3000 {
            let sum = AtomicU32::new(0);
            let options = TaskOptions::new().members(1 + round % 4).seed(round as u64);
            graph.run_with(&options, |node| _ = sum.fetch_add(node, Ordering::Relaxed)).expect("no cycle");
            assert_eq!(sum.into_inner(), 66);
        }
    });
}

#[test]
fn members_that_sleep_are_woken_for_later_work() {
    crate::in_team(|| {
        // A chain, long enough for the other members to fall asleep, and then two nodes that wait for each other to begin.
        let mut graph = StaticGraph::from_edges(4, [(0, 1), (1, 2), (1, 3)]);
        let begun = AtomicU32::new(0);
        let counts = graph.run_with(&TaskOptions::new().members(2), |node| {
            if node < 2 {
                std::thread::sleep(Duration::from_millis(10));
                return;
            }
            begun.fetch_add(1, Ordering::Relaxed);
            let start = Instant::now();
            while begun.load(Ordering::Relaxed) < 2 {
                assert!(start.elapsed() < Duration::from_secs(20), "the other member sleeps");
                std::thread::yield_now();
            }
        });
        let counts = counts.expect("no cycle");
        assert_eq!(counts.members().iter().map(|member| member.nodes()).max(), Some(3));
        assert_eq!(counts.total().steals(), 1);
    });
}

#[test]
fn a_long_first_task_delays_no_other() {
    crate::in_team(|| {
        // Both nodes wait until the other one has begun.
        let begun = AtomicU32::new(0);
        let counts = StaticGraph::from_edges(2, []).run_with(&TaskOptions::new().members(2), |_| {
            begun.fetch_add(1, Ordering::Relaxed);
            let start = Instant::now();
            while begun.load(Ordering::Relaxed) < 2 {
                assert!(
                    start.elapsed() < Duration::from_secs(20),
                    "the other node waits for the end of this one"
                );
                std::thread::yield_now();
            }
        });
        assert!(counts.expect("no cycle").members().iter().all(|member| member.nodes() == 1));
    });
}

#[test]
fn a_run_may_be_a_node_of_another() {
    crate::in_team(|| {
        let inner = |n: u64| {
            let sum = OnDemand::new(
                |&n: &u64, needs: &mut Vec<u64>| needs.extend(n.checked_sub(1)),
                |&n: &u64, context| n + context.inputs().sum::<u64>(),
            );
            sum.run_with(n, &TaskOptions::new().members(2)).expect("no cycle").into_sink()
        };
        let results = Mutex::new(vec![0; 20]);
        let mut outer = StaticGraph::from_edges(20, []);
        outer
            .run_with(&TaskOptions::new().members(3), |node| {
                results.lock().unwrap()[node as usize] = inner(node.into())
            })
            .expect("no cycle");
        assert!(results.into_inner().unwrap().into_iter().eq((0..20).map(|n| n * (n + 1) / 2)));
    });
}
