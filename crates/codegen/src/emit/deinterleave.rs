//! Deinterleaving of windows that advance by several positions.
//!
//! A filter that lowers the rate reads every `stride`th position in neighbouring lanes, and would pick these
//! out of several vectors again for each item of its window. So the input of a stretch of firings is first
//! deinterleaved into rows, one for each position modulo the stride: there neighbouring firings find
//! neighbouring items. Each position is moved once, and read as often as windows overlap.

use super::interleave::deinterleave;
use super::simd;
use super::terms::cell_type;
use crate::ir::{Area, Cell, Code, Expr, Kind, Stmt, exprs_mut, inner_mut, walk_exprs};
use crate::plan::{Items, NARROW, Pattern, interleaves};
use std::fmt::Write;
use thalweg_lang::hir::BinaryOp;

/// The largest stride, and the most rows.
const WIDEST: i64 = 64;
const ROWS: i64 = 32;

/// The reads of an item from which on deinterleaving pays.
const OFTEN: i64 = 4;

/// The most cells of all rows, unless a stretch would be shorter than `LEAST` firings.
const CELLS: i64 = 2048;
const LEAST: i64 = 64;

/// How items are deinterleaved.
struct Deinterleave {
    /// Positions from one firing to the next; only every `every`th of them is read.
    stride: i64,
    every: i64,
    /// The distance from one read position to the next, divided by `every`.
    step: i64,
    /// The last position of a window.
    last: i64,
    /// Firings in a stretch, and cells of a row.
    firings: i64,
    row: i64,
}

/// Vectors over deinterleaved items, if that pays.
pub(super) fn firings(code: &Code, input: &Items, output: &Items, lanes: usize) -> Option<String> {
    let layout = Deinterleave::of(code, input, output, lanes as i64)?;
    let mut deinterleaved = code.clone();
    layout.rewrite(&mut deinterleaved.body);
    let rows = Items { base: 0, group_stride: 1, pattern: Pattern::Every(1), ..input.clone() };
    let inner = simd::firings(&deinterleaved, &rows, output, lanes)?;
    Some(layout.text(&inner, input, output, lanes as i64))
}

impl Deinterleave {
    fn of(code: &Code, input: &Items, output: &Items, lanes: i64) -> Option<Deinterleave> {
        let (stride, Pattern::Every(by)) = (input.group_stride, &input.pattern) else { return None };
        let in_line = input.group == 1 && output.group == 1 && input.cells == 1 && *by > 0;
        let number = matches!(input.cell, Cell::Of(Kind::Float | Kind::Int));
        if !in_line || !number || !(2..=WIDEST).contains(&stride) || input.window < 1 {
            return None;
        }
        let mut without_iter = true;
        walk_exprs(&code.body, &mut |ex| without_iter &= !matches!(ex, Expr::Iter));
        let every = common(*by, stride);
        let (rows, last) = (stride / every, (input.window - 1) * by);
        if !without_iter || rows > ROWS || loads(&code.body) < OFTEN * rows {
            return None;
        }
        let firings = (CELLS / rows / LEAST * LEAST).max(LEAST);
        let row = (firings + last / stride + 1 + lanes) / lanes * lanes;
        Some(Deinterleave { stride, every, step: by / every, last, firings, row })
    }

    fn rows(&self) -> i64 {
        self.stride / self.every
    }

    /// Redirects accesses to the rows.
    fn rewrite(&self, stmts: &mut [Stmt]) {
        for st in stmts {
            exprs_mut(st, &mut |ex| self.rewrite_ex(ex));
            inner_mut(st).for_each(|stmts| self.rewrite(stmts));
        }
    }

    fn rewrite_ex(&self, ex: &mut Expr) {
        ex.each_mut(&mut |part| self.rewrite_ex(part));
        if let Expr::Load(Area::In(item), ..) = ex {
            **item = self.place(item.clone().times(self.step));
        }
    }

    /// The cell for the position that is `at` times `every` from a firing's first.
    fn place(&self, at: Expr) -> Expr {
        let rows = self.rows();
        if let Some(at) = at.as_int() {
            let at = i64::from(at);
            return Expr::int(at % rows * self.row + at / rows);
        }
        let (rest, part, by) = match rows {
            rows if rows.count_ones() == 1 => {
                (BinaryOp::BitAnd, BinaryOp::ShiftRight, (rows - 1, i64::from(rows.trailing_zeros())))
            }
            rows => (BinaryOp::Rem, BinaryOp::Div, (rows, rows)),
        };
        let of = |op, by| Expr::Binary(op, Kind::Int, Box::new(at.clone()), Box::new(Expr::int(by)));
        of(rest, by.0).times(self.row).plus(of(part, by.1))
    }

