//! C text of nodes one by one, from queue to queue.

use super::program::{Called, Writer};
use super::terms::cell_type;
use crate::ir::{Cell, Kind};
use crate::plan::{Items, item};
use std::fmt::Write;
use thalweg_lang::flat::{ChannelId, Firing, NodeId};
use thalweg_lang::schedule::Phase;

impl Writer<'_> {
    /// A function for each node.
    pub(super) fn single(&mut self) -> Result<String, String> {
        let mut out = String::new();
        for node in 0..self.compiled.flat.nodes().len() as u32 {
            let _ = writeln!(out, "\nstatic void fire_{node}(struct state *state, int64_t n)\n{{");
            if self.codes[node as usize].is_some() {
                self.fire_filter(&mut out, node)?;
            } else if self.copies(NodeId(node)) {
                self.fire_copy(&mut out, NodeId(node))?;
            }
            out.push_str("}\n");
        }
        Ok(out)
    }

    pub(super) fn ring(&self) -> bool {
        self.rings
    }

    pub(super) fn queue_items(&self, channel: Option<&ChannelId>, moved: u64) -> Result<Items, String> {
        let (cell, cells) =
            channel.map_or(Ok((Cell::Of(Kind::Int), 1)), |channel| item(self.compiled, *channel))?;
        let made = if self.ring() { Items::in_ring } else { Items::in_line };
        Ok(made(cell, cells, moved as i64))
    }

    /// Whether a node runs on its own.
    pub(super) fn flows(&self, node: u32) -> bool {
        crate::parts::flows(self.compiled, NodeId(node))
    }

    pub(super) fn fire_filter(&mut self, out: &mut String, node: u32) -> Result<(), String> {
        if self.flows(node) {
            return self.fire_alone(out, node);
        }
        let prework = self.codes[node as usize].as_ref().is_some_and(|codes| codes.prework.is_some());
        if prework {
            out.push_str("    if (state->node_");
            let _ = writeln!(out, "{node}.fired == 0 && n > 0) {{");
            self.fire_which(out, node, Firing::First, ("1", "        "))?;
            out.push_str("        n--;\n    }\n");
        }
        self.fire_which(out, node, Firing::Later, ("n", "    "))
    }

    pub(super) fn fire_which(
        &mut self,
        out: &mut String,
        node: u32,
        firing: Firing,
        (n, indent): (&str, &str),
    ) -> Result<(), String> {
        let (flat, id) = (&self.compiled.flat, NodeId(node));
        let (from, to) = (flat.input(id), flat.output(id));
        let pop = flat.pop(id, 0, firing).ok_or("internal error: a dynamic rate")?;
        let push = flat.push(id, 0, firing).ok_or("internal error: a dynamic rate")?;
        let input = self.queue_items(from.as_ref(), pop)?;
        let output = self.queue_items(to.as_ref(), push)?;
        let which = u32::from(firing == Firing::First);
        let called = if self.ring() { Called::ForMany } else { Called::Seldom };
        let name = self.function(node, which, &input, &output, called);
        let name = self.heard(node, name, (&input, &output))?;
        let side = |channel: Option<ChannelId>, items: &Items, end: &str| {
            let cell = cell_type(items.cell);
            match (channel, self.ring()) {
                (None, false) => "0".to_owned(),
                (None, true) => "0, 0, 0".to_owned(),
                (Some(ChannelId(at)), false) => {
                    format!(
                        "({cell} *)state->queues[{at}].items + state->queues[{at}].{end} * {}",
                        items.cells
                    )
                }
                (Some(ChannelId(at)), true) => format!(
                    "({cell} *)state->queues[{at}].items, state->queues[{at}].{end}, state->queues[{at}].mask"
                ),
            }
        };
        let (input, output) = (side(from, &input, "read"), side(to, &output, "written"));
        let _ = writeln!(
            out,
            "{indent}{name}(&state->env, {node}, &state->node_{node}, {input}, {output}, 0, {n});"
        );
        self.advance(out, from.as_ref(), "read", &format!("{n} * {pop}"), indent);
        self.advance(out, to.as_ref(), "written", &format!("{n} * {push}"), indent);
        let _ = writeln!(out, "{indent}state->node_{node}.fired += {n};");
        Ok(())
    }

    pub(super) fn advance(
        &self,
        out: &mut String,
        channel: Option<&ChannelId>,
        end: &str,
        by: &str,
        indent: &str,
    ) {
        if let Some(ChannelId(at)) = channel {
            let _ = writeln!(out, "{indent}state->queues[{at}].{end} += {by};");
        }
    }

    pub(super) fn fire_copy(&mut self, out: &mut String, node: NodeId) -> Result<(), String> {
        let flat = &self.compiled.flat;
        let mut sides = [Vec::new(), Vec::new()];
        for (port, channel) in flat.inputs(node).enumerate() {
            let popped = flat.pop(node, port, Firing::Later).unwrap_or(0);
            sides[0].push((channel, popped, self.queue_items(Some(&channel), popped)?));
        }
        for (port, channel) in flat.outputs(node).enumerate() {
            let pushed = flat.push(node, port, Firing::Later).unwrap_or(0);
            sides[1].push((channel, pushed, self.queue_items(Some(&channel), pushed)?));
        }
        let pointer = |(channel, _, items): &(ChannelId, u64, Items), end: &str| {
            let (at, cell) = (channel.0, cell_type(items.cell));
            match self.ring() {
                true => format!("({cell} *)state->queues[{at}].items"),
                false => format!(
                    "({cell} *)state->queues[{at}].items + state->queues[{at}].{end} * {}",
                    items.cells
                ),
            }
        };
        let ins = sides[0].iter().map(|side| (pointer(side, "read"), &side.2)).collect();
        let outs = sides[1].iter().map(|side| (pointer(side, "written"), &side.2)).collect();
        if self.ring() {
            for (side, (name, end)) in sides.iter().zip([("in", "read"), ("out", "written")]) {
                for (port, (channel, _, _)) in side.iter().enumerate() {
                    let at = channel.0;
                    let _ =
                        writeln!(out, "    const int64_t {name}{port}_begin = state->queues[{at}].{end};");
                    let _ = writeln!(out, "    const int64_t {name}{port}_mask = state->queues[{at}].mask;");
                }
            }
        }
        let text = self.copying(node, ins, outs, ("0", "n"));
        text.lines().for_each(|line| _ = writeln!(out, "    {line}"));
        for (side, end) in sides.iter().zip(["read", "written"]) {
            for (channel, moved, _) in side {
                self.advance(out, Some(channel), end, &format!("n * {moved}"), "    ");
            }
        }
        Ok(())
    }

    /// A steady state without fusion.
    pub(super) fn rings(&mut self, part: usize) {
        let mut out = format!("\nstatic void steady_{part}(struct state *state, int64_t n)\n{{\n");
        out.push_str("    for (int64_t iteration = 0; iteration < n; iteration++) {\n");
        self.phases(&mut out, &self.parts[part].region.steady, 2);
        out.push_str("    }\n}\n");
        self.text.push_str(&out);
    }

    pub(super) fn phases(&self, out: &mut String, phases: &[Phase], depth: usize) {
        let indent = "    ".repeat(depth);
        for phase in phases {
            match phase {
                Phase::Fire(node, count) => {
                    if self.codes[node.0 as usize].is_some() || self.copies(*node) {
                        let _ = writeln!(out, "{indent}fire_{}(state, {count});", node.0);
                    }
                }
                Phase::Repeat(times, inner) => {
                    let _ = writeln!(
                        out,
                        "{indent}for (int64_t t{depth} = 0; t{depth} < {times}; t{depth}++) {{"
                    );
                    self.phases(out, inner, depth + 1);
                    let _ = writeln!(out, "{indent}}}");
                }
            }
        }
    }
}
