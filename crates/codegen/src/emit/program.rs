//! A whole program.

use super::code::{Form, field_name, function, structure};
use super::expr::{cell_type, scalar};
use super::items::{Items, Pattern};
use super::text::BEGIN;
use crate::Level;
use crate::ir::{Cell, Code, Kind, MemKind};
use crate::lower::{self, Which, cell_of, cells_of, flatten, shape_of};
use crate::plan::{Facts, Plan, Round, Step};
use crate::scalars::tidy;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use thalweg_lang::Compiled;
use thalweg_lang::flat::{ChannelId, Firing, NodeId, NodeKind};
use thalweg_lang::hir::StreamBody;
use thalweg_lang::schedule::Phase;
use thalweg_lang::tree::{self, Weights};

/// What a filter's code has become.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct NodeCode {
    pub(crate) work: Code,
    pub(crate) prework: Option<Code>,
}

/// Lowers all filters.
pub(crate) fn lower_all(compiled: &Compiled) -> Result<Vec<Option<NodeCode>>, String> {
    compiled.flat.nodes.iter().map(|node| lower_node(compiled, &node.kind)).collect()
}

fn lower_node(compiled: &Compiled, kind: &NodeKind) -> Result<Option<NodeCode>, String> {
    let NodeKind::Filter(id) = kind else { return Ok(None) };
    let filter = &compiled.tree.filters[id.0 as usize];
    if !matches!(filter.code, tree::Code::Written { .. }) {
        return Ok(None);
    }
    let code = |which| {
        let lowered = lower::lower(&compiled.program, &compiled.tree, filter, which);
        let mut code = lowered.map_err(|why| format!("`{}`: {why}", filter.path))?;
        tidy(&mut code);
        Ok::<_, String>(code)
    };
    let prework = if filter.prework.is_some() { Some(code(Which::Prework)?) } else { None };
    Ok(Some(NodeCode { work: code(Which::Work)?, prework }))
}

/// Writes programs.
pub(crate) struct Writer<'a> {
    facts: &'a Facts<'a>,
    compiled: &'a Compiled,
    codes: &'a [Option<NodeCode>],
    level: Level,
    lanes: usize,
    text: String,
    /// Names of functions and structures by their text.
    functions: HashMap<String, String>,
    structures: HashMap<String, String>,
    /// By node.
    kept: BTreeMap<u32, String>,
}

/// The text of a program.
pub(crate) fn program(
    facts: &Facts<'_>,
    codes: &[Option<NodeCode>],
    plan: Option<&Plan>,
    level: Level,
    lanes: usize,
) -> Result<String, String> {
    let mut writer = Writer {
        facts,
        compiled: facts.compiled,
        codes,
        level,
        lanes,
        text: BEGIN.to_owned(),
        functions: HashMap::new(),
        structures: HashMap::new(),
        kept: BTreeMap::new(),
    };
    if lanes > 1 {
        writer.text.push_str(&super::simd::begin(lanes));
    }
    writer.structures()?;
    let steady = match plan {
        Some(plan) => writer.fused(plan)?,
        None => String::new(),
    };
    let single = writer.single()?;
    writer.state(plan.map_or(0, |plan| plan.roots.len()), plan.map_or(0, Plan::vectors));
    writer.begin()?;
    writer.text.push_str(&single);
    match plan {
        Some(_) => writer.text.push_str(&steady),
        None => writer.rings(),
    }
    writer.exports();
    Ok(writer.text)
}

