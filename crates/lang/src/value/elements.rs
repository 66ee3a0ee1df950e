//! Elements of arrays: integers, floats and booleans are stored unboxed and contiguous, other types as values.

use super::Value;
use std::borrow::Cow;

/// The elements of an array, all of one type.
#[derive(Clone, PartialEq, Debug)]
pub struct Elements(Kind);

/// The elements alone determine the kind, so equal arrays compare equal. An empty array is `Values`.
#[derive(Clone, PartialEq, Debug)]
enum Kind {
    Ints(Vec<i32>),
    Floats(Vec<f32>),
    Bools(Vec<bool>),
    Values(Vec<Value>),
}

/// A mutable reference to an element.
pub enum ElementMut<'e> {
    /// An `int`.
    Int(&'e mut i32),
    /// A `float`.
    Float(&'e mut f32),
    /// A `bit` or a `boolean`.
    Bool(&'e mut bool),
    /// Any other type.
    Value(&'e mut Value),
}

/// The same expression for the vector of every kind.
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
    /// `length` copies of one element.
    pub fn filled(element: Value, length: usize) -> Elements {
        Elements(match element {
            _ if length == 0 => Kind::Values(Vec::new()),
            Value::Int(x) => Kind::Ints(vec![x; length]),
            Value::Float(x) => Kind::Floats(vec![x; length]),
            Value::Bool(x) => Kind::Bools(vec![x; length]),
            other => Kind::Values(vec![other; length]),
        })
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        each_kind!(&self.0, elements => elements.len())
    }

    /// Whether the array is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at an index.
    #[inline]
    pub fn get(&self, at: usize) -> Option<Cow<'_, Value>> {
        Some(match &self.0 {
            Kind::Ints(elements) => Cow::Owned(Value::Int(*elements.get(at)?)),
            Kind::Floats(elements) => Cow::Owned(Value::Float(*elements.get(at)?)),
            Kind::Bools(elements) => Cow::Owned(Value::Bool(*elements.get(at)?)),
            Kind::Values(elements) => Cow::Borrowed(elements.get(at)?),
        })
    }

    /// The element at an index, mutable.
    #[inline]
    pub fn get_mut(&mut self, at: usize) -> Option<ElementMut<'_>> {
        Some(match &mut self.0 {
            Kind::Ints(elements) => ElementMut::Int(elements.get_mut(at)?),
            Kind::Floats(elements) => ElementMut::Float(elements.get_mut(at)?),
            Kind::Bools(elements) => ElementMut::Bool(elements.get_mut(at)?),
            Kind::Values(elements) => ElementMut::Value(elements.get_mut(at)?),
        })
    }

    /// All elements.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, Value>> {
        (0..self.len()).map_while(|at| self.get(at))
    }

    /// The elements, if they are stored as values; empty if they are stored unboxed.
    pub fn values_mut(&mut self) -> &mut [Value] {
        if let Kind::Values(elements) = &mut self.0 { elements } else { &mut [] }
    }

    /// The elements, if they are stored as values; empty if they are stored unboxed.
    pub(super) fn values(&self) -> &[Value] {
        if let Kind::Values(elements) = &self.0 { elements } else { &[] }
    }

    /// The bytes of the element storage, without what values own elsewhere.
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
            // Elements of one array have one type. If a caller breaks this, fall back to values and lose nothing.
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
