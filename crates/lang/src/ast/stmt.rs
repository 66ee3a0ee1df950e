//! Statements.

use super::{BinaryOp, Expr, Name, Stream, Type};
use crate::source::Span;

/// Statements in braces.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// The statements, in order.
    pub stmts: Vec<Stmt>,
    /// The place, including the braces.
    pub span: Span,
}

/// A statement and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// The kind.
    pub kind: StmtKind,
    /// Its place.
    pub span: Span,
}

/// Kinds of statements.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// `add stream`.
    Add(Creator),
    /// `body stream` of a feedback loop.
    Body(Creator),
    /// `loop stream` of a feedback loop.
    Loop(Creator),
    /// `split weights`.
    Split(Weights),
    /// `join weights`.
    Join(Weights),
    /// `enqueue value`.
    Enqueue(Expr),
    /// `push(value)`.
    Push(Expr),
    /// A nested block with its own scope.
    Block(Block),
    /// A declaration of variables of one type.
    Declare(Vec<Variable>),
    /// `place = value`, or `place op= value` with an operator.
    Assign(Expr, Option<BinaryOp>, Expr),
    /// An expression evaluated for its effect: a call, a step or `pop()`.
    Expr(Expr),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return`, with a value or without.
    Return(Option<Expr>),
    /// `if` and each `else if`, with their conditions, and an optional `else` branch.
    If(Vec<(Expr, Stmt)>, Option<Box<Stmt>>),
    /// `while`.
    While(Expr, Box<Stmt>),
    /// `do`, with its condition.
    DoWhile(Box<Stmt>, Expr),
    /// `for`.
    For {
        /// A declaration, an assignment or an expression.
        init: Option<Box<Stmt>>,
        /// The loop runs while this holds.
        condition: Option<Expr>,
        /// Executed after each iteration.
        step: Option<Box<Stmt>>,
        /// The loop body.
        body: Box<Stmt>,
    },
    /// `receiver.name(arguments) [latency];`: a message to a portal, or a call of a helper or native
    /// function.
    Message(Message),
    /// `;`
    Empty,
}

/// A variable, field or global with its initial value.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Name,
    /// Its initial value; zero if there is none.
    pub init: Option<Init>,
}

/// An initial value.
#[derive(Clone, PartialEq, Debug)]
pub enum Init {
    /// An expression.
    Value(Expr),
    /// `{first, second}`, for an array.
    List(Vec<Init>, Span),
}

/// The weights of `split` and `join`.
#[derive(Clone, PartialEq, Debug)]
pub enum Weights {
    /// Every child receives every item.
    Duplicate,
    /// Children take turns, each with its weight in items. No weight means 1 for each child, a single one applies
    /// to every child.
    RoundRobin(Vec<Expr>),
}

/// A request for a stream instance.
#[derive(Clone, PartialEq, Debug)]
pub struct Creator {
    /// The stream.
    pub kind: CreatorKind,
    /// Portals that it is registered with.
    pub portals: Vec<Name>,
    /// Its place.
    pub span: Span,
}

/// Ways to name a stream.
#[derive(Clone, PartialEq, Debug)]
pub enum CreatorKind {
    /// A stream defined in place.
    Anonymous(Box<Stream>),
    /// `Name<type>(arguments)`.
    Named(Name, Option<Type>, Vec<Expr>),
}

/// A message to the receivers of a portal.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// The portal, or the helper or native block.
    pub receiver: Name,
    /// The handler or function.
    pub name: Name,
    /// The arguments.
    pub arguments: Vec<Expr>,
    /// The latency.
    pub latency: Latency,
}

/// The latency of a message.
#[derive(Clone, PartialEq, Debug)]
pub enum Latency {
    /// Omitted; it means `[0:0]`.
    Omitted,
    /// `[*]`: best effort.
    Any,
    /// `[min:max]`; each bound may be omitted.
    Between(Option<Box<Expr>>, Option<Box<Expr>>),
}
