//! Vectors of scattered cells, and vectors of fewer lanes than the machine's.

use super::terms::type_of;
use super::vectors::{letter, list, vector};
use crate::ir::Kind;

/// A value from memory as a vector element: true is -1 there.
pub(super) fn one_in(kind: Kind, text: &str) -> String {
    if kind == Kind::Bool { format!("-{text}") } else { text.to_owned() }
}

/// A vector element as a value in memory.
pub(super) fn one_out(kind: Kind, text: &str) -> String {
    if kind == Kind::Bool { format!("-{text}") } else { text.to_owned() }
}

/// Adds positions for the lanes beyond the last member, continuing an arithmetic progression of step 0 or 1.
pub(super) fn beyond(mut own: Vec<i64>, lanes: usize) -> Vec<i64> {
    let step = if own.len() > 1 { own[1] - own[0] } else { 0 };
    let regular = own.windows(2).all(|pair| pair[1] - pair[0] == step) && (0..=1).contains(&step);
    while own.len() < lanes {
        let last = own[own.len() - 1];
        own.push(if regular { last + step } else { last });
    }
    own
}

/// A vector of the cells at these distances from a position.
pub(super) fn lanes_at(kind: Kind, first: &str, places: &[i64]) -> String {
    let name = letter(kind);
    let lanes = places.len() as i64;
    let least = places.iter().copied().min().unwrap_or(0);
    let own: Vec<i64> = places.iter().map(|at| at - least).collect();
    let first = if least == 0 { first.to_owned() } else { format!("{first} + {least}") };
    let step = own[1] - own[0];
    let regular = own.windows(2).all(|pair| pair[1] - pair[0] == step);
    let most = own.iter().copied().max().unwrap_or(0);
    let shuffle = |of: String| format!("__builtin_shuffle({of}, (VI){{{}}})", list(own.iter().copied()));
    if most == 0 {
        return match kind {
            Kind::Bool => format!("all_i(-(int32_t)*({first}))"),
            _ => format!("all_{name}(*({first}))"),
        };
    }
    match step {
        1 if regular => return format!("load_{name}({first})"),
        2..=8 if regular && kind != Kind::Bool => return format!("pick{step}_{name}({first})"),
        _ => {}
    }
    if kind == Kind::Float && most == 1 && own.iter().enumerate().all(|(l, at)| *at == own[l % 2]) {
        let pairs = format!("pairs_f({first})");
        return if own[0] == 0 { pairs } else { format!("swap_f({pairs})") };
    }
    if most < lanes {
        return shuffle(format!("load_{name}({first})"));
    }
    if most < 2 * lanes && kind != Kind::Bool {
        return shuffle(format!("load_{name}({first}), load_{name}({first} + {lanes})"));
    }
    let each: Vec<String> = own.iter().map(|at| one_in(kind, &format!("from[{at}]"))).collect();
    let (ty, cell) = (vector(kind), type_of(kind));
    format!("({{ const {cell} *from = {first}; ({ty}){{{}}}; }})", each.join(", "))
}

/// Renames vector types and functions to those of fewer lanes.
pub(crate) fn narrow(text: &str, lanes: usize, most: usize) -> String {
    if lanes == most {
        return text.to_owned();
    }
    let is_own = |word: &str| {
        let stem = word.strip_suffix("_f").or(word.strip_suffix("_i")).or(word.strip_suffix("_b"));
        let plain =
            ["VF", "VI", "VU", "VB", "LANES", "choose", "smaller", "greater", "to_ints", "each_lane", "SAME"]
                .contains(&word);
        let of_kind = stem.is_some_and(|stem| {
            let known =
                ["load", "store", "gather", "spread", "all", "choose", "rest", "pairs", "swap", "turn"];
            known.contains(&stem)
                || ["smaller", "greater"].contains(&stem)
                || stem.strip_prefix("pick").is_some_and(|by| by.parse::<u32>().is_ok())
        });
        plain || of_kind
    };
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        out.push_str(&word);
        if is_own(&word) {
            out.push_str(&format!("_{lanes}"));
        }
        word.clear();
        out.push(c);
    }
    out.pop();
    out
}
