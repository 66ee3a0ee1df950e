//! The syntax tree: the source as written, with places.

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

/// An identifier and its place.
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
    /// The kind.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// Kinds of types.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    /// `void`.
    Void,
    /// A type that is a keyword.
    Primitive(Primitive),
    /// A structure.
    Named(Name),
    /// `element[length]`; `float[N][M]` has length `N` and element `float[M]`.
    Array(Box<Type>, Box<Expr>),
    /// `portal<Filter>`.
    Portal(Name),
}

/// Types that are keywords.
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
