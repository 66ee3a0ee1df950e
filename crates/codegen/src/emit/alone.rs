//! Filters that run on their own, from queue to queue, as long as there are items.
//!
//! Where each firing moves the same numbers of items, whatever rates are declared, and its precondition
//! covers all that it needs, one call of a static-rate function does many firings, vectors included.

use super::flow::without_looks;
use super::program::{Called, Writer};
use crate::ir::Code;
use crate::lower::fixed;
use crate::plan::{Items, item};
use std::borrow::Cow;
use std::fmt::Write;
use thalweg_lang::flat::{ChannelId, Firing, NodeId};

/// The items that each firing moves, and those that must be in the queue.
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
        let id = NodeId(node);
        let (pop, push, window) = match fixed(code) {
            Some((pop, push)) => (pop, push, code.begins.items.into()),
            None => {
                let (pop, push) = (flat.pop(id, 0, Firing::Later)?, flat.push(id, 0, Firing::Later)?);
                (pop, push, flat.peek(id, 0, Firing::Later).max(pop))
            }
        };
        (pop > 0 || flat.input(id).is_none()).then_some(Fixed { pop, push, window })
    }

    /// Firings that all move the same.
    fn fire_fixed(&mut self, out: &mut String, node: u32, fixed: Fixed, prework: bool) -> Result<(), String> {
        let Fixed { pop, push, window } = fixed;
        let flat = &self.compiled.flat;
        let (from, to) = (flat.input(NodeId(node)), flat.output(NodeId(node)));
        let input = self.queue_items(from.as_ref(), pop)?;
        let output = self.queue_items(to.as_ref(), push)?;
        let code = &self.codes[node as usize].as_ref().expect("a filter with code").work;
        let code: Cow<'_, Code> = without_looks(code);
        let name = self.function_of(node, (0, &code), &input, &output, Called::ForMany);
        let name = self.heard(node, name, (&input, &output))?;
        out.push_str("    {\n        int64_t can = n;\n");
        if prework {
            let _ = writeln!(
                out,
                "        if (state->node_{node}.fired == 0 || state->env.full)\n            can = 0;"
            );
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
        out.push_str("        while (can > 0) {\n            int64_t now = can;\n");
        if let (Some(ChannelId(at)), true) = (to, push > 0) {
            let _ = writeln!(out, "            struct queue *const to = &state->queues[{at}];");
            let _ = writeln!(out, "            if (to->mask + 1 - to->written < now * {push}) {{");
            let _ = writeln!(out, "                if (to->mask + 1 - to->written < {push})");
            let _ = writeln!(out, "                    if (state->env.more(&state->env, to, {push}))");
            let _ =
                writeln!(out, "                        fail(&state->env, {node}, 0, UINT32_MAX, 0, 0, 0);");
            let _ =
                writeln!(out, "                const int64_t room = (to->mask + 1 - to->written) / {push};");
            let _ = writeln!(out, "                now = state->env.full ? 1 : now < room ? now : room;");
            let _ = writeln!(out, "            }}");
        }
        let side = |channel: Option<ChannelId>, items: &Items, end: &str| match channel {
            None => "0".to_owned(),
            Some(ChannelId(at)) => {
                let cell = super::terms::cell_type(items.cell);
                let cells = items.cells;
                format!("({cell} *)state->queues[{at}].items + state->queues[{at}].{end} * {cells}")
            }
        };
        let (source, target) = (side(from, &input, "read"), side(to, &output, "written"));
        let _ = writeln!(
            out,
            "            {name}(&state->env, {node}, &state->node_{node}, {source}, {target}, 0, now);"
        );
        self.advance(out, from.as_ref(), "read", &format!("now * {pop}"), "            ");
        if from.is_some() {
            // An empty queue starts again at its beginning, which stays in the cache.
            out.push_str("            if (from->read == from->written)\n");
            out.push_str("                from->read = from->written = 0;\n");
        }
        self.advance(out, to.as_ref(), "written", &format!("now * {push}"), "            ");
        let _ = writeln!(
            out,
            "            state->node_{node}.fired += now;\n            state->env.done += now;\n            can = state->env.full \
             ? 0 : can - now;"
        );
        out.push_str("        }\n    }\n");
        Ok(())
    }

    /// Firings with dynamic rates, of `prework` or `work`.
    fn fire_flow(&mut self, out: &mut String, node: u32, which: u32) -> Result<(), String> {
        let (from, to) = self.queues_of(node);
        let prework = self.codes[node as usize].as_ref().is_some_and(|codes| codes.prework.is_some());
        let name = self.flow_of(node, which, false)?;
        let (when, most) = match (which, prework) {
            (1, _) => (format!("state->node_{node}.fired == 0 && n > 0"), "1"),
            (_, true) => (format!("state->node_{node}.fired > 0 && !state->env.full"), "n"),
            (_, false) => ("1".to_owned(), "n"),
        };
        if self.codes[node as usize].as_ref().is_some_and(|codes| !codes.handlers.is_empty()) {
            return self.fire_hearing(out, node, which, (&name, &from, &to), (&when, most));
        }
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

    /// The queues of a filter.
    fn queues_of(&self, node: u32) -> (String, String) {
        let flat = &self.compiled.flat;
        let queue = |channel: Option<ChannelId>| {
            channel.map_or("0".to_owned(), |ChannelId(at)| format!("&state->queues[{at}]"))
        };
        (queue(flat.input(NodeId(node))), queue(flat.output(NodeId(node))))
    }

    fn flow_of(&mut self, node: u32, which: u32, tries: bool) -> Result<String, String> {
        let flat = &self.compiled.flat;
        let items = |channel: Option<ChannelId>| {
            let item = channel.map(|channel| item(self.compiled, channel)).transpose();
            item.map(|item| item.map(|(cell, cells)| Items::in_line(cell, cells, 0)))
        };
        let (input, output) = (items(flat.input(NodeId(node)))?, items(flat.output(NodeId(node)))?);
        Ok(self.flow(node, which, (input.as_ref(), output.as_ref()), tries))
    }

    /// Firings that are rolled back where they lack items. The function returns whether the next firing has
    /// to continue on a stack of its own, since it is on one already or has been rolled back twice.
    pub(super) fn try_flow(&mut self, out: &mut String, node: u32) -> Result<(), String> {
        let (from, to) = self.queues_of(node);
        let (name, kept) = (self.flow_of(node, 0, true)?, self.kept[&node].clone());
        let _ = writeln!(
            out,
            "\nstatic int32_t try_{node}(struct state *state)\n{{\n    struct {kept} *const kept = \
             &state->node_{node};\n    struct queue *const from = {from};\n    const int64_t have = \
             from->written - from->read, wanted = kept->wants;\n    if (kept->apart)\n        return have >= \
             kept->apart;\n    if (have == 0 || have < wanted)\n        return 0;\n    kept->wants = 0;\n    \
             const int64_t did = {name}(&state->env, {node}, kept, from, {to}, INT64_MAX);\n    kept->fired += \
             did;\n    if (did > 0 || wanted == 0 || kept->wants == 0)\n        return 0;\n    kept->wants = \
             0;\n    return 1;\n}}"
        );
        Ok(())
    }
}
