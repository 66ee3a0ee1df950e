//! The form between resolved code and C: one firing of one filter, with all that is known worked out.
//!
//! All values are scalars: a complex number is two floats, an array or structure is a run of *cells* in
//! the order in which its parts are written. Expressions have no effects; what has effects, or may fail,
//! is a statement. So expressions can be moved into any place between the statements they depend on,
//! and evaluated for several firings at once.

mod function;
mod walk;

pub use function::Function;
pub use walk::{exprs, exprs_mut, inner, inner_mut, replace, walk, walk_exprs};

use std::fmt;
use thalweg_lang::hir::{BinaryOp, Type, UnaryOp};
use thalweg_lang::source::Span;
use thalweg_lang::value::{Shape, Value};

/// Kinds of scalars.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A bit or boolean: 0 or 1.
    Bool,
    /// An integer.
    Int,
    /// A float.
    Float,
}

/// A scalar that is known.
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

    /// As a value of the language.
    pub fn value(self) -> Value {
        match self {
            Scalar::Bool(x) => Value::Bool(x),
            Scalar::Int(x) => Value::Int(x),
            Scalar::Float(x) => Value::Float(x),
        }
    }

    /// Of a value of the language, if it is one scalar.
    pub fn of(value: &Value) -> Option<Scalar> {
        match value {
            Value::Bool(x) => Some(Scalar::Bool(*x)),
            Value::Int(x) => Some(Scalar::Int(*x)),
            Value::Float(x) => Some(Scalar::Float(*x)),
            _ => None,
        }
    }

    /// Zero.
    pub fn zero(kind: Kind) -> Scalar {
        match kind {
            Kind::Bool => Scalar::Bool(false),
            Kind::Int => Scalar::Int(0),
            Kind::Float => Scalar::Float(0.0),
        }
    }
}

/// A scalar variable, by its place in [`Code::vars`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub u32);

/// A run of cells, by its place in [`Code::mems`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mem(pub u32);

/// A place that statements leave, forward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label(pub u32);

/// What a cell can hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cell {
    /// One kind of scalars.
    Of(Kind),
    /// Scalars of several kinds, as 32 bits.
    Mixed,
}

/// A variable.
#[derive(Clone, PartialEq, Debug)]
pub struct VarInfo {
    /// Its kind.
    pub kind: Kind,
    /// For the reader.
    pub name: String,
    /// The field, and the cell of it, that it is from the beginning of the first firing to the end of
    /// the last.
    pub field: Option<(u32, u32)>,
}

/// What a run of cells is.
#[derive(Clone, PartialEq, Debug)]
pub enum MemKind {
    /// A local.
    Local,
    /// A field, by its number.
    Field(u32),
    /// Known once and for all.
    Table(Vec<Scalar>),
}

/// A run of cells.
#[derive(Clone, PartialEq, Debug)]
pub struct MemInfo {
    /// What it is.
    pub kind: MemKind,
    /// What each cell holds.
    pub cell: Cell,
    /// How many there are.
    pub cells: usize,
    /// For the reader.
    pub name: String,
}

/// Where cells are.
#[derive(Clone, PartialEq, Debug)]
pub enum Area {
    /// In a run of its own.
    Mem(Mem),
    /// In an item of the input, counted from the firing's first.
    In(Box<Ex>),
    /// In an item of the output, counted from the firing's first.
    Out(Box<Ex>),
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub enum Ex {
    /// A constant.
    Const(Scalar),
    /// A variable.
    Var(Var),
    /// A cell.
    Load(Area, Box<Ex>, Kind),
    /// An operator before a scalar.
    Unary(UnaryOp, Kind, Box<Ex>),
    /// An operator between two scalars of this kind; a division is known to be possible.
    Binary(BinaryOp, Kind, Box<Ex>, Box<Ex>),
    /// The scalar as another kind.
    Convert(Kind, Kind, Box<Ex>),
    /// A function of scalars of this kind.
    Math(Function, Kind, Vec<Ex>),
    /// The first if the condition is true, else the second. Both can be evaluated in any case.
    Select(Kind, Box<[Ex; 3]>),
    /// `work` executions before this one.
    Iter,
}

impl Ex {
    /// An integer.
    pub fn int(value: i64) -> Ex {
        Ex::Const(Scalar::Int(value as i32))
    }

