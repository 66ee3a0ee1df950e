//! Facts about variables: constants and ranges.

use crate::ir::{Scalar, Var};
use rustc_hash::FxHashMap;

/// The least and the greatest value of an integer.
pub(super) type Range = (i64, i64);

/// All integers.
pub(super) const ANY: Range = (i32::MIN as i64, i32::MAX as i64);

/// The facts at a point of the code; nothing is known of a variable without an entry.
#[derive(Clone, Default, Debug)]
pub(super) struct Known {
    of: FxHashMap<Var, (Option<Scalar>, Range)>,
}

impl Known {
    /// Records the value of a variable.
    pub(super) fn set(&mut self, var: Var, constant: Option<Scalar>, range: Range) {
        if constant.is_some() || range != ANY {
            self.of.insert(var, (constant, range));
        } else {
            self.of.remove(&var);
        }
    }

    /// Drops what is known of a variable.
    pub(super) fn forget(&mut self, var: Var) {
        self.of.remove(&var);
    }

    /// The constant value of a variable.
    pub(super) fn constant(&self, var: Var) -> Option<Scalar> {
        self.of.get(&var).and_then(|known| known.0)
    }

    /// The range of a variable's values.
    pub(super) fn range(&self, var: Var) -> Range {
        self.of.get(&var).map_or(ANY, |known| known.1)
    }

    /// Keeps what holds on both of two paths.
    pub(super) fn join(&mut self, other: &Known) {
        self.of.retain(|var, known| {
            let Some(theirs) = other.of.get(var) else { return false };
            if known.0 != theirs.0 {
                known.0 = None;
            }
            known.1 = (known.1.0.min(theirs.1.0), known.1.1.max(theirs.1.1));
            known.0.is_some() || known.1 != ANY
        });
    }
}
