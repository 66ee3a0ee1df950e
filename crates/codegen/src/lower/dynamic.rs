//! Dynamic rates: a firing looks whether an item is there before it uses it, and whether there is room before
//! it gives one.
//!
//! A firing begins when some items are there ([`Begins`]), so for the first of them it need not look. What it has
//! taken is gone when it waits, and so a scalar is looked at where it is taken, not where its value is used first.
//! Of larger items that is not known: they stay until the firing ends.

use super::known::{ANY, Range};
use super::{Lower, Outcome, Val};
use crate::ir::{Area, Begins, Ex, Kind, Scalar, St};
use thalweg_lang::hir::BinaryOp;
use thalweg_lang::tree::{self, Rate, Rates};

/// Room that a firing of dynamic rate has from the beginning, at the most.
const ROOM: u32 = 64;

/// Whether some rate of a filter is dynamic.
pub(crate) fn decides(filter: &tree::Filter) -> bool {
    let dynamic = |rates: &Rates| rates.decides_input() || rates.push.fixed().is_none();
    dynamic(&filter.work) || filter.prework.as_ref().is_some_and(dynamic)
}

impl Lower<'_> {
    /// What must be there for a firing to begin.
    fn begins(&self) -> Begins {
        let items = self.rates.least_window();
        let room = match self.rates.push {
            Rate::Static(push) => push,
            Rate::Dynamic { max, .. } => max.unwrap_or(1).min(ROOM),
        };
        Begins { items, room }
    }

    /// Waits for an item so many behind the next one.
    pub(super) fn need(&mut self, ahead: Ex) {
        let last = self.cursor_range(&self.taken.clone()).1 + self.range(&ahead).1;
        if last >= i64::from(self.begins().items) {
            let (taken, given) = (self.taken.place(), self.given.place());
            self.emit(St::Need { taken, ahead, given });
        }
    }

    /// The item at a place.
    pub(super) fn item(&mut self, place: Ex) -> Outcome<Val> {
        let shape = self.input.clone();
        let item = self.load_cells(&Area::In(Box::new(place)), &Ex::int(0), &shape)?;
        if !self.rates.decides_input() {
            return Ok(item);
        }
        self.code.keeps_taken |= matches!(item, Val::Area(..));
        Ok(match item {
            Val::Scalar(_) | Val::Cells(_) => self.freeze(item)?,
            larger => larger,
        })
    }

    /// Makes room for one more item, where so many may have been given.
    pub(super) fn room(&mut self, given: Range) {
        if given.1 >= i64::from(self.begins().room) {
            let given = self.given.place();
            self.emit(St::Room { given });
        }
    }

    /// A firing that decides how many items it takes keeps to the bounds it has said.
    pub(super) fn check_taken(&mut self) {
        if self.rates.pop.fixed().is_none() {
            self.check_within(true);
        }
    }

    /// The same of items that it takes, or gives.
    pub(super) fn check_within(&mut self, takes: bool) {
        let (does, rate) = if takes { ("pops", self.rates.pop) } else { ("pushes", self.rates.push) };
        let Rate::Dynamic { min, max, .. } = rate else { return };
        let cursor = self.cursor(takes).clone();
        let (low, high) = self.cursor_range(&cursor);
        let (least, most) = (i64::from(min), max.map_or(ANY.1, i64::from));
        let moved = cursor.place();
        let mut wrong = Ex::Const(Scalar::Bool(false));
        if low < least {
            wrong = self.compare(BinaryOp::Lt, moved.clone(), Ex::int(least));
        }
        if high > most {
            let more = self.compare(BinaryOp::Gt, moved.clone(), Ex::int(most));
            wrong = self.binary_scalar(BinaryOp::BitOr, Kind::Bool, wrong, more);
        }
        let said = match max {
            Some(max) => format!("from {min} to {max}"),
            None => format!("{min} or more"),
        };
        let why = format!("this firing {does} {{0}} items, but its rate says {said}");
        self.check(wrong, why, vec![moved]);
    }

    /// The firing ends: what it has not taken of a static rate is dropped.
    pub(super) fn tell_moved(&mut self) {
        if !self.flows {
            return;
        }
        self.code.begins = self.begins();
        let taken = match self.rates.pop {
            Rate::Static(pop) => Ex::int(pop.into()),
            Rate::Dynamic { .. } => self.taken.place(),
        };
        let given = match self.rates.push {
            Rate::Static(push) => Ex::int(push.into()),
            Rate::Dynamic { .. } => self.given.place(),
        };
        self.emit(St::Moved { taken, given });
    }
}
