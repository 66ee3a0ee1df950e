//! C text of vectors: types, operators and functions; and the vector length of this machine.

use super::{weave, window};
use crate::ir::{Function, Kind};
use crate::plan::NARROW;
use std::fmt::Write;
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
            let one = super::expr::math(function, kind, &inner);
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

/// The types and functions of vectors: of the machine's lanes, and of fewer for SIMD packs.
pub(crate) fn begin(lanes: usize) -> String {
    let mut text = types(lanes) + &weave::begin(lanes);
    for fewer in [lanes / 2, lanes / 4].into_iter().filter(|fewer| *fewer >= 4) {
        text.push_str(&super::places::narrow(&types(fewer), fewer, lanes));
    }
    text
}

fn types(lanes: usize) -> String {
    // Written out: from a loop over lanes GCC makes a needless shuffle.
    let same = vec!["x"; lanes].join(", ");
    let vectors = include_str!("vectors.h");
    let mut text = format!("\n#define LANES {lanes}\n#define SAME(x) {{{same}}}\n{vectors}");
    let each: Vec<String> = (0..lanes).map(|lane| lane.to_string()).collect();
    let _ = writeln!(text, "static const VI each_lane = {{{}}};", each.join(", "));
    for stride in 2..=NARROW {
        for (letter, ty, element) in [("f", "VF", "float"), ("i", "VI", "int32_t")] {
            let _ = writeln!(text, "{}", pick(stride, letter, ty, element, lanes as i64));
        }
    }
    let swapped = (0..lanes as i64).map(|lane| lane ^ 1);
    let _ = writeln!(text, "#define swap_f(x) __builtin_shuffle((x), (VI){{{}}})", list(swapped));
    text.push_str(&window::turn(lanes));
    text
}

/// A function that picks every `stride`th cell.
fn pick(stride: i64, letter: &str, ty: &str, element: &str, lanes: i64) -> String {
    let mut text = format!("static inline {ty} pick{stride}_{letter}(const {element} *from)\n{{\n");
    for part in 0..stride {
        let _ = writeln!(text, "    const {ty} v{part} = load_{letter}(from + {});", part * lanes);
    }
    let of = |part: i64| (0..lanes).map(move |l| (l, l * stride / lanes == part, l * stride % lanes));
    let first = of(0).chain([]).map(|(l, own, at)| {
        let second = l * stride / lanes == 1;
        if own {
            at
        } else if second {
            lanes + at
        } else {
            0
        }
    });
    let _ = writeln!(text, "    {ty} r = __builtin_shuffle(v0, v1, (VI){{{}}});", list(first));
    for part in 2..stride {
        let picks = of(part).map(|(l, own, at)| if own { lanes + at } else { l });
        let _ = writeln!(text, "    r = __builtin_shuffle(r, v{part}, (VI){{{}}});", list(picks));
    }
    text.push_str("    return r;\n}");
    text
}
