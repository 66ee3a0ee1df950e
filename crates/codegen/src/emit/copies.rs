//! Nodes that copy items.

use super::program::Writer;
use super::terms::cell_type;
use crate::plan::{Items, Pattern, moves_of};
use std::fmt::Write;
use thalweg_lang::flat::{NodeId, NodeKind};
use thalweg_lang::tree;

/// The number of copying nodes from which on they share functions: the C compiler takes long for each loop.
const MANY: usize = 200;

impl Writer<'_> {
    /// Whether there are enough copying nodes for shared functions.
    pub(super) fn many_copy(&self) -> bool {
        let nodes = self.compiled.flat.nodes().len() as u32;
        (0..nodes).filter(|node| self.copies(NodeId(*node))).take(MANY).count() == MANY
    }

    /// Whether a node copies items: it has no code and accesses no file.
    pub(super) fn copies(&self, node: NodeId) -> bool {
        match self.compiled.flat.kind(node) {
            NodeKind::Filter(id) => self.compiled.tree.filters[id.0 as usize].code == tree::Code::Identity,
            _ => true,
        }
    }

    /// The firings `first..last` of a node that copies: loops, or a call of a function that nodes with equal
    /// copies share.
    pub(super) fn copying(
        &mut self,
        node: NodeId,
        ins: Vec<(String, &Items)>,
        outs: Vec<(String, &Items)>,
        (first, last): (&str, &str),
    ) -> String {
        let moves = moves_of(&self.compiled.flat, node);
        let ring = ins.iter().chain(&outs).any(|(_, items)| items.pattern == Pattern::Ring);
        if ring || !self.shares_copies {
            return copy(moves, ins, outs, first, last);
        }
        let (mut parameters, mut given) = (String::new(), String::new());
        let mut inside = [Vec::new(), Vec::new()];
        for (side, (name, constant, ports)) in
            [("in", "const ", ins), ("out", "", outs)].into_iter().enumerate()
        {
            for (port, (pointer, items)) in ports.into_iter().enumerate() {
                let _ = write!(parameters, "{constant}{} *{name}{port}_from, ", cell_type(items.cell));
                let _ = write!(given, "{pointer}, ");
                inside[side].push((format!("{name}{port}_from"), items));
            }
        }
        let [ins, outs] = inside;
        let mut text = format!("({parameters}int64_t first, int64_t last)\n{{\n");
        copy(moves, ins, outs, "first", "last").lines().for_each(|line| _ = writeln!(text, "    {line}"));
        text.push_str("}\n");
        let name = self.functions.name("copy", "__attribute__((noinline)) void", "Copies items.", text);
        format!("{name}({given}{first}, {last});\n")
    }
}

/// Loops that copy items.
fn copy(
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
