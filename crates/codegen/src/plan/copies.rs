//! What nodes without code copy.

use thalweg_lang::flat::{Flat, NodeId, NodeKind};
use thalweg_lang::tree::Weights;

/// The copies of a splitter, joiner or identity: input port, first item there, output port, first item there,
/// count.
pub(crate) fn moves_of(flat: &Flat, node: NodeId) -> Vec<[u64; 5]> {
    let round = |weights: &[u32], split: bool| {
        let mut before = 0;
        let mut moves = Vec::new();
        for (port, weight) in weights.iter().enumerate() {
            let (port, weight) = (port as u64, u64::from(*weight));
            moves.push(if split { [0, before, port, 0, weight] } else { [port, 0, 0, before, weight] });
            before += weight;
        }
        moves
    };
    match flat.kind(node) {
        NodeKind::Filter(_) => vec![[0, 0, 0, 0, 1]],
        NodeKind::Split(Weights::Duplicate) => {
            (0..flat.node(node).outputs().len() as u64).map(|port| [0, 0, port, 0, 1]).collect()
        }
        NodeKind::Split(Weights::RoundRobin(weights)) => round(weights, true),
        NodeKind::Join(Weights::RoundRobin(weights)) => round(weights, false),
        NodeKind::Join(Weights::Duplicate) => Vec::new(),
    }
}
