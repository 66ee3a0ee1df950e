//! The number of items that a firing has popped or pushed at a point of the code.

use super::Lower;
use super::known::Range;
use crate::ir::{Expr, Kind, Label, Var};

/// The value of a variable, plus a constant.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Cursor {
    pub(super) dynamic: Option<Var>,
    pub(super) fixed: i64,
}

impl Cursor {
    /// The position of the next item.
    pub(super) fn place(&self) -> Expr {
        match self.dynamic {
            None => Expr::int(self.fixed),
            Some(var) => Expr::Var(var).plus(Expr::int(self.fixed)),
        }
    }
}

impl Lower<'_> {
    pub(super) fn cursor(&mut self, takes: bool) -> &mut Cursor {
        if takes { &mut self.taken } else { &mut self.given }
    }

    /// The least and the greatest value of a cursor.
    pub(super) fn cursor_range(&self, cursor: &Cursor) -> Range {
        let (low, high) = cursor.dynamic.map_or((0, 0), |var| self.known.range(var));
        (low + cursor.fixed, high + cursor.fixed)
    }

    /// Copies a cursor to a new variable and continues from there.
    pub(super) fn own_cursor(&mut self, takes: bool) -> Var {
        let place = self.cursor(takes).place();
        let var = self.var(Kind::Int, if takes { "taken" } else { "given" });
        self.set(var, place);
        *self.cursor(takes) = Cursor { dynamic: Some(var), fixed: 0 };
        var
    }

    /// Prepares a label with incoming paths that may have moved different numbers of items.
    pub(super) fn make_even(&mut self, label: Label, pops: bool, pushes: bool) {
        let taken = (pops && self.rates.pop.fixed() != Some(0)).then(|| self.own_cursor(true));
        let given = (pushes && self.rates.push.fixed() != Some(0)).then(|| self.own_cursor(false));
        if taken.is_some() || given.is_some() {
            self.uneven.insert(label, [taken, given]);
        }
    }

    /// Updates the cursor variables of a label, on a path to it.
    pub(super) fn flush_cursors(&mut self, label: Label) {
        let Some(vars) = self.uneven.get(&label).copied() else { return };
        for (var, takes) in vars.into_iter().zip([true, false]) {
            if let Some(var) = var {
                self.flush_cursor(var, takes);
            }
        }
    }

    /// Updates a cursor variable with what has been moved.
    pub(super) fn flush_cursor(&mut self, var: Var, takes: bool) {
        let cursor = self.cursor(takes).clone();
        if cursor != (Cursor { dynamic: Some(var), fixed: 0 }) {
            self.set(var, cursor.place());
        }
        self.settle_cursor(var, takes);
    }

    /// At a label: makes its variables the cursors.
    pub(super) fn settle_cursors(&mut self, label: Label) {
        let Some(vars) = self.uneven.remove(&label) else { return };
        for (var, takes) in vars.into_iter().zip([true, false]) {
            if let Some(var) = var {
                self.settle_cursor(var, takes);
            }
        }
    }

    /// Makes a variable the cursor.
    pub(super) fn settle_cursor(&mut self, var: Var, takes: bool) {
        let rate = if takes { self.rates.pop } else { self.rates.push };
        let most = rate.fixed().map_or(super::known::ANY.1, i64::from);
        *self.cursor(takes) = Cursor { dynamic: Some(var), fixed: 0 };
        self.known.set(var, None, (0, most));
    }
}
