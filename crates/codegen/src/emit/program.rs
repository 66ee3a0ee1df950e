//! A whole program.

use super::code::{Form, function};
use super::flow::flow;
use super::items::Items;
use super::text::BEGIN;
use crate::ir::Code;
use crate::lower::{self, Which};
use crate::parts::Part;
use crate::scalars::tidy;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use thalweg_lang::Compiled;
use thalweg_lang::flat::{NodeId, NodeKind};
use thalweg_lang::tree;

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
    pub(super) compiled: &'a Compiled,
    pub(super) parts: &'a [Part],
    pub(super) codes: &'a [Option<NodeCode>],
    /// Whether queues are rings.
    pub(super) rings: bool,
    pub(super) lanes: usize,
    /// Whether what blocks in lanes share has been written.
    pub(super) blocks: bool,
    pub(super) text: String,
    /// Names of functions and structures by their text.
    pub(super) functions: HashMap<String, String>,
    pub(super) structures: HashMap<String, String>,
    /// By node.
    pub(super) kept: BTreeMap<u32, String>,
}

/// The text of a program, whose filters have one code where they fire by themselves and another, which
/// comes to the same, in steady states.
pub(crate) fn program(
    compiled: &Compiled,
    (parts, runs): (&[Part], &[Vec<NodeId>]),
    (codes, steady): (&[Option<NodeCode>], &[Option<NodeCode>]),
    rings: bool,
    lanes: usize,
) -> Result<String, String> {
    let mut writer = Writer {
        compiled,
        parts,
        codes,
        rings,
        lanes,
        blocks: false,
        text: BEGIN.to_owned(),
        functions: HashMap::new(),
        structures: HashMap::new(),
        kept: BTreeMap::new(),
    };
    if lanes > 1 {
        writer.text.push_str(&super::simd::begin(lanes));
    }
    writer.structures()?;
    let mut fused = Vec::new();
    writer.codes = steady;
    for (at, part) in parts.iter().enumerate() {
        fused.push(part.plan.as_ref().map(|plan| writer.fused(at, plan)).transpose()?);
    }
    writer.codes = codes;
    let single = writer.single()?;
    writer.state();
    writer.begin()?;
    writer.text.push_str(&single);
    for (at, fused) in fused.into_iter().enumerate() {
        match fused {
            Some(fused) => writer.text.push_str(&fused),
            None => writer.rings(at),
        }
    }
    writer.exports();
    writer.runs(runs);
    Ok(writer.text)
}

impl Writer<'_> {
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = (u32, &NodeCode)> {
        self.codes.iter().enumerate().filter_map(|(at, code)| Some((at as u32, code.as_ref()?)))
    }

    /// A function for a node's firings; its name.
    pub(super) fn function(
        &mut self,
        node: u32,
        which: u32,
        input: &Items,
        output: &Items,
        seldom: bool,
    ) -> String {
        let codes = self.codes[node as usize].as_ref().expect("a filter with code");
        let code = if which == 1 { codes.prework.as_ref().expect("a prework") } else { &codes.work };
        self.function_of(node, (which, code), input, output, seldom)
    }

    /// The same for code that it may have.
    pub(super) fn function_of(
        &mut self,
        node: u32,
        (which, code): (u32, &Code),
        input: &Items,
        output: &Items,
        seldom: bool,
    ) -> String {
        let codes = self.codes[node as usize].as_ref().expect("a filter with code");
        let lanes = if seldom || which == 1 { 1 } else { self.lanes };
        let form = Form { which, after_prework: codes.prework.is_some(), lanes, seldom };
        let made = function(code, input, output, &self.kept[&node], form);
        let kind =
            if seldom { "__attribute__((cold, noinline)) void" } else { "__attribute__((noinline)) void" };
        self.named(node, which, kind, made)
    }

    /// The same for firings of dynamic rates.
    pub(super) fn flow(
        &mut self,
        node: u32,
        which: u32,
        input: Option<&Items>,
        output: Option<&Items>,
    ) -> String {
        let codes = self.codes[node as usize].as_ref().expect("a filter with code");
        let code = if which == 1 { codes.prework.as_ref().expect("a prework") } else { &codes.work };
        let form = Form { which, after_prework: codes.prework.is_some(), lanes: 1, seldom: false };
        let made = flow(code, input, output, &self.kept[&node], form);
        self.named(node, which, "__attribute__((noinline)) int64_t", made)
    }

    /// The name of a function, which is written if there is none like it yet.
    fn named(&mut self, node: u32, which: u32, kind: &str, made: super::code::Function) -> String {
        let (head, body) = made.rest.split_once("{\n").unwrap_or((&made.rest, ""));
        let text = format!("{head}{{\n{}{body}", made.tables);
        if let Some(name) = self.functions.get(&text) {
            return name.clone();
        }
        let name = format!("{}_{}", ["work", "prework"][which as usize], self.functions.len());
        let comment = self.compiled.flat.nodes[node as usize].name.replace("*/", "* /");
        let _ = write!(self.text, "\n/* {comment} */\nstatic {kind} {name}{text}");
        self.functions.insert(text, name.clone());
        name
    }

    fn exports(&mut self) {
        let nodes = self.compiled.flat.nodes.len();
        let fires: Vec<String> = (0..nodes).map(|node| format!("fire_{node}")).collect();
        self.line("\nint64_t thalweg_size(void)\n{\n    return sizeof(struct state);\n}");
        let parts: Vec<String> = (0..self.parts.len()).map(|part| format!("steady_{part}")).collect();
        self.line(format!(
            "\nint32_t thalweg_steady(struct state *state, uint32_t part, int64_t n)\n{{\n    \
             static void (*const steady[])(struct state *, int64_t) = {{{}}};\n    jmp_buf out;\n    \
             state->env.out = &out;\n    if (setjmp(out))\n        return 1;\n    steady[part](state, n);\n    \
             return 0;\n}}",
            parts.join(", ")
        ));
        self.line(format!(
            "\nint32_t thalweg_fire(struct state *state, uint32_t node, int64_t n)\n{{\n    \
             static void (*const fire[])(struct state *, int64_t) = {{{}}};\n    jmp_buf out;\n    \
             state->env.out = &out;\n    state->env.done = 0;\n    if (setjmp(out))\n        return 1;\n    fire[node](state, n);\n    \
             return 0;\n}}",
            fires.join(", ")
        ));
    }
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
