//! Loops over firings in lanes, where these pay.

use super::Vectors;
use crate::emit::code::{Writer, alternates};
use crate::emit::window;
use crate::fusion::unroll_and_jam;
use crate::ir::{Area, Cell, Code, Kind, Mem, MemKind, Stmt, Var, walk};
use crate::plan::{Items, NARROW, Pattern, interleaves, pays, stride};
use crate::uniformity::Divergence;
use std::fmt::Write;

/// The loop over as many firings at a time as there are lanes; `None` where that is not possible.
pub(in crate::emit) fn firings(code: &Code, input: &Items, output: &Items, lanes: usize) -> Option<String> {
    let mut text = side_by_side(code, input, output, (lanes, 4))?;
    // Firings of the last vector may repeat earlier ones: they store the same items again.
    if input.group == 1 && output.group == 1 {
        let rest = side_by_side(code, input, output, (lanes, 1))?;
        // With one vector the loops are the same.
        if rest == text {
            text.clear();
        }
        let one = rest.split_once("{\n").map_or("", |(_, body)| body);
        let _ = write!(
            text,
            "    while (f < last && last - first >= {lanes}) {{\n        if (last - f < {lanes})\n            \
             f = last - {lanes};\n{}        f += {lanes};\n    }}\n",
            one.strip_suffix("    }\n").unwrap_or(one)
        );
    }
    Some(text)
}

/// The loop with at most this many vectors side by side; remaining firings are left over.
fn side_by_side(code: &Code, input: &Items, output: &Items, (lanes, most): (usize, usize)) -> Option<String> {
    let divergence = Divergence::of(code)?;
    let strides = (stride(input, lanes)?, stride(output, lanes)?);
    let window = window::cells(code, &divergence, input, strides.0);
    if !pays(code, &divergence, (if window.is_some() { 1 } else { strides.0 }, strides.1)) {
        return None;
    }
    // Vectors of a window are loaded directly, so iterations of a loop may share them.
    let shared = window.and_then(|_| unroll_and_jam(code));
    let (code, divergence) = match &shared {
        Some(shared) => (shared, Divergence::of(shared)?),
        None => (code, divergence),
    };
    let beside = if window.is_some() { 1 } else { beside(code, &divergence).min(most) };
    let inner = Writer::new(code, (input, output), 2, alternates(code));
    let mut writer = Vectors {
        inner,
        divergence,
        lanes,
        beside,
        strides,
        picked: picked(code, output, strides.1),
        k: 0,
        mask: None,
        masks: 0,
        among: None,
        window,
    };
    Some(writer.write())
}

/// The number of vectors computed side by side.
fn beside(code: &Code, divergence: &Divergence) -> usize {
    let cells: usize = code
        .mems
        .iter()
        .enumerate()
        .filter(|(at, mem)| mem.kind == MemKind::Local && divergence.mem(Mem(*at as u32)))
        .map(|(_, mem)| mem.cells)
        .sum();
    let vars = (0..code.vars.len() as u32).filter(|var| divergence.var(Var(*var))).count();
    match vars + cells {
        0..=4 => 4,
        5..=10 => 2,
        _ => 1,
    }
}

/// The cells of a firing's output, if all are stored at constant positions, as a whole run, and are few: then
/// they are interleaved at the end.
fn picked(code: &Code, output: &Items, stride: i64) -> Option<i64> {
    let dense = output.window * output.cells as i64 == stride;
    let few = (2..=NARROW).contains(&stride) || interleaves(stride);
    let whole = output.pattern == Pattern::Every(1) && output.group == 1 && dense && few;
    let mut known = true;
    walk(&code.body, &mut |st| {
        if let Stmt::Store(Area::Out(item), at, ..) = st {
            known &= item.as_int().is_some() && at.as_int().is_some();
        }
    });
    (whole && known && output.cell != Cell::Of(Kind::Bool)).then_some(stride)
}
