//! C text of types, constants, names and functions.

use crate::ir::{Cell, Code, Function, Kind, MemKind, Scalar};
use thalweg_lang::hir::Builtin;

/// The C type of a kind.
pub(crate) fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "uint8_t",
        Kind::Int => "int32_t",
        Kind::Float => "float",
    }
}

/// A cell's type.
pub(crate) fn cell_type(cell: Cell) -> &'static str {
    match cell {
        Cell::Of(kind) => type_of(kind),
        Cell::Mixed => "int32_t",
    }
}

/// A constant.
pub(crate) fn scalar(value: Scalar) -> String {
    match value {
        Scalar::Bool(x) => u8::from(x).to_string(),
        Scalar::Int(i32::MIN) => "(-2147483647 - 1)".into(),
        Scalar::Int(x) if x < 0 => format!("({x})"),
        Scalar::Int(x) => x.to_string(),
        Scalar::Float(x) => float(x),
    }
}

fn float(x: f32) -> String {
    let sign = if x.is_sign_negative() { "-" } else { "" };
    let text = if x.is_nan() {
        "__builtin_nanf(\"\")".into()
    } else if x.is_infinite() {
        "__builtin_inff()".into()
    } else if x.abs() < 16_777_216.0 && x.fract() == 0.0 {
        format!("{:.1}f", x.abs())
    } else {
        hexadecimal(x.abs())
    };
    if sign.is_empty() { text } else { format!("({sign}{text})") }
}

/// A hexadecimal literal, which is exact.
fn hexadecimal(x: f32) -> String {
    let bits = x.to_bits();
    let (exponent, fraction) = (bits >> 23, (bits & 0x7f_ffff) << 1);
    match exponent {
        0 => format!("0x0.{fraction:06x}p-126f"),
        _ => format!("0x1.{fraction:06x}p{}f", exponent as i32 - 127),
    }
}

/// The C names of all variables.
pub(crate) fn names(code: &Code) -> Vec<String> {
    let vars = code.vars.iter().enumerate();
    vars.map(|(at, var)| format!("{}_{at}", clean(&var.name))).collect()
}

/// The name of a run of cells.
pub(crate) fn mem_name(code: &Code, mem: u32) -> String {
    let info = &code.mems[mem as usize];
    let kind = if matches!(info.kind, MemKind::Table(_)) { "t" } else { "a" };
    format!("{}_{kind}{mem}", clean(&info.name))
}

/// Strips parentheses around the whole text.
pub(crate) fn bare(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { return text };
    // Parentheses around braces are a statement expression.
    if inner.starts_with('{') {
        return text;
    }
    let mut depth = 0;
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return text,
            ')' => depth -= 1,
            _ => {}
        }
    }
    inner
}

/// Adds parentheses, so that the text can be an operand of any operator.
pub(crate) fn whole(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.chars().all(plain) { text.to_owned() } else { format!("({text})") }
}

/// A valid C name.
pub(crate) fn clean(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

pub(crate) fn convert(from: Kind, to: Kind, x: &str) -> String {
    match (from, to) {
        (Kind::Float, Kind::Int) => format!("to_int({x})"),
        (Kind::Float, Kind::Bool) => format!("({x} != 0.0f)"),
        (_, Kind::Bool) => format!("({x} != 0)"),
        (_, Kind::Int) => format!("(int32_t){x}"),
        (_, Kind::Float) => format!("(float){x}"),
    }
}

/// A function, computed as in the interpreter.
pub(crate) fn math(function: Function, kind: Kind, args: &[String]) -> String {
    let x = &args[0];
    let y = args.get(1).map_or("", String::as_str);
    let (function, part) = match function {
        Function::Whole(function) => (function, ""),
        Function::Real(function) => (function, "real"),
        Function::Imaginary(function) => (function, "imaginary"),
    };
    let library = |name: &str| format!("(float){name}((double){x})");
    match function {
        Builtin::Max => format!("({x} > {y} ? {x} : {y})"),
        Builtin::Min => format!("({x} < {y} ? {x} : {y})"),
        Builtin::Abs if kind == Kind::Int => format!("({x} < 0 ? -{x} : {x})"),
        Builtin::Abs => format!("fabsf({x})"),
        // These are exact, or correctly rounded in either precision.
        Builtin::Sqrt => format!("sqrtf({x})"),
        Builtin::Floor => format!("floorf({x})"),
        Builtin::Ceil => format!("ceilf({x})"),
        Builtin::Rint => format!("rintf({x})"),
        Builtin::Round => format!("(float)floor((double){x} + 0.5)"),
        Builtin::AbsComplex => {
            format!("(float)sqrt((double){x} * (double){x} + (double){y} * (double){y})")
        }
        Builtin::Acosh => {
            format!("(float)log((double){x} + sqrt(((double){x} - 1.0) * ((double){x} + 1.0)))")
        }
        Builtin::Asinh => format!("(float)asinh_of((double){x})"),
        Builtin::Atanh => format!("(float)(0.5 * log1p(2.0 * (double){x} / (1.0 - (double){x})))"),
        Builtin::Atan2 => format!("(float)atan2((double){x}, (double){y})"),
        Builtin::Pow => format!("(float)pow((double){x}, (double){y})"),
        Builtin::Acos => library("acos"),
        Builtin::Asin => library("asin"),
        Builtin::Atan => library("atan"),
        Builtin::Cos => library("cos"),
        Builtin::Cosh => library("cosh"),
        Builtin::Exp => library("exp"),
        Builtin::Log => library("log"),
        Builtin::Log10 => library("log10"),
        Builtin::Sin => library("sin"),
        Builtin::Sinh => library("sinh"),
        Builtin::Tan => library("tan"),
        Builtin::Tanh => library("tanh"),
        Builtin::CosComplex => format!("cos_{part}({x}, {y})"),
        Builtin::ExpComplex => format!("exp_{part}({x}, {y})"),
        Builtin::LogComplex => format!("log_{part}({x}, {y})"),
        Builtin::SinComplex => format!("sin_{part}({x}, {y})"),
        Builtin::SqrtComplex => format!("sqrt_{part}({x}, {y})"),
        Builtin::Random | Builtin::LoadInts | Builtin::LoadFloats => {
            unreachable!("`lower` leaves no such function")
        }
    }
}
