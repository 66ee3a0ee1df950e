//! Places: variables, fields and elements.

use super::Fault;
use super::machine::{Machine, Outcome, WithSpan, fail};
use crate::hir::{BinaryOp, Expr, Place, Step, Type};
use crate::source::Span;
use crate::value::{ElementMut, Value};
use std::borrow::Cow;

impl<'p> Machine<'p, '_> {
    /// A copy of the value in a place.
    #[inline]
    pub(super) fn read(&mut self, place: &'p Place, span: Span) -> Outcome<Value> {
        if place.path.is_empty() {
            let value = self.root(place.root, span)?.clone();
            return self.copied(value, span);
        }
        let mark = self.indices(place)?;
        let root = self.root(place.root, span)?;
        let value = find(root, &place.path, &self.scratch.indices[mark..], span)?;
        self.scratch.indices.truncate(mark);
        self.copied(value, span)
    }

    /// Accounts for the time of copying an array or structure.
    #[inline]
    fn copied(&mut self, value: Value, span: Span) -> Outcome<Value> {
        if matches!(value, Value::Array(_) | Value::Struct(_)) {
            self.step(value.cells() / 8, span)?;
        }
        Ok(value)
    }

    /// Evaluates the indices of a place onto the index stack; returns their start.
    fn indices(&mut self, place: &'p Place) -> Outcome<usize> {
        let mark = self.scratch.indices.len();
        for step in &place.path {
            if let Step::Index(index) = step {
                let index = self.eval_int(index)?;
                self.scratch.indices.push(index);
            }
        }
        Ok(mark)
    }

    /// Calls `act` with the place; its indices begin at `mark`.
    fn with_slot<T>(
        &mut self,
        place: &'p Place,
        mark: usize,
        span: Span,
        act: impl FnOnce(Slot<'_>) -> Result<T, Fault>,
    ) -> Outcome<T> {
        // The stack is moved out because `self` is borrowed mutably.
        let indices = std::mem::take(&mut self.scratch.indices);
        let done = self
            .root_mut(place.root, span)
            .and_then(|root| find_mut(root, &place.path, &indices[mark..], span))
            .and_then(|slot| act(slot).with_span(span));
        self.scratch.indices = indices;
        done
    }

    /// `place = value`.
    pub(super) fn assign(&mut self, place: &'p Place, value: &'p Expr, span: Span) -> Outcome<()> {
        let mark = self.indices(place)?;
        let value = self.eval(value)?;
        self.with_slot(place, mark, span, |slot| slot.set(value))?;
        self.scratch.indices.truncate(mark);
        Ok(())
    }

    /// `place op= value`.
    pub(super) fn update(
        &mut self,
        place: &'p Place,
        op: BinaryOp,
        value: &'p Expr,
        via: &Type,
        span: Span,
    ) -> Outcome<()> {
        let mark = self.indices(place)?;
        let old = self.with_slot(place, mark, span, |slot| Ok(slot.get()))?;
        let ty = type_of(&old, via);
        let old = old.convert(&ty, via).with_span(span)?;
        let value = self.eval(value)?;
        self.step(old.cells() / 8, span)?;
        let new = Value::binary(op, &old, &value).with_span(span)?.convert(via, &ty).with_span(span)?;
        self.with_slot(place, mark, span, |slot| slot.set(new))?;
        self.scratch.indices.truncate(mark);
        Ok(())
    }

    /// `++` and `--`.
    pub(super) fn change_by(
        &mut self,
        place: &'p Place,
        by: i32,
        before: bool,
        span: Span,
    ) -> Outcome<Value> {
        let mark = self.indices(place)?;
        let value = self.with_slot(place, mark, span, |slot| {
            let old = slot.get();
            let new = stepped(&old, by)?;
            slot.set(new.clone())?;
            Ok(if before { new } else { old })
        })?;
        self.scratch.indices.truncate(mark);
        Ok(value)
    }
}

fn stepped(old: &Value, by: i32) -> Result<Value, Fault> {
    Ok(match old {
        Value::Int(x) => Value::Int(x.wrapping_add(by)),
        Value::Float(x) => Value::Float(x + by as f32),
        Value::Bool(x) => Value::Bool(i32::from(*x) + by != 0),
        other => return Err(Fault(format!("cannot increment or decrement {}", other.kind()))),
    })
}

/// The type of a place, from its value. Bits and booleans convert in the same way.
fn type_of(old: &Value, via: &Type) -> Type {
    match old {
        Value::Bool(_) => Type::Bit,
        Value::Int(_) => Type::Int,
        Value::Float(_) => Type::Float,
        Value::Complex(..) => Type::Complex,
        _ => via.clone(),
    }
}

