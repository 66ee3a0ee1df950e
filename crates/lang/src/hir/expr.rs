//! Expressions with types.

use super::Type;
use crate::source::Span;
use crate::value::Value;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A constant.
    Constant(Value),
    /// What stands in a place; a copy of it.
    Read(Place),
    /// An operator before a value, of the value's type.
    Unary(UnaryOp, Box<Expr>),
    /// An operator between two values of one type (of a shift: two integers).
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `&&`: the second only if the first is true. Both are boolean.
    And(Box<Expr>, Box<Expr>),
    /// `||`: the second only if the first is false. Both are boolean.
    Or(Box<Expr>, Box<Expr>),
    /// `condition ? first : second`; the condition is boolean and the others of one type.
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The value as [`Expr::ty`]: a promotion, or a cast. See [`Value::convert`].
    Convert(Box<Expr>),
    /// `++x`, `x--` and the like, of an integer or float.
    Step {
        /// What is changed.
        place: Place,
        /// By 1, or by -1.
        by: i32,
        /// Whether the value is the new one.
        before: bool,
    },
    /// A call; arguments have the parameters' types.
    Call(Callee, Vec<Expr>),
    /// Takes the next item.
    Pop,
    /// Looks at an item further on; 0 is what would be popped next.
    Peek(Box<Expr>),
    /// How often this filter's `work` has been executed before.
    Iter,
    /// A vector of floats, or a complex number, by its components.
    Compose(Vec<Expr>),
}

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A function of the filter, by its place among [`Filter::functions`](super::Filter::functions).
    Function(u32),
    /// A function of all filters, by its place among [`Program::helpers`](super::Program::helpers).
    Helper(u32),
    /// A function that is somewhere else, by its place among [`Program::natives`](super::Program::natives).
    Native(u32),
    /// One that the language has.
    Builtin(Builtin),
}

/// Where a value stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    /// The variable.
    pub root: Root,
    /// The way from there into it.
    pub path: Vec<Step>,
}

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Root {
    /// By its place among the body's [`locals`](super::Body::locals).
    Local(u32),
    /// Of the stream; nobody changes it.
    Param(u32),
    /// By its place among the filter's [`fields`](super::Filter::fields).
    Field(u32),
    /// By its place among the program's [`globals`](super::Program::globals).
    Global(u32),
}

/// A step into a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// A field of a structure, or a component of a complex number (`real`, `imag`) or of a vector of
    /// floats (`x`, `y`, `z`, `w`), by its place.
    Field(u32),
    /// An element of an array, by an integer from 0.
    Index(Expr),
}

/// Operators before a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `-` of integers, floats, complex numbers and vectors.
    Negate,
    /// `!` of booleans.
    Not,
    /// `~` of integers and bits.
    Complement,
}

/// Operators between two values of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// `+` of numbers; of strings, one after the other.
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`; of integers toward zero.
    Div,
    /// `%` of integers, with the sign of the first; of floats as well.
    Rem,
    /// `<<` of integers, by the low five bits.
    ShiftLeft,
    /// `>>` of integers, with the sign, by the low five bits.
    ShiftRight,
    /// `&` of integers, bits and booleans.
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `==`; the result of this and the following is boolean.
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl BinaryOp {
    /// The sign that the source has for it, and C too.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
        }
    }
}

/// Functions of the language. Where nothing is said, of a float, with a float as the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names of mathematics")]
pub enum Builtin {
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Ceil,
    Cos,
    Cosh,
    Exp,
    Floor,
    Log,
    Log10,
    Rint,
    Round,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
    /// Of two.
    Atan2,
    /// Of two.
    Pow,
    /// Of an integer or a float, with the same type as the result.
    Abs,
    /// The absolute value of a complex number.
    AbsComplex,
    /// Of a complex number, with one as the result; as the following.
    CosComplex,
    ExpComplex,
    LogComplex,
    SinComplex,
    SqrtComplex,
    /// Of two integers or two floats.
    Max,
    /// Of two integers or two floats.
    Min,
    /// Of nothing: a number from 0 up to 1, of the filter's own sequence.
    Random,
    /// Of a file's name and a count: an array of that many integers, from the text in the file.
    LoadInts,
    /// The same for floats.
    LoadFloats,
}
