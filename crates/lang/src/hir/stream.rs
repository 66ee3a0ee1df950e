//! Streams and programs.

use super::{Expr, Init, Shaped, Stmt, StreamId, Type};
use crate::ast::Composite;
use crate::source::Span;
use smol_str::SmolStr;

/// A whole program.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// Structures; none contains itself.
    pub structs: Vec<Struct>,
    /// Variables of `static` blocks.
    pub globals: Vec<Variable>,
    /// The `init` of each `static` block with the range of its globals, in order. It runs after the initialisers of
    /// its own block's variables.
    pub global_inits: Vec<(std::ops::Range<u32>, Body)>,
    /// Functions of `native` blocks.
    pub natives: Vec<Native>,
    /// Functions of `helper` blocks.
    pub helpers: Vec<Function>,
    /// All streams, including anonymous ones.
    pub streams: Vec<Stream>,
    /// The entry point.
    pub top: StreamId,
}

/// A structure.
#[derive(Clone, PartialEq, Debug)]
pub struct Struct {
    /// Its name.
    pub name: SmolStr,
    /// Its fields; array lengths use only constants and globals.
    pub fields: Vec<(SmolStr, Shaped)>,
}

/// A field of a filter, or a global.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: SmolStr,
    /// Its type; array lengths use parameters, globals and preceding fields.
    pub ty: Shaped,
    /// Its initial value; zero if there is none.
    pub init: Option<Init>,
    /// Its place.
    pub span: Span,
}

/// A function defined outside the program.
#[derive(Clone, PartialEq, Debug)]
pub struct Native {
    /// `Block.name`
    pub name: SmolStr,
    /// Types of its parameters.
    pub params: Vec<Type>,
    /// Type of its result.
    pub result: Type,
}

/// A filter or a composite.
#[derive(Clone, PartialEq, Debug)]
pub struct Stream {
    /// Its name; for an anonymous stream, its keyword.
    pub name: SmolStr,
    /// Its place.
    pub span: Span,
    /// Input and output type; array lengths use parameters and globals. An anonymous composite may inherit them
    /// from its children.
    pub types: Option<(Shaped, Shaped)>,
    /// Its parameters: names and types; array lengths use preceding parameters and globals.
    pub params: Vec<(SmolStr, Shaped)>,
    /// The number of captured parameters; they are the last ones.
    pub captures: u32,
    /// Its body.
    pub body: StreamBody,
}

impl Stream {
    /// Whether it is anonymous: its name is then a keyword, which no declared name can be.
    pub fn is_anonymous(&self) -> bool {
        matches!(self.name.as_str(), "filter" | "pipeline" | "splitjoin" | "feedbackloop")
    }
}

/// Bodies of streams.
#[derive(Clone, PartialEq, Debug)]
pub enum StreamBody {
    /// A filter.
    Filter(Box<Filter>),
    /// Code that instantiates and connects other streams.
    Composite(Composite, Body),
}

/// Code with its own variables.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Body {
    /// All its variables, each declared once in the code; parameters of a function first. Names may repeat.
    pub locals: Vec<(SmolStr, Type)>,
    /// The code.
    pub stmts: Vec<Stmt>,
}

/// A filter.
#[derive(Clone, PartialEq, Debug)]
pub struct Filter {
    /// Whether it is declared `stateful`.
    pub stateful: bool,
    /// Whether code other than `init` changes a field, uses `random` or prints, or it handles messages.
    pub keeps_state: bool,
    /// Its state.
    pub fields: Vec<Variable>,
    /// Executed once, after the fields have their initial values and before any firing.
    pub init: Option<Body>,
    /// Executed in place of the first `work`.
    pub prework: Option<Work>,
    /// A firing.
    pub work: Work,
    /// Its functions; if handlers are called as functions, followed by all handlers.
    pub functions: Vec<Function>,
    /// Message handlers, executed between firings.
    pub handlers: Vec<Function>,
}

/// A work or prework function.
#[derive(Clone, PartialEq, Debug)]
pub struct Work {
    /// Its rates.
    pub rates: Rates,
    /// Its body.
    pub body: Body,
    /// Its place.
    pub span: Span,
}

/// A function or a handler.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name; for a helper `Block.name`.
    pub name: SmolStr,
    /// Types of its parameters, which are the first locals of the body.
    pub params: Vec<Shaped>,
    /// The result type.
    pub result: Shaped,
    /// Its body.
    pub body: Body,
}

/// Rates of a firing. The expressions use parameters, globals and fields; fields have their values after `init`.
#[derive(Clone, PartialEq, Debug)]
pub struct Rates {
    /// Items pushed.
    pub push: Rate,
    /// Items popped. If a firing pops fewer than a static rate, the rest is dropped after it.
    pub pop: Rate,
    /// Items peeked, including those popped; `None` if omitted or not above `pop`.
    pub peek: Option<Rate>,
}

/// A rate.
#[derive(Clone, PartialEq, Debug)]
pub enum Rate {
    /// An integer, the same in every firing.
    Static(Expr),
    /// Decided by each firing, within optional bounds.
    Dynamic {
        /// The minimum.
        min: Option<Expr>,
        /// The average.
        average: Option<Expr>,
        /// The maximum.
        max: Option<Expr>,
    },
}
