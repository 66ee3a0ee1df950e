//! Promotions, and what is said where there is none.

use super::Resolver;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Type};
use crate::value::Value;

/// Whether a value of one type is taken where another is wanted.
///
/// Bits from integers are no promotion of the language's definition, but published ciphers write
/// `bit b = (word & mask) >> n`.
pub(super) fn promotes(from: &Type, to: &Type) -> bool {
    use Type::{Bit, Boolean, Complex, Float, Int, Vector};
    match (from, to) {
        (Boolean, Bit | Int | Float | Complex | Vector(_)) => true,
        (Bit, Boolean | Int | Float | Complex | Vector(_)) => true,
        (Int, Bit | Float | Complex | Vector(_)) => true,
        (Float, Complex | Vector(_)) => true,
        _ => from == to,
    }
}

/// The type of numbers in which two are calculated with; none where they do not go together.
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

/// The value as another type.
pub(super) fn converted(value: Expr, ty: Type) -> Expr {
    let span = value.span;
    Expr { kind: ExprKind::Convert(Box::new(value)), ty, span }
}

/// A promotion, written out. To complex numbers and vectors it goes by way of floats.
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
    /// A value where one of a certain type is wanted.
    pub fn convert(&mut self, value: Expr, to: &Type) -> Option<Expr> {
        if let (ExprKind::Constant(Value::Int(number)), Type::Bit) = (&value.kind, to)
            && !(0..=1).contains(number)
        {
            let message = format!("`{number}` is no bit");
            return self.error(Diagnostic::new(value.span, message).label("a bit is 0 or 1"));
        }
        if promotes(&value.ty, to) { Some(promoted(value, to)) } else { self.mismatch(&value, to) }
    }

    /// Reports that a value has another type than the one that is wanted.
    fn mismatch<T>(&mut self, value: &Expr, to: &Type) -> Option<T> {
        let (is, wanted) = (self.type_name(&value.ty), self.type_name(to));
        let error = Diagnostic::new(value.span, format!("a `{wanted}` is wanted here, not a `{is}`"))
            .label(format!("this is a `{is}`"));
        self.error(match hint(&value.ty, to) {
            Some(hint) => error.hint(hint),
            None => error,
        })
    }

    /// A condition: integers and bits count as true unless they are 0.
    pub fn condition(&mut self, value: Expr) -> Option<Expr> {
        match value.ty {
            Type::Boolean => Some(value),
            Type::Bit | Type::Int => Some(converted(value, Type::Boolean)),
            _ => self.mismatch(&value, &Type::Boolean),
        }
    }

    /// An integer, as indices, lengths and rates are.
    pub fn integer(&mut self, value: Expr) -> Option<Expr> {
        self.convert(value, &Type::Int)
    }
}

fn hint(from: &Type, to: &Type) -> Option<&'static str> {
    Some(match (from, to) {
        (Type::Float, Type::Int) => "`(int)` before the value drops what is behind the point",
        (Type::Float, Type::Bit) => "compare it, or convert it with `(int)` before",
        (Type::Int | Type::Float, Type::Boolean) => "compare it: `value != 0`",
        (Type::Complex, Type::Float | Type::Int) => "take a part of it (`.real`, `.imag`) or `abs`",
        (Type::Vector(_), Type::Float | Type::Int) => "take a component of it: `.x`, `.y`, `.z`, `.w`",
        _ => return None,
    })
}
