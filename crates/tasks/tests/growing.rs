//! Nodes that are added while the graph runs.

use std::sync::atomic::{AtomicU64, Ordering};
use thalweg_tasks::{OnDemand, TaskGraph, TaskOptions};

#[test]
fn added_nodes_are_computed_once_before_the_run_ends() {
    crate::in_team(|| {
        // Each number adds its Collatz successor and, on the way down from the sink, the smaller numbers.
        let computed = AtomicU64::new(0);
        let graph = OnDemand::new(
            |&n: &u64, needs: &mut Vec<u64>| needs.extend((n.is_multiple_of(3) && n > 0).then_some(n / 3)),
            |&n: &u64, context| {
                computed.fetch_add(1, Ordering::Relaxed);
                if n > 1 {
                    context.also(if n % 2 == 0 { n / 2 } else { 3 * n + 1 });
                    context.also(n); // There is such a node: this one.
                    if n <= 2000 {
                        context.also(n - 1);
                    }
                }
                n
            },
        );
        let run = |members: usize| {
            computed.store(0, Ordering::Relaxed);
            let finished = graph.run_with(2000, &TaskOptions::new().members(members)).expect("no cycle");
            assert_eq!(finished.len() as u64, computed.load(Ordering::Relaxed));
            let mut keys: Vec<u64> =
                finished.iter().map(|(key, result)| (assert_eq!(key, result), *key).1).collect();
            keys.sort_unstable();
            keys
        };
        let keys = run(1);
        assert!(keys.starts_with(&[0, 1, 2, 3]) || keys.starts_with(&[1, 2, 3, 4]));
        assert!(keys.len() > 4000);
        for members in 2..=4 {
            assert_eq!(run(members), keys);
        }
    });
}

#[test]
fn an_added_node_may_be_needed_by_others() {
    crate::in_team(|| {
        // The nodes 1 to 1000 add each other, and all are needed by the sink.
        let graph = OnDemand::new(
            |&n: &u32, needs: &mut Vec<u32>| {
                if n == 0 {
                    needs.extend(1..=1000);
                }
            },
            |&n: &u32, context| {
                context.also(n * 7919 % 1000 + 1);
                context.also(n / 2);
                context.inputs().sum::<u32>().max(1)
            },
        );
        for members in 1..=4 {
            let finished = graph.run_with(0, &TaskOptions::new().members(members)).expect("no cycle");
            assert_eq!((finished.sink(), finished.len()), (&1000, 1001));
        }
    });
}
