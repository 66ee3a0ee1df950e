//! Generated programs: streams as a tree, with the code of filters as text.

use super::ratio::Ratio;
use super::types::{Fields, Ty, type_text};

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) structs: Vec<Fields>,
    /// `static` and `helper` blocks, line by line.
    pub(super) preamble: Vec<String>,
    /// The stream that is the program.
    pub(super) top: Stream,
    /// Files that it reads, with what is in them.
    pub inputs: Vec<(String, Vec<u8>)>,
    /// Files that it writes.
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
    SplitJoin(Composite, Deal, Deal),
    Loop(Box<Loop>),
    /// The same child so many times, in a loop that counts from 0 in the variable of this name; only in
    /// a pipeline or split-join.
    Repeat(String, u32, Box<Stream>),
    Recursive(Box<Recursive>),
}

/// A stream of streams.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Composite {
    pub head: Head,
    pub children: Vec<Stream>,
}

/// What is said of a stream before its code.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Head {
    pub name: String,
    pub input: Option<Ty>,
    pub output: Option<Ty>,
    /// Whether it is declared by its name, or stands where it is used.
    pub named: bool,
    /// Whether one that stands where it is used says its types.
    pub typed: bool,
    /// A parameter, or a variable if it has no name, that arguments of its children use.
    pub variable: Option<(String, i32)>,
}

impl Head {
    pub fn types(&self) -> String {
        format!("{}->{}", type_text(self.input.as_ref()), type_text(self.output.as_ref()))
    }
}

/// What a splitter or joiner says.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Deal {
    Duplicate,
    /// Weights, and whether to write them out where less would do.
    RoundRobin(Vec<u32>, bool),
    /// There is nothing to deal.
    Null,
}

/// A feedback loop.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Loop {
    pub head: Head,
    pub join: (u32, u32),
    /// None for `duplicate`.
    pub split: Option<(u32, u32)>,
    pub body: Stream,
    pub back: Stream,
    /// Items before all others, and the statements that make one of them a variable `first`.
    pub enqueued: u32,
    pub first: Vec<String>,
}

/// A stream that contains itself.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Recursive {
    pub name: String,
    pub ty: Ty,
    pub depth: u32,
    /// Weights of the split-join that two of it stand in; in a pipeline where there are none.
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
    /// Items out for one in; none if that is not fixed.
    pub gain: Option<Ratio>,
    /// Items that it must see before it fires, on top of those it pops.
    pub window: u32,
    /// Whether it prints.
    pub prints: bool,
}

/// A parameter of a filter.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Param {
    pub name: String,
    /// The type's text.
    pub ty: String,
    pub value: Arg,
}

/// What a parameter is given.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Arg {
    /// A constant.
    Constant(String),
    /// A list that an array is given.
    List(String),
    /// `variable * by + and`, of a variable around.
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

    /// Does something with the stream and all in it, the innermost first.
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