    /// The text of all stretches; fewer firings than there are lanes remain.
    fn text(&self, inner: &str, input: &Items, output: &Items, lanes: i64) -> String {
        let (ty, out, firings) = (cell_type(input.cell), cell_type(output.cell), self.firings);
        let mut text = format!(
            "    while (last - f >= {lanes}) {{
        const int64_t left = last - f;
        const int64_t iterations = left <= {firings} ? left : left < {} ? {} : {firings};
        {ty} deinterleaved[{}] __attribute__((aligned(64)));
        const {ty} *const from = in0 + ({});\n",
            firings + lanes,
            firings - lanes,
            self.rows() * self.row,
            input.start("f"),
        );
        let together = self.every == 1 && interleaves(self.stride) && self.last + 1 >= self.stride;
        if together {
            self.fill_all(&mut text, input.cell, lanes);
        }
        for row in 0..self.rows() {
            self.fill(&mut text, row, input.cell, (lanes, together));
        }
        let _ = writeln!(
            text,
            "        {out} *const to = out0 + f * {};
        {{
            const {ty} *restrict in0 = deinterleaved;
            {out} *restrict out0 = to;
            const int64_t first = 0, last = iterations;
            int64_t f = 0;\n{inner}        }}
        f += iterations;
    }}",
            output.group_stride * output.cells as i64,
        );
        text
    }

    /// Fills all rows together, as far as whole vectors go.
    fn fill_all(&self, text: &mut String, cell: Cell, lanes: i64) {
        let Cell::Of(kind) = cell else { return };
        let (stride, more) = (self.stride, (self.last - self.stride + 1) / self.stride);
        let to = |row: usize| format!("deinterleaved + {} + i", row as i64 * self.row);
        let moved = deinterleave(kind, stride, &format!("from + i * {stride}"), to);
        let _ = writeln!(
            text,
            "        int64_t done = 0;
        for (int64_t i = 0; i + {lanes} <= iterations + {more}; i += {lanes}, done = i)
            {moved}"
        );
    }

    /// Fills a row from where all rows together have been filled.
    fn fill(&self, text: &mut String, row: i64, cell: Cell, (lanes, together): (i64, bool)) {
        let (first, stride) = (row * self.every, self.stride);
        if first > self.last {
            return;
        }
        let letter = if cell == Cell::Of(Kind::Float) { "f" } else { "i" };
        let (to, more) = (row * self.row, (self.last - first) / stride);
        // For a few remaining cells, vectors gain nothing.
        let few = if together || stride <= NARROW { "__asm__ volatile (\"\");" } else { "" };
        let mut begin = "int64_t i = 0; ".to_owned();
        if together {
            text.push_str("        { ");
            begin = "int64_t i = done; ".to_owned();
        } else if stride <= NARROW {
            let _ = writeln!(
                text,
                "        {{ int64_t i = 0; for (; i + {lanes} <= iterations + {more}; i += {lanes}) \
                 store_{letter}(deinterleaved + {to} + i, pick{stride}_{letter}(from + {first} + i * {stride}));"
            );
            begin.clear();
        } else {
            text.push_str("        { ");
        }
        let _ = writeln!(
            text,
            "        {begin}for (; i < iterations + {more}; i++) {{ {few} deinterleaved[{to} + i] = from[{first} + i * {stride}]; }} }}"
        );
    }
}

/// The number of reads of items in a firing, as far as loop bounds are constant.
fn loads(stmts: &[Stmt]) -> i64 {
    let mut count = 0;
    for st in stmts {
        crate::ir::exprs(st, &mut |ex| count += loads_of(ex));
        let times = match st {
            Stmt::For { from, to, step, .. } => match (from.as_int(), to.as_int()) {
                (Some(from), Some(to)) => (i64::from(to) - i64::from(from)).abs() / i64::from(*step).abs(),
                _ => 1,
            },
            _ => 1,
        };
        count += crate::ir::inner(st).map(|stmts| times * loads(stmts)).sum::<i64>();
    }
    count
}

fn loads_of(ex: &Expr) -> i64 {
    let mut count = i64::from(matches!(ex, Expr::Load(Area::In(_), ..)));
    ex.each(&mut |part| count += loads_of(part));
    count
}

fn common(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { common(b, a % b) }
}
