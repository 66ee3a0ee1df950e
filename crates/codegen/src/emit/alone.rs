//! Filters that are run by themselves, from queue to queue, as often as there are items.
//!
//! Where each firing moves the same numbers of items, whatever its rates are said to be, and needs no more
//! than is there when it begins, firings go in one call of a function of static rates: vectors and all.

use super::flow::{fixed, without_looks};
use super::items::Items;
use super::program::Writer;
use crate::ir::Code;
use crate::plan::item;
use std::borrow::Cow;
use std::fmt::Write;
use thalweg_lang::flat::{ChannelId, Firing, NodeId};

/// What each firing moves, and what must be there for it.
#[derive(Clone, Copy)]
struct Fixed {
    pop: u64,
    push: u64,
    window: u64,
}

impl Writer<'_> {
    pub(super) fn fire_alone(&mut self, out: &mut String, node: u32) -> Result<(), String> {
        let prework = self.codes[node as usize].as_ref().is_some_and(|codes| codes.prework.is_some());
        if prework {
            self.fire_flow(out, node, 1)?;
        }
        match self.fixed(node) {
            Some(fixed) => self.fire_fixed(out, node, fixed, prework),
            None => self.fire_flow(out, node, 0),
        }
    }

    fn fixed(&self, node: u32) -> Option<Fixed> {
        let code = &self.codes[node as usize].as_ref()?.work;
        let flat = &self.compiled.flat;
        let (id, ports) = (NodeId(node), flat.node(NodeId(node)));
        let (pop, push, window) = match fixed(code) {
            Some((pop, push)) => (pop, push, code.begins.items.into()),
            None => {
                let rate =
                    |rate: Option<u64>, ports: &[ChannelId]| if ports.is_empty() { Some(0) } else { rate };
                let pop = rate(flat.pop(&self.compiled.tree, id, 0, Firing::Later), &ports.inputs)?;
                let push = rate(flat.push(&self.compiled.tree, id, 0, Firing::Later), &ports.outputs)?;
                (pop, push, flat.peek(&self.compiled.tree, id, 0, Firing::Later).max(pop))
            }
        };
        (pop > 0 || ports.inputs.is_empty()).then_some(Fixed { pop, push, window })
    }

    /// Firings of which each moves the same.
    fn fire_fixed(&mut self, out: &mut String, node: u32, fixed: Fixed, prework: bool) -> Result<(), String> {
        let Fixed { pop, push, window } = fixed;
        let ports = self.compiled.flat.node(NodeId(node));
        let (from, to) = (ports.inputs.first().copied(), ports.outputs.first().copied());
        let input = self.queue_items(from.as_ref(), pop)?;
        let output = self.queue_items(to.as_ref(), push)?;
        let code = &self.codes[node as usize].as_ref().expect("a filter with code").work;
        let code: Cow<'_, Code> = without_looks(code);
        let name = self.function_of(node, (0, &code), &input, &output, false);
        out.push_str("    {\n        int64_t can = n;\n");
        if prework {
            let _ = writeln!(out, "        if (state->node_{node}.fired == 0)\n            can = 0;");
        }
        if let Some(ChannelId(at)) = from {
            let _ = writeln!(out, "        struct queue *const from = &state->queues[{at}];");
            let _ = writeln!(out, "        const int64_t have = from->written - from->read;");
            let _ = writeln!(
                out,
                "        const int64_t there = have < {window} ? 0 : (have - {window}) / {pop} + 1;"
            );
            out.push_str("        if (can > there)\n            can = there;\n");
        }
        out.push_str("        if (can > 0) {\n");
        if let (Some(ChannelId(at)), true) = (to, push > 0) {
            let _ = writeln!(out, "            struct queue *const to = &state->queues[{at}];");
            let _ = writeln!(out, "            if (to->mask + 1 - to->written < can * {push})");
            let _ = writeln!(out, "                state->env.more(&state->env, to, can * {push});");
        }
        let side = |channel: Option<ChannelId>, items: &Items, end: &str| match channel {
            None => "0".to_owned(),
            Some(ChannelId(at)) => {
                let cell = super::expr::cell_type(items.cell);
                let cells = items.cells;
                format!("({cell} *)state->queues[{at}].items + state->queues[{at}].{end} * {cells}")
            }
        };
        let (source, target) = (side(from, &input, "read"), side(to, &output, "written"));
        let _ = writeln!(
            out,
            "            {name}(&state->env, {node}, &state->node_{node}, {source}, {target}, 0, can);"
        );
        self.advance(out, from.as_ref(), "read", &format!("can * {pop}"), "            ");
        self.advance(out, to.as_ref(), "written", &format!("can * {push}"), "            ");
        let _ = writeln!(
            out,
            "            state->node_{node}.fired += can;\n            state->env.done += can;"
        );
        out.push_str("        }\n    }\n");
        Ok(())
    }

    /// Firings of dynamic rates, `prework` or `work`.
    fn fire_flow(&mut self, out: &mut String, node: u32, which: u32) -> Result<(), String> {
        let ports = self.compiled.flat.node(NodeId(node));
        let items = |channel: Option<&ChannelId>| {
            let item = channel.map(|channel| item(self.compiled, *channel)).transpose();
            item.map(|item| item.map(|(cell, cells)| Items::in_line(cell, cells, 0)))
        };
        let (input, output) = (items(ports.inputs.first())?, items(ports.outputs.first())?);
        let queue = |channel: Option<&ChannelId>| {
            channel.map_or("0".to_owned(), |ChannelId(at)| format!("&state->queues[{at}]"))
        };
        let (from, to) = (queue(ports.inputs.first()), queue(ports.outputs.first()));
        let prework = self.codes[node as usize].as_ref().is_some_and(|codes| codes.prework.is_some());
        let name = self.flow(node, which, input.as_ref(), output.as_ref());
        let (when, most) = match (which, prework) {
            (1, _) => (format!("state->node_{node}.fired == 0 && n > 0"), "1"),
            (_, true) => (format!("state->node_{node}.fired > 0"), "n"),
            (_, false) => ("1".to_owned(), "n"),
        };
        let _ = writeln!(out, "    if ({when}) {{");
        let _ = writeln!(
            out,
            "        const int64_t did = {name}(&state->env, {node}, &state->node_{node}, {from}, {to}, {most});"
        );
        let _ = writeln!(out, "        state->node_{node}.fired += did;");
        let _ = writeln!(out, "        state->env.done += did;");
        let _ = writeln!(out, "        n -= did;\n    }}");
        Ok(())
    }

    /// Filters that never wait in their middle, one after the other; the first, where it takes nothing, fires
    /// so many times.
    pub(super) fn runs(&mut self, runs: &[Vec<NodeId>]) {
        let mut names = Vec::new();
        for (at, run) in runs.iter().enumerate() {
            names.push(format!("run_{at}"));
            self.line(format!("\nstatic void run_{at}(struct state *state, int64_t n)\n{{"));
            for node in run {
                let most = match self.compiled.flat.node(*node).inputs.first() {
                    Some(_) => "INT64_MAX",
                    None => "n",
                };
                self.line(format!("    fire_{}(state, {most});", node.0));
            }
            self.line("}");
        }
        names.push("0".into());
        self.line(format!(
            "\nint32_t thalweg_run(struct state *state, uint32_t run, int64_t n)\n{{\n    \
             static void (*const runs[])(struct state *, int64_t) = {{{}}};\n    jmp_buf out;\n    \
             state->env.out = &out;\n    if (setjmp(out))\n        return 1;\n    runs[run](state, n);\n    \
             return 0;\n}}",
            names.join(", ")
        ));
        let mut cases = String::new();
        for node in runs.iter().flatten() {
            let _ = write!(cases, "\n    case {0}:\n        return state->node_{0}.fired;", node.0);
        }
        self.line(format!(
            "\nint64_t thalweg_fired(struct state *state, uint32_t node)\n{{\n    (void)state;\n    \
             switch (node) {{{cases}\n    default:\n        return 0;\n    }}\n}}"
        ));
    }
}
