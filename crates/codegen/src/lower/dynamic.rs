//! Dynamic rates: a firing checks that an item is in the queue before it reads it, and that there is room
//! before it pushes one.
//!
//! A firing begins when some items are in the queue ([`Begins`]) and need not check for the first of them.
//! Popped items are gone when it waits, so a scalar is loaded where it is popped rather than where its value
//! is first used. Larger items are not loaded: they stay in the queue until the firing ends.

use super::known::{ANY, Range};
use super::{Lower, Outcome, Val};
use crate::ir::{Area, Begins, Expr, Kind, Scalar, Stmt};
use thalweg_lang::hir::BinaryOp;
use thalweg_lang::tree::{self, Rate, Rates};

/// The most room that a firing with a dynamic push rate has at its beginning.
const ROOM: u32 = 64;

/// Whether some rate of a filter is dynamic.
pub(crate) fn decides(filter: &tree::Filter) -> bool {
    let dynamic = |rates: &Rates| rates.decides_input() || rates.push.fixed().is_none();
    dynamic(&filter.work) || filter.prework.as_ref().is_some_and(dynamic)
}

impl Lower<'_> {
    /// The precondition of a firing.
    fn begins(&self) -> Begins {
        let items = self.rates.least_window();
        let room = match self.rates.push {
            Rate::Static(push) => push,
            Rate::Dynamic { max, .. } => max.unwrap_or(1).min(ROOM),
        };
        Begins { items, room }
    }

    /// Waits for the item at this offset from the next one.
    pub(super) fn need(&mut self, ahead: Expr) {
        let last = self.cursor_range(&self.taken.clone()).1 + self.range(&ahead).1;
        if last >= i64::from(self.begins().items) {
            let (taken, given) = (self.taken.place(), self.given.place());
            self.emit(Stmt::Need { taken, ahead, given });
        }
    }

    /// The item at a position.
    pub(super) fn item(&mut self, place: Expr) -> Outcome<Val> {
        let shape = self.input.clone();
        let item = self.load_cells(&Area::In(Box::new(place)), &Expr::int(0), &shape)?;
        if !self.rates.decides_input() {
            return Ok(item);
        }
        self.code.keeps_taken |= matches!(item, Val::Area(..));
        Ok(match item {
            Val::Scalar(_) | Val::Cells(_) => self.freeze(item)?,
            larger => larger,
        })
    }

    /// Makes room for one more item; `given` is the range of the number pushed so far.
    pub(super) fn room(&mut self, given: Range) {
        if given.1 >= i64::from(self.begins().room) {
            let given = self.given.place();
            self.emit(Stmt::Room { given });
        }
    }

    /// Checks that a firing has popped as many items as its declared rate allows.
    pub(super) fn check_taken(&mut self) {
        if self.rates.pop.fixed().is_none() {
            self.check_within(true);
        }
    }

    /// Checks the number of popped or pushed items against the declared bounds.
    pub(super) fn check_within(&mut self, takes: bool) {
        let (does, rate) = if takes { ("pops", self.rates.pop) } else { ("pushes", self.rates.push) };
        let Rate::Dynamic { min, max, .. } = rate else { return };
        let cursor = self.cursor(takes).clone();
        let (low, high) = self.cursor_range(&cursor);
        let (least, most) = (i64::from(min), max.map_or(ANY.1, i64::from));
        let moved = cursor.place();
        let mut wrong = Expr::Const(Scalar::Bool(false));
        if low < least {
            wrong = self.compare(BinaryOp::Lt, moved.clone(), Expr::int(least));
        }
        if high > most {
            let more = self.compare(BinaryOp::Gt, moved.clone(), Expr::int(most));
            wrong = self.binary_scalar(BinaryOp::BitOr, Kind::Bool, wrong, more);
        }
        let said = match max {
            Some(max) => format!("from {min} to {max}"),
            None => format!("{min} or more"),
        };
        let why = format!("this firing {does} {{0}} items, but its rate says {said}");
        self.check(wrong, why, vec![moved]);
    }

    /// Ends the firing. With a static pop rate, items that it has not popped are dropped.
    pub(super) fn tell_moved(&mut self) {
        if !self.flows {
            return;
        }
        self.code.begins = self.begins();
        let taken = match self.rates.pop {
            Rate::Static(pop) => Expr::int(pop.into()),
            Rate::Dynamic { .. } => self.taken.place(),
        };
        let given = match self.rates.push {
            Rate::Static(push) => Expr::int(push.into()),
            Rate::Dynamic { .. } => self.given.place(),
        };
        self.emit(Stmt::Moved { taken, given });
    }
}