    /// The constant, if it is one.
    pub fn constant(&self) -> Option<Scalar> {
        if let Ex::Const(scalar) = self { Some(*scalar) } else { None }
    }

    /// The integer, if it is a constant one.
    pub fn as_int(&self) -> Option<i32> {
        if let Ex::Const(Scalar::Int(value)) = self { Some(*value) } else { None }
    }

    /// The sum of two integers.
    pub fn plus(self, other: Ex) -> Ex {
        match (&self, &other) {
            (Ex::Const(Scalar::Int(a)), Ex::Const(Scalar::Int(b))) => Ex::int(a.wrapping_add(*b).into()),
            (_, Ex::Const(Scalar::Int(0))) => self,
            (Ex::Const(Scalar::Int(0)), _) => other,
            (Ex::Binary(BinaryOp::Add, Kind::Int, first, second), Ex::Const(Scalar::Int(b))) => {
                match second.as_int() {
                    Some(a) => (**first).clone().plus(Ex::int(a.wrapping_add(*b).into())),
                    None => Ex::Binary(BinaryOp::Add, Kind::Int, Box::new(self), Box::new(other)),
                }
            }
            _ => Ex::Binary(BinaryOp::Add, Kind::Int, Box::new(self), Box::new(other)),
        }
    }

    /// An integer times a number.
    pub fn times(self, factor: i64) -> Ex {
        match self.as_int() {
            _ if factor == 1 => self,
            Some(value) => Ex::int(i64::from(value.wrapping_mul(factor as i32))),
            None => Ex::Binary(BinaryOp::Mul, Kind::Int, Box::new(self), Box::new(Ex::int(factor))),
        }
    }

    /// Its kind.
    pub fn kind(&self, code: &Code) -> Kind {
        match self {
            Ex::Const(scalar) => scalar.kind(),
            Ex::Var(var) => code.vars[var.0 as usize].kind,
            Ex::Load(_, _, kind) | Ex::Unary(_, kind, _) | Ex::Select(kind, _) => *kind,
            Ex::Binary(op, kind, _, _) => {
                if compares(*op) {
                    Kind::Bool
                } else {
                    *kind
                }
            }
            Ex::Convert(_, to, _) => *to,
            Ex::Math(_, kind, _) => *kind,
            Ex::Iter => Kind::Int,
        }
    }

    /// Calls a function with each part, and those of areas.
    pub fn each(&self, f: &mut dyn FnMut(&Ex)) {
        match self {
            Ex::Const(_) | Ex::Var(_) | Ex::Iter => {}
            Ex::Load(area, at, _) => {
                if let Area::In(item) | Area::Out(item) = area {
                    f(item);
                }
                f(at);
            }
            Ex::Unary(_, _, x) | Ex::Convert(_, _, x) => f(x),
            Ex::Binary(_, _, x, y) => {
                f(x);
                f(y);
            }
            Ex::Math(_, _, args) => args.iter().for_each(f),
            Ex::Select(_, parts) => parts.iter().for_each(f),
        }
    }

