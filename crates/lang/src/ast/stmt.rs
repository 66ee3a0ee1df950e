//! Statements.

use super::{BinaryOp, Expr, Name, Stream, Type};
use crate::source::Span;

/// Statements between braces.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// In order.
    pub stmts: Vec<Stmt>,
    /// Braces included.
    pub span: Span,
}

/// A statement where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// What it is.
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
    /// Statements with variables of their own.
    Block(Block),
    /// Variables of one type.
    Declare(Vec<Variable>),
    /// `place = value`; with an operator, `place op= value`.
    Assign(Expr, Option<BinaryOp>, Expr),
    /// A call, a step, `pop()`: for what it does.
    Expr(Expr),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return`, perhaps with a value.
    Return(Option<Expr>),
    /// `if`, with what is done otherwise.
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `while`.
    While(Expr, Box<Stmt>),
    /// `do`, and its condition.
    DoWhile(Box<Stmt>, Expr),
    /// `for`.
    For {
        /// A declaration, an assignment or an expression.
        init: Option<Box<Stmt>>,
        /// As long as this holds.
        condition: Option<Expr>,
        /// After each turn.
        step: Option<Box<Stmt>>,
        /// What is done in each.
        body: Box<Stmt>,
    },
    /// `receiver.name(arguments) [latency];`: a message to a portal, or a call of a helper or native
    /// function.
    Message(Message),
    /// `;`
    Empty,
}

/// A variable, field or global with its first value.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Name,
    /// Its first value; zero where there is none.
    pub init: Option<Init>,
}

/// A first value.
#[derive(Clone, PartialEq, Debug)]
pub enum Init {
    /// An expression.
    Value(Expr),
    /// `{first, second}`, for an array.
    List(Vec<Init>, Span),
}

/// What `split` and `join` say.
#[derive(Clone, PartialEq, Debug)]
pub enum Weights {
    /// Everything to everybody.
    Duplicate,
    /// So many items for each child in turn: no weight says one for each, one the same for each.
    RoundRobin(Vec<Expr>),
}

/// A stream that is to be made.
#[derive(Clone, PartialEq, Debug)]
pub struct Creator {
    /// Which.
    pub kind: CreatorKind,
    /// Portals that it is to hear.
    pub portals: Vec<Name>,
    /// Its place.
    pub span: Span,
}

/// Which stream.
#[derive(Clone, PartialEq, Debug)]
pub enum CreatorKind {
    /// One that stands here.
    Anonymous(Box<Stream>),
    /// `Name<type>(arguments)`.
    Named(Name, Option<Type>, Vec<Expr>),
}

/// A message to whoever hears a portal.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// The portal; or the helper or native block.
    pub receiver: Name,
    /// The handler or function.
    pub name: Name,
    /// What it is given.
    pub arguments: Vec<Expr>,
    /// When it is to arrive.
    pub latency: Latency,
}

/// When a message is to arrive.
#[derive(Clone, PartialEq, Debug)]
pub enum Latency {
    /// Nothing is said: `[0:0]`.
    Unsaid,
    /// `[*]`: whenever it can.
    Any,
    /// `[min:max]`, of which either may be left out.
    Between(Option<Box<Expr>>, Option<Box<Expr>>),
}
