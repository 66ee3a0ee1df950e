//! Compact constructors of stream trees, and the execution of schedules that the tests of the analysis use.

#[path = "../../../../analysis/tests/common/execution.rs"]
pub mod execution;
pub mod random;

use smol_str::{SmolStr, format_smolstr};
use thalweg_lang::hir::Type;
use thalweg_lang::source::Span;
use thalweg_lang::tree::{Code, Filter, FilterId, Rate, Rates, Stream, StreamKind, Tree, Weights};
use thalweg_lang::value::{Shape, Value};

/// A stream from which [`tree`] builds a tree.
#[derive(Clone, Debug)]
pub enum Draft {
    Filter(&'static str, Option<Rates>, Rates),
    Pipeline(&'static str, Vec<Draft>),
    SplitJoin(&'static str, Weights, Vec<Draft>, Weights),
    Loop(&'static str, Weights, Box<Draft>, Weights, Box<Draft>, usize),
}

pub use Draft::{Pipeline, SplitJoin};

/// Static rates.
pub fn rates(peek: u32, pop: u32, push: u32) -> Rates {
    Rates { push: Rate::Static(push), pop: Rate::Static(pop), peek: Rate::Static(peek) }
}

/// A dynamic rate without bounds.
pub fn any() -> Rate {
    Rate::Dynamic { min: 0, average: None, max: None }
}

/// A filter with static rates.
pub fn filter(name: &'static str, pop: u32, push: u32) -> Draft {
    Draft::Filter(name, None, rates(pop, pop, push))
}

/// A filter with a window larger than its pop rate.
pub fn window(name: &'static str, peek: u32, pop: u32, push: u32) -> Draft {
    Draft::Filter(name, None, rates(peek, pop, push))
}

/// A filter with `prework`.
pub fn first(name: &'static str, prework: Rates, work: Rates) -> Draft {
    Draft::Filter(name, Some(prework), work)
}

/// A filter with dynamic rates.
pub fn dynamic(name: &'static str, pop: Rate, push: Rate) -> Draft {
    Draft::Filter(name, None, Rates { push, pop, peek: pop })
}

/// A feedback loop; the first weights of its joiner and splitter are those of the outside.
pub fn feedback(
    name: &'static str,
    join: [u32; 2],
    body: Draft,
    split: [u32; 2],
    back: Draft,
    enqueued: usize,
) -> Draft {
    Draft::Loop(name, round(join), Box::new(body), round(split), Box::new(back), enqueued)
}

/// Round-robin weights.
pub fn round(weights: impl Into<Vec<u32>>) -> Weights {
    Weights::RoundRobin(weights.into())
}

/// The tree of a draft. Each filter has a distinct span.
pub fn tree(draft: Draft) -> Tree {
    let mut tree = Tree {
        root: stream("Empty", 0, (false, false), StreamKind::Pipeline(vec![])),
        filters: Vec::new(),
        portals: Vec::new(),
        globals: Vec::new(),
        structs: Vec::new(),
        printed: String::new(),
    };
    tree.root = made(&draft, "", &mut tree);
    tree
}

fn stream(name: &str, number: u32, (has_input, has_output): (bool, bool), kind: StreamKind) -> Stream {
    let span = Span::new(0, number, number + 1);
    Stream { name: name.into(), span, input: shape(has_input), output: shape(has_output), kind }
}

fn shape(has_items: bool) -> Shape {
    Shape::Scalar(if has_items { Type::Int } else { Type::Void })
}

fn made(draft: &Draft, within: &str, tree: &mut Tree) -> Stream {
    let dot = if within.is_empty() { "" } else { "." };
    let path = |name: &str| format_smolstr!("{within}{dot}{name}");
    match draft {
        Draft::Filter(name, prework, work) => written(name, path(name), *prework, *work, tree),
        Draft::Pipeline(name, children) => {
            let children = all(children, &path(name), tree);
            let input = children.first().is_some_and(has_input);
            let output = children.last().is_some_and(has_output);
            stream(name, 0, (input, output), StreamKind::Pipeline(children))
        }
        Draft::SplitJoin(name, split, children, join) => {
            let children = all(children, &path(name), tree);
            let ends = (children.iter().any(has_input), children.iter().any(has_output));
            let kind = StreamKind::SplitJoin { split: split.clone(), children, join: join.clone() };
            stream(name, 0, ends, kind)
        }
        Draft::Loop(name, join, body, split, back, enqueued) => {
            let ends = (outside(join), outside(split));
            let kind = StreamKind::FeedbackLoop {
                join: join.clone(),
                body: Box::new(made(body, &path(name), tree)),
                split: split.clone(),
                back: Box::new(made(back, &path(name), tree)),
                enqueued: vec![Value::Int(0); *enqueued],
            };
            stream(name, 0, ends, kind)
        }
    }
}

fn written(name: &str, path: SmolStr, prework: Option<Rates>, work: Rates, tree: &mut Tree) -> Stream {
    let id = FilterId(tree.filters.len() as u32);
    let ends = (work.pop != Rate::Static(0), work.push != Rate::Static(0));
    let stream = stream(name, id.0 + 1, ends, StreamKind::Filter(id));
    let Stream { span, input, output, .. } = stream.clone();
    tree.filters.push(Filter { path, span, input, output, code: Code::Identity, prework, work });
    stream
}

/// The children, with distinct names within their parent.
fn all(drafts: &[Draft], within: &str, tree: &mut Tree) -> Vec<Stream> {
    let mut taken = std::collections::HashMap::new();
    let mut child = |draft: &Draft| {
        let times = taken.entry(name(draft)).and_modify(|times| *times += 1).or_insert(1);
        let mut made = made(draft, within, tree);
        if *times > 1 {
            rename(&mut made, *times, tree, within);
        }
        made
    };
    drafts.iter().map(&mut child).collect()
}

fn rename(stream: &mut Stream, number: i32, tree: &mut Tree, within: &str) {
    stream.name = format_smolstr!("{}.{number}", stream.name);
    if let StreamKind::Filter(id) = stream.kind {
        tree.filters[id.0 as usize].path = format_smolstr!("{within}.{}", stream.name);
    }
}

fn name(draft: &Draft) -> &'static str {
    match draft {
        Draft::Filter(name, ..) | Draft::Pipeline(name, _) | Draft::SplitJoin(name, ..) => name,
        Draft::Loop(name, ..) => name,
    }
}

fn outside(weights: &Weights) -> bool {
    !matches!(weights, Weights::RoundRobin(weights) if weights[0] == 0)
}

fn has_input(stream: &Stream) -> bool {
    stream.input != shape(false)
}

fn has_output(stream: &Stream) -> bool {
    stream.output != shape(false)
}