    /// The same for changing parts.
    pub fn each_mut(&mut self, f: &mut dyn FnMut(&mut Ex)) {
        match self {
            Ex::Const(_) | Ex::Var(_) | Ex::Iter => {}
            Ex::Load(area, at, _) => {
                if let Area::In(item) | Area::Out(item) = area {
                    f(item);
                }
                f(at);
            }
            Ex::Unary(_, _, x) | Ex::Convert(_, _, x) => f(x),
            Ex::Binary(_, _, x, y) => {
                f(x);
                f(y);
            }
            Ex::Math(_, _, args) => args.iter_mut().for_each(f),
            Ex::Select(_, parts) => parts.iter_mut().for_each(f),
        }
    }
}

/// Whether the result of an operator is boolean.
pub fn compares(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum St {
    /// A variable gets a value.
    Set(Var, Ex),
    /// A cell gets a value: of these kinds.
    Store(Area, Ex, Kind, Ex),
    /// One or the other.
    If(Ex, Vec<St>, Vec<St>),
    /// The variable goes up from the first value by a step as long as it is less than the bound, or
    /// down as long as it is more. Nothing in the body changes it or what the bound is made of.
    For { var: Var, from: Ex, to: Ex, step: i32, body: Vec<St> },
    /// Again and again, until it is left.
    Loop(Vec<St>),
    /// What can be left.
    Block(Label, Vec<St>),
    /// Goes on after the block.
    Leave(Label),
    /// Functions that call themselves, one behind the other: the first begins. A call keeps what is its caller's,
    /// goes to a function, and is the end of a block, where it goes on; a function that ends goes to the label
    /// `back`, from where it goes on behind the block whose number is `to`, or where there is none behind all of it.
    Calls { body: Vec<St>, back: Label, to: Ex, blocks: Vec<Label> },
    /// Where one of them begins.
    At(Label),
    /// Goes to the beginning of one of them, or back from one.
    Go(Label),
    /// Fails if the condition is true, with these integers to be told.
    Check(Ex, u32, Vec<Ex>),
    /// The next number of the filter's sequence.
    Random(Var),
    /// Prints by a format, with these scalars.
    Print(u32, Vec<Ex>),
    /// Sends a message, with this latency where it has one, and these scalars; a place that may fail.
    Send { message: u32, latency: Option<Ex>, args: Vec<Ex>, site: u32 },
    /// Waits until the item this far behind those that have been taken is there; so many have been given.
    Need { taken: Ex, ahead: Ex, given: Ex },
    /// Sees to it that there is room for one item more than have been given.
    Room { given: Ex },
    /// The firing ends, and has moved so many items.
    Moved { taken: Ex, given: Ex },
}

/// What is printed.
#[derive(Clone, PartialEq, Debug)]
pub enum Piece {
    /// Text.
    Text(String),
    /// The value of the next scalars, of a type.
    Value(Type),
}

/// A place that may fail.
#[derive(Clone, PartialEq, Debug)]
pub struct Site {
    /// Where.
    pub span: Span,
    /// Why.
    pub why: Why,
}

/// Why a firing cannot go on; `{0}` and `{1}` stand for the integers of the check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Why(pub String);

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is sent.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// To all who hear this.
    pub portal: u32,
    /// For which of their handlers.
    pub handler: u32,
    /// Whether it has a latency.
    pub timed: bool,
    /// What it is given, as far as that is larger than a number.
    pub shapes: Vec<Option<Shape>>,
    /// How many scalars that is.
    pub cells: usize,
}

/// One firing, or what a handler does.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Code {
    /// Its variables.
    pub vars: Vec<VarInfo>,
    /// Its runs of cells.
    pub mems: Vec<MemInfo>,
    /// What it does.
    pub body: Vec<St>,
    /// What it prints.
    pub formats: Vec<Vec<Piece>>,
    /// What it sends.
    pub messages: Vec<Message>,
    /// Where it may fail.
    pub sites: Vec<Site>,
    /// How many labels there are.
    pub labels: u32,
    /// At dynamic rates: what must be there for a firing to begin.
    pub begins: Begins,
    /// Whether items that it has taken are looked at again later in the firing, so that they stay where they are.
    pub keeps_taken: bool,
}

/// Cells of locals that stand on the stack, and of one of them where there are more.
const ON_STACK: usize = 1 << 14;
const SMALL: usize = 256;

impl Code {
    /// By run of cells: where in the memory for large locals it begins, in cells. A thread's stack has no room for
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

    /// Cells of large locals together.
    pub fn large_cells(&self) -> usize {
        let places = self.large().into_iter().zip(&self.mems);
        places.filter_map(|(place, mem)| Some(place? + mem.cells)).max().unwrap_or(0)
    }
}

/// What must be there for a firing of dynamic rates to begin.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Begins {
    /// Items of the input.
    pub items: u32,
    /// Room for items of the output.
    pub room: u32,
}