/// A mutable place: a whole value, a component, or an unboxed element of an array.
enum Slot<'v> {
    Whole(&'v mut Value),
    Part(&'v mut f32),
    Int(&'v mut i32),
    Bool(&'v mut bool),
}

impl Slot<'_> {
    fn get(&self) -> Value {
        match self {
            Slot::Whole(value) => (*value).clone(),
            Slot::Part(part) => Value::Float(**part),
            Slot::Int(number) => Value::Int(**number),
            Slot::Bool(truth) => Value::Bool(**truth),
        }
    }

    /// Stores a value; an array must keep its lengths.
    fn set(self, new: Value) -> Result<(), Fault> {
        match (self, new) {
            (Slot::Whole(old), new) => {
                if let (Value::Array(_), Value::Array(_)) = (&*old, &new)
                    && !same_lengths(old, &new)
                {
                    let (new, old) = (new.lengths(), old.lengths());
                    return Err(Fault(format!("cannot assign an array {new} to an array {old}")));
                }
                *old = new;
                Ok(())
            }
            (Slot::Part(part), Value::Float(x)) => {
                *part = x;
                Ok(())
            }
            (Slot::Int(number), Value::Int(x)) => {
                *number = x;
                Ok(())
            }
            (Slot::Bool(truth), Value::Bool(x)) => {
                *truth = x;
                Ok(())
            }
            (_, other) => Err(Fault(format!("expected a component, found {}", other.kind()))),
        }
    }
}

/// Whether two arrays have the same lengths; arrays are rectangular.
fn same_lengths(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.get(0).zip(other.get(0)).is_none_or(|(one, other)| same_lengths(&one, &other))
        }
        _ => true,
    }
}

fn find(root: &Value, path: &[Step], indices: &[i32], span: Span) -> Outcome<Value> {
    let (mut value, mut indices) = (root, indices.iter());
    for step in path {
        value = match (step, value) {
            (Step::Index(index), Value::Array(elements)) => {
                let at = indices.next().copied().unwrap_or(0);
                let element = usize::try_from(at).ok().and_then(|at| elements.get(at));
                match element {
                    Some(Cow::Borrowed(element)) => element,
                    // An unboxed element has no parts.
                    Some(Cow::Owned(number)) => return Ok(number),
                    None => return outside(index, at, elements.len()),
                }
            }
            (Step::Field(at), Value::Struct(fields)) => match fields.get(*at as usize) {
                Some(field) => field,
                None => return fail(span, "there is no such field"),
            },
            (Step::Field(at), Value::Complex(..) | Value::Vector(_)) => return component(value, *at, span),
            (_, other) => return fail(span, format!("{} has no such part", other.kind())),
        };
    }
    Ok(value.clone())
}

fn component(of: &Value, at: u32, span: Span) -> Outcome<Value> {
    match (of, at) {
        (Value::Complex(re, _), 0) => Ok(Value::Float(*re)),
        (Value::Complex(_, im), 1) => Ok(Value::Float(*im)),
        (Value::Vector(parts), 0..4) => Ok(Value::Float(parts[at as usize])),
        _ => fail(span, "there is no such component"),
    }
}

fn find_mut<'v>(root: &'v mut Value, path: &[Step], indices: &[i32], span: Span) -> Outcome<Slot<'v>> {
    let (mut value, mut indices) = (root, indices.iter());
    for step in path {
        value = match (step, value) {
            (Step::Index(index), Value::Array(elements)) => {
                let at = indices.next().copied().unwrap_or(0);
                let length = elements.len();
                match usize::try_from(at).ok().and_then(|at| elements.get_mut(at)) {
                    Some(ElementMut::Value(element)) => element,
                    Some(ElementMut::Int(number)) => return Ok(Slot::Int(number)),
                    Some(ElementMut::Float(number)) => return Ok(Slot::Part(number)),
                    Some(ElementMut::Bool(truth)) => return Ok(Slot::Bool(truth)),
                    None => return outside(index, at, length),
                }
            }
            (Step::Field(at), Value::Struct(fields)) => match fields.get_mut(*at as usize) {
                Some(field) => field,
                None => return fail(span, "there is no such field"),
            },
            (Step::Field(0), Value::Complex(re, _)) => return Ok(Slot::Part(re)),
            (Step::Field(1), Value::Complex(_, im)) => return Ok(Slot::Part(im)),
            (Step::Field(at @ 0..4), Value::Vector(parts)) => {
                return Ok(Slot::Part(&mut parts[*at as usize]));
            }
            (_, other) => return fail(span, format!("{} has no such part", other.kind())),
        };
    }
    Ok(Slot::Whole(value))
}

#[cold]
fn outside<T>(index: &Expr, at: i32, length: usize) -> Outcome<T> {
    fail(index.span, format!("index {at} is outside an array of length {length}"))
}
