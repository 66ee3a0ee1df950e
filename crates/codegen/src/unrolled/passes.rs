//! Whether code only forwards its input.

use super::dag::{Op, Val};
use super::trace::{Cells, Trace};
use crate::ir::{Cell, Code};
use crate::plan::{Items, keeps_nothing};

/// Whether a firing only pushes the items that it pops, unchanged and in order. `cells` is the number of
/// cells in an item.
pub(crate) fn passes(code: &Code, (cell, cells): (Cell, usize), items: u64) -> bool {
    let Cell::Of(kind) = cell else { return false };
    if !code.sites.is_empty() || !keeps_nothing(code) {
        return false;
    }
    let (count, side) = (items as usize * cells, Items::in_line(cell, cells, items as i64));
    let buffers = vec![Some(Cells::Outside(kind)), Some(Cells::Inside(vec![Val::None; count]))];
    let mut trace = Trace::new(buffers, 1);
    if trace.fire(code, Some((0, &side)), Some((1, &side)), 1).is_none() {
        return false;
    }
    let Some(Cells::Inside(given)) = &trace.buffers[1] else { return false };
    let is_taken = |(at, value): (usize, &Val)| match value {
        Val::Node(node) => trace.dag.nodes[*node as usize].op == Op::In { buffer: 0, cell: at as u32 },
        _ => false,
    };
    given.iter().enumerate().all(is_taken)
}
