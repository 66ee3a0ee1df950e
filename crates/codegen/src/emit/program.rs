//! The C text of a whole program.

use super::code::Form;
use super::firings::function;
use super::flow::flow;
use super::merging::{Functions, Merging};
use super::text::BEGIN;
use crate::ir::Code;
use crate::lower::NodeCode;
use crate::parts::Part;
use crate::plan::Items;
use std::collections::{BTreeMap, HashMap};
use thalweg_lang::Compiled;
use thalweg_lang::flat::NodeId;

/// How often a function of firings is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Called {
    /// Rarely: optimised for size.
    Seldom,
    /// For fewer firings than vectors have lanes.
    ForFew,
    /// For many firings at once.
    ForMany,
}

/// Writes programs.
pub(crate) struct Writer<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) parts: &'a [Part],
    pub(super) codes: &'a [Option<NodeCode>],
    /// Whether queues are rings.
    pub(super) rings: bool,
    pub(super) lanes: usize,
    /// Bytes of the memory for large locals.
    pub(super) large: usize,
    /// Whether the functions that all blocks in lanes share have been written.
    pub(super) blocks: bool,
    /// Whether copying nodes share functions, as [`Writer::many_copy`] decides.
    pub(super) shares_copies: bool,
    pub(super) text: String,
    pub(super) functions: Functions,
    /// Names of structures, by their text.
    pub(super) structures: HashMap<String, String>,
    /// By node: the name of the structure of its state.
    pub(super) kept: BTreeMap<u32, String>,
}

/// The text of a program. `codes` is the filters' code for firings outside fused regions, `steady` the
/// equivalent code for steady states.
pub(crate) fn program(
    compiled: &Compiled,
    (parts, direct): (&[Part], &[bool]),
    (codes, steady): (&[Option<NodeCode>], &[Option<NodeCode>]),
    (rings, lanes): (bool, usize),
    merging: Merging,
) -> Result<String, String> {
    let mut writer = Writer {
        compiled,
        parts,
        codes,
        rings,
        lanes,
        large: 4 * large_cells(codes).max(large_cells(steady)),
        blocks: false,
        shares_copies: false,
        text: BEGIN.to_owned(),
        functions: Functions::default(),
        structures: HashMap::new(),
        kept: BTreeMap::new(),
    };
    writer.shares_copies = writer.many_copy();
    if lanes > 1 {
        writer.text.push_str(&super::header::begin(lanes));
    }
    if writer.large > 0 {
        writer.line("static inline char *large(struct env *env);");
    }
    writer.structures()?;
    let begin = std::mem::take(&mut writer.text);
    let mut fused = Vec::new();
    writer.codes = steady;
    for (at, part) in parts.iter().enumerate() {
        fused.push(part.plan.as_ref().map(|plan| writer.fused(at, plan)).transpose()?);
    }
    writer.codes = codes;
    let single = writer.single()?;
    writer.state();
    writer.begin()?;
    writer.join();
    writer.text.push_str(&single);
    for (at, fused) in fused.into_iter().enumerate() {
        match fused {
            Some(fused) => writer.text.push_str(&fused),
            None => writer.rings(at),
        }
    }
    writer.exports();
    writer.batches(direct)?;
    Ok(begin + &writer.functions.text(merging) + &writer.text)
}

impl Writer<'_> {
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = (u32, &NodeCode)> {
        self.codes.iter().enumerate().filter_map(|(at, code)| Some((at as u32, code.as_ref()?)))
    }

    /// Writes a function for a node's firings; returns its name.
    pub(super) fn function(
        &mut self,
        node: u32,
        which: u32,
        input: &Items,
        output: &Items,
        called: Called,
    ) -> String {
        let codes = self.codes[node as usize].as_ref().expect("a filter with code");
        let code = codes.which(which).expect("the node has this code");
        self.function_of(node, (which, code), input, output, called)
    }

    /// Like [`Writer::function`], for other code of the node.
    pub(super) fn function_of(
        &mut self,
        node: u32,
        (which, code): (u32, &Code),
        input: &Items,
        output: &Items,
        called: Called,
    ) -> String {
        let codes = self.codes[node as usize].as_ref().expect("a filter with code");
        let lanes = if called == Called::ForMany && which == 0 { self.lanes } else { 1 };
        let seldom = called == Called::Seldom;
        let form = Form { which, after_prework: codes.prework.is_some(), lanes, seldom };
        let made = function(code, input, output, &self.kept[&node], form);
        let kind =
            if seldom { "__attribute__((cold, noinline)) void" } else { "__attribute__((noinline)) void" };
        self.named(node, which, kind, made)
    }

    /// Like [`Writer::function`], for firings without vectors, to be inlined.
    pub(super) fn function_in(&mut self, node: u32, code: &Code, input: &Items, output: &Items) -> String {
        let codes = self.codes[node as usize].as_ref().expect("a filter with code");
        let form = Form { which: 0, after_prework: codes.prework.is_some(), lanes: 1, seldom: true };
        let made = function(code, input, output, &self.kept[&node], form);
        self.named(node, 0, "inline __attribute__((always_inline)) void", made)
    }

    /// Like [`Writer::function`], for firings with dynamic rates, which wait or are rolled back.
    pub(super) fn flow(
        &mut self,
        node: u32,
        which: u32,
        (input, output): (Option<&Items>, Option<&Items>),
        tries: bool,
    ) -> String {
        let codes = self.codes[node as usize].as_ref().expect("a filter with code");
        let code = if which == 1 { codes.prework.as_ref().expect("a prework") } else { &codes.work };
        let form = Form { which, after_prework: codes.prework.is_some(), lanes: 1, seldom: false };
        let made = flow(code, input, output, &self.kept[&node], (form, tries));
        self.named(node, which, "__attribute__((noinline)) int64_t", made)
    }

    /// The name of a function, which is written if there is no equal one yet.
    fn named(&mut self, node: u32, which: u32, kind: &'static str, made: super::code::Function) -> String {
        let (head, body) = made.rest.split_once("{\n").unwrap_or((&made.rest, ""));
        let text = format!("{head}{{\n{}{body}", made.tables);
        let stem = ["work", "prework", "handler"][which.min(2) as usize];
        self.functions.name(stem, kind, self.compiled.flat.node(NodeId(node)).name(), text)
    }

    fn exports(&mut self) {
        let nodes = self.compiled.flat.nodes().len();
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

/// The most cells of a filter's large locals; one filter fires at a time.
fn large_cells(codes: &[Option<NodeCode>]) -> usize {
    codes.iter().flatten().flat_map(NodeCode::all).map(Code::large_cells).max().unwrap_or(0)
}
