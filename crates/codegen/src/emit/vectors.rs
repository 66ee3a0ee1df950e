//! C text of vectors: types, operators and functions; and the vector length of this machine.

use crate::ir::{Function, Kind};
use crate::plan::NARROW;
use thalweg_lang::hir::{BinaryOp, Builtin};

/// Converts a vector to another kind.
pub(super) fn converted(from: Kind, to: Kind, x: &str) -> String {
    match (from, to) {
        (Kind::Bool, Kind::Int) => format!("(-{x})"),
        (Kind::Bool, _) => format!("__builtin_convertvector(-{x}, VF)"),
        (Kind::Int, Kind::Float) => format!("__builtin_convertvector({x}, VF)"),
        (Kind::Float, Kind::Int) => format!("to_ints({x})"),
        (Kind::Float, Kind::Bool) => format!("(VI)({x} != 0.0f)"),
        _ => format!("(VI)({x} != 0)"),
    }
}

/// A binary operator on vectors, of which one may be a scalar; `by` is the second operand if it is constant.
pub(super) fn operator(op: BinaryOp, kind: Kind, a: &str, b: &str, by: Option<i32>) -> String {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne, Rem, ShiftLeft, ShiftRight};
    let sign = op.symbol();
    match (op, kind) {
        (Eq, Kind::Bool) => format!("(~({a} ^ {b}))"),
        (Ne, Kind::Bool) => format!("({a} ^ {b})"),
        (Lt, Kind::Bool) => format!("(~{a} & {b})"),
        (Le, Kind::Bool) => format!("(~{a} | {b})"),
        (Gt, Kind::Bool) => format!("({a} & ~{b})"),
        (Ge, Kind::Bool) => format!("({a} | ~{b})"),
        (Eq | Ne | Lt | Le | Gt | Ge, _) => format!("(VI)({a} {sign} {b})"),
        (ShiftLeft | ShiftRight, _) => match by {
            Some(by) => format!("({a} {sign} {})", by & 31),
            None => format!("({a} {sign} ({b} & 31))"),
        },
        (Rem, Kind::Float) => format!("rest_f({a}, {b})"),
        _ => format!("({a} {sign} {b})"),
    }
}

/// A function of vectors.
pub(super) fn function(function: Function, kind: Kind, parts: &[String]) -> String {
    let (a, b) = (&parts[0], parts.get(1).map_or("", String::as_str));
    match (function, kind) {
        (Function::Whole(Builtin::Max), _) => format!("greater({a}, {b})"),
        (Function::Whole(Builtin::Min), _) => format!("smaller({a}, {b})"),
        (Function::Whole(Builtin::Abs), Kind::Float) => format!("(VF)((VI){a} & 0x7fffffff)"),
        (Function::Whole(Builtin::Abs), _) => format!("choose((VI)({a} < 0), -{a}, {a})"),
        _ => {
            let inner: Vec<String> =
                ["x[l]", "y[l]"][..parts.len()].iter().map(|x| (*x).to_owned()).collect();
            let one = super::terms::math(function, kind, &inner);
            let y = if parts.len() == 2 { format!("const VF y = {b}; ") } else { String::new() };
            format!("({{ const VF x = {a}; {y}VF r; for (int l = 0; l < LANES; l++) r[l] = {one}; r; }})")
        }
    }
}

pub(super) fn load(kind: Kind, first: &str, stride: i64) -> String {
    let name = letter(kind);
    match stride {
        1 => format!("load_{name}({first})"),
        2..=NARROW if kind != Kind::Bool => format!("pick{stride}_{name}({first})"),
        _ => format!("gather_{name}({first}, {stride})"),
    }
}

pub(super) fn list(numbers: impl Iterator<Item = i64>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", ")
}

/// The vector type of a kind; booleans are masks, with -1 for true.
pub(super) fn vector(kind: Kind) -> &'static str {
    if kind == Kind::Float { "VF" } else { "VI" }
}

pub(super) fn letter(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "b",
        Kind::Int => "i",
        Kind::Float => "f",
    }
}

/// The lanes of this machine's vectors.
pub(crate) fn lanes() -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") {
        return 16;
    }
    8
}
