//! Items of programs as plain Rust values.

use thalweg_lang::value::Value;

/// A complex number: real and imaginary part.
pub type Complex = (f32, f32);

/// What can be an item of a file.
pub trait Item: Sized {
    /// As a value of the language.
    fn value(&self) -> Value;

    /// Of a value of the language; none where it has another type.
    fn of(value: &Value) -> Option<Self>;
}

impl Item for i32 {
    fn value(&self) -> Value {
        Value::Int(*self)
    }

    fn of(value: &Value) -> Option<i32> {
        if let Value::Int(number) = value { Some(*number) } else { None }
    }
}

impl Item for f32 {
    fn value(&self) -> Value {
        Value::Float(*self)
    }

    fn of(value: &Value) -> Option<f32> {
        if let Value::Float(number) = value { Some(*number) } else { None }
    }
}

impl Item for Complex {
    fn value(&self) -> Value {
        Value::Complex(self.0, self.1)
    }

    fn of(value: &Value) -> Option<Complex> {
        if let Value::Complex(real, imaginary) = value { Some((*real, *imaginary)) } else { None }
    }
}

impl Item for bool {
    fn value(&self) -> Value {
        Value::Bool(*self)
    }

    fn of(value: &Value) -> Option<bool> {
        if let Value::Bool(truth) = value { Some(*truth) } else { None }
    }
}
