//! The intermediate form between resolved code and C: one firing of one filter, partially evaluated.
//!
//! All values are scalars: a complex number is two floats, an array or structure is a run of *cells* in
//! declaration order. Expressions have no effects; everything that has effects or may fail is a statement. So
//! an expression can be moved to any place between the statements it depends on, and evaluated for several
//! firings at once.

mod function;
mod walk;

pub use function::Function;
pub use walk::{exprs, exprs_mut, inner, inner_mut, replace, walk, walk_exprs};

use std::fmt;
use thalweg_lang::hir::{BinaryOp, Type, UnaryOp};
use thalweg_lang::source::Span;
use thalweg_lang::value::{Shape, Value};

/// The kinds of scalars.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A bit or boolean, represented as 0 or 1.
    Bool,
    /// An integer.
    Int,
    /// A float.
    Float,
}

/// A constant scalar.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// A bit or boolean.
    Bool(bool),
    /// An integer.
    Int(i32),
    /// A float.
    Float(f32),
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        match (self, other) {
            (Scalar::Bool(a), Scalar::Bool(b)) => a == b,
            (Scalar::Int(a), Scalar::Int(b)) => a == b,
            (Scalar::Float(a), Scalar::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

impl Scalar {
    /// Its kind.
    pub fn kind(self) -> Kind {
        match self {
            Scalar::Bool(_) => Kind::Bool,
            Scalar::Int(_) => Kind::Int,
            Scalar::Float(_) => Kind::Float,
        }
    }

    /// Converts it to a value of the language.
    pub fn value(self) -> Value {
        match self {
            Scalar::Bool(x) => Value::Bool(x),
            Scalar::Int(x) => Value::Int(x),
            Scalar::Float(x) => Value::Float(x),
        }
    }

    /// Converts a value of the language, if it is one scalar.
    pub fn of(value: &Value) -> Option<Scalar> {
        match value {
            Value::Bool(x) => Some(Scalar::Bool(*x)),
            Value::Int(x) => Some(Scalar::Int(*x)),
            Value::Float(x) => Some(Scalar::Float(*x)),
            _ => None,
        }
    }

    /// The zero of a kind.
    pub fn zero(kind: Kind) -> Scalar {
        match kind {
            Kind::Bool => Scalar::Bool(false),
            Kind::Int => Scalar::Int(0),
            Kind::Float => Scalar::Float(0.0),
        }
    }
}

/// A scalar variable: an index into [`Code::vars`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub u32);

/// A run of cells: an index into [`Code::mems`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mem(pub u32);

/// A jump target: the end of a block, or the entry of a recursive function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label(pub u32);

/// The content of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cell {
    /// Scalars of one kind.
    Of(Kind),
    /// Scalars of several kinds, as 32 bits.
    Mixed,
}

impl Cell {
    /// Its length in memory.
    pub fn bytes(self) -> usize {
        if self == Cell::Of(Kind::Bool) { 1 } else { 4 }
    }
}

/// A variable.
#[derive(Clone, PartialEq, Debug)]
pub struct VarInfo {
    /// Its kind.
    pub kind: Kind,
    /// Its name in the C text, for human readers.
    pub name: String,
    /// The field and cell that it stands for from the first firing of a call to the last.
    pub field: Option<(u32, u32)>,
}

/// The storage of a run of cells.
#[derive(Clone, PartialEq, Debug)]
pub enum MemKind {
    /// A local variable.
    Local,
    /// A field, by its index.
    Field(u32),
    /// A constant table.
    Table(Vec<Scalar>),
}

/// A run of cells.
#[derive(Clone, PartialEq, Debug)]
pub struct MemInfo {
    /// Its storage.
    pub kind: MemKind,
    /// The content of each cell.
    pub cell: Cell,
    /// The number of cells.
    pub cells: usize,
    /// Its name in the C text, for human readers.
    pub name: String,
}

/// The memory that an access addresses.
#[derive(Clone, PartialEq, Debug)]
pub enum Area {
    /// A run of cells of this code.
    Mem(Mem),
    /// An item of the input, counted from the first of the firing.
    In(Box<Expr>),
    /// An item of the output, counted from the first of the firing.
    Out(Box<Expr>),
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A constant.
    Const(Scalar),
    /// A variable.
    Var(Var),
    /// The content of a cell, as a scalar of this kind.
    Load(Area, Box<Expr>, Kind),
    /// A unary operator.
    Unary(UnaryOp, Kind, Box<Expr>),
    /// A binary operator on two scalars of this kind; a division never fails.
    Binary(BinaryOp, Kind, Box<Expr>, Box<Expr>),
    /// A conversion from the first kind to the second.
    Convert(Kind, Kind, Box<Expr>),
    /// A function; its arguments have this kind.
    Math(Function, Kind, Vec<Expr>),
    /// The second part if the first is true, else the third. Evaluating either part has no effect.
    Select(Kind, Box<[Expr; 3]>),
    /// The number of executions of `work` before this one.
    Iter,
}

impl Expr {
    /// An integer constant.
    pub fn int(value: i64) -> Expr {
        Expr::Const(Scalar::Int(value as i32))
    }

    /// The constant, if it is one.
    pub fn constant(&self) -> Option<Scalar> {
        if let Expr::Const(scalar) = self { Some(*scalar) } else { None }
    }

    /// The integer, if it is an integer constant.
    pub fn as_int(&self) -> Option<i32> {
        if let Expr::Const(Scalar::Int(value)) = self { Some(*value) } else { None }
    }

    /// The sum of two integers, with constants folded.
    pub fn plus(self, other: Expr) -> Expr {
        match (&self, &other) {
            (Expr::Const(Scalar::Int(a)), Expr::Const(Scalar::Int(b))) => {
                Expr::int(a.wrapping_add(*b).into())
            }
            (_, Expr::Const(Scalar::Int(0))) => self,
            (Expr::Const(Scalar::Int(0)), _) => other,
            (Expr::Binary(BinaryOp::Add, Kind::Int, first, second), Expr::Const(Scalar::Int(b))) => {
                match second.as_int() {
                    Some(a) => (**first).clone().plus(Expr::int(a.wrapping_add(*b).into())),
                    None => Expr::Binary(BinaryOp::Add, Kind::Int, Box::new(self), Box::new(other)),
                }
            }
            _ => Expr::Binary(BinaryOp::Add, Kind::Int, Box::new(self), Box::new(other)),
        }
    }

    /// The product of an integer and a constant.
    pub fn times(self, factor: i64) -> Expr {
        match self.as_int() {
            _ if factor == 1 => self,
            Some(value) => Expr::int(i64::from(value.wrapping_mul(factor as i32))),
            None => Expr::Binary(BinaryOp::Mul, Kind::Int, Box::new(self), Box::new(Expr::int(factor))),
        }
    }

    /// The kind of its value.
    pub fn kind(&self, code: &Code) -> Kind {
        match self {
            Expr::Const(scalar) => scalar.kind(),
            Expr::Var(var) => code.vars[var.0 as usize].kind,
            Expr::Load(_, _, kind) | Expr::Unary(_, kind, _) | Expr::Select(kind, _) => *kind,
            Expr::Binary(op, kind, _, _) => {
                if compares(*op) {
                    Kind::Bool
                } else {
                    *kind
                }
            }
            Expr::Convert(_, to, _) => *to,
            Expr::Math(_, kind, _) => *kind,
            Expr::Iter => Kind::Int,
        }
    }

    /// Calls `f` with each direct operand, including those of areas.
    pub fn each(&self, f: &mut dyn FnMut(&Expr)) {
        match self {
            Expr::Const(_) | Expr::Var(_) | Expr::Iter => {}
            Expr::Load(area, at, _) => {
                if let Area::In(item) | Area::Out(item) = area {
                    f(item);
                }
                f(at);
            }
            Expr::Unary(_, _, x) | Expr::Convert(_, _, x) => f(x),
            Expr::Binary(_, _, x, y) => {
                f(x);
                f(y);
            }
            Expr::Math(_, _, args) => args.iter().for_each(f),
            Expr::Select(_, parts) => parts.iter().for_each(f),
        }
    }

    /// Like [`Expr::each`], for changing operands.
    pub fn each_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Const(_) | Expr::Var(_) | Expr::Iter => {}
            Expr::Load(area, at, _) => {
                if let Area::In(item) | Area::Out(item) = area {
                    f(item);
                }
                f(at);
            }
            Expr::Unary(_, _, x) | Expr::Convert(_, _, x) => f(x),
            Expr::Binary(_, _, x, y) => {
                f(x);
                f(y);
            }
            Expr::Math(_, _, args) => args.iter_mut().for_each(f),
            Expr::Select(_, parts) => parts.iter_mut().for_each(f),
        }
    }
}

