//! The resolved program: every name is a number, every expression has a type, every conversion that
//! the language makes by itself is written out. What the interpreter and the native back end read.
//!
//! **Values.** Arrays and structures are values: reading, passing, pushing and assigning one copies it.
//! All that is declared begins as zero.
//!
//! **Order.** Operands are evaluated from left to right, with what they do besides.
//!
//! **Anonymous streams** close over what surrounds them by value: what they use of it has become
//! further parameters (the last [`Stream::captures`] of them) and arguments where they are made.

mod expr;
mod print;
mod stmt;
mod stream;

pub use expr::{BinaryOp, Builtin, Callee, Expr, ExprKind, Place, Root, Step, UnaryOp};
pub use stmt::{Creator, Init, Latency, Made, Send, Stmt, StmtKind, Weights};
pub use stream::{
    Body, Filter, Function, Native, Program, Rate, Rates, Stream, StreamBody, Struct, Variable, Work,
};

/// A structure, by its place in [`Program::structs`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StructId(pub u32);

/// A stream, by its place in [`Program::streams`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(pub u32);

/// A type; how long arrays are is said where they are declared: [`Shaped`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// Nothing.
    Void,
    /// 0 or 1.
    Bit,
    /// `true` or `false`.
    Boolean,
    /// 32 bits, in two's complement, that wrap.
    Int,
    /// IEEE binary32.
    Float,
    /// Two floats.
    Complex,
    /// `float2`, `float3`, `float4`.
    Vector(u8),
    /// Text: constants, and what is printed.
    String,
    /// A structure.
    Struct(StructId),
    /// Some elements.
    Array(Box<Type>),
    /// Whoever hears, all of one stream.
    Portal(StreamId),
}

/// A type with the lengths of its arrays, the outermost first.
#[derive(Clone, PartialEq, Debug)]
pub struct Shaped {
    /// The type, arrays included.
    pub ty: Type,
    /// One for each array in it. They are evaluated where the declaration is.
    pub lengths: Vec<Expr>,
}
