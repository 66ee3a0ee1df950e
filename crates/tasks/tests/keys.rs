//! Keys of all kinds: bad hashes, no size, borrowed data; predecessors that come twice.

use std::hash::{Hash, Hasher};
use thalweg_tasks::{OnDemand, TaskGraph, TaskOptions};

/// A key whose hash is always the same.
#[derive(PartialEq, Eq, Debug)]
struct Same(u32);

impl Hash for Same {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[test]
fn keys_with_equal_hashes_are_different_nodes() {
    crate::in_team(|| {
        let graph = OnDemand::new(
            |Same(n): &Same, needs: &mut Vec<Same>| {
                needs.extend([n.checked_sub(1), n.checked_sub(2)].into_iter().flatten().map(Same));
            },
            |Same(n): &Same, context| match n {
                0 | 1 => u64::from(*n),
                _ => context.inputs().fold(0_u64, |sum, input| sum.wrapping_add(*input)),
            },
        );
        let (sink, checked) = if cfg!(miri) { (12, (12, 144)) } else { (500, (50, 12_586_269_025)) };
        for members in 1..=3 {
            let finished =
                graph.run_with(Same(sink), &TaskOptions::new().members(members)).expect("no cycle");
            assert_eq!((finished.len(), finished[&Same(checked.0)]), (sink as usize + 1, checked.1));
        }
    });
}

#[test]
fn a_predecessor_that_comes_twice_is_computed_once_and_read_twice() {
    crate::in_team(|| {
        let graph = OnDemand::new(
            |&n: &u32, needs: &mut Vec<u32>| {
                needs.extend(n.checked_sub(1).into_iter().flat_map(|n| [n, n, n]))
            },
            |&n: &u32, context| {
                assert_eq!(context.len(), if n == 0 { 0 } else { 3 });
                assert_eq!(context.get(&n.wrapping_sub(1)), context.inputs().next());
                if n == 0 { 1 } else { context.input(0) + context.input(1) + context.input(2) }
            },
        );
        let sink = if cfg!(miri) { 8 } else { 30 };
        for members in 1..=3 {
            let finished = graph.run_with(sink, &TaskOptions::new().members(members)).expect("no cycle");
            assert_eq!((*finished.sink(), finished.len()), (3_u64.pow(sink), sink as usize + 1));
        }
    });
}

#[test]
fn keys_and_results_may_borrow() {
    crate::in_team(|| {
        let text = "the nodes of this graph are the ends of a text".to_owned();
        let graph = OnDemand::new(
            |end: &&str, needs: &mut Vec<&str>| needs.extend(end.split_once(' ').map(|(_, rest)| rest)),
            |end: &&str, context| {
                let longest = context.inputs().next().copied().unwrap_or("");
                let word = end.split(' ').next().unwrap_or("");
                if word.len() >= longest.len() { &end[..word.len()] } else { longest }
            },
        );
        let finished = graph.run_with(&text[..], &TaskOptions::new().members(2)).expect("no cycle");
        assert_eq!(finished.sink(), &"nodes");
        assert_eq!(finished[&"a text"], "text");
    });
}

#[test]
#[should_panic(expected = "the graph has no node with this key")]
fn a_key_that_is_not_there_has_no_result() {
    let graph = OnDemand::new(|_: &u32, _: &mut Vec<u32>| {}, |_: &u32, _| 1);
    let finished = graph.run_with(0, &TaskOptions::new().members(1)).expect("no cycle");
    assert_eq!(finished[&1], 1);
}
