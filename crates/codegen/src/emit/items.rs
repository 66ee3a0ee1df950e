//! C text of access patterns.

use super::terms::bare;
use crate::plan::{Items, Pattern};

impl Items {
    /// The first cell of firing `f`.
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
        let (row, rest) = (format!("{f} / {}", self.group), format!("{f} % {}", self.group));
        sum(vec![base, term(row, self.group_stride), term(rest, self.stride)])
    }

    /// The position of an item's cell, relative to the firing's beginning; `known` is the item if it is
    /// constant.
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
}
