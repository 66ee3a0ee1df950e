//! The resolved program: every name is an index, every expression has a type, every implicit conversion is
//! explicit. The interpreter and the native back end consume this form.
//!
//! **Values.** Arrays and structures are values: reading, passing, pushing and assigning copies them. Every
//! variable starts as zero.
//!
//! **Order.** Operands and their side effects are evaluated from left to right.
//!
//! **Anonymous streams** capture variables of the enclosing code by value: a captured variable is an extra
//! parameter (the last [`Stream::captures`] of them) and an argument where the stream is created.

mod expr;
mod print;
mod stmt;
mod stream;

pub use expr::{BinaryOp, Builtin, Callee, Expr, ExprKind, Link, LinkKind, Place, Root, Step, UnaryOp};
pub use stmt::{Creator, Init, Latency, Made, Send, Stmt, StmtKind, Weights};
pub use stream::{
    Body, Filter, Function, Native, Program, Rate, Rates, Stream, StreamBody, Struct, Variable, Work,
};

/// A structure: an index into [`Program::structs`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StructId(pub u32);

/// A stream: an index into [`Program::streams`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(pub u32);

/// A type without array lengths; declarations have a [`Shaped`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// No value.
    Void,
    /// 0 or 1.
    Bit,
    /// `true` or `false`.
    Boolean,
    /// 32-bit two's complement; wraps.
    Int,
    /// IEEE binary32.
    Float,
    /// Two floats.
    Complex,
    /// `float2`, `float3`, `float4`.
    Vector(u8),
    /// Text: literals, and arguments of `print`.
    String,
    /// A structure.
    Struct(StructId),
    /// An array.
    Array(Box<Type>),
    /// A portal to instances of one stream.
    Portal(StreamId),
}

/// A type with its array lengths, outermost first.
#[derive(Clone, PartialEq, Debug)]
pub struct Shaped {
    /// The type, arrays included.
    pub ty: Type,
    /// One length per array level, evaluated at the declaration.
    pub lengths: Vec<Expr>,
}
