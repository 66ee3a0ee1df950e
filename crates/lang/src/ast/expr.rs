//! Expressions.

use super::{Name, Primitive};
use crate::source::Span;
use smol_str::SmolStr;

/// An expression and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// The kind.
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
    /// A prefix operator and its operand.
    Unary(UnaryOp, Box<Expr>),
    /// Binary operators from left to right: an operand, and each operator with its right operand. The left operand is all
    /// before it, so a long sum is no deep tree.
    Binary(Box<Expr>, Vec<(BinaryOp, Expr)>),
    /// `condition ? first : second`.
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(type) value`.
    Cast(Primitive, Box<Expr>),
    /// `++x`, `x--` and the like.
    Step {
        /// The operand.
        place: Box<Expr>,
        /// 1 or -1.
        by: i32,
        /// Whether the operator is a prefix, so that the result is the new value.
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
    /// A placeholder for an expression that the parser could not read and has reported.
    Error,
}

/// Literals.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// An integer; hexadecimal ones wrap.
    Int(i32),
    /// A number with a point, an exponent or an `f`, or an integer that is too large for `int`.
    Float(f32),
    /// A number with the suffix `i`.
    Imaginary(f32),
    /// A character, as its code.
    Char(u8),
    /// A string.
    String(SmolStr),
    /// `true` or `false`.
    Boolean(bool),
    /// `pi`.
    Pi,
}

/// Prefix operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `!`
    Not,
    /// `~`
    Complement,
}

/// Binary operators.
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