/// Whether an operator returns a boolean.
pub fn compares(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// Assigns a value to a variable.
    Set(Var, Expr),
    /// Stores a value of this kind to a cell: area, index, kind, value.
    Store(Area, Expr, Kind, Expr),
    /// Executes the first statements if the condition is true, else the second.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// A counted loop: the variable goes from `from` by `step`, while it is less than `to` (`step > 0`) or
    /// greater (`step < 0`). The body changes neither the variable nor what `to` depends on.
    For { var: Var, from: Expr, to: Expr, step: i32, body: Vec<Stmt> },
    /// An infinite loop, left by [`Stmt::Leave`].
    Loop(Vec<Stmt>),
    /// A block, which [`Stmt::Leave`] can leave.
    Block(Label, Vec<Stmt>),
    /// Jumps to the end of the block.
    Leave(Label),
    /// A group of mutually recursive functions; execution begins with the first. A call saves the caller's
    /// live values, jumps to a function, and is the end of a block, behind which the caller continues. A
    /// function returns by jumping to the label `back`: execution continues behind block number `to`, or
    /// behind all of `Calls` if there is no such block.
    Calls { body: Vec<Stmt>, back: Label, to: Expr, blocks: Vec<Label> },
    /// The entry of one of these functions.
    Label(Label),
    /// Jumps to the entry of one of these functions, or returns from one.
    Jump(Label),
    /// Fails at this site if the condition is true, with these integers for the message.
    Check(Expr, u32, Vec<Expr>),
    /// Draws the next number of the filter's random sequence.
    Random(Var),
    /// Prints these scalars by a format.
    Print(u32, Vec<Expr>),
    /// Sends a message with these scalars, with a latency where it has one. It may fail at `site`.
    Send { message: u32, latency: Option<Expr>, args: Vec<Expr>, site: u32 },
    /// Waits until the item at `ahead` behind the `taken` popped ones is in the queue; `given` items have
    /// been pushed.
    Need { taken: Expr, ahead: Expr, given: Expr },
    /// Ensures that there is room for one item more than the `given` pushed ones.
    Room { given: Expr },
    /// Ends the firing, which has popped `taken` items and pushed `given`.
    Moved { taken: Expr, given: Expr },
}

