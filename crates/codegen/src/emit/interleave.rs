//! Interleaving of the vectors of several items, and deinterleaving.
//!
//! The vectors of even items are interleaved, those of odd items are interleaved, and then the two with each
//! other: each step takes lanes of two vectors alternately. Deinterleaving takes every second lane.

use super::vectors::{letter, list, vector};
use crate::ir::Kind;
use std::fmt::Write;

/// Interleaves the vectors `give0_k` and so on, and stores them at a position of the output.
pub(super) fn interleave(kind: Kind, cells: i64, k: i64, place: i64) -> String {
    let mut text = String::from("{ ");
    let mut next = 0;
    let all = (0..cells).map(|cell| format!("give{cell}_{k}")).collect();
    let interleaved = interleaved(&mut text, kind, all, &mut next);
    for (part, name) in interleaved.iter().enumerate() {
        let _ = write!(text, "store_{}(out + {place} + {part} * LANES, {name}); ", letter(kind));
    }
    text.push('}');
    text
}

/// The names of the interleaved vectors.
fn interleaved(text: &mut String, kind: Kind, all: Vec<String>, next: &mut usize) -> Vec<String> {
    if all.len() == 1 {
        return all;
    }
    let (even, odd): (Vec<_>, Vec<_>) = all.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let names = |part: Vec<(usize, String)>| part.into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    let even = interleaved(text, kind, names(even), next);
    let odd = interleaved(text, kind, names(odd), next);
    let (ty, mut out) = (vector(kind), Vec::new());
    for (a, b) in even.iter().zip(&odd) {
        for half in ["INTERLEAVE_LOW", "INTERLEAVE_HIGH"] {
            let _ = write!(text, "const {ty} w{next} = __builtin_shuffle({a}, {b}, {half}); ");
            out.push(format!("w{next}"));
            *next += 1;
        }
    }
    out
}

/// Loads `cells` vectors from a position, and stores their deinterleaved cells to rows of `to`.
pub(super) fn deinterleave(kind: Kind, cells: i64, from: &str, to: impl Fn(usize) -> String) -> String {
    let (ty, name) = (vector(kind), letter(kind));
    let mut text = String::from("{ ");
    for part in 0..cells {
        let _ = write!(text, "const {ty} v{part} = load_{name}({from} + {part} * LANES); ");
    }
    let mut next = 0;
    let all = (0..cells).map(|part| format!("v{part}")).collect();
    for (row, value) in apart(&mut text, kind, all, &mut next).iter().enumerate() {
        let _ = write!(text, "store_{name}({}, {value}); ", to(row));
    }
    text.push('}');
    text
}

fn apart(text: &mut String, kind: Kind, all: Vec<String>, next: &mut usize) -> Vec<String> {
    if all.len() == 1 {
        return all;
    }
    let mut halves = [Vec::new(), Vec::new()];
    for pair in all.chunks(2) {
        for (half, lanes) in halves.iter_mut().zip(["APART_EVEN", "APART_ODD"]) {
            let (ty, a, b) = (vector(kind), &pair[0], &pair[1]);
            let _ = write!(text, "const {ty} w{next} = __builtin_shuffle({a}, {b}, {lanes}); ");
            half.push(format!("w{next}"));
            *next += 1;
        }
    }
    let [even, odd] = halves.map(|half| apart(text, kind, half, next));
    even.into_iter().zip(odd).flat_map(|(even, odd)| [even, odd]).collect()
}

/// The shuffles of both.
pub(super) fn begin(lanes: usize) -> String {
    let all = lanes as i64;
    let interleaved = |from: i64| list((from..from + all).map(|at| at / 2 + at % 2 * all));
    let apart = |from: i64| list((0..all).map(|at| 2 * at + from));
    let of = |name: &str, lanes: String| format!("#define {name} ((VI){{{lanes}}})\n");
    [
        of("INTERLEAVE_LOW", interleaved(0)),
        of("INTERLEAVE_HIGH", interleaved(all)),
        of("APART_EVEN", apart(0)),
        of("APART_ODD", apart(1)),
    ]
    .concat()
}
