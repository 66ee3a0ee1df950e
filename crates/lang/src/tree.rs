//! The stream instances: the result of executing all code that creates streams.

mod print;
mod writers;

pub use print::describe;
pub use writers::check_writers;

use crate::hir::StreamId;
use crate::source::Span;
use crate::value::{Shape, Value};
use smol_str::SmolStr;

/// An elaborated program.
#[derive(Clone, PartialEq, Debug)]
pub struct Tree {
    /// The entry point.
    pub root: Stream,
    /// Its filters, in creation order.
    pub filters: Vec<Filter>,
    /// The receivers of each portal.
    pub portals: Vec<Vec<FilterId>>,
    /// Values of the globals.
    pub globals: Vec<Value>,
    /// The field shapes of each structure.
    pub structs: Vec<Vec<Shape>>,
    /// Text printed during elaboration.
    pub printed: String,
}

/// A filter: an index into [`Tree::filters`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FilterId(pub u32);

/// A stream instance.
#[derive(Clone, PartialEq, Debug)]
pub struct Stream {
    /// Its name, unique among the children of one parent (`Name`, `Name.2`, ...).
    pub name: SmolStr,
    /// Where it was created.
    pub span: Span,
    /// Input items.
    pub input: Shape,
    /// Output items.
    pub output: Shape,
    /// Its kind.
    pub kind: StreamKind,
}

/// Kinds of stream instances.
#[derive(Clone, PartialEq, Debug)]
pub enum StreamKind {
    /// A filter.
    Filter(FilterId),
    /// Streams in sequence.
    Pipeline(Vec<Stream>),
    /// Parallel streams between a splitter and a joiner.
    SplitJoin {
        /// The splitter.
        split: Weights,
        /// The children.
        children: Vec<Stream>,
        /// The joiner.
        join: Weights,
    },
    /// A body stream, and a loop stream that leads back.
    FeedbackLoop {
        /// Weights of the outside and of the loop.
        join: Weights,
        /// The forward stream.
        body: Box<Stream>,
        /// Weights of the outside and of the loop.
        split: Weights,
        /// The stream that leads back.
        back: Box<Stream>,
        /// Initial items between the loop stream and the joiner.
        enqueued: Vec<Value>,
    },
}

/// The weights of a splitter or joiner, by child.
pub use thalweg_graph::Weights;

/// A filter instance.
#[derive(Clone, PartialEq, Debug)]
pub struct Filter {
    /// Its name, prefixed with those of all enclosing streams: `Main.Equalizer.Band.2`.
    pub path: SmolStr,
    /// Where it was created.
    pub span: Span,
    /// Input items.
    pub input: Shape,
    /// Output items.
    pub output: Shape,
    /// Its code.
    pub code: Code,
    /// Rates of the first execution, if it has its own.
    pub prework: Option<Rates>,
    /// Rates of all other executions.
    pub work: Rates,
}

/// The code of a filter.
#[derive(Clone, PartialEq, Debug)]
pub enum Code {
    /// Code of the program, with these parameters and initial fields.
    Written {
        /// The stream.
        stream: StreamId,
        /// Its parameters.
        params: Vec<Value>,
        /// Its fields after `init`.
        fields: Vec<Value>,
    },
    /// Pushes every item that it pops.
    Identity,
    /// Pushes the items of a file.
    FileReader(String),
    /// Writes items to a file, with this sample rate if it is sound.
    FileWriter(String, Option<u32>),
}

/// Rates of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rates {
    /// Items pushed.
    pub push: Rate,
    /// Items popped.
    pub pop: Rate,
    /// The window: items that may be peeked, at least those popped.
    pub peek: Rate,
}

impl Rates {
    /// Whether firings decide how many items they pop or peek.
    pub fn decides_input(self) -> bool {
        self.pop.fixed().is_none() || self.peek.fixed().is_none()
    }

    /// Items required for a firing to start. If firings decide, at least one whatever the bounds, so that a firing
    /// does not start without input.
    pub fn least_window(self) -> u32 {
        let least = self.pop.least().max(self.peek.least());
        if self.decides_input() { least.max(1) } else { least }
    }

    /// The window in words, for an error about a peek outside it.
    pub fn window(self) -> String {
        match (self.peek.fixed(), self.peek.most()) {
            (Some(count), _) => format!("the window of {count}"),
            (None, Some(most)) => format!("the window of at most {most}"),
            (None, None) => "the window".into(),
        }
    }
}

/// A rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rate {
    /// The same in every execution.
    Static(u32),
    /// Decided by each execution.
    Dynamic {
        /// The minimum.
        min: u32,
        /// The average, if declared.
        average: Option<u32>,
        /// The maximum, if there is one.
        max: Option<u32>,
    },
}

impl Rate {
    /// The number of items, for a static rate.
    pub fn fixed(self) -> Option<u32> {
        match self {
            Rate::Static(count) => Some(count),
            Rate::Dynamic { .. } => None,
        }
    }

    /// The minimum.
    pub fn least(self) -> u32 {
        match self {
            Rate::Static(count) => count,
            Rate::Dynamic { min, .. } => min,
        }
    }

    /// The maximum, if there is one.
    pub fn most(self) -> Option<u32> {
        match self {
            Rate::Static(count) => Some(count),
            Rate::Dynamic { max, .. } => max,
        }
    }
}
