//! Statements.

use super::{BinaryOp, Expr, Place, Shaped, StreamId, Type};
use crate::source::Span;

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of statements.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// A local begins: as zero, or with a value. In a loop it does so in each turn.
    Declare {
        /// Which.
        local: u32,
        /// Its type.
        ty: Shaped,
        /// Its first value.
        init: Option<Init>,
    },
    /// The place's indices are evaluated, then the value, then it is stored.
    Assign(Place, Expr),
    /// `place op= value`: the indices once, the old value, the value, then the result is stored.
    Update {
        /// What is changed.
        place: Place,
        /// How.
        op: BinaryOp,
        /// By what: of type `via`, or an integer for a shift.
        value: Expr,
        /// The type that is calculated in; the result is converted to the place's.
        via: Type,
    },
    /// For what it does.
    Expr(Expr),
    /// Gives an item, of the output's type.
    Push(Expr),
    /// Prints a string, and perhaps the end of the line.
    Print(Option<Expr>, bool),
    /// Statements with locals of their own.
    Block(Vec<Stmt>),
    /// The condition is boolean.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `while`
    While(Expr, Vec<Stmt>),
    /// `do`, and then the condition.
    DoWhile(Vec<Stmt>, Expr),
    /// `for`: a condition that is left out holds.
    For {
        /// Done first.
        init: Vec<Stmt>,
        /// As long as this holds.
        condition: Option<Expr>,
        /// Done after each turn, and after `continue`.
        step: Vec<Stmt>,
        /// Done in each.
        body: Vec<Stmt>,
    },
    /// Leaves the innermost loop.
    Break,
    /// Goes on with the next turn of the innermost loop.
    Continue,
    /// Leaves the function, or the firing.
    Return(Option<Expr>),
    /// Sends a message.
    Send(Box<Send>),
    /// `add`; of composites only, as all that follow.
    Add(Creator),
    /// `body`
    Body(Creator),
    /// `loop`
    Loop(Creator),
    /// `split`
    Split(Weights),
    /// `join`
    Join(Weights),
    /// `enqueue`: an item of the loop's type.
    Enqueue(Expr),
}

/// A first value.
#[derive(Clone, PartialEq, Debug)]
pub enum Init {
    /// Of the declared type.
    Value(Expr),
    /// An array by its elements; what is not said is zero.
    List(Vec<Init>),
}

/// A message.
#[derive(Clone, PartialEq, Debug)]
pub struct Send {
    /// Where the portal stands.
    pub portal: Place,
    /// Whose handlers these are.
    pub to: StreamId,
    /// Which, by its place among [`Filter::handlers`](super::Filter::handlers).
    pub handler: u32,
    /// What it is given.
    pub args: Vec<Expr>,
    /// When it is to arrive.
    pub latency: Latency,
}

/// When a message is to arrive, in executions of `work` counted as section 4 of the language says.
#[derive(Clone, PartialEq, Debug)]
pub enum Latency {
    /// Whenever it can.
    Any,
    /// At the least and at the most; integers.
    Between(Option<Expr>, Option<Expr>),
}

/// What `split` and `join` say.
#[derive(Clone, PartialEq, Debug)]
pub enum Weights {
    /// Everything to everybody.
    Duplicate,
    /// Integers: none says one for each child, one the same for each, several one each.
    RoundRobin(Vec<Expr>),
}

/// A stream to be made.
#[derive(Clone, PartialEq, Debug)]
pub struct Creator {
    /// Which.
    pub made: Made,
    /// Its arguments, of its parameters' types.
    pub args: Vec<Expr>,
    /// Portals that it is to hear.
    pub portals: Vec<Place>,
    /// Where it stands.
    pub span: Span,
}

/// Which stream.
#[derive(Clone, PartialEq, Debug)]
pub enum Made {
    /// One of the program.
    Stream(StreamId),
    /// Gives what it takes. No arguments.
    Identity(Shaped),
    /// Gives the items of a file. The file's name is its argument.
    FileReader(Shaped),
    /// Writes items to a file. The file's name is its argument.
    FileWriter(Shaped),
}
