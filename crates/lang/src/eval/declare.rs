//! Declarations: shapes and first values.

use super::MAX_WORDS;
use super::machine::{Machine, Outcome, fail, failure};
use crate::hir::{Expr, Init, Shaped, Type};
use crate::source::Span;
use crate::value::{Shape, Value, wrong_length};

/// How many dimensions an array may have.
const MAX_DIMENSIONS: usize = 64;

impl<'p> Machine<'p, '_> {
    /// The shape of a declared type: its lengths are evaluated here and now.
    ///
    /// # Errors
    /// A length cannot be evaluated, is negative, or the whole is too large.
    pub fn shape(&mut self, shaped: &'p Shaped) -> Outcome<Shape> {
        let mut innermost = &shaped.ty;
        let mut lengths = Vec::with_capacity(shaped.lengths.len());
        for length in &shaped.lengths {
            let Type::Array(element) = innermost else {
                return fail(length.span, "there are more lengths than dimensions");
            };
            innermost = element;
            lengths.push(self.length(length)?);
        }
        let span = shaped.lengths.first().map_or_else(Span::default, |length| length.span);
        if lengths.len() > MAX_DIMENSIONS || matches!(innermost, Type::Array(_)) {
            return fail(span, format!("an array has up to {MAX_DIMENSIONS} dimensions, each with a length"));
        }
        let shape = lengths.into_iter().rev().fold(Shape::of(innermost), Shape::array);
        match shape.words(self.code.structs, MAX_WORDS) {
            Some(_) => Ok(shape),
            None => fail(
                span,
                format!("`{shape}` is too large: a value takes up to {MAX_WORDS} words of 4 bytes"),
            ),
        }
    }

    /// A length of an array.
    pub(super) fn length(&mut self, expr: &'p Expr) -> Outcome<usize> {
        let length = self.eval_int(expr)?;
        usize::try_from(length)
            .or_else(|_| fail(expr.span, format!("the length of an array is {length}, which is negative")))
    }

    /// The first value of a variable.
    ///
    /// # Errors
    /// It cannot be evaluated, or does not have the shape.
    pub fn first_value(&mut self, shape: &Shape, init: Option<&'p Init>, span: Span) -> Outcome<Value> {
        match init {
            Some(Init::Value(expr)) => {
                let value = self.eval(expr)?;
                check_lengths(&value, shape, self.code.structs, expr.span)?;
                Ok(value)
            }
            Some(Init::List(inits)) => self.list(shape, inits, span),
            None => Ok(self.zero(shape)),
        }
    }

    fn list(&mut self, shape: &Shape, inits: &'p [Init], span: Span) -> Outcome<Value> {
        self.guard(span)?;
        let Shape::Array(element, length) = shape else {
            return fail(span, format!("a list of values is given for one of type {shape}"));
        };
        if inits.len() != *length {
            return fail(span, wrong_length(inits.len(), *length));
        }
        let mut values = Vec::with_capacity(*length);
        for init in inits {
            values.push(self.first_value(element, Some(init), span)?);
        }
        Ok(Value::Array(values.into()))
    }

    /// The first value where none is said. Portals are new ones.
    fn zero(&mut self, shape: &Shape) -> Value {
        let mut value = Value::zero(shape, self.code.structs);
        if is_portal(shape) {
            self.number_portals(&mut value);
        }
        value
    }

    fn number_portals(&mut self, value: &mut Value) {
        match value {
            Value::Portal(number) => {
                *number = self.next_portal;
                self.next_portal += 1;
            }
            Value::Array(elements) => {
                elements.values_mut().iter_mut().for_each(|element| self.number_portals(element))
            }
            _ => {}
        }
    }

    /// A local begins.
    pub(super) fn declare(
        &mut self,
        local: u32,
        ty: &'p Shaped,
        init: Option<&'p Init>,
        span: Span,
    ) -> Outcome<()> {
        let value = match (&ty.ty, init) {
            (Type::Array(_) | Type::Struct(_) | Type::Portal(_), _) => {
                let shape = self.shape(ty)?;
                // A size that can be had has been checked by `shape`.
                let words = shape.words(self.code.structs, MAX_WORDS).unwrap_or(MAX_WORDS);
                self.step(words / 8, span)?;
                self.take_room(words, span)?;
                self.first_value(&shape, init, span)?
            }
            (_, Some(Init::Value(expr))) => self.eval(expr)?,
            (ty, None) => Value::zero_scalar(ty),
            (_, Some(Init::List(_))) => {
                return fail(span, "a list of values is given for one that has no parts");
            }
        };
        let slot = self.scratch.locals.get_mut(self.frame + local as usize);
        let slot = slot.ok_or_else(|| failure(span, "there is no such variable here"))?;
        let old = std::mem::replace(slot, value);
        if let Value::Array(_) | Value::Struct(_) = old {
            // Text in it may be longer than when it was made.
            let words = old.words().min(self.frame_words);
            self.frame_words -= words;
            self.budget.give(words);
        }
        Ok(())
    }

    /// Takes room in the innermost call.
    pub(super) fn take_room(&mut self, words: u64, span: Span) -> Outcome<()> {
        if !self.budget.take(words) {
            return fail(span, "all variables together take too much memory");
        }
        self.frame_words += words;
        Ok(())
    }
}

fn is_portal(shape: &Shape) -> bool {
    match shape {
        Shape::Array(element, _) => is_portal(element),
        shape => matches!(shape, Shape::Scalar(Type::Portal(_))),
    }
}

/// Whether a value looks as it is declared, lengths of arrays included.
pub(super) fn check_lengths(value: &Value, shape: &Shape, structs: &[Vec<Shape>], span: Span) -> Outcome<()> {
    if value.fits(shape, structs) {
        return Ok(());
    }
    match value {
        Value::Array(_) => fail(span, format!("an array {} is given for `{shape}`", value.lengths())),
        other => fail(span, format!("{} is given for `{shape}`", other.kind())),
    }
}
