//! Streams, and the program that they are.

use super::{Expr, Init, Shaped, Stmt, StreamId, Type};
use crate::ast::Composite;
use crate::source::Span;
use smol_str::SmolStr;

/// A whole program.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// Structures. None contains itself.
    pub structs: Vec<Struct>,
    /// Variables of `static` blocks.
    pub globals: Vec<Variable>,
    /// What gives them their values: the blocks' `init`, in order, each after the initialisers of its
    /// own block's variables.
    pub global_inits: Vec<(std::ops::Range<u32>, Body)>,
    /// Functions of `native` blocks.
    pub natives: Vec<Native>,
    /// Functions of `helper` blocks.
    pub helpers: Vec<Function>,
    /// All streams, those without names too.
    pub streams: Vec<Stream>,
    /// The one that is the program.
    pub top: StreamId,
}

/// A structure.
#[derive(Clone, PartialEq, Debug)]
pub struct Struct {
    /// Its name.
    pub name: SmolStr,
    /// Its fields; lengths of arrays use constants and globals only.
    pub fields: Vec<(SmolStr, Shaped)>,
}

/// A field of a filter, or a global.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: SmolStr,
    /// Its type; lengths use parameters, globals and the fields before it.
    pub ty: Shaped,
    /// Its first value; zero where there is none.
    pub init: Option<Init>,
    /// Where it stands.
    pub span: Span,
}

/// A function that is somewhere else.
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
    /// Its name; for one without, what it is.
    pub name: SmolStr,
    /// Its place.
    pub span: Span,
    /// Types of what it takes and gives; lengths use parameters and globals. A composite without a name
    /// may leave them to what it is made of.
    pub types: Option<(Shaped, Shaped)>,
    /// Its parameters: names and types; lengths use those before, and globals.
    pub params: Vec<(SmolStr, Shaped)>,
    /// How many of them, the last ones, stand for what surrounds a stream without a name.
    pub captures: u32,
    /// What it does.
    pub body: StreamBody,
}

impl Stream {
    /// Whether it stands where it is used: its name is then a keyword, which no other can have.
    pub fn is_anonymous(&self) -> bool {
        matches!(self.name.as_str(), "filter" | "pipeline" | "splitjoin" | "feedbackloop")
    }
}

/// What a stream is.
#[derive(Clone, PartialEq, Debug)]
pub enum StreamBody {
    /// A filter.
    Filter(Box<Filter>),
    /// Code that makes and joins other streams.
    Composite(Composite, Body),
}

/// Code with variables of its own.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Body {
    /// All its variables, each declared once in the code; parameters of a function first. Where two
    /// have one name they are two.
    pub locals: Vec<(SmolStr, Type)>,
    /// The code.
    pub stmts: Vec<Stmt>,
}

/// A filter.
#[derive(Clone, PartialEq, Debug)]
pub struct Filter {
    /// Said to keep a state.
    pub stateful: bool,
    /// Whether code other than `init` changes a field, uses `random` or prints, or it handles messages.
    pub keeps_state: bool,
    /// Its state.
    pub fields: Vec<Variable>,
    /// Done once, before all work and after the fields have their first values.
    pub init: Option<Body>,
    /// What is done in place of the first `work`.
    pub prework: Option<Work>,
    /// A firing.
    pub work: Work,
    /// Functions.
    pub functions: Vec<Function>,
    /// What is done with messages, between firings.
    pub handlers: Vec<Function>,
}

/// A firing.
#[derive(Clone, PartialEq, Debug)]
pub struct Work {
    /// Items that it moves.
    pub rates: Rates,
    /// What it does.
    pub body: Body,
    /// Its place.
    pub span: Span,
}

/// A function, or a handler.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name; of a helper with its block's name before.
    pub name: SmolStr,
    /// How many of the body's locals are its parameters, and their types with lengths.
    pub params: Vec<Shaped>,
    /// Type of its result.
    pub result: Shaped,
    /// What it does.
    pub body: Body,
}

/// Items that a firing moves. Expressions use parameters, globals and fields, as these are after `init`.
#[derive(Clone, PartialEq, Debug)]
pub struct Rates {
    /// Items given.
    pub push: Rate,
    /// Items taken.
    pub pop: Rate,
    /// Items looked at, those taken included; as many as are taken, where it is not said.
    pub peek: Option<Rate>,
}

/// A rate.
#[derive(Clone, PartialEq, Debug)]
pub enum Rate {
    /// An integer, the same at every firing.
    Static(Expr),
    /// What each firing decides, in bounds where there are any.
    Dynamic {
        /// At least.
        min: Option<Expr>,
        /// On the average.
        average: Option<Expr>,
        /// At most.
        max: Option<Expr>,
    },
}
