//! What the tests of all programs share.

use std::fmt::Debug;
use thalweg::embed::graph::{GraphData, Kind, Rate};
use thalweg::{Options, Output};

/// Policies of kernels, and the default one.
const POLICIES: [&str; 4] = ["random", "qes", "prs", "auto"];

/// Asserts that a graph has this result under every policy, on 1, 2 and 8 threads.
pub fn assert_everywhere<'env, T: PartialEq + Debug>(expected: &T, graph: impl Fn() -> Output<'env, T>) {
    for policy in POLICIES {
        for threads in [1, 2, 8] {
            let options = Options::new().policy(policy).threads(threads);
            let value = graph().run_with(&options).expect("a run").into_value();
            assert!(value == *expected, "another result under {policy} on {threads} threads");
        }
    }
}

/// Asserts that a graph is a chain of `kernels` kernels with static rates, and that those between source and sink are of this kind.
/// Returns the items that each kernel pops and pushes.
pub fn assert_chain(graph: &GraphData, kernels: usize, kind: Kind) -> Vec<(u32, u32)> {
    assert_eq!((graph.nodes().len(), graph.channels().len()), (kernels, kernels - 1));
    let items = |rate: Rate| match rate {
        Rate::Static(items) => u32::try_from(items).expect("a small rate"),
        Rate::Dynamic => panic!("a dynamic rate"),
    };
    let rates = |(at, node): (usize, &thalweg::graph::Node)| {
        let (ins, outs) = (node.inputs(), node.outputs());
        assert_eq!(
            (ins.len(), outs.len()),
            (usize::from(at > 0), usize::from(at + 1 < kernels)),
            "{}",
            node.name()
        );
        assert!(ins.is_empty() || outs.is_empty() || node.kind() == kind, "{}", node.name());
        let pops = ins.first().map_or(0, |port| items(port.pop()));
        let pushes = outs.first().map_or(0, |port| items(port.push()));
        (pops, pushes)
    };
    graph.nodes().iter().enumerate().map(rates).collect()
}
