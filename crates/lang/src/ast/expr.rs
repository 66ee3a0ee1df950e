//! Expressions.

use super::{Name, Primitive};
use crate::source::Span;
use smol_str::SmolStr;

/// An expression where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A constant.
    Literal(Literal),
    /// A variable, parameter, field or global.
    Name(SmolStr),
    /// `of.name`.
    Member(Box<Expr>, Name),
    /// `of[at]`.
    Index(Box<Expr>, Box<Expr>),
    /// An operator before a value.
    Unary(UnaryOp, Box<Expr>),
    /// An operator between two.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `condition ? first : second`.
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(type) value`.
    Cast(Primitive, Box<Expr>),
    /// `++x`, `x--` and the like.
    Step {
        /// What is changed.
        place: Box<Expr>,
        /// By 1, or by -1.
        by: i32,
        /// Whether the operator stands before, so that the value is the new one.
        before: bool,
    },
    /// `function(arguments)`.
    Call(Name, Vec<Expr>),
    /// `receiver.function(arguments)`.
    MethodCall(Name, Name, Vec<Expr>),
    /// `pop()`.
    Pop,
    /// `peek(index)`.
    Peek(Box<Expr>),
    /// `iter()`.
    Iter,
    /// `float2(x, y)` and the like: 2 to 4 components.
    Vector(Vec<Expr>),
    /// Stands where none could be read; it has been reported.
    Error,
}

/// Constants.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// An integer; hexadecimal ones wrap.
    Int(i32),
    /// A number with a point, an exponent or an `f`, or too large for an integer.
    Float(f32),
    /// A number with an `i`.
    Imaginary(f32),
    /// A character: its code.
    Char(u8),
    /// A string.
    String(SmolStr),
    /// `true` or `false`.
    Boolean(bool),
    /// `pi`.
    Pi,
}

/// Operators before a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `!`
    Not,
    /// `~`
    Complement,
}

/// Operators between two values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}
