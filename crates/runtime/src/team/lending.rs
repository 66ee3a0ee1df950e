//! How a caller lends a job to other members of its team, and how a run recalls a member that helps.

use crate::measure::clock::{Ticks, ticks, ticks_per_ns};
use crate::sync::Mutex;
use crate::threads::Panic;

/// A set of slots, by bits.
pub(crate) type Slots = usize;

/// The part of a helper: its number, and how its own run recalls it.
pub(crate) type Part<'j> = dyn Fn(usize, Recall<'_>) + Sync + 'j;

/// Whether a job has work that another thread could begin.
pub(crate) type More<'j> = dyn Fn() -> bool + Sync + 'j;

/// A job for other members, and how many may join.
#[derive(Clone, Copy)]
pub(crate) struct Lending<'j> {
    /// What a helper calls.
    pub(crate) part: &'j Part<'j>,
    /// Called after each return of a part, by its thread.
    pub(crate) more: &'j More<'j>,
    /// The jobs that the caller is in.
    pub(crate) ancestors: Slots,
    /// The most helpers at once.
    pub(crate) most: usize,
}

/// Whether a helper's own run has work for it. A recalled helper returns from the job when it can, though work is left: the
/// job stays open. Threads of the pool are in no run, and a caller that helps while it waits cannot leave.
#[derive(Clone, Copy)]
pub(crate) struct Recall<'w>(Option<&'w dyn Fn() -> bool>);

impl<'w> Recall<'w> {
    /// For a helper whose thread has nothing else to do.
    pub(crate) const NEVER: Recall<'static> = Recall(None);

    /// The helper is recalled when `recall` returns true. Helpers call it about every 20 us, so it may search.
    pub(crate) fn by(recall: &'w dyn Fn() -> bool) -> Recall<'w> {
        Recall(Some(recall))
    }

    /// Whether the helper may be recalled while it helps.
    pub(crate) fn is_possible(self) -> bool {
        self.0.is_some()
    }

    /// Whether the helper is recalled now.
    pub(crate) fn is_requested(self) -> bool {
        self.0.is_some_and(|recall| recall())
    }
}

/// The nanoseconds between the times when a helper asks whether it is recalled.
const CHECK: f64 = 20_000.0;

/// Asks at intervals whether a helper is recalled.
pub(crate) struct RecallCheck<'w> {
    recall: Recall<'w>,
    /// The time of the last check, or of the beginning.
    checked: Ticks,
    gap: Ticks,
}

impl<'w> RecallCheck<'w> {
    /// That of a helper that begins now, so it is not recalled for [`CHECK`].
    pub(crate) fn new(recall: Recall<'w>) -> RecallCheck<'w> {
        if !recall.is_possible() {
            return RecallCheck { recall, checked: 0, gap: 0 };
        }
        RecallCheck { recall, checked: ticks(), gap: (CHECK * ticks_per_ns()) as Ticks }
    }

    /// Whether the helper may be recalled while it helps.
    pub(crate) fn may_recall(&self) -> bool {
        self.recall.is_possible()
    }

    /// Whether the helper is recalled now.
    #[inline]
    pub(crate) fn recalls(&mut self, now: impl FnOnce() -> Ticks) -> bool {
        self.may_recall() && self.checks(now())
    }

    #[cold]
    fn checks(&mut self, now: Ticks) -> bool {
        let is_due = now.saturating_sub(self.checked) >= self.gap;
        if is_due {
            self.checked = now;
        }
        is_due && self.recall.is_requested()
    }
}

/// A job in a slot, its lifetime erased by [`Arena::run`](super::arena::Arena::run) alone.
#[derive(Clone, Copy)]
pub(super) struct Lent {
    pub(super) part: &'static Part<'static>,
    /// Whether work is visible that another thread could begin.
    pub(super) more: &'static More<'static>,
    pub(super) ancestors: Slots,
    pub(super) panic: &'static Mutex<Option<Panic>>,
}
