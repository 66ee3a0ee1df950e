//! Statements.

use super::{BinaryOp, Expr, Place, Shaped, StreamId, Type};
use crate::source::Span;

/// A statement.
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
    /// Starts the life of a local, as zero or with a value; in a loop, in each iteration.
    Declare {
        /// The local.
        local: u32,
        /// Its type.
        ty: Shaped,
        /// Its initial value.
        init: Option<Init>,
    },
    /// Evaluates the indices of the place, then the value, then stores it.
    Assign(Place, Expr),
    /// `place op= value`: evaluates the indices once, reads the old value, evaluates the value, stores the result.
    Update {
        /// The target.
        place: Place,
        /// The operator.
        op: BinaryOp,
        /// The right operand: of type `via`, or an integer for a shift.
        value: Expr,
        /// The type of the computation; the result is converted to the type of the place.
        via: Type,
    },
    /// An expression evaluated for its effect.
    Expr(Expr),
    /// Pushes an item of the output type.
    Push(Expr),
    /// Prints a string, with a line end if the flag is set.
    Print(Option<Expr>, bool),
    /// Statements with their own locals.
    Block(Vec<Stmt>),
    /// `if` and each `else if`, with their conditions, which are boolean; and what is executed if none holds.
    If(Vec<(Expr, Vec<Stmt>)>, Vec<Stmt>),
    /// `while`
    While(Expr, Vec<Stmt>),
    /// `do`, and then the condition.
    DoWhile(Vec<Stmt>, Expr),
    /// `for`; a missing condition is true.
    For {
        /// Executed first.
        init: Vec<Stmt>,
        /// The loop runs while this holds.
        condition: Option<Expr>,
        /// Executed after each iteration, including one that ended with `continue`.
        step: Vec<Stmt>,
        /// The loop body.
        body: Vec<Stmt>,
    },
    /// Leaves the innermost loop.
    Break,
    /// Continues with the next iteration of the innermost loop.
    Continue,
    /// Leaves the function or the firing.
    Return(Option<Expr>),
    /// Sends a message.
    Send(Box<Send>),
    /// `add`. This and the following occur only in composites.
    Add(Creator),
    /// `body`
    Body(Creator),
    /// `loop`
    Loop(Creator),
    /// `split`
    Split(Weights),
    /// `join`
    Join(Weights),
    /// `enqueue`: an item of the feedback loop.
    Enqueue(Expr),
}

/// An initial value.
#[derive(Clone, PartialEq, Debug)]
pub enum Init {
    /// A value of the declared type.
    Value(Expr),
    /// An array by its elements.
    List(Vec<Init>),
}

/// A message.
#[derive(Clone, PartialEq, Debug)]
pub struct Send {
    /// The place of the portal.
    pub portal: Place,
    /// The stream that has the handler.
    pub to: StreamId,
    /// The handler: an index into [`Filter::handlers`](super::Filter::handlers).
    pub handler: u32,
    /// The arguments.
    pub args: Vec<Expr>,
    /// The latency.
    pub latency: Latency,
}

/// The latency of a message, in executions of `work`.
#[derive(Clone, PartialEq, Debug)]
pub enum Latency {
    /// No constraint: best effort.
    Any,
    /// The minimum and the maximum; integers.
    Between(Option<Expr>, Option<Expr>),
}

/// The weights of `split` and `join`.
#[derive(Clone, PartialEq, Debug)]
pub enum Weights {
    /// Every child receives every item.
    Duplicate,
    /// Integers: none means 1 for each child, a single one applies to every child, several are one per child.
    RoundRobin(Vec<Expr>),
}

/// A request for a stream instance.
#[derive(Clone, PartialEq, Debug)]
pub struct Creator {
    /// The stream.
    pub made: Made,
    /// Its arguments, with the parameters' types.
    pub args: Vec<Expr>,
    /// Portals that it is registered with.
    pub portals: Vec<Place>,
    /// Its place.
    pub span: Span,
}

/// The stream that a [`Creator`] instantiates.
#[derive(Clone, PartialEq, Debug)]
pub enum Made {
    /// A stream of the program.
    Stream(StreamId),
    /// Pushes every item that it pops. No arguments.
    Identity(Shaped),
    /// Pushes the items of a file. The file name is the argument.
    FileReader(Shaped),
    /// Writes items to a file. The file name is the argument.
    FileWriter(Shaped),
}
