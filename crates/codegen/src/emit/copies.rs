//! Nodes that copy items.

use super::expr::cell_type;
use super::items::{Items, Pattern};
use super::program::Writer;
use std::fmt::Write;
use thalweg_lang::flat::{NodeId, NodeKind};
use thalweg_lang::tree::{self, Weights};

impl Writer<'_> {
    /// Whether a node copies items: neither has code nor is at the end of a file.
    pub(super) fn copies(&self, node: NodeId) -> bool {
        match self.compiled.flat.node(node).kind {
            NodeKind::Filter(id) => self.compiled.tree.filters[id.0 as usize].code == tree::Code::Identity,
            _ => true,
        }
    }

    pub(super) fn moves(&self, node: NodeId) -> Vec<[u64; 5]> {
        moves_of(self.compiled.flat.node(node))
    }
}

/// What a splitter, joiner or identity copies: from which input and which item of it, to which output
/// and which item of it, and how many.
pub(crate) fn moves_of(node: &thalweg_lang::flat::Node) -> Vec<[u64; 5]> {
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
    match &node.kind {
        NodeKind::Filter(_) => vec![[0, 0, 0, 0, 1]],
        NodeKind::Split(Weights::Duplicate) => {
            (0..node.outputs.len() as u64).map(|port| [0, 0, port, 0, 1]).collect()
        }
        NodeKind::Split(Weights::RoundRobin(weights)) => round(weights, true),
        NodeKind::Join(Weights::RoundRobin(weights)) => round(weights, false),
        NodeKind::Join(Weights::Duplicate) => Vec::new(),
    }
}

/// Loops that copy items.
pub(super) fn copy(
    moves: Vec<[u64; 5]>,
    ins: Vec<(String, &Items)>,
    outs: Vec<(String, &Items)>,
    first: &str,
    last: &str,
) -> String {
    let mut text = format!("for (int64_t f = {first}; f < {last}; f++) {{\n");
    for (name, side, constant) in [("in", &ins, "const "), ("out", &outs, "")] {
        for (port, (pointer, items)) in side.iter().enumerate() {
            let cell = cell_type(items.cell);
            if let Pattern::Table(at) = &items.pattern {
                let at: Vec<String> = at.iter().map(i64::to_string).collect();
                let _ = writeln!(text, "    static const int64_t {name}{port}_at[] = {{{}}};", at.join(", "));
            }
            if items.pattern == Pattern::Ring {
                let _ = writeln!(text, "    {constant}{cell} *{name}{port}_p = {pointer};");
                let step = items.group_stride;
                let _ = writeln!(text, "    const int64_t {name}{port} = {name}{port}_begin + f * {step};");
            } else {
                let start = items.start("f");
                let _ = writeln!(text, "    {constant}{cell} *{name}{port}_p = {pointer} + ({start});");
            }
        }
    }
    for [from, from_at, to, to_at, count] in moves {
        let cells = ins[from as usize].1.cells as u64;
        if count == 0 {
            continue;
        }
        let place = |name: &str, port: u64, items: &Items, at: u64| {
            let known = (count == 1).then_some(at as i32);
            let item = if count == 1 { at.to_string() } else { format!("(j + {at})") };
            let cell = if cells == 1 { "0" } else { "c" };
            format!("{name}{port}_p[{}]", items.place(&format!("{name}{port}"), &item, known, cell))
        };
        let source = place("in", from, ins[from as usize].1, from_at);
        let target = place("out", to, outs[to as usize].1, to_at);
        let mut indent = "    ".to_owned();
        if count > 1 {
            let _ = writeln!(text, "{indent}for (int64_t j = 0; j < {count}; j++)");
            indent.push_str("    ");
        }
        if cells > 1 {
            let _ = writeln!(text, "{indent}for (int64_t c = 0; c < {cells}; c++)");
            indent.push_str("    ");
        }
        let _ = writeln!(text, "{indent}{target} = {source};");
    }
    text.push_str("}\n");
    text
}
