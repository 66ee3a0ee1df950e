//! Chains of waits: follows the longest wait of each node, to the node at the root.

use super::Evidence;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;
use thalweg_graph::NodeId;
use thalweg_trace::Cause;

/// What the waits of nodes lead to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Root {
    /// A node that is busy for longer than it waits.
    Busy(NodeId),
    /// A node that waits for an event outside the graph.
    Outside(NodeId),
    /// Nodes that wait for each other, or for a worker: no single node is the root.
    Other,
}

impl Evidence<'_> {
    /// The roots of all waits, and the time for which nodes waited for each: the longest first.
    pub(super) fn blocked_by(&self) -> Vec<(Root, Duration)> {
        let mut roots = vec![None; self.nodes().len()];
        let mut times: HashMap<Root, Duration> = HashMap::new();
        for node in self.graph().node_ids() {
            let root = self.root(node, &mut roots);
            if root != Root::Busy(node) {
                *times.entry(root).or_default() +=
                    self.dominant_wait(node).map_or(Duration::ZERO, |(_, time)| time);
            }
        }
        let mut times: Vec<_> = times.into_iter().filter(|(_, time)| !time.is_zero()).collect();
        // By node too, so that equal times have one order.
        times.sort_by_key(|(root, time)| (Reverse(*time), rank(*root)));
        times
    }

    /// The root of a node's waits. `roots` has those that are known, and gets those on the way.
    fn root(&self, node: NodeId, roots: &mut [Option<Root>]) -> Root {
        let mut path = Vec::new();
        let mut at = node;
        let root = loop {
            if let Some(root) = roots[at.index()] {
                break root;
            }
            // A node on the path is at hand again: a cycle of waits. It stays so for all of the path.
            roots[at.index()] = Some(Root::Other);
            path.push(at);
            let wait = self.dominant_wait(at).filter(|(_, time)| *time >= self.nodes()[at.index()].busy());
            at = match wait {
                None => break Root::Busy(at),
                Some((cause @ (Cause::Items(_) | Cause::Room(_)), _)) => {
                    cause.other_end(self.graph()).expect("a wait of the report is for a channel of its graph")
                }
                Some((Cause::Outside, _)) => break Root::Outside(at),
                // A node whose own tickets fill its window is at work.
                Some((Cause::Window, _)) => break Root::Busy(at),
                Some((Cause::AnyInput | Cause::Worker, _)) => break Root::Other,
            };
        };
        path.iter().for_each(|node| roots[node.index()] = Some(root));
        root
    }

    fn dominant_wait(&self, node: NodeId) -> Option<(Cause, Duration)> {
        self.waits(node).into_iter().next()
    }
}

fn rank(root: Root) -> u32 {
    match root {
        Root::Busy(node) | Root::Outside(node) => node.0,
        Root::Other => u32::MAX,
    }
}
