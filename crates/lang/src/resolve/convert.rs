//! Promotions, and errors where there is none.

use super::Resolver;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Type};
use crate::value::Value;

/// Whether a value of one type is accepted where another is expected.
///
/// The language's definition has no promotion from integers to bits, but published ciphers write
/// `bit b = (word & mask) >> n`.
pub(super) fn promotes(from: &Type, to: &Type) -> bool {
    use Type::{Bit, Boolean, Complex, Float, Int, Vector};
    match (from, to) {
        (Boolean, Bit | Int | Float | Complex | Vector(_)) => true,
        (Bit, Int | Float | Complex | Vector(_)) => true,
        (Int, Bit | Float | Complex | Vector(_)) => true,
        (Float, Complex | Vector(_)) => true,
        _ => from == to,
    }
}

/// The common numeric type of two operands; `None` if they are incompatible.
pub(super) fn common(first: &Type, second: &Type) -> Option<Type> {
    use Type::{Bit, Boolean, Complex, Float, Int, Vector};
    Some(match (first, second) {
        _ if first == second => first.clone(),
        (Vector(_), Boolean | Bit | Int | Float) => first.clone(),
        (Boolean | Bit | Int | Float, Vector(_)) => second.clone(),
        (Complex, Boolean | Bit | Int | Float) | (Boolean | Bit | Int | Float, Complex) => Complex,
        (Float, Boolean | Bit | Int) | (Boolean | Bit | Int, Float) => Float,
        (Int, Boolean | Bit) | (Boolean | Bit, Int) => Int,
        (Bit, Boolean) | (Boolean, Bit) => Bit,
        _ => return None,
    })
}

/// Wraps a value in a conversion.
pub(super) fn converted(value: Expr, ty: Type) -> Expr {
    let span = value.span;
    Expr { kind: ExprKind::Convert(Box::new(value)), ty, span }
}

/// Makes a promotion explicit. Promotions to complex numbers and vectors go through `float`.
pub(super) fn promoted(value: Expr, to: &Type) -> Expr {
    if value.ty == *to {
        return value;
    }
    if let (ExprKind::Constant(Value::Int(bit @ (0 | 1))), Type::Bit) = (&value.kind, to) {
        return Expr { kind: ExprKind::Constant(Value::Bool(*bit == 1)), ty: Type::Bit, span: value.span };
    }
    match to {
        Type::Complex | Type::Vector(_) => converted(promoted(value, &Type::Float), to.clone()),
        _ => converted(value, to.clone()),
    }
}

impl Resolver<'_> {
    /// Converts a value to the expected type.
    pub fn convert(&mut self, value: Expr, to: &Type) -> Option<Expr> {
        if let (ExprKind::Constant(Value::Int(number)), Type::Bit) = (&value.kind, to)
            && !(0..=1).contains(number)
        {
            let message = format!("expected a `bit`, found `{number}`");
            return self.error(Diagnostic::new(value.span, message).label("a bit is 0 or 1"));
        }
        if promotes(&value.ty, to) { Some(promoted(value, to)) } else { self.mismatch(&value, to) }
    }

    /// Reports a value of the wrong type.
    fn mismatch<T>(&mut self, value: &Expr, to: &Type) -> Option<T> {
        let (found, expected) = (self.type_with_article(&value.ty), self.type_with_article(to));
        let error = Diagnostic::new(value.span, format!("expected {expected}, found {found}"))
            .label(format!("this is {found}"));
        self.error(match hint(&value.ty, to) {
            Some(hint) => error.hint(hint),
            None => error,
        })
    }

    /// A condition: integers and bits are true unless they are 0.
    pub fn condition(&mut self, value: Expr) -> Option<Expr> {
        match value.ty {
            Type::Boolean => Some(value),
            Type::Bit | Type::Int => Some(converted(value, Type::Boolean)),
            _ => self.mismatch(&value, &Type::Boolean),
        }
    }

    /// Converts an index, length or rate to an integer.
    pub fn integer(&mut self, value: Expr) -> Option<Expr> {
        self.convert(value, &Type::Int)
    }
}

fn hint(from: &Type, to: &Type) -> Option<&'static str> {
    Some(match (from, to) {
        (Type::Float, Type::Int) => "cast it with `(int)`, which drops the fraction",
        (Type::Float, Type::Bit) => "compare it, or cast it with `(int)` first",
        (Type::Bit | Type::Int | Type::Float, Type::Boolean) => "compare it: `value != 0`",
        (Type::Complex, Type::Float | Type::Int) => "use `.real`, `.imag` or `abs`",
        (Type::Vector(_), Type::Float | Type::Int) => "use a component: `.x`, `.y`, `.z`, `.w`",
        _ => return None,
    })
}
