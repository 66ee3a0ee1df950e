//! Changes that preserve what a program prints and writes.

use super::Choices;
use super::model::{Arg, Composite, Filter, Head, Program, Recursive, Stream, Weights};
use thalweg_lang::lexer::{Kind, lex};
use thalweg_lang::source::Source;

/// A change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rewrite {
    /// Wraps streams in pipelines.
    Wrap,
    /// Wraps streams in splitjoins.
    Surround,
    /// Inserts identities before and after streams.
    Identities,
    /// Groups neighbours in a pipeline into a pipeline.
    Nest,
    /// Makes named filters anonymous and anonymous filters named; captures become parameters and back.
    Names,
    /// Replaces constant parameters by their values.
    Inline,
    /// Unrolls loops and recursion that create streams.
    Unroll,
    /// Writes optional weights, or omits them.
    Weights,
}

impl Rewrite {
    /// All of them.
    pub const ALL: [Rewrite; 8] = [
        Rewrite::Wrap,
        Rewrite::Surround,
        Rewrite::Identities,
        Rewrite::Nest,
        Rewrite::Names,
        Rewrite::Inline,
        Rewrite::Unroll,
        Rewrite::Weights,
    ];

    /// Applies the change at places selected by choices. A change of the number of filters requires a program without
    /// `random()`, because each filter's sequence depends on its number.
    pub fn apply(self, program: &Program, choices: &mut Choices) -> Program {
        let mut program = program.clone();
        let mut number = 0;
        let top = match &mut program.top {
            Stream::Pipeline(of) => of.children.iter_mut().collect::<Vec<_>>(),
            Stream::Loop(of) => vec![&mut of.body, &mut of.back],
            _ => Vec::new(),
        };
        let mut change = |stream: &mut Stream| {
            if self == Rewrite::Unroll || choices.chance(60) {
                number += 1;
                self.change(stream, choices, number);
            }
        };
        top.into_iter().for_each(|stream| stream.each(&mut change));
        if let Stream::Pipeline(of) = &mut program.top {
            match self {
                Rewrite::Nest => nest(&mut of.children, choices),
                Rewrite::Unroll => unroll_children(&mut of.children),
                _ => {}
            }
        }
        program
    }

    fn change(self, stream: &mut Stream, choices: &mut Choices, number: u32) {
        let passes = stream.input().is_some() && stream.output().is_some();
        match (self, &mut *stream) {
            (_, Stream::Repeat(..)) => {}
            (Rewrite::Wrap, _) => wrap(stream, |child| vec![child], number),
            (Rewrite::Surround, _) if passes => {
                surround(stream, choices.chance(50), number);
            }
            (Rewrite::Identities, _) => wrap(stream, |child| between_identities(child, choices), number),
            (Rewrite::Nest, Stream::Pipeline(of)) => nest(&mut of.children, choices),
            (Rewrite::Names, Stream::Filter(filter)) => filter.head.named = !filter.head.named,
            (Rewrite::Inline, Stream::Filter(filter)) => inline(filter),
            (Rewrite::Unroll, Stream::Pipeline(of) | Stream::SplitJoin(of, ..)) => {
                unroll_children(&mut of.children)
            }
            (Rewrite::Unroll, Stream::Recursive(of)) => *stream = unrolled(of, of.depth, ""),
            (Rewrite::Weights, Stream::SplitJoin(_, split, join)) => {
                for weights in [split, join] {
                    if let Weights::RoundRobin(_, verbose) = weights {
                        *verbose = !*verbose;
                    }
                }
            }
            _ => {}
        }
    }
}

/// The head of an anonymous pipeline or splitjoin that leaves variables of the enclosing code visible.
fn plain_head(of: &Stream, number: u32) -> Head {
    Head {
        name: format!("Plain{number}"),
        input: of.input().cloned(),
        output: of.output().cloned(),
        named: false,
        typed: true,
        variable: None,
    }
}

fn wrap(stream: &mut Stream, children: impl FnOnce(Stream) -> Vec<Stream>, number: u32) {
    let head = plain_head(stream, number);
    let children = children(stream.clone());
    *stream = Stream::Pipeline(Composite { head, children });
}

fn surround(stream: &mut Stream, duplicate: bool, number: u32) {
    let head = plain_head(stream, number);
    let one = Weights::RoundRobin(vec![1], number.is_multiple_of(2));
    let split = if duplicate { Weights::Duplicate } else { one.clone() };
    *stream = Stream::SplitJoin(Composite { head, children: vec![stream.clone()] }, split, one);
}

fn between_identities(child: Stream, choices: &mut Choices) -> Vec<Stream> {
    let before = child.input().filter(|_| choices.chance(50)).cloned();
    let after = child.output().filter(|_| choices.chance(70)).cloned();
    before.map(Stream::Identity).into_iter().chain([child]).chain(after.map(Stream::Identity)).collect()
}

