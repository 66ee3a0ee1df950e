//! C text that all programs with vectors share.

use super::vectors::list;
use super::{interleave, scattered, window};
use crate::plan::NARROW;
use std::fmt::Write;

/// The types and functions of vectors: of the machine's lanes, and of fewer for SIMD packs.
pub(crate) fn begin(lanes: usize) -> String {
    let mut text = types(lanes) + &interleave::begin(lanes);
    for fewer in [lanes / 2, lanes / 4].into_iter().filter(|fewer| *fewer >= 4) {
        text.push_str(&scattered::narrow(&types(fewer), fewer, lanes));
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
    text.push_str(&window::transpose(lanes));
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
