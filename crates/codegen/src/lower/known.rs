//! What is known of variables.

use crate::ir::{Scalar, Var};
use rustc_hash::FxHashMap;

/// The least and the greatest value of an integer.
pub(super) type Range = (i64, i64);

/// All integers.
pub(super) const ANY: Range = (i32::MIN as i64, i32::MAX as i64);

/// What is known at a place of the code; nothing of a variable that is not in it.
#[derive(Clone, Default, Debug)]
pub(super) struct Known {
    of: FxHashMap<Var, (Option<Scalar>, Range)>,
}

impl Known {
    /// The variable has this value.
    pub(super) fn set(&mut self, var: Var, constant: Option<Scalar>, range: Range) {
        if constant.is_some() || range != ANY {
            self.of.insert(var, (constant, range));
        } else {
            self.of.remove(&var);
        }
    }

    /// Nothing is known any more.
    pub(super) fn forget(&mut self, var: Var) {
        self.of.remove(&var);
    }

    /// The constant that it is.
    pub(super) fn constant(&self, var: Var) -> Option<Scalar> {
        self.of.get(&var).and_then(|known| known.0)
    }

    /// The integers that it may be.
    pub(super) fn range(&self, var: Var) -> Range {
        self.of.get(&var).map_or(ANY, |known| known.1)
    }

    /// What is known if it may be either.
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