/// Groups some neighbours into one pipeline.
fn nest(children: &mut Vec<Stream>, choices: &mut Choices) {
    if children.len() < 2 {
        return;
    }
    let first = choices.below(children.len() as u32 - 1);
    let last = choices.within(first + 1, children.len() as u32 - 1);
    // The whole program must not become one nested pipeline.
    if last - first + 1 == children.len() as u32 {
        return;
    }
    let inner: Vec<Stream> = children.drain(first as usize..=last as usize).collect();
    let ends =
        (inner.first().and_then(Stream::input).cloned(), inner.last().and_then(Stream::output).cloned());
    let head = Head { input: ends.0, output: ends.1, ..plain_head(&inner[0], first) };
    children.insert(first as usize, Stream::Pipeline(Composite { head, children: inner }));
}

fn inline(filter: &mut Filter) {
    for param in std::mem::take(&mut filter.params) {
        match &param.value {
            Arg::Constant(value) => replace(&mut filter.body, &param.name, value),
            Arg::List(list) => filter.body.insert(0, format!("    {} {} = {list};", param.ty, param.name)),
            Arg::Linear { .. } => filter.params.push(param),
        }
    }
}

/// Replaces a name.
fn replace(lines: &mut [String], name: &str, by: &str) {
    for line in lines {
        let mut parts = line.split(name);
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let whole = !part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                && !text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            text += if whole { by } else { name };
            text += part;
        }
        *line = text;
    }
}

fn unroll_children(children: &mut Vec<Stream>) {
    let mut all = Vec::new();
    for child in children.drain(..) {
        match child {
            Stream::Repeat(variable, count, child) => {
                let turn = |at: u32| copy(&child, &format!("_{at}"), &variable, at);
                all.extend((0..count).map(turn));
            }
            other => all.push(other),
        }
    }
    *children = all;
}

/// A copy of a stream with new names, in which a variable has a fixed value.
fn copy(stream: &Stream, suffix: &str, variable: &str, value: u32) -> Stream {
    let mut copied = stream.clone();
    copied.each(&mut |stream| match stream {
        Stream::Filter(filter) => {
            filter.head.name += suffix;
            for param in &mut filter.params {
                let name = format!("{}{suffix}", param.name);
                replace(&mut filter.body, &param.name, &name);
                param.name = name;
                match &param.value {
                    Arg::Linear { of, by, and } if of == variable => {
                        param.value = Arg::Constant((by * value as i32 + and).to_string());
                    }
                    _ => {}
                }
            }
        }
        Stream::Pipeline(of) | Stream::SplitJoin(of, ..) => of.head.name += suffix,
        Stream::Loop(of) => of.head.name += suffix,
        Stream::Recursive(of) => of.name += suffix,
        _ => {}
    });
    copied
}

fn unrolled(of: &Recursive, depth: u32, path: &str) -> Stream {
    let leaf = |depth: u32| copy(&of.leaf, &format!("_{depth}{path}"), "n", depth);
    let head = Head { name: format!("{}_{depth}{path}", of.name), ..plain_head(&of.leaf, 0) };
    match of.weight {
        None => Stream::Pipeline(Composite { head, children: (1..=depth).rev().map(leaf).collect() }),
        Some(_) if depth <= 1 => leaf(depth),
        Some(weight) => {
            let weights = Weights::RoundRobin(vec![weight; 2], true);
            let children = ["a", "b"].map(|way| unrolled(of, depth - 1, &format!("{path}{way}")));
            Stream::SplitJoin(Composite { head, children: children.into() }, weights.clone(), weights)
        }
    }
}

/// Names defined by the language.
const PREDEFINED: [&str; 46] = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "floor",
    "log",
    "log10",
    "max",
    "min",
    "pow",
    "random",
    "rint",
    "round",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "print",
    "println",
    "Identity",
    "FileReader",
    "FileWriter",
    "real",
    "imag",
    "x",
    "y",
    "z",
    "w",
    "String",
    "string",
    "boolean",
    "init_array_1D_float",
    "init_array_1D_int",
    "float2",
    "float3",
    "float4",
    "iter",
];

/// A text in which every other name is changed.
pub fn renamed(text: &str) -> String {
    let source = Source { name: String::new(), text: text.to_owned() };
    let tokens = lex(0, &source, &mut Vec::new());
    let (mut result, mut at) = (String::new(), 0);
    for token in tokens.iter().filter(|token| token.kind == Kind::Name) {
        let (start, end) = (token.span.start() as usize, token.span.end() as usize);
        if !PREDEFINED.contains(&&text[start..end]) {
            result += &text[at..start];
            result += "New_";
            at = start;
        }
    }
    result + &text[at..]
}
