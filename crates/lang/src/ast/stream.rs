//! Programs, streams and other top-level items.

use super::{Block, Expr, Name, Type, Variable};
use crate::source::Span;

/// All files of a program in sequence.
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

/// A `static` block: variables visible to all streams.
#[derive(Clone, PartialEq, Debug)]
pub struct Global {
    /// Its variables.
    pub fields: Vec<Variable>,
    /// Code that runs before any stream is instantiated.
    pub init: Option<Block>,
}

/// A `native` block: functions defined outside the program.
#[derive(Clone, PartialEq, Debug)]
pub struct Native {
    /// Its name.
    pub name: Name,
    /// Its functions, each with a result, a name and parameters.
    pub functions: Vec<(Type, Name, Vec<Param>)>,
}

/// A `helper` block: functions visible to all filters.
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
    /// The name; `None` for an anonymous stream.
    pub name: Option<Name>,
    /// Input and output type; an anonymous stream may omit them.
    pub types: Option<(Type, Type)>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its body.
    pub body: StreamBody,
    /// From its first token to its closing brace.
    pub span: Span,
}

/// Bodies of streams.
#[derive(Clone, PartialEq, Debug)]
pub enum StreamBody {
    /// A filter.
    Filter(Filter),
    /// Code that instantiates and connects other streams.
    Composite(Composite, Block),
}

/// Kinds of composite streams.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Composite {
    /// Streams in sequence.
    Pipeline,
    /// Streams in parallel between a splitter and a joiner.
    SplitJoin,
    /// A body stream, and a loop stream that leads back.
    FeedbackLoop,
}

/// A filter.
#[derive(Clone, PartialEq, Debug)]
pub struct Filter {
    /// Whether it is declared `stateful`.
    pub stateful: bool,
    /// Its fields.
    pub fields: Vec<Variable>,
    /// `init` blocks; resolution reports more than one.
    pub inits: Vec<Block>,
    /// `prework` functions; resolution reports more than one.
    pub preworks: Vec<Work>,
    /// `work` functions; resolution reports any number but one.
    pub works: Vec<Work>,
    /// Its functions.
    pub functions: Vec<Function>,
    /// Its message handlers, with result type `void`.
    pub handlers: Vec<Function>,
}

/// A work or prework function.
#[derive(Clone, PartialEq, Debug)]
pub struct Work {
    /// Its declared rates.
    pub rates: Rates,
    /// Its body.
    pub body: Block,
    /// From its keyword to its closing brace.
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
    /// Its declared rates, if any.
    pub rates: Rates,
    /// Its body.
    pub body: Block,
}

/// Declared rates; `None` where omitted.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Rates {
    /// Items pushed.
    pub push: Option<Rate>,
    /// Items popped.
    pub pop: Option<Rate>,
    /// Items peeked, including those popped.
    pub peek: Option<Rate>,
}

/// A rate.
#[derive(Clone, PartialEq, Debug)]
pub enum Rate {
    /// The same in every firing.
    Static(Expr),
    /// `*`.
    Any(Span),
    /// `[min, max]` or `[min, average, max]`.
    Range(Box<Range>),
}

/// A dynamic rate between bounds.
#[derive(Clone, PartialEq, Debug)]
pub struct Range {
    /// The minimum.
    pub min: Bound,
    /// The average, if declared.
    pub average: Option<Bound>,
    /// The maximum.
    pub max: Bound,
    /// The place, including the brackets.
    pub span: Span,
}

/// A bound of a dynamic rate.
#[derive(Clone, PartialEq, Debug)]
pub enum Bound {
    /// `*`.
    Any(Span),
    /// A number.
    Number(Expr),
}