/// A piece of printed output.
#[derive(Clone, PartialEq, Debug)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// The value of the next scalars, as this type.
    Value(Type),
}

/// A place in the code that may fail.
#[derive(Clone, PartialEq, Debug)]
pub struct Site {
    /// Its position in the source.
    pub span: Span,
    /// The reason of the failure.
    pub why: Why,
}

/// The reason of a failure; `{0}` and `{1}` stand for the integers of the check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Why(pub String);

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A message that is sent.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// The portal; all its receivers get the message.
    pub portal: u32,
    /// The index of the handler.
    pub handler: u32,
    /// Whether it has a latency.
    pub timed: bool,
    /// The shapes of its arguments; `None` for a scalar.
    pub shapes: Vec<Option<Shape>>,
    /// The number of its scalars.
    pub cells: usize,
}

/// The code of one firing, or of one handler.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Code {
    /// Its variables.
    pub vars: Vec<VarInfo>,
    /// Its runs of cells.
    pub mems: Vec<MemInfo>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// The formats that it prints by.
    pub formats: Vec<Vec<Piece>>,
    /// The messages that it sends.
    pub messages: Vec<Message>,
    /// The places where it may fail.
    pub sites: Vec<Site>,
    /// The number of labels.
    pub labels: u32,
    /// With dynamic rates: the precondition of a firing.
    pub begins: Begins,
    /// Whether a firing reads items that it has popped, so that they must stay in place.
    pub keeps_taken: bool,
}

/// Locals stand on the stack if together they have at most `ON_STACK` cells; beyond that, those of more than
/// `SMALL` cells stand in separate memory.
const ON_STACK: usize = 1 << 14;
const SMALL: usize = 256;

impl Code {
    /// By run of cells: the offset in the memory for large locals, in cells. A thread's stack has no room for
    /// arrays of any size.
    pub fn large(&self) -> Vec<Option<usize>> {
        let local = |mem: &&MemInfo| mem.kind == MemKind::Local;
        let all: usize = self.mems.iter().filter(local).map(|mem| mem.cells).sum();
        let mut next = 0;
        let place = |mem: &MemInfo| {
            let place = (all > ON_STACK && local(&mem) && mem.cells > SMALL).then_some(next);
            next += place.map_or(0, |_| mem.cells.next_multiple_of(16));
            place
        };
        self.mems.iter().map(place).collect()
    }

    /// The number of cells of all large locals.
    pub fn large_cells(&self) -> usize {
        let places = self.large().into_iter().zip(&self.mems);
        places.filter_map(|(place, mem)| Some(place? + mem.cells)).max().unwrap_or(0)
    }
}

/// The precondition of a firing with dynamic rates.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Begins {
    /// Items in the input queue.
    pub items: u32,
    /// Room for items in the output queue.
    pub room: u32,
}
