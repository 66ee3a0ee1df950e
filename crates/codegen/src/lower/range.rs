//! Value ranges of integer expressions.

use super::Lower;
use super::known::{ANY, Range};
use crate::ir::{Area, Expr, Function, Kind, MemKind, Scalar};
use thalweg_lang::hir::{BinaryOp, Builtin};

impl Lower<'_> {
    /// The range of an expression; all integers if it is not an integer.
    pub(super) fn range(&self, ex: &Expr) -> Range {
        match ex {
            Expr::Const(Scalar::Int(value)) => (i64::from(*value), i64::from(*value)),
            Expr::Const(Scalar::Bool(value)) => (i64::from(*value), i64::from(*value)),
            Expr::Var(var) => self.known.range(*var),
            Expr::Convert(Kind::Bool, Kind::Int, _) => (0, 1),
            Expr::Select(Kind::Int, parts) => {
                let (a, b) = (self.range(&parts[1]), self.range(&parts[2]));
                (a.0.min(b.0), a.1.max(b.1))
            }
            Expr::Binary(op, Kind::Int, x, y) => self.range_of(*op, x, y),
            Expr::Math(Function::Whole(Builtin::Max), Kind::Int, args) => {
                let (a, b) = (self.range(&args[0]), self.range(&args[1]));
                (a.0.max(b.0), a.1.max(b.1))
            }
            Expr::Math(Function::Whole(Builtin::Min), Kind::Int, args) => {
                let (a, b) = (self.range(&args[0]), self.range(&args[1]));
                (a.0.min(b.0), a.1.min(b.1))
            }
            Expr::Load(Area::Mem(mem), _, Kind::Int) => match &self.code.mems[mem.0 as usize].kind {
                MemKind::Table(values) => table(values),
                _ => ANY,
            },
            _ => ANY,
        }
    }

    fn range_of(&self, op: BinaryOp, x: &Expr, y: &Expr) -> Range {
        let (a, b) = (self.range(x), self.range(y));
        let positive = a.0 >= 0;
        within(match op {
            BinaryOp::Add => (a.0 + b.0, a.1 + b.1),
            BinaryOp::Sub => (a.0 - b.1, a.1 - b.0),
            BinaryOp::Mul => {
                let corners = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
                (corners.into_iter().min().unwrap_or(0), corners.into_iter().max().unwrap_or(0))
            }
            BinaryOp::Div if b.0 > 0 => (a.0.min(a.0 / b.0), a.1.max(a.1 / b.0))
                .pipe(|(low, high)| if positive { (a.0 / b.1, a.1 / b.0) } else { (low, high) }),
            BinaryOp::Rem if b.0 > 0 && positive => (0, a.1.min(b.1 - 1)),
            BinaryOp::Rem if b.0 > 0 => (1 - b.1, b.1 - 1),
            BinaryOp::BitAnd if b.0 >= 0 && positive => (0, a.1.min(b.1)),
            BinaryOp::BitAnd if b.0 >= 0 => (0, b.1),
            BinaryOp::BitAnd if positive => (0, a.1),
            BinaryOp::BitOr | BinaryOp::BitXor if positive && b.0 >= 0 => (0, ones(a.1.max(b.1))),
            BinaryOp::ShiftRight if b.0 == b.1 && (0..32).contains(&b.0) => (a.0 >> b.0, a.1 >> b.0),
            BinaryOp::ShiftRight if positive => (0, a.1),
            BinaryOp::ShiftLeft if b.0 == b.1 && (0..32).contains(&b.0) && positive => {
                (a.0 << b.0, a.1 << b.0)
            }
            _ => ANY,
        })
    }
}

trait Pipe: Sized {
    fn pipe<T>(self, f: impl FnOnce(Self) -> T) -> T {
        f(self)
    }
}

impl Pipe for Range {}

/// The range of a result that wraps at 32 bits: all integers where it may overflow.
fn within(range: Range) -> Range {
    if range.0 < ANY.0 || range.1 > ANY.1 { ANY } else { range }
}

/// The least number of the form 2^k - 1 that is not less.
fn ones(value: i64) -> i64 {
    if value <= 0 { 0 } else { (1 << (64 - value.leading_zeros())) - 1 }
}

fn table(values: &[Scalar]) -> Range {
    let numbers = values.iter().map(|value| match value {
        Scalar::Int(value) => i64::from(*value),
        _ => 0,
    });
    let (low, high) = (numbers.clone().min(), numbers.max());
    (low.unwrap_or(ANY.0), high.unwrap_or(ANY.1))
}
