//! Operators and conversions. Constants are folded by the interpreter's own operations.

use super::shape::{components, kind_of};
use super::{Lower, Outcome, Part, Val};
use crate::ir::{Expr, Function, Kind, Scalar};
use thalweg_lang::hir::{BinaryOp, Type, UnaryOp};
use thalweg_lang::value::Value;

/// The type of scalars of a kind.
fn type_of(kind: Kind) -> Type {
    match kind {
        Kind::Bool => Type::Boolean,
        Kind::Int => Type::Int,
        Kind::Float => Type::Float,
    }
}

fn constants(args: &[Expr]) -> Option<Vec<Value>> {
    args.iter().map(|arg| Some(arg.constant()?.value())).collect()
}

impl Lower<'_> {
    pub(super) fn compare(&mut self, op: BinaryOp, first: Expr, second: Expr) -> Expr {
        self.binary_scalar(op, Kind::Int, first, second)
    }

    /// A binary operator on scalars; a division must not fail.
    pub(super) fn binary_scalar(&mut self, op: BinaryOp, kind: Kind, first: Expr, second: Expr) -> Expr {
        if let (Some(a), Some(b)) = (first.constant(), second.constant())
            && let Ok(result) = Value::binary(op, &a.value(), &b.value())
            && let Some(result) = Scalar::of(&result)
        {
            return Expr::Const(result);
        }
        if kind == Kind::Int {
            match (op, first.as_int(), second.as_int()) {
                (BinaryOp::Add, ..) => return first.plus(second),
                (BinaryOp::Sub, _, Some(b)) => return first.plus(Expr::int(i64::from(b.wrapping_neg()))),
                (BinaryOp::Mul | BinaryOp::Div, _, Some(1)) => return first,
                (BinaryOp::Mul, Some(1), _) => return second,
                (BinaryOp::Lt | BinaryOp::Ge, ..) => {
                    let (a, b) = (self.range(&first), self.range(&second));
                    if a.1 < b.0 || a.0 >= b.1 {
                        return Expr::Const(Scalar::Bool((a.1 < b.0) == (op == BinaryOp::Lt)));
                    }
                }
                _ => {}
            }
        }
        if let (BinaryOp::BitOr, Kind::Bool, Some(a), b) = (op, kind, first.constant(), second.constant()) {
            return if a == Scalar::Bool(true) { Expr::Const(a) } else { b.map_or(second, Expr::Const) };
        }
        if let (BinaryOp::BitOr, Kind::Bool, Some(Scalar::Bool(false))) = (op, kind, second.constant()) {
            return first;
        }
        Expr::Binary(op, kind, Box::new(first), Box::new(second))
    }

    /// A binary operator on values of one type.
    pub(super) fn binary(&mut self, op: BinaryOp, ty: &Type, first: Val, second: Val) -> Outcome<Val> {
        match (first, second) {
            (Val::Scalar(a), Val::Scalar(b)) => {
                let kind = kind_of(ty)?;
                if kind == Kind::Int && matches!(op, BinaryOp::Div | BinaryOp::Rem) {
                    return Ok(Val::Scalar(self.divide(op, a, b)));
                }
                Ok(Val::Scalar(self.binary_scalar(op, kind, a, b)))
            }
            (Val::Cells(a), Val::Cells(b)) => self.binary_cells(op, ty, a, b),
            (Val::Text(mut a), Val::Text(b)) if op == BinaryOp::Add => {
                a.extend(b);
                Ok(Val::Text(a))
            }
            _ => Err("an operator is applied to arrays or structures".into()),
        }
    }

    fn divide(&mut self, op: BinaryOp, a: Expr, b: Expr) -> Expr {
        let (low, high) = self.range(&b);
        if low > 0 || high < 0 {
            return self.binary_scalar(op, Kind::Int, a, b);
        }
        let (a, b) = (self.spill(a), self.spill(b));
        let zero = self.compare(BinaryOp::Eq, b.clone(), Expr::int(0));
        self.check(zero, "{0} is divided by zero".to_owned(), vec![a.clone()]);
        if self.alive { self.binary_scalar(op, Kind::Int, a, b) } else { Expr::int(0) }
    }

    fn binary_cells(&mut self, op: BinaryOp, ty: &Type, a: Vec<Expr>, b: Vec<Expr>) -> Outcome<Val> {
        match op {
            BinaryOp::Eq | BinaryOp::Ne => {
                let join = if op == BinaryOp::Eq { BinaryOp::BitAnd } else { BinaryOp::BitOr };
                let mut all = None;
                for (a, b) in a.into_iter().zip(b) {
                    let one = self.binary_scalar(op, Kind::Float, a, b);
                    all = Some(match all {
                        None => one,
                        Some(all) => self.binary_scalar(join, Kind::Bool, all, one),
                    });
                }
                Ok(Val::Scalar(all.ok_or("vectors without components are compared")?))
            }
            BinaryOp::Mul | BinaryOp::Div if *ty == Type::Complex => self.complex(op, a, b),
            _ => {
                let parts = a.into_iter().zip(b);
                Ok(Val::Cells(parts.map(|(a, b)| self.binary_scalar(op, Kind::Float, a, b)).collect()))
            }
        }
    }

    /// Multiplication and division in the order of operations of [`Value::binary`].
    fn complex(&mut self, op: BinaryOp, a: Vec<Expr>, b: Vec<Expr>) -> Outcome<Val> {
        let mut spilled =
            |parts: Vec<Expr>| -> Vec<Expr> { parts.into_iter().map(|part| self.spill(part)).collect() };
        let (first, second) = (spilled(a), spilled(b));
        let ([a, b], [c, d]) = (&first[..], &second[..]) else {
            return Err("an operand is not a complex number".into());
        };
        let mut two = |op, x: &Expr, y: &Expr| self.binary_scalar(op, Kind::Float, x.clone(), y.clone());
        use BinaryOp::{Add, Div, Mul, Sub};
        let (ac, bd, ad, bc) = (two(Mul, a, c), two(Mul, b, d), two(Mul, a, d), two(Mul, b, c));
        if op == Mul {
            return Ok(Val::Cells(vec![two(Sub, &ac, &bd), two(Add, &ad, &bc)]));
        }
        let (cc, dd) = (two(Mul, c, c), two(Mul, d, d));
        let (n, re, im) = (two(Add, &cc, &dd), two(Add, &ac, &bd), two(Sub, &bc, &ad));
        let n = self.spill(n);
        let mut two = |op, x: Expr, y: &Expr| self.binary_scalar(op, Kind::Float, x, y.clone());
        Ok(Val::Cells(vec![two(Div, re, &n), two(Div, im, &n)]))
    }

    pub(super) fn unary(&mut self, op: UnaryOp, value: Val) -> Outcome<Val> {
        Ok(match value {
            Val::Scalar(x) => Val::Scalar(self.unary_scalar(op, x)),
            Val::Cells(parts) => {
                Val::Cells(parts.into_iter().map(|part| self.unary_scalar(op, part)).collect())
            }
            _ => return Err("an operator is applied to an array or structure".into()),
        })
    }

    pub(super) fn unary_scalar(&mut self, op: UnaryOp, x: Expr) -> Expr {
        if let Some(a) = x.constant()
            && let Ok(result) = a.value().unary(op)
            && let Some(result) = Scalar::of(&result)
        {
            return Expr::Const(result);
        }
        Expr::Unary(op, x.kind(&self.code), Box::new(x))
    }

    pub(super) fn convert_scalar(&mut self, x: Expr, from: Kind, to: Kind) -> Expr {
        if from == to {
            return x;
        }
        if let Some(a) = x.constant()
            && let Ok(result) = a.value().convert(&type_of(from), &type_of(to))
            && let Some(result) = Scalar::of(&result)
        {
            return Expr::Const(result);
        }
        Expr::Convert(from, to, Box::new(x))
    }

    /// Converts in the way of [`Value::convert`].
    pub(super) fn convert(&mut self, value: Val, from: &Type, to: &Type) -> Outcome<Val> {
        let float = |x| Expr::Const(Scalar::Float(x));
        Ok(match (value, to) {
            (Val::Text(parts), Type::String) => Val::Text(parts),
            (Val::Scalar(x), Type::String) => Val::Text(vec![Part::Value(vec![x], from.clone())]),
            (Val::Cells(parts), Type::String) => Val::Text(vec![Part::Value(parts, from.clone())]),
            (value, to) if from == to => value,
            (Val::Scalar(x), to) => match components(to) {
                None => {
                    let (from, to) = (kind_of(from)?, kind_of(to)?);
                    Val::Scalar(self.convert_scalar(x, from, to))
                }
                Some(count) => {
                    let x = self.convert_scalar(x, kind_of(from)?, Kind::Float);
                    if *to == Type::Complex {
                        Val::Cells(vec![x, float(0.0)])
                    } else {
                        Val::Cells(vec![self.spill(x); count])
                    }
                }
            },
            (Val::Cells(mut parts), Type::Vector(count)) if matches!(from, Type::Vector(_)) => {
                parts.resize(usize::from(*count), float(0.0));
                Val::Cells(parts)
            }
            (Val::Cells(parts), Type::Bit | Type::Boolean) if *from == Type::Complex => {
                let zero = vec![float(0.0), float(0.0)];
                self.binary_cells(BinaryOp::Ne, from, parts, zero)?
            }
            (Val::Cells(mut parts), to) if *from == Type::Complex => {
                let real = parts.swap_remove(0);
                let real = Val::Scalar(real);
                return self.convert(real, &Type::Float, to);
            }
            (value @ Val::Area(..), _) => value,
            _ => return Err("unsupported conversion".into()),
        })
    }

    /// Applies a function to scalars.
    pub(super) fn math(&mut self, function: Function, args: Vec<Expr>) -> Outcome<Expr> {
        if let Some(values) = constants(&args) {
            let result = function.of(&values).map_err(|fault| fault.0)?;
            return Ok(Expr::Const(
                Scalar::of(&result).ok_or("a built-in function does not return a scalar")?,
            ));
        }
        let kind = args.first().map_or(Kind::Float, |arg| arg.kind(&self.code));
        Ok(Expr::Math(function, kind, args))
    }
}
