//! Messages: the `send` statement, and the firings of receivers.
//!
//! The engine holds the messages; it sets in a node's inbox header the firing before which the next message
//! is due. A receiver fires in runs up to there. A node that may send to itself fires one by one.

use super::code::Writer as Body;
use super::program::{Called, Writer};
use super::terms::{bare, cell_type};
use crate::ir::{Cell, Expr};
use crate::plan::{Items, Pattern};
use std::fmt::Write;
use thalweg_lang::flat::NodeId;

impl Body<'_> {
    pub(super) fn send(&mut self, (message, site): (u32, u32), latency: Option<&Expr>, args: &[Expr]) {
        let which = self.which;
        let latency = latency.map_or("0".to_owned(), |latency| self.ex(latency));
        self.line("{");
        self.args(args);
        self.line(format!(
            "    if (env->send(env, node, {which}, {message}, fields->fired + f + 1, {}, args))",
            bare(&latency)
        ));
        self.line(format!("        fail(env, node, {which}, {site}, fields->fired + f + 1, 0, 0);"));
        self.line("}");
    }
}

impl Writer<'_> {
    /// The name of a function that handles a node's messages and calls the function `fires` for its firings;
    /// `fires` itself where the node receives none.
    pub(super) fn heard(
        &mut self,
        node: u32,
        fires: String,
        (input, output): (&Items, &Items),
    ) -> Result<String, String> {
        let codes = self.codes[node as usize].as_ref();
        if codes.is_none_or(|codes| codes.handlers.is_empty()) {
            return Ok(fires);
        }
        let letters = self.letters(node)?;
        let (mut params, mut args) = (String::new(), String::new());
        for (items, name, side, constant) in [(input, "in", "read", "const "), (output, "out", "write", "")] {
            let _ = write!(params, "{constant}{} *{name}, ", cell_type(items.cell));
            let _ = write!(args, "{name}, ");
            if items.pattern == Pattern::Ring {
                let _ = write!(params, "int64_t {side}, int64_t {side}_mask, ");
                let _ = write!(args, "{side}, {side}_mask, ");
            }
        }
        let one_by_one = crate::lower::sends_to_itself(self.compiled, self.codes, node);
        let most = if one_by_one { "first + 1" } else { "last" };
        let text = format!(
            "(struct env *env, uint32_t node, struct {kept} *fields, \
             {params}int64_t first, int64_t last)\n{{\n    struct mail *const mail = &env->mail[node];\n    \
             while (first < last) {{\n        \
             if (__builtin_expect(mail->due <= fields->fired + first + 1, 0))\n            \
             {letters}(env, node, fields, first);\n        \
             int64_t until = mail->due - fields->fired - 1;\n        \
             until = until <= first ? first + 1 : until < {most} ? until : {most};\n        \
             {fires}(env, node, fields, {args}first, until);\n        \
             mail->fired = fields->fired + until;\n        \
             first = until;\n    }}\n}}\n",
            kept = self.kept[&node],
        );
        let about = format!("{}, handling its messages", self.compiled.flat.node(NodeId(node)).name());
        Ok(self.functions.name("heard", "__attribute__((noinline)) void", &about, text))
    }

    /// The name of a function that handles a node's messages due before firing `f`.
    pub(super) fn letters(&mut self, node: u32) -> Result<String, String> {
        let handlers = self.codes[node as usize].as_ref().map(|codes| &codes.handlers);
        let handlers: Vec<(u32, usize)> =
            handlers.into_iter().flatten().map(|(at, handler)| (*at, handler.cells)).collect();
        let mut cases = String::new();
        for (handler, cells) in handlers {
            let input = Items::in_line(Cell::Mixed, cells.max(1), 0);
            let output = Items::in_line(Cell::Of(crate::ir::Kind::Int), 1, 0);
            let handles = self.function(node, 2 + handler, &input, &output, Called::Seldom);
            let _ = writeln!(cases, "        case {handler}:");
            let _ = writeln!(cases, "            {handles}(env, node, fields, args, 0, f, f + 1);");
            cases.push_str("            break;\n");
        }
        let kept = &self.kept[&node];
        let text = format!(
            "(struct env *env, uint32_t node, \
             struct {kept} *fields, int64_t f)\n{{\n    uint32_t handler;\n    const int32_t *args;\n    \
             while ((args = env->take(env, node, fields->fired + f + 1, &handler)))\n        switch (handler) {{\n\
             {cases}        }}\n}}\n"
        );
        let about = format!("{}, its handlers", self.compiled.flat.node(NodeId(node)).name());
        Ok(self.functions.name("letters", "__attribute__((cold, noinline)) void", &about, text))
    }

    /// Firings with dynamic rates of a node that receives messages: one by one, its messages before each.
    pub(super) fn fire_hearing(
        &mut self,
        out: &mut String,
        node: u32,
        which: u32,
        (name, from, to): (&str, &str, &str),
        (when, most): (&str, &str),
    ) -> Result<(), String> {
        let letters = self.letters(node)?;
        let codes = self.codes[node as usize].as_ref().ok_or("internal error: a receiver without code")?;
        let begins = codes.which(which).ok_or("internal error: a receiver without code")?.begins.items;
        let begin = match from {
            "0" => "1".to_owned(),
            from => {
                let there = format!("({from})->written - ({from})->read >= {begins}");
                format!("{there} && state->node_{node}.idle < {}", super::flow::IDLE)
            }
        };
        let _ = writeln!(out, "    if ({when}) {{\n        int64_t left = {most};");
        let _ = writeln!(out, "        while (left-- > 0 && {begin}) {{");
        let _ = writeln!(out, "            if (state->env.mail[{node}].due <= state->node_{node}.fired + 1)");
        let _ = writeln!(out, "                {letters}(&state->env, {node}, &state->node_{node}, 0);");
        let _ = writeln!(
            out,
            "            if ({name}(&state->env, {node}, &state->node_{node}, {from}, {to}, 1) == 0)\n                \
             break;"
        );
        let _ = writeln!(out, "            state->node_{node}.fired++, state->env.done++, n--;");
        let _ = writeln!(out, "            state->env.mail[{node}].fired = state->node_{node}.fired;");
        out.push_str("        }\n    }\n");
        Ok(())
    }
}
