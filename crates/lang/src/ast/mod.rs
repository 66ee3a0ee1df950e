//! The syntax tree: what the user wrote, with places, and nothing that follows from it.

mod expr;
mod print;
mod stmt;
mod stream;

pub use expr::{BinaryOp, Expr, ExprKind, Literal, UnaryOp};
pub use stmt::{Block, Creator, CreatorKind, Init, Latency, Message, Stmt, StmtKind, Variable, Weights};
pub use stream::{
    Bound, Composite, Filter, Function, Global, Helper, Native, Param, Program, Range, Rate, Rates, Stream,
    StreamBody, Struct, Work,
};

use crate::source::Span;
use smol_str::SmolStr;

/// An identifier where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The identifier.
    pub text: SmolStr,
    /// Its place.
    pub span: Span,
}

/// A type as written.
#[derive(Clone, PartialEq, Debug)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// Kinds of types.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    /// Nothing.
    Void,
    /// A type with a keyword of its own.
    Primitive(Primitive),
    /// A structure.
    Named(Name),
    /// `element[length]`; of `float[N][M]` the length is `N` and the element `float[M]`.
    Array(Box<Type>, Box<Expr>),
    /// `portal<Filter>`.
    Portal(Name),
}

/// Types with keywords.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "they are the language's keywords")]
pub enum Primitive {
    Boolean,
    Bit,
    Int,
    Float,
    Double,
    Complex,
    Float2,
    Float3,
    Float4,
}
