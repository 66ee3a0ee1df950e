//! Programs, streams and what else stands at the top of a file.

use super::{Block, Expr, Name, Type, Variable};
use crate::source::Span;

/// All files of a program, one after the other.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Program {
    /// `struct` declarations.
    pub structs: Vec<Struct>,
    /// `static` blocks.
    pub globals: Vec<Global>,
    /// `native` blocks.
    pub natives: Vec<Native>,
    /// `helper` blocks.
    pub helpers: Vec<Helper>,
    /// Streams with names.
    pub streams: Vec<Stream>,
}

/// A structure.
#[derive(Clone, PartialEq, Debug)]
pub struct Struct {
    /// Its name.
    pub name: Name,
    /// Its fields, in order.
    pub fields: Vec<Param>,
}

/// A `static` block: variables that all streams see.
#[derive(Clone, PartialEq, Debug)]
pub struct Global {
    /// Its variables.
    pub fields: Vec<Variable>,
    /// What is done before anything is made.
    pub init: Option<Block>,
}

/// A `native` block: functions that are somewhere else.
#[derive(Clone, PartialEq, Debug)]
pub struct Native {
    /// Its name.
    pub name: Name,
    /// Its functions, each with a result, a name and parameters.
    pub functions: Vec<(Type, Name, Vec<Param>)>,
}

/// A `helper` block: functions for all filters.
#[derive(Clone, PartialEq, Debug)]
pub struct Helper {
    /// Its name.
    pub name: Name,
    /// Its functions.
    pub functions: Vec<Function>,
}

/// A type and a name: a parameter, or a field of a structure.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// The type.
    pub ty: Type,
    /// The name.
    pub name: Name,
}

/// A filter or a composite.
#[derive(Clone, PartialEq, Debug)]
pub struct Stream {
    /// None for one that stands where it is used.
    pub name: Option<Name>,
    /// Types of what it takes and of what it gives; one without a name may leave them out.
    pub types: Option<(Type, Type)>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// What it does.
    pub body: StreamBody,
    /// From its first word to its last brace.
    pub span: Span,
}

/// What a stream is.
#[derive(Clone, PartialEq, Debug)]
pub enum StreamBody {
    /// A filter.
    Filter(Filter),
    /// Code that makes and joins other streams.
    Composite(Composite, Block),
}

/// Ways of joining streams.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Composite {
    /// One after the other.
    Pipeline,
    /// Side by side.
    SplitJoin,
    /// One forward, one back.
    FeedbackLoop,
}

/// A filter.
#[derive(Clone, PartialEq, Debug)]
pub struct Filter {
    /// Said to keep a state.
    pub stateful: bool,
    /// Its fields.
    pub fields: Vec<Variable>,
    /// What is done once before all work: more than one is an error, kept here to be said.
    pub inits: Vec<Block>,
    /// `prework`: at most one that is right.
    pub preworks: Vec<Work>,
    /// `work`: one that is right.
    pub works: Vec<Work>,
    /// Its functions.
    pub functions: Vec<Function>,
    /// What it does with messages; results are `void`.
    pub handlers: Vec<Function>,
}

/// A firing.
#[derive(Clone, PartialEq, Debug)]
pub struct Work {
    /// Items that it moves.
    pub rates: Rates,
    /// What it does.
    pub body: Block,
    /// From its keyword on.
    pub span: Span,
}

/// A function, or a handler.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Type of its result.
    pub result: Type,
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Items that it moves, where it says so.
    pub rates: Rates,
    /// What it does.
    pub body: Block,
}

/// Rates as written; none where they are not.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Rates {
    /// Items given.
    pub push: Option<Rate>,
    /// Items taken.
    pub pop: Option<Rate>,
    /// Items looked at, those taken included.
    pub peek: Option<Rate>,
}

/// A rate.
#[derive(Clone, PartialEq, Debug)]
pub enum Rate {
    /// The same at every firing.
    Static(Expr),
    /// `*`.
    Any(Span),
    /// `[min, max]` or `[min, average, max]`.
    Range(Box<Range>),
}

/// A rate that varies between bounds.
#[derive(Clone, PartialEq, Debug)]
pub struct Range {
    /// The least.
    pub min: Bound,
    /// What it is on the average, where that is said.
    pub average: Option<Bound>,
    /// The greatest.
    pub max: Bound,
    /// Brackets included.
    pub span: Span,
}

/// A bound of a rate that varies.
#[derive(Clone, PartialEq, Debug)]
pub enum Bound {
    /// `*`.
    Any(Span),
    /// A number.
    Number(Expr),
}
