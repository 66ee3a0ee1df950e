//! Typed expressions.

use super::Type;
use crate::source::Span;
use crate::value::Value;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// The kind.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: Type,
    /// Its place.
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A constant.
    Constant(Value),
    /// Reads a place; the value is a copy.
    Read(Place),
    /// A prefix operator; the result has the operand's type.
    Unary(UnaryOp, Box<Expr>),
    /// Binary operators from left to right: an operand, and what follows it. So a long sum is no deep tree.
    Binary(Box<Expr>, Vec<Link>),
    /// `&&` of two or more: evaluates an operand only if those before it are true. All are boolean.
    And(Vec<Expr>),
    /// `||` of two or more: evaluates an operand only if those before it are false. All are boolean.
    Or(Vec<Expr>),
    /// `condition ? first : second`; the condition is boolean, the branches have one type.
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Converts a value to [`Expr::ty`]: a promotion or a cast. See [`Value::convert`].
    Convert(Box<Expr>),
    /// `++x`, `x--` and the like, on an integer or float.
    Step {
        /// The operand.
        place: Place,
        /// 1 or -1.
        by: i32,
        /// Whether the result is the new value.
        before: bool,
    },
    /// A call; arguments have the parameters' types.
    Call(Callee, Vec<Expr>),
    /// Pops an item.
    Pop,
    /// Peeks at an item by index; index 0 is the next item to be popped.
    Peek(Box<Expr>),
    /// The number of completed executions of this filter's `work`.
    Iter,
    /// A vector of floats or a complex number from its components.
    Compose(Vec<Expr>),
}

/// A step from the value of all that is before it in an [`ExprKind::Binary`] to the next value.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// The step.
    pub kind: LinkKind,
    /// The type of the next value.
    pub ty: Type,
    /// The place of everything up to here.
    pub span: Span,
}

/// Kinds of links.
#[derive(Clone, PartialEq, Debug)]
pub enum LinkKind {
    /// A binary operator with its second operand, of the same type as the value (for shifts: two integers).
    Operator(BinaryOp, Expr),
    /// Converts the value, as [`ExprKind::Convert`] does.
    Convert,
}

impl Expr {
    /// A binary operator on two operands. It extends the first operand, if that ends with one.
    pub fn binary(op: BinaryOp, first: Expr, second: Expr, ty: Type) -> Expr {
        let span = first.span.to(second.span);
        let (first, mut links) = first.into_links();
        links.push(Link { kind: LinkKind::Operator(op, second), ty: ty.clone(), span });
        Expr { kind: ExprKind::Binary(Box::new(first), links), ty, span }
    }

    /// The first operand of a value, and what follows it.
    fn into_links(self) -> (Expr, Vec<Link>) {
        let (mut value, mut conversions) = (self, Vec::new());
        loop {
            match value.kind {
                ExprKind::Binary(first, mut links) => {
                    links.extend(conversions.into_iter().rev());
                    return (*first, links);
                }
                ExprKind::Convert(inner) if inner.ends_with_operator() => {
                    conversions.push(Link { kind: LinkKind::Convert, ty: value.ty, span: value.span });
                    value = *inner;
                }
                kind => return (Expr { kind, ..value }, Vec::new()),
            }
        }
    }

    /// Whether it is a binary operator, converted or not.
    fn ends_with_operator(&self) -> bool {
        match &self.kind {
            ExprKind::Binary(..) => true,
            ExprKind::Convert(inner) => inner.ends_with_operator(),
            _ => false,
        }
    }

    /// The operator and its operands, if it is a single one.
    pub fn as_binary(&self) -> Option<(BinaryOp, &Expr, &Expr)> {
        match &self.kind {
            ExprKind::Binary(first, links) => match &links[..] {
                [Link { kind: LinkKind::Operator(op, second), .. }] => Some((*op, first, second)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The operands of an [`ExprKind::Binary`], from left to right.
    pub fn operands<'e>(first: &'e Expr, links: &'e [Link]) -> impl Iterator<Item = &'e Expr> {
        let seconds = links.iter().filter_map(|link| match &link.kind {
            LinkKind::Operator(_, second) => Some(second),
            LinkKind::Convert => None,
        });
        std::iter::once(first).chain(seconds)
    }
}

/// The target of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A function of the filter: an index into [`Filter::functions`](super::Filter::functions).
    Function(u32),
    /// A helper function: an index into [`Program::helpers`](super::Program::helpers).
    Helper(u32),
    /// A native function: an index into [`Program::natives`](super::Program::natives).
    Native(u32),
    /// A built-in function.
    Builtin(Builtin),
}

/// A location that holds a value.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    /// The variable.
    pub root: Root,
    /// The accesses from the variable to the value.
    pub path: Vec<Step>,
}

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Root {
    /// An index into the body's [`locals`](super::Body::locals).
    Local(u32),
    /// A parameter of the stream; it is never assigned to.
    Param(u32),
    /// An index into the filter's [`fields`](super::Filter::fields).
    Field(u32),
    /// An index into the program's [`globals`](super::Program::globals).
    Global(u32),
}

/// An access to a part of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// A field of a structure, or a component of a complex number (`real`, `imag`) or a vector (`x`, `y`, `z`,
    /// `w`), by index.
    Field(u32),
    /// An element of an array; the index is an integer from 0.
    Index(Expr),
}

/// Prefix operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `-` of integers, floats, complex numbers and vectors.
    Negate,
    /// `!` of booleans.
    Not,
    /// `~` of integers and bits.
    Complement,
}

/// Binary operators on two operands of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// `+` of numbers; concatenation of strings.
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`; integer division truncates toward zero.
    Div,
    /// `%` of integers, with the sign of the dividend; also of floats.
    Rem,
    /// `<<` of integers, by the low five bits of the second operand.
    ShiftLeft,
    /// Arithmetic `>>` of integers, by the low five bits of the second operand.
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
    /// The operator in StreamIt and C.
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

/// Built-in functions. Unless noted, they take one float and return a float.
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
    /// Two floats.
    Atan2,
    /// Two floats.
    Pow,
    /// An integer or a float; the result has the same type.
    Abs,
    /// The absolute value of a complex number.
    AbsComplex,
    /// A complex number; the result is complex. The following likewise.
    CosComplex,
    ExpComplex,
    LogComplex,
    SinComplex,
    SqrtComplex,
    /// Two integers or two floats.
    Max,
    /// Two integers or two floats.
    Min,
    /// No argument: the next number of the filter's own sequence, at least 0 and below 1.
    Random,
    /// A file name and a count: an array of that many integers, read from a text file.
    LoadInts,
    /// A file name and a count: an array of that many floats, read from a text file.
    LoadFloats,
}
