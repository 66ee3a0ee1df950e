//! Items of programs as plain Rust values.

use thalweg_lang::value::Value;

/// A complex number: real and imaginary part.
pub type Complex = (f32, f32);

/// A type of items of files.
pub trait Item: Sized {
    /// The item as a value of the language.
    fn value(&self) -> Value;

    /// The item of a value of the language, or `None` if the value has another type.
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
