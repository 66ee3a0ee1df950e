//! How many items a firing has taken or given at a place of the code.

use super::Lower;
use super::known::Range;
use crate::ir::{Ex, Kind, Label, Var};

/// So many as the variable says, and so many more.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Cursor {
    pub(super) dynamic: Option<Var>,
    pub(super) fixed: i64,
}

impl Cursor {
    /// The next item's place.
    pub(super) fn place(&self) -> Ex {
        match self.dynamic {
            None => Ex::int(self.fixed),
            Some(var) => Ex::Var(var).plus(Ex::int(self.fixed)),
        }
    }
}

impl Lower<'_> {
    pub(super) fn cursor(&mut self, takes: bool) -> &mut Cursor {
        if takes { &mut self.taken } else { &mut self.given }
    }

    /// The least and the most that a cursor may be.
    pub(super) fn cursor_range(&self, cursor: &Cursor) -> Range {
        let (low, high) = cursor.dynamic.map_or((0, 0), |var| self.known.range(var));
        (low + cursor.fixed, high + cursor.fixed)
    }

    /// Puts a cursor into a variable of its own, from where it goes on.
    pub(super) fn own_cursor(&mut self, takes: bool) -> Var {
        let place = self.cursor(takes).place();
        let var = self.var(Kind::Int, if takes { "taken" } else { "given" });
        self.set(var, place);
        *self.cursor(takes) = Cursor { dynamic: Some(var), fixed: 0 };
        var
    }

    /// The ways to this label may move different numbers of items.
    pub(super) fn make_even(&mut self, label: Label, pops: bool, pushes: bool) {
        let taken = (pops && self.rates.pop.fixed() != Some(0)).then(|| self.own_cursor(true));
        let given = (pushes && self.rates.push.fixed() != Some(0)).then(|| self.own_cursor(false));
        if taken.is_some() || given.is_some() {
            self.uneven.insert(label, [taken, given]);
        }
    }

    /// Brings the variables of a label up to date, on the way there.
    pub(super) fn flush_cursors(&mut self, label: Label) {
        let Some(vars) = self.uneven.get(&label).copied() else { return };
        for (var, takes) in vars.into_iter().zip([true, false]) {
            if let Some(var) = var {
                self.flush_cursor(var, takes);
            }
        }
    }

    /// Puts what has been moved into a variable.
    pub(super) fn flush_cursor(&mut self, var: Var, takes: bool) {
        let cursor = self.cursor(takes).clone();
        if cursor != (Cursor { dynamic: Some(var), fixed: 0 }) {
            self.set(var, cursor.place());
        }
        self.settle_cursor(var, takes);
    }

    /// At a label, its variables say what has been moved.
    pub(super) fn settle_cursors(&mut self, label: Label) {
        let Some(vars) = self.uneven.remove(&label) else { return };
        for (var, takes) in vars.into_iter().zip([true, false]) {
            if let Some(var) = var {
                self.settle_cursor(var, takes);
            }
        }
    }

    /// A variable says what has been moved.
    pub(super) fn settle_cursor(&mut self, var: Var, takes: bool) {
        let rate = if takes { self.rates.pop } else { self.rates.push };
        let most = rate.fixed().map_or(super::known::ANY.1, i64::from);
        *self.cursor(takes) = Cursor { dynamic: Some(var), fixed: 0 };
        self.known.set(var, None, (0, most));
    }
}
