//! Generated programs: streams as a tree, with the code of filters as text.

use super::ratio::Ratio;
use super::types::{Fields, Ty, type_text};

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) structs: Vec<Fields>,
    /// `static` and `helper` blocks, by line.
    pub(super) preamble: Vec<String>,
    /// The entry point.
    pub(super) top: Stream,
    /// Input files with their contents.
    pub inputs: Vec<(String, Vec<u8>)>,
    /// Output files.
    pub outputs: Vec<String>,
    /// Whether filters have dynamic rates.
    pub dynamic: bool,
}

/// A stream.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Stream {
    Filter(Box<Filter>),
    Identity(Ty),
    Reader(Ty, String),
    Writer(Ty, String),
    Pipeline(Composite),
    SplitJoin(Composite, Weights, Weights),
    Loop(Box<Loop>),
    /// The same child repeated in a loop, with a counter variable of this name that starts at 0; only in a pipeline or
    /// splitjoin.
    Repeat(String, u32, Box<Stream>),
    Recursive(Box<Recursive>),
}

/// A composite stream.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Composite {
    pub head: Head,
    pub children: Vec<Stream>,
}

/// The declaration of a stream.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Head {
    pub name: String,
    pub input: Option<Ty>,
    pub output: Option<Ty>,
    /// Whether it is declared by name, or anonymous.
    pub named: bool,
    /// Whether it declares its types if anonymous.
    pub typed: bool,
    /// An integer that arguments of its children use: a parameter if the stream has a name, else a local variable.
    pub variable: Option<(String, i32)>,
}

impl Head {
    pub fn types(&self) -> String {
        format!("{}->{}", type_text(self.input.as_ref()), type_text(self.output.as_ref()))
    }
}

/// The weights of a splitter or joiner.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Weights {
    Duplicate,
    /// Weights, and whether all are written where fewer would do.
    RoundRobin(Vec<u32>, bool),
    /// A null splitter or joiner.
    Null,
}

/// A feedback loop.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Loop {
    pub head: Head,
    pub join: (u32, u32),
    /// `None` for `duplicate`.
    pub split: Option<(u32, u32)>,
    pub body: Stream,
    pub back: Stream,
    /// The number of enqueued items, and the statements that build one of them and enqueue it.
    pub enqueued: u32,
    pub first: Vec<String>,
}

/// A stream that contains itself.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Recursive {
    pub name: String,
    pub ty: Ty,
    pub depth: u32,
    /// The weight of the splitjoin that contains two recursive instances; `None` for a pipeline.
    pub weight: Option<u32>,
    pub leaf: Stream,
}

/// A filter.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Filter {
    pub head: Head,
    pub stateful: bool,
    pub params: Vec<Param>,
    /// Lines between its braces.
    pub body: Vec<String>,
    /// Items out per item in; `None` if not fixed.
    pub gain: Option<Ratio>,
    /// Items peeked beyond those popped.
    pub window: u32,
    /// Whether it prints.
    pub prints: bool,
}

/// A parameter of a filter.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Param {
    pub name: String,
    /// The text of the type.
    pub ty: String,
    pub value: Arg,
}

/// An argument.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Arg {
    /// A constant.
    Constant(String),
    /// A list for an array.
    List(String),
    /// `variable * by + and`, for a variable of the enclosing code.
    Linear { of: String, by: i32, and: i32 },
}

impl Stream {
    pub fn input(&self) -> Option<&Ty> {
        match self {
            Stream::Filter(filter) => filter.head.input.as_ref(),
            Stream::Identity(ty) | Stream::Writer(ty, _) => Some(ty),
            Stream::Reader(..) => None,
            Stream::Pipeline(of) | Stream::SplitJoin(of, ..) => of.head.input.as_ref(),
            Stream::Loop(of) => of.head.input.as_ref(),
            Stream::Repeat(_, _, child) => child.input(),
            Stream::Recursive(of) => Some(&of.ty),
        }
    }

    pub fn output(&self) -> Option<&Ty> {
        match self {
            Stream::Filter(filter) => filter.head.output.as_ref(),
            Stream::Identity(ty) | Stream::Reader(ty, _) => Some(ty),
            Stream::Writer(..) => None,
            Stream::Pipeline(of) | Stream::SplitJoin(of, ..) => of.head.output.as_ref(),
            Stream::Loop(of) => of.head.output.as_ref(),
            Stream::Repeat(_, _, child) => child.output(),
            Stream::Recursive(of) => Some(&of.ty),
        }
    }

    /// Calls a function for the stream and all streams in it, innermost first.
    pub fn each(&mut self, what: &mut dyn FnMut(&mut Stream)) {
        match self {
            Stream::Pipeline(of) | Stream::SplitJoin(of, ..) => {
                of.children.iter_mut().for_each(|child| child.each(what));
            }
            Stream::Loop(of) => {
                of.body.each(what);
                of.back.each(what);
            }
            Stream::Repeat(_, _, child) => child.each(what),
            Stream::Recursive(of) => of.leaf.each(what),
            Stream::Filter(_) | Stream::Identity(_) | Stream::Reader(..) | Stream::Writer(..) => {}
        }
        what(self);
    }
}
