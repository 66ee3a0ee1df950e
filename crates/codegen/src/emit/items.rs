//! Where items are: how a firing's items stand in a buffer.

use super::expr::bare;
use crate::ir::Cell;

/// How the items of a firing follow one another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Pattern {
    /// Each so many places after the one before.
    Every(i64),
    /// So many next to one another, and the next run so many places after the beginning of the last.
    Runs(i64, i64),
    /// Wherever it is said.
    Table(Vec<i64>),
    /// One after the other in a ring.
    Ring,
}

/// Where the items of firings are: firing `f` begins `f / group` times `group_stride` and `f % group`
/// times `stride` places after the first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Items {
    /// What an item is made of.
    pub(crate) cell: Cell,
    /// How many cells it has.
    pub(crate) cells: usize,
    pub(crate) base: i64,
    pub(crate) group: i64,
    pub(crate) group_stride: i64,
    pub(crate) stride: i64,
    pub(crate) pattern: Pattern,
    /// Items that a firing looks at, or gives.
    pub(crate) window: i64,
}

impl Items {
    /// Items one after the other.
    pub(crate) fn in_line(cell: Cell, cells: usize, moved: i64) -> Items {
        let pattern = Pattern::Every(1);
        Items { cell, cells, base: 0, group: 1, group_stride: moved, stride: 0, pattern, window: moved }
    }

    /// The same in a ring.
    pub(crate) fn in_ring(cell: Cell, cells: usize, moved: i64) -> Items {
        Items { pattern: Pattern::Ring, ..Items::in_line(cell, cells, moved) }
    }

    /// Where firing `f` begins, in cells.
    pub(crate) fn start(&self, f: &str) -> String {
        let cells = self.cells as i64;
        let sum = |parts: Vec<String>| {
            let parts: Vec<String> = parts.into_iter().filter(|part| part != "0").collect();
            if parts.is_empty() { "0".to_owned() } else { parts.join(" + ") }
        };
        let term = |f: String, by: i64| match by * cells {
            0 => "0".to_owned(),
            1 => f,
            by => format!("{f} * {by}"),
        };
        let base = (self.base * cells).to_string();
        if self.group == 1 {
            return sum(vec![base, term(f.into(), self.group_stride)]);
        }
        let (turn, rest) = (format!("{f} / {}", self.group), format!("{f} % {}", self.group));
        sum(vec![base, term(turn, self.group_stride), term(rest, self.stride)])
    }

    /// The place of an item's cell, from where the firing begins; `known` is the item where it is.
    pub(crate) fn place(&self, ring: &str, item: &str, known: Option<i32>, cell: &str) -> String {
        let cells = self.cells as i64;
        let scaled = |item: &str, by: i64| if by == 1 { item.to_owned() } else { format!("{item} * {by}") };
        let place = match (&self.pattern, known.map(i64::from)) {
            (Pattern::Ring, _) if cells == 1 => return format!("({ring} + {item}) & {ring}_mask"),
            (Pattern::Ring, _) => format!("(({ring} + {item}) & {ring}_mask) * {cells}"),
            (Pattern::Table(_), None) => scaled(&format!("{ring}_at[{}]", bare(item)), cells),
            (_, Some(item)) => (self.offset(item) * cells).to_string(),
            (Pattern::Every(by), None) => scaled(item, by * cells),
            (Pattern::Runs(run, by), None) => {
                scaled(&format!("((uint32_t){item} / {run} * {by} + (uint32_t){item} % {run})"), cells)
            }
        };
        match cell {
            "0" => place,
            cell if place == "0" => cell.to_owned(),
            cell => match (place.parse::<i64>(), cell.parse::<i64>()) {
                (Ok(a), Ok(b)) => (a + b).to_string(),
                _ => format!("{place} + {cell}"),
            },
        }
    }

    /// How far an item is from the firing's first place.
    pub(crate) fn offset(&self, item: i64) -> i64 {
        match &self.pattern {
            Pattern::Every(by) => item * by,
            Pattern::Runs(run, by) => item / run * by + item % run,
            Pattern::Table(at) => at.get(usize::try_from(item).unwrap_or(0)).copied().unwrap_or(0),
            Pattern::Ring => item,
        }
    }
}

impl Items {
    /// The greatest distance of an item that is known from the firing's first place.
    pub(crate) fn reach(&self) -> i64 {
        match &self.pattern {
            Pattern::Every(by) => (self.window - 1).max(0) * by,
            Pattern::Runs(..) => (0..self.window).map(|item| self.offset(item)).max().unwrap_or(0),
            Pattern::Table(at) => at.iter().copied().max().unwrap_or(0),
            Pattern::Ring => 0,
        }
    }
}
