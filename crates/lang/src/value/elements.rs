//! What arrays hold: numbers and truths side by side, everything else as values.

use super::Value;
use std::borrow::Cow;

/// The elements of an array, all of one type.
#[derive(Clone, PartialEq, Debug)]
pub struct Elements(Kind);

/// Which of them depends on the elements alone, so that equal arrays are equal. Without elements it is values.
#[derive(Clone, PartialEq, Debug)]
enum Kind {
    Ints(Vec<i32>),
    Floats(Vec<f32>),
    Bools(Vec<bool>),
    Values(Vec<Value>),
}

/// An element to be changed.
pub enum ElementMut<'e> {
    /// Of an `int`.
    Int(&'e mut i32),
    /// Of a `float`.
    Float(&'e mut f32),
    /// Of a `bit` or a `boolean`.
    Bool(&'e mut bool),
    /// Of any other type.
    Value(&'e mut Value),
}

/// The same of each kind.
macro_rules! each_kind {
    ($kind:expr, $elements:ident => $done:expr) => {
        match $kind {
            Kind::Ints($elements) => $done,
            Kind::Floats($elements) => $done,
            Kind::Bools($elements) => $done,
            Kind::Values($elements) => $done,
        }
    };
}

impl Elements {
    /// So many that are equal.
    pub fn filled(element: Value, length: usize) -> Elements {
        Elements(match element {
            _ if length == 0 => Kind::Values(Vec::new()),
            Value::Int(x) => Kind::Ints(vec![x; length]),
            Value::Float(x) => Kind::Floats(vec![x; length]),
            Value::Bool(x) => Kind::Bools(vec![x; length]),
            other => Kind::Values(vec![other; length]),
        })
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        each_kind!(&self.0, elements => elements.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    #[inline]
    pub fn get(&self, at: usize) -> Option<Cow<'_, Value>> {
        Some(match &self.0 {
            Kind::Ints(elements) => Cow::Owned(Value::Int(*elements.get(at)?)),
            Kind::Floats(elements) => Cow::Owned(Value::Float(*elements.get(at)?)),
            Kind::Bools(elements) => Cow::Owned(Value::Bool(*elements.get(at)?)),
            Kind::Values(elements) => Cow::Borrowed(elements.get(at)?),
        })
    }

    /// One of them, to be changed.
    #[inline]
    pub fn get_mut(&mut self, at: usize) -> Option<ElementMut<'_>> {
        Some(match &mut self.0 {
            Kind::Ints(elements) => ElementMut::Int(elements.get_mut(at)?),
            Kind::Floats(elements) => ElementMut::Float(elements.get_mut(at)?),
            Kind::Bools(elements) => ElementMut::Bool(elements.get_mut(at)?),
            Kind::Values(elements) => ElementMut::Value(elements.get_mut(at)?),
        })
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, Value>> {
        (0..self.len()).map_while(|at| self.get(at))
    }

    /// Those that are values, to be changed: none where they are numbers or truths.
    pub fn values_mut(&mut self) -> &mut [Value] {
        if let Kind::Values(elements) = &mut self.0 { elements } else { &mut [] }
    }

    /// Those that are values: none where they are numbers or truths.
    pub(super) fn values(&self) -> &[Value] {
        if let Kind::Values(elements) = &self.0 { elements } else { &[] }
    }

    /// Bytes that they take, but for what values have elsewhere.
    pub(super) fn bytes(&self) -> usize {
        each_kind!(&self.0, elements => size_of_val(&elements[..]))
    }

    fn push(&mut self, element: Value) {
        match (&mut self.0, element) {
            (Kind::Ints(elements), Value::Int(x)) => elements.push(x),
            (Kind::Floats(elements), Value::Float(x)) => elements.push(x),
            (Kind::Bools(elements), Value::Bool(x)) => elements.push(x),
            (Kind::Values(elements), element) if !elements.is_empty() => elements.push(element),
            (Kind::Values(_), element) => *self = Elements::filled(element, 1),
            // Of one type they all are; nothing is lost where that is not so.
            (_, element) => {
                let values = self.iter().map(Cow::into_owned).chain([element]).collect();
                self.0 = Kind::Values(values);
            }
        }
    }
}

impl FromIterator<Value> for Elements {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Elements {
        let mut elements = Elements(Kind::Values(Vec::new()));
        values.into_iter().for_each(|value| elements.push(value));
        elements
    }
}

impl From<Vec<Value>> for Elements {
    fn from(values: Vec<Value>) -> Elements {
        match values.first() {
            Some(Value::Int(_) | Value::Float(_) | Value::Bool(_)) => values.into_iter().collect(),
            _ => Elements(Kind::Values(values)),
        }
    }
}
