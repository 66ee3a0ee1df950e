//! Transposing input that each firing reads repeatedly.
//!
//! Firings with items that begin far apart have no adjacent items: a vector of one item of each firing is
//! gathered by as many loads. Where each item is read several times, it is faster to do that once: runs of as
//! many items as there are lanes, one of each firing, are a square that is transposed.

use super::simd::Vectors;
use super::vectors::{letter, list, vector};
use crate::ir::{Cell, Code};
use crate::plan::{Items, NARROW, Pattern, loads};
use crate::uniformity::Divergence;
use std::fmt::Write;

/// The longest window in cells: with 16 lanes, half of the first-level cache.
const LONGEST: i64 = 256;

/// The least number of reads of each item.
const OFTEN: f64 = 3.0;

/// The cells of a window for which transposing pays.
pub(super) fn cells(code: &Code, divergence: &Divergence, input: &Items, stride: i64) -> Option<i64> {
    let cells = input.window * input.cells as i64;
    let fits = stride > NARROW && input.pattern == Pattern::Every(1) && (1..=LONGEST).contains(&cells);
    let plain = matches!(input.cell, Cell::Of(kind) if kind != crate::ir::Kind::Bool);
    (fits && plain && loads(code, divergence) >= OFTEN * cells as f64).then_some(cells)
}

impl Vectors<'_> {
    /// Transposes the windows of as many firings as there are lanes.
    pub(super) fn turn_window(&mut self) {
        let (Some(cells), Cell::Of(kind)) = (self.window, self.inner.input.cell) else { return };
        let (lanes, stride) = (self.lanes as i64, self.strides.0);
        let (ty, name) = (vector(kind), letter(kind));
        let whole = cells / lanes * lanes;
        self.line(format!("{ty} turned[{}];", cells.max(1)));
        self.line(format!(
            "for (int c = 0; c < {whole}; c += LANES) turn_{name}(in + c, {stride}, turned + c);"
        ));
        self.line(format!(
            "for (int c = {whole}; c < {cells}; c++) turned[c] = gather_{name}(in + c, {stride});"
        ));
    }

    /// A cell of an item.
    pub(super) fn in_window(&self, item: &crate::ir::Expr, at: &crate::ir::Expr) -> String {
        let items = self.inner.input;
        let place = items.place("read", &self.inner.ex(item), item.as_int(), &self.inner.ex(at));
        format!("turned[{place}]")
    }
}

/// Functions that transpose squares: lane `l` of vector `c` of the result is cell `c` of the row that begins
/// `l * by` cells on.
///
/// Each step exchanges off-diagonal blocks of a power of two.
pub(super) fn transpose(lanes: usize) -> String {
    let mut text = String::new();
    let all = lanes as i64;
    for (letter, ty, cell) in [("f", "VF", "float"), ("i", "VI", "int32_t")] {
        let _ =
            writeln!(text, "static inline void turn_{letter}(const {cell} *from, int64_t by, {ty} *to)\n{{");
        for row in 0..lanes {
            let _ = writeln!(text, "    {ty} r{row} = load_{letter}(from + {row} * by);");
        }
        let mut step = 1;
        while step < all {
            for row in (0..all).filter(|row| row & step == 0) {
                let low = (0..all).map(|l| if l & step == 0 { l } else { all + l - step });
                let high = (0..all).map(|l| if l & step == 0 { l + step } else { all + l });
                let other = row + step;
                let _ = writeln!(
                    text,
                    "    {{ const {ty} a = r{row}, b = r{other}; r{row} = __builtin_shuffle(a, b, (VI){{{}}}); \
                     r{other} = __builtin_shuffle(a, b, (VI){{{}}}); }}",
                    list(low),
                    list(high)
                );
            }
            step *= 2;
        }
        for row in 0..lanes {
            let _ = writeln!(text, "    to[{row}] = r{row};");
        }
        text.push_str("}\n");
    }
    text
}
