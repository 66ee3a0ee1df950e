//! What the tests of all programs share.

use std::fmt::Debug;
use thalweg::{Options, Output};

/// The policies of the DANBI paper's Figure 3, and the default one.
const POLICIES: [&str; 5] = ["random", "qes", "pss", "prs", "auto"];

/// Asserts that a graph has this result under every policy, on 1, 2 and 8 threads, also if firings wait for their tickets.
pub fn assert_everywhere<'env, T, R>(
    expected: &R,
    graph: impl Fn() -> Output<'env, T>,
    result: impl Fn(T) -> R,
) where
    R: PartialEq + Debug,
{
    assert_runs_everywhere(expected, |options| {
        result(graph().run_with(options).expect("a run").into_value())
    });
}

/// Like [`assert_everywhere`], for a function that runs a graph.
pub fn assert_runs_everywhere<R: PartialEq + Debug>(expected: &R, run: impl Fn(&Options) -> R) {
    for policy in POLICIES {
        for threads in [1, 2, 8] {
            let options = Options::new().policy(policy).threads(threads);
            for (tickets, options) in [("do not wait", options.clone()), ("wait", options.wait_for_tickets())]
            {
                assert!(
                    run(&options) == *expected,
                    "another result under {policy} on {threads} threads where firings {tickets}"
                );
            }
        }
    }
}

/// Asserts that a graph has these numbers of nodes and channels, that all nodes but the source and the sink are parallel, and
/// that all channels are ordered.
pub fn assert_counts<T>(graph: &Output<'_, T>, nodes: usize, channels: usize) {
    let data = graph.graph().data();
    assert_eq!((data.nodes().len(), data.channels().len()), (nodes, channels));
    for node in data.nodes() {
        let end = node.inputs().is_empty() || node.outputs().is_empty();
        assert_eq!(node.kind() == thalweg::embed::graph::Kind::Parallel, !end, "{}", node.name());
        assert!(!node.unordered() && !node.merge(), "{}", node.name());
    }
}
