//! Declarations: shapes and initial values.

use super::MAX_WORDS;
use super::machine::{Machine, Outcome, fail, failure};
use crate::hir::{Expr, Init, Shaped, Type};
use crate::source::Span;
use crate::value::{Shape, Value, wrong_length};

/// The limit of array dimensions.
const MAX_DIMENSIONS: usize = 64;

impl<'p> Machine<'p, '_> {
    /// Evaluates the array lengths of a declared type.
    ///
    /// # Errors
    /// A length fails to evaluate or is negative, or the value is too large.
    pub fn shape(&mut self, shaped: &'p Shaped) -> Outcome<Shape> {
        let mut innermost = &shaped.ty;
        let mut lengths = Vec::with_capacity(shaped.lengths.len());
        for length in &shaped.lengths {
            let Type::Array(element) = innermost else {
                return fail(length.span, "more lengths than dimensions");
            };
            innermost = element;
            lengths.push(self.length(length)?);
        }
        let span = shaped.lengths.first().map_or_else(Span::default, |length| length.span);
        if lengths.len() > MAX_DIMENSIONS || matches!(innermost, Type::Array(_)) {
            return fail(
                span,
                format!("an array can have at most {MAX_DIMENSIONS} dimensions, each with a length"),
            );
        }
        let shape = lengths.into_iter().rev().fold(Shape::of(innermost), Shape::array);
        match shape.words(self.code.structs, MAX_WORDS) {
            Some(_) => Ok(shape),
            None => fail(
                span,
                format!("`{shape}` is too large: the limit of a value is {MAX_WORDS} words of 4 bytes"),
            ),
        }
    }

    /// A length of an array.
    pub(super) fn length(&mut self, expr: &'p Expr) -> Outcome<usize> {
        let length = self.eval_int(expr)?;
        usize::try_from(length).or_else(|_| fail(expr.span, format!("array length {length} is negative")))
    }

    /// The initial value of a variable.
    ///
    /// # Errors
    /// It fails to evaluate or does not have the shape.
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
            return fail(span, format!("expected a value of type {shape}, found a list"));
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

    /// The default initial value. Portals get new numbers.
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

    /// Initialises a local.
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
                // `shape` has rejected sizes above the limit.
                let words = shape.words(self.code.structs, MAX_WORDS).unwrap_or(MAX_WORDS);
                self.step(words / 8, span)?;
                self.reserve_local(words, span)?;
                self.first_value(&shape, init, span)?
            }
            (_, Some(Init::Value(expr))) => self.eval(expr)?,
            (ty, None) => Value::zero_scalar(ty),
            (_, Some(Init::List(_))) => {
                return fail(span, "expected a single value, found a list");
            }
        };
        let slot = self.scratch.locals.get_mut(self.frame + local as usize);
        let slot = slot.ok_or_else(|| failure(span, "unknown variable"))?;
        let old = std::mem::replace(slot, value);
        if let Value::Array(_) | Value::Struct(_) = old {
            // A string in it may have grown since the memory was accounted for.
            let words = old.words().min(self.frame_words);
            self.frame_words -= words;
            self.budget.release(words);
        }
        Ok(())
    }

    /// Accounts for memory in the innermost call.
    pub(super) fn reserve_local(&mut self, words: u64, span: Span) -> Outcome<()> {
        if !self.budget.reserve(words) {
            return fail(span, "the variables together take too much memory");
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

/// Checks that a value has its declared shape, array lengths included.
pub(super) fn check_lengths(value: &Value, shape: &Shape, structs: &[Vec<Shape>], span: Span) -> Outcome<()> {
    if value.fits(shape, structs) {
        return Ok(());
    }
    match value {
        Value::Array(_) => fail(span, format!("expected `{shape}`, found an array {}", value.lengths())),
        other => fail(span, format!("expected `{shape}`, found {}", other.kind())),
    }
}