impl Writer<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    fn nodes(&self) -> impl Iterator<Item = (u32, &NodeCode)> {
        self.codes.iter().enumerate().filter_map(|(at, code)| Some((at as u32, code.as_ref()?)))
    }

    /// What filters keep.
    fn structures(&mut self) -> Result<(), String> {
        let nodes: Vec<u32> = self.nodes().map(|(node, _)| node).collect();
        for node in nodes {
            let fields = self.fields(node)?;
            let fields: Vec<_> =
                fields.into_iter().map(|(at, (name, cell, cells))| (at, name, cell, cells)).collect();
            let text = structure(&fields);
            let name = match self.structures.get(&text) {
                Some(name) => name.clone(),
                None => {
                    let name = format!("kept_{node}");
                    self.line(format!("\nstruct {name} {text};"));
                    self.structures.insert(text, name.clone());
                    name
                }
            };
            self.kept.insert(node, name);
        }
        Ok(())
    }

    /// Fields that a node's code uses, and changes.
    fn fields(&self, node: u32) -> Result<BTreeMap<u32, (String, Cell, usize)>, String> {
        let Some(codes) = &self.codes[node as usize] else { return Ok(BTreeMap::new()) };
        let NodeKind::Filter(id) = self.compiled.flat.nodes[node as usize].kind else {
            return Ok(BTreeMap::new());
        };
        let tree::Code::Written { stream, fields, .. } = &self.compiled.tree.filters[id.0 as usize].code
        else {
            return Ok(BTreeMap::new());
        };
        let StreamBody::Filter(filter) = &self.compiled.program.streams[stream.0 as usize].body else {
            return Ok(BTreeMap::new());
        };
        let mut used = BTreeMap::new();
        for code in std::iter::once(&codes.work).chain(&codes.prework) {
            let vars = code.vars.iter().filter_map(|var| var.field.map(|(field, _)| field));
            let mems = code.mems.iter().filter_map(|mem| match mem.kind {
                MemKind::Field(field) => Some(field),
                _ => None,
            });
            for field in vars.chain(mems) {
                let structs = &self.compiled.tree.structs;
                let variable = &filter.fields[field as usize];
                let shape = shape_of(&fields[field as usize], &variable.ty.ty);
                used.insert(
                    field,
                    (variable.name.to_string(), cell_of(&shape, structs)?, cells_of(&shape, structs)),
                );
            }
        }
        Ok(used)
    }

    /// A function for a node's firings; its name.
    fn function(&mut self, node: u32, which: u32, input: &Items, output: &Items, seldom: bool) -> String {
        let codes = self.codes[node as usize].as_ref().expect("a filter with code");
        let code = if which == 1 { codes.prework.as_ref().expect("a prework") } else { &codes.work };
        let lanes = if seldom || which == 1 { 1 } else { self.lanes };
        let form = Form { which, after_prework: codes.prework.is_some(), lanes, seldom };
        let made = function(code, input, output, &self.kept[&node], form);
        let (head, body) = made.rest.split_once("{\n").unwrap_or((&made.rest, ""));
        let text = format!("{head}{{\n{}{body}", made.tables);
        if let Some(name) = self.functions.get(&text) {
            return name.clone();
        }
        let name = format!("{}_{}", ["work", "prework"][which as usize], self.functions.len());
        let comment = &self.compiled.flat.nodes[node as usize].name;
        let attribute =
            if seldom { "__attribute__((cold, noinline)) " } else { "__attribute__((noinline)) " };
        let _ = write!(
            self.text,
            "\n/* {} */\nstatic {attribute}void {name}{text}",
            comment.replace("*/", "* /")
        );
        self.functions.insert(text, name.clone());
        name
    }

    /// A call of a fused region.
    fn fused(&mut self, plan: &Plan) -> Result<String, String> {
        let mut names = Vec::new();
        for (at, actor) in plan.actors.iter().enumerate() {
            let node = actor.node.0;
            names.push(if self.codes[node as usize].is_some() && plan.acts(at) {
                let none = Items::in_line(Cell::Of(Kind::Int), 1, 0);
                let (input, output) = (actor.inputs.first(), actor.outputs.first());
                let input = input.map_or(none.clone(), |port| port.items.clone());
                let output = output.map_or(none, |port| port.items.clone());
                self.function(node, 0, &input, &output, false)
            } else {
                String::new()
            });
        }
        let mut out = String::new();
        if !plan.blocks.is_empty() {
            out.push_str(&super::blocks::begin(self.lanes));
        }
        for (at, block) in plan.blocks.iter().enumerate() {
            out.push_str(&super::blocks::functions(block, at, self.lanes));
        }
        out.push_str("\nstatic void steady(struct state *state, int64_t n)\n{\n");
        for step in &plan.steps {
            match step {
                Step::Blocks(at) => out.push_str(&super::blocks::calls(&plan.blocks[*at], *at)),
                Step::All(actor) => {
                    let firings = plan.actors[*actor].firings;
                    self.act(&mut out, plan, &names, *actor, 1, ("0", &format!("n * {firings}")));
                }
                Step::Rounds(rounds) => self.go_round(&mut out, plan, &names, rounds),
            }
        }
        for actor in &plan.actors {
            if self.codes[actor.node.0 as usize].is_some() {
                let _ = writeln!(out, "    state->node_{}.fired += n * {};", actor.node.0, actor.firings);
            }
        }
        out.push_str("}\n");
        Ok(out)
    }

    fn go_round(&self, out: &mut String, plan: &Plan, names: &[String], rounds: &[Round]) {
        fn actors(rounds: &[Round], all: &mut Vec<usize>) {
            for round in rounds {
                match round {
                    Round::Fire(actor, _) if all.contains(actor) => {}
                    Round::Fire(actor, _) => all.push(*actor),
                    Round::Repeat(_, inner) => actors(inner, all),
                }
            }
        }
        let mut all = Vec::new();
        actors(rounds, &mut all);
        out.push_str("    {\n");
        for actor in all {
            let _ = writeln!(out, "        int64_t f{actor} = 0;");
        }
        out.push_str("        for (int64_t turn = 0; turn < n; turn++) {\n");
        self.rounds(out, plan, names, rounds, 3);
        out.push_str("        }\n    }\n");
    }

    fn rounds(&self, out: &mut String, plan: &Plan, names: &[String], rounds: &[Round], depth: usize) {
        let indent = "    ".repeat(depth);
        for round in rounds {
            match round {
                Round::Fire(actor, count) => {
                    let f = format!("f{actor}");
                    self.act(out, plan, names, *actor, depth, (&f, &format!("{f} + {count}")));
                    let _ = writeln!(out, "{indent}{f} += {count};");
                }
                Round::Repeat(times, inner) => {
                    let _ = writeln!(
                        out,
                        "{indent}for (int64_t t{depth} = 0; t{depth} < {times}; t{depth}++) {{"
                    );
                    self.rounds(out, plan, names, inner, depth + 1);
                    let _ = writeln!(out, "{indent}}}");
                }
            }
        }
    }

    /// An actor's firings.
    fn act(
        &self,
        out: &mut String,
        plan: &Plan,
        names: &[String],
        at: usize,
        depth: usize,
        (first, last): (&str, &str),
    ) {
        let indent = "    ".repeat(depth);
        let (actor, node) = (&plan.actors[at], plan.actors[at].node.0);
        let buffer = |port: &crate::plan::Port| {
            let cell = cell_type(port.items.cell);
            format!("({cell} *)state->buffers[{}].items", port.root)
        };
        if names[at].is_empty() {
            if self.copies(actor.node) {
                let ins = actor.inputs.iter().map(|port| (buffer(port), &port.items)).collect();
                let outs = actor.outputs.iter().map(|port| (buffer(port), &port.items)).collect();
                let text = copy(self.moves(actor.node), ins, outs, first, last);
                text.lines().for_each(|line| _ = writeln!(out, "{indent}{line}"));
            }
            return;
        }
        let side = |port: Option<&crate::plan::Port>| port.map_or("0".to_owned(), buffer);
        let _ = writeln!(
            out,
            "{indent}{}(&state->env, {node}, &state->node_{node}, {}, {}, {first}, {last});",
            names[at],
            side(actor.inputs.first()),
            side(actor.outputs.first())
        );
    }

    /// Whether a node copies items: neither has code nor is at the end of a file.
    fn copies(&self, node: NodeId) -> bool {
        match self.compiled.flat.node(node).kind {
            NodeKind::Filter(id) => self.compiled.tree.filters[id.0 as usize].code == tree::Code::Identity,
            _ => true,
        }
    }

    fn moves(&self, node: NodeId) -> Vec<[u64; 5]> {
        moves_of(self.compiled.flat.node(node))
    }

    /// Each node by itself, from queue to queue.
    fn single(&mut self) -> Result<String, String> {
        let mut out = String::new();
        for node in 0..self.compiled.flat.nodes.len() as u32 {
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

    fn ring(&self) -> bool {
        self.level == Level::Plain
    }

    fn queue_items(&self, channel: Option<&ChannelId>, moved: u64) -> Result<Items, String> {
        let (cell, cells) =
            channel.map_or(Ok((Cell::Of(Kind::Int), 1)), |channel| self.facts.item(*channel))?;
        let made = if self.ring() { Items::in_ring } else { Items::in_line };
        Ok(made(cell, cells, moved as i64))
    }

    fn fire_filter(&mut self, out: &mut String, node: u32) -> Result<(), String> {
        let prework = self.codes[node as usize].as_ref().is_some_and(|codes| codes.prework.is_some());
        if prework {
            out.push_str("    if (state->node_");
            let _ = writeln!(out, "{node}.fired == 0 && n > 0) {{");
            self.fire_which(out, node, Firing::First, ("1", "        "))?;
            out.push_str("        n--;\n    }\n");
        }
        self.fire_which(out, node, Firing::Later, ("n", "    "))
    }

    fn fire_which(
        &mut self,
        out: &mut String,
        node: u32,
        firing: Firing,
        (n, indent): (&str, &str),
    ) -> Result<(), String> {
        let flat = &self.compiled.flat;
        let (ports, id) = (&flat.nodes[node as usize], NodeId(node));
        let pop = flat.pop(&self.compiled.tree, id, 0, firing).ok_or("a dynamic rate")?;
        let push = flat.push(&self.compiled.tree, id, 0, firing).ok_or("a dynamic rate")?;
        let input = self.queue_items(ports.inputs.first(), pop)?;
        let output = self.queue_items(ports.outputs.first(), push)?;
        let which = u32::from(firing == Firing::First);
        let name = self.function(node, which, &input, &output, !self.ring());
        let side = |channel: Option<&ChannelId>, items: &Items, end: &str| {
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
        let (input, output) =
            (side(ports.inputs.first(), &input, "read"), side(ports.outputs.first(), &output, "written"));
        let _ = writeln!(
            out,
            "{indent}{name}(&state->env, {node}, &state->node_{node}, {input}, {output}, 0, {n});"
        );
        self.advance(out, ports.inputs.first(), "read", &format!("{n} * {pop}"), indent);
        self.advance(out, ports.outputs.first(), "written", &format!("{n} * {push}"), indent);
        let _ = writeln!(out, "{indent}state->node_{node}.fired += {n};");
        Ok(())
    }

    fn advance(&self, out: &mut String, channel: Option<&ChannelId>, end: &str, by: &str, indent: &str) {
        if let Some(ChannelId(at)) = channel {
            let _ = writeln!(out, "{indent}state->queues[{at}].{end} += {by};");
        }
    }

    fn fire_copy(&self, out: &mut String, node: NodeId) -> Result<(), String> {
        let (flat, tree) = (&self.compiled.flat, &self.compiled.tree);
        let ports = flat.node(node);
        let moved = |port, takes: bool| {
            let moved = if takes { Flat::pop } else { Flat::push };
            moved(flat, tree, node, port, Firing::Later).unwrap_or(0)
        };
        use thalweg_lang::flat::Flat;
        let mut sides = [Vec::new(), Vec::new()];
        for (side, (channels, takes)) in
            sides.iter_mut().zip([(&ports.inputs, true), (&ports.outputs, false)])
        {
            for (port, channel) in channels.iter().enumerate() {
                side.push((
                    *channel,
                    moved(port, takes),
                    self.queue_items(Some(channel), moved(port, takes))?,
                ));
            }
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
        let text = copy(self.moves(node), ins, outs, "0", "n");
        text.lines().for_each(|line| _ = writeln!(out, "    {line}"));
        for (side, end) in sides.iter().zip(["read", "written"]) {
            for (channel, moved, _) in side {
                self.advance(out, Some(channel), end, &format!("n * {moved}"), "    ");
            }
        }
        Ok(())
    }

    fn state(&mut self, buffers: usize, vectors: u32) {
        let queues = self.compiled.flat.channels.len();
        self.line("\nstruct state {\n    struct env env;");
        self.line(format!(
            "    struct queue queues[{}];\n    struct buffer buffers[{}];",
            queues.max(1),
            buffers.max(1)
        ));
        for (node, kept) in self.kept.clone() {
            self.line(format!("    struct {kept} node_{node};"));
        }
        if vectors > 0 {
            self.line(format!("    char lanes[({vectors} + 1) * sizeof(VI)];"));
        }
        self.line("};");
    }

    /// What filters keep at the beginning; where nothing is said, zero.
    fn begin(&mut self) -> Result<(), String> {
        let mut body = String::new();
        for (node, _) in self.kept.clone() {
            let NodeKind::Filter(id) = self.compiled.flat.nodes[node as usize].kind else { continue };
            let tree::Code::Written { stream, fields, .. } = &self.compiled.tree.filters[id.0 as usize].code
            else {
                continue;
            };
            let StreamBody::Filter(filter) = &self.compiled.program.streams[stream.0 as usize].body else {
                continue;
            };
            // As the interpreter numbers its sequences.
            let seed = u64::from(id.0) << 2 | 1;
            let _ = writeln!(body, "    state->node_{node}.random = {seed}u;");
            for (at, (_, cell, _)) in self.fields(node)? {
                let structs = &self.compiled.tree.structs;
                let value = &fields[at as usize];
                let shape = shape_of(value, &filter.fields[at as usize].ty.ty);
                let mut cells = Vec::new();
                flatten(value, &shape, structs, &mut cells);
                if cells.iter().all(|cell| *cell == crate::ir::Scalar::zero(cell.kind())) {
                    continue;
                }
                let name = format!("begin_{node}_{at}");
                let values: Vec<String> = cells
                    .iter()
                    .map(|value| match (cell, value) {
                        (Cell::Mixed, crate::ir::Scalar::Float(x)) => {
                            scalar(crate::ir::Scalar::Int(x.to_bits() as i32))
                        }
                        _ => scalar(*value),
                    })
                    .collect();
                self.line(format!("static const {} {name}[] = {{{}}};", cell_type(cell), values.join(", ")));
                let _ = writeln!(
                    body,
                    "    memcpy(state->node_{node}.{}, {name}, sizeof {name});",
                    field_name(at)
                );
            }
        }
        self.line(format!("\nvoid thalweg_begin(struct state *state)\n{{\n    (void)state;\n{body}}}"));
        Ok(())
    }

    /// A steady state without any fusion.
    fn rings(&mut self) {
        let mut out = String::from("\nstatic void steady(struct state *state, int64_t n)\n{\n");
        out.push_str("    for (int64_t turn = 0; turn < n; turn++) {\n");
        self.phases(&mut out, &self.facts.region.steady, 2);
        out.push_str("    }\n}\n");
        self.text.push_str(&out);
    }

    fn phases(&self, out: &mut String, phases: &[Phase], depth: usize) {
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

    fn exports(&mut self) {
        let nodes = self.compiled.flat.nodes.len();
        let fires: Vec<String> = (0..nodes).map(|node| format!("fire_{node}")).collect();
        self.line("\nint64_t thalweg_size(void)\n{\n    return sizeof(struct state);\n}");
        self.line(
            "\nint32_t thalweg_steady(struct state *state, int64_t n)\n{\n    jmp_buf out;\n    \
             state->env.out = &out;\n    if (setjmp(out))\n        return 1;\n    steady(state, n);\n    return 0;\n}",
        );
        self.line(format!(
            "\nint32_t thalweg_fire(struct state *state, uint32_t node, int64_t n)\n{{\n    \
             static void (*const fire[])(struct state *, int64_t) = {{{}}};\n    jmp_buf out;\n    \
             state->env.out = &out;\n    if (setjmp(out))\n        return 1;\n    fire[node](state, n);\n    \
             return 0;\n}}",
            fires.join(", ")
        ));
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

/// The programs that several filters' code prints in.
pub(crate) fn printers(codes: &[Option<NodeCode>]) -> usize {
    let prints = |code: &Code| !code.formats.is_empty();
    codes
        .iter()
        .flatten()
        .filter(|codes| prints(&codes.work) || codes.prework.as_ref().is_some_and(prints))
        .count()
}

/// Whether some code may fail.
pub(crate) fn may_fail(codes: &[Option<NodeCode>]) -> bool {
    codes.iter().flatten().any(|codes| !codes.work.sites.is_empty())
}
