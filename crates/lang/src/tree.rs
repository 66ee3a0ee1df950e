//! The streams that there are: what is left when all code that makes streams has been executed.

mod print;
mod writers;

pub use print::describe;
pub use writers::check_writers;

use crate::hir::StreamId;
use crate::source::Span;
use crate::value::{Shape, Value};
use smol_str::SmolStr;

/// A program whose streams have been made.
#[derive(Clone, PartialEq, Debug)]
pub struct Tree {
    /// The whole.
    pub root: Stream,
    /// The filters in it, in the order they were made in.
    pub filters: Vec<Filter>,
    /// For each portal, who hears it.
    pub portals: Vec<Vec<FilterId>>,
    /// Values of the program's globals.
    pub globals: Vec<Value>,
    /// For each structure, what its fields look like.
    pub structs: Vec<Vec<Shape>>,
    /// What was printed on the way.
    pub printed: String,
}

/// A filter, by its place in [`Tree::filters`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FilterId(pub u32);

/// A stream that has been made.
#[derive(Clone, PartialEq, Debug)]
pub struct Stream {
    /// Its name; children of one parent have different ones (`Name`, `Name.2`, ...).
    pub name: SmolStr,
    /// Where it was asked for.
    pub span: Span,
    /// What it takes.
    pub input: Shape,
    /// What it gives.
    pub output: Shape,
    /// What it is.
    pub kind: StreamKind,
}

/// What a stream is.
#[derive(Clone, PartialEq, Debug)]
pub enum StreamKind {
    /// A filter.
    Filter(FilterId),
    /// Streams one after the other.
    Pipeline(Vec<Stream>),
    /// Streams side by side.
    SplitJoin {
        /// How items are dealt out.
        split: Weights,
        /// The streams.
        children: Vec<Stream>,
        /// How they are put together.
        join: Weights,
    },
    /// A stream forward and one back.
    FeedbackLoop {
        /// What comes from outside, then what comes back.
        join: Weights,
        /// The stream forward.
        body: Box<Stream>,
        /// What goes outside, then what goes back.
        split: Weights,
        /// The stream back.
        back: Box<Stream>,
        /// Items on the way from there to the joiner before anything runs.
        enqueued: Vec<Value>,
    },
}

/// How items are dealt out or put together.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Weights {
    /// Everything to everybody.
    Duplicate,
    /// So many for each in turn; all 0 where nothing goes in, or comes out.
    RoundRobin(Vec<u32>),
}

/// A filter that has been made.
#[derive(Clone, PartialEq, Debug)]
pub struct Filter {
    /// Its name with those of all it is in: `Main.Equalizer.Band.2`.
    pub path: SmolStr,
    /// Where it was asked for.
    pub span: Span,
    /// What it takes.
    pub input: Shape,
    /// What it gives.
    pub output: Shape,
    /// What it does.
    pub code: Code,
    /// Rates of its first execution, where that is another than the others.
    pub prework: Option<Rates>,
    /// Rates of its executions.
    pub work: Rates,
}

/// What a filter does.
#[derive(Clone, PartialEq, Debug)]
pub enum Code {
    /// What the program says, with these parameters, beginning with these values of its fields.
    Written {
        /// The stream.
        stream: StreamId,
        /// Its parameters.
        params: Vec<Value>,
        /// Its fields after `init`.
        fields: Vec<Value>,
    },
    /// Gives what it takes.
    Identity,
    /// Gives the items of a file.
    FileReader(String),
    /// Writes items to a file.
    FileWriter(String),
}

/// Items that an execution moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rates {
    /// Items given.
    pub push: Rate,
    /// Items taken.
    pub pop: Rate,
    /// Items that may be looked at, those taken included: at least those that are taken.
    pub peek: Rate,
}

impl Rates {
    /// Whether firings decide how many items they take, or look at.
    pub fn decides_input(self) -> bool {
        self.pop.fixed().is_none() || self.peek.fixed().is_none()
    }

    /// Items that must be there for a firing to begin: one where it decides, whatever the bounds, so that it
    /// does not begin before there is anything to do.
    pub fn least_window(self) -> u32 {
        let least = self.pop.least().max(self.peek.least());
        if self.decides_input() { least.max(1) } else { least }
    }

    /// The window in words, for a look outside of it.
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
    /// The same at every execution.
    Static(u32),
    /// What each decides.
    Dynamic {
        /// At least.
        min: u32,
        /// On the average, where that is said.
        average: Option<u32>,
        /// At most, where there is a bound.
        max: Option<u32>,
    },
}

impl Rate {
    /// The number, of a static rate.
    pub fn fixed(self) -> Option<u32> {
        match self {
            Rate::Static(count) => Some(count),
            Rate::Dynamic { .. } => None,
        }
    }

    /// The least that it may be.
    pub fn least(self) -> u32 {
        match self {
            Rate::Static(count) => count,
            Rate::Dynamic { min, .. } => min,
        }
    }

    /// The most that it may be, where there is a bound.
    pub fn most(self) -> Option<u32> {
        match self {
            Rate::Static(count) => Some(count),
            Rate::Dynamic { max, .. } => max,
        }
    }
}
