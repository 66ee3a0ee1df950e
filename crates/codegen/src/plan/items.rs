//! Access patterns: the positions of a firing's items in a buffer.

use crate::ir::Cell;

/// The positions of a firing's items, relative to the first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Pattern {
    /// Each this many positions after the one before.
    Every(i64),
    /// Runs of this many consecutive items; the distance between beginnings of runs.
    Runs(i64, i64),
    /// The positions in a table.
    Table(Vec<i64>),
    /// Consecutive in a ring buffer.
    Ring,
}

/// The positions of all firings' items: firing `f` begins `f / group * group_stride + f % group * stride`
/// positions after the first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Items {
    /// The content of an item's cells.
    pub(crate) cell: Cell,
    /// The number of cells in an item.
    pub(crate) cells: usize,
    pub(crate) base: i64,
    pub(crate) group: i64,
    pub(crate) group_stride: i64,
    pub(crate) stride: i64,
    pub(crate) pattern: Pattern,
    /// Items that a firing can read, or pushes.
    pub(crate) window: i64,
}

impl Items {
    /// Consecutive items.
    pub(crate) fn in_line(cell: Cell, cells: usize, moved: i64) -> Items {
        let pattern = Pattern::Every(1);
        Items { cell, cells, base: 0, group: 1, group_stride: moved, stride: 0, pattern, window: moved }
    }

    /// Consecutive items in a ring buffer.
    pub(crate) fn in_ring(cell: Cell, cells: usize, moved: i64) -> Items {
        Items { pattern: Pattern::Ring, ..Items::in_line(cell, cells, moved) }
    }

    /// The position of an item, relative to the firing's first.
    pub(crate) fn offset(&self, item: i64) -> i64 {
        match &self.pattern {
            Pattern::Every(by) => item * by,
            Pattern::Runs(run, by) => item / run * by + item % run,
            Pattern::Table(at) => at.get(usize::try_from(item).unwrap_or(0)).copied().unwrap_or(0),
            Pattern::Ring => item,
        }
    }

    /// The greatest position of an item, relative to the firing's first.
    pub(crate) fn reach(&self) -> i64 {
        match &self.pattern {
            Pattern::Every(by) => (self.window - 1).max(0) * by,
            Pattern::Runs(..) => (0..self.window).map(|item| self.offset(item)).max().unwrap_or(0),
            Pattern::Table(at) => at.iter().copied().max().unwrap_or(0),
            Pattern::Ring => 0,
        }
    }
}
