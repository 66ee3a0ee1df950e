//! The text that `print` writes.

use super::Value;
use crate::hir::Type;
use std::fmt::Write;

impl Value {
    /// The text that `print` writes for a value of a type.
    ///
    /// A bit is `0` or `1`, a boolean `false` or `true`. A float is the shortest text that reads back to the same
    /// binary32: plain where its size is from 0.001 to below 10 000 000 (`0.5`, `1.0`, `1234567.0`), and
    /// otherwise with one digit before the point and an exponent (`1.0E8`, `1.5E-7`), always with a digit after
    /// the point; `NaN`, `Infinity` and `-Infinity`. Java prints floats this way, and so did the first StreamIt
    /// implementation. A complex number prints as `3.0+4.0i`, a vector as its components (`(1.0, 2.0)`); arrays
    /// and structures print their parts in braces.
    pub fn to_text(&self, ty: &Type) -> String {
        match (self, ty) {
            (Value::Bool(x), Type::Bit) => u8::from(*x).to_string(),
            (Value::Bool(x), _) => x.to_string(),
            (Value::Int(x), _) => x.to_string(),
            (Value::Float(x), _) => float(*x),
            (Value::Complex(re, im), _) => complex(*re, *im),
            (Value::Vector(parts), ty) => {
                let count = if let Type::Vector(count) = ty { usize::from(*count) } else { 4 };
                let parts: Vec<String> = parts.iter().take(count).map(|part| float(*part)).collect();
                format!("({})", parts.join(", "))
            }
            (Value::String(text), _) => text.to_string(),
            (Value::Array(parts), ty) => {
                let ty = if let Type::Array(element) = ty { element } else { ty };
                braces(parts.iter().map(|part| part.to_text(ty)))
            }
            (Value::Struct(parts), ty) => braces(parts.iter().map(|part| part.to_text(ty))),
            (Value::Portal(number), _) => format!("portal {number}"),
        }
    }
}

fn braces(parts: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
}

fn complex(re: f32, im: f32) -> String {
    // The sign bit of a NaN depends on how it was calculated, so it is not printed.
    let sign = if im.is_sign_negative() && !im.is_nan() { "" } else { "+" };
    format!("{}{sign}{}i", float(re), float(im))
}

fn float(x: f32) -> String {
    if x.is_nan() {
        return "NaN".to_owned();
    }
    if x.is_infinite() {
        return if x < 0.0 { "-Infinity" } else { "Infinity" }.to_owned();
    }
    if x == 0.0 || (1e-3..1e7).contains(&x.abs()) {
        // Rust's `Debug` uses plain notation in this range and prints the shortest text.
        return format!("{x:?}");
    }
    with_exponent(x)
}

fn with_exponent(x: f32) -> String {
    let shortest = format!("{x:e}");
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let mut text = digits.to_owned();
    if !digits.contains('.') {
        text.push_str(".0");
    }
    // Writing to a string cannot fail.
    let _ = write!(text, "E{exponent}");
    text
}
