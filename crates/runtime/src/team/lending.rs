//! How a caller lends a job to other members of its team, and what a member that joins may be called away for.

use crate::measure::clock::{Ticks, ticks, ticks_per_ns};
use crate::sync::Mutex;
use crate::threads::Panic;

/// A set of slots, by bits.
pub(crate) type Slots = usize;

/// The part of a helper: its number, and whether its own run wants it.
pub(crate) type Part<'j> = dyn Fn(usize, Wanted<'_>) + Sync + 'j;

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

/// Says to a helper whether its own run has work for it. Then it returns from the job when it can, though work is left: the
/// job stays open. Threads of the pool are in no run, and a caller that helps while it waits cannot leave.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'w>(Option<&'w dyn Fn() -> bool>);

impl<'w> Wanted<'w> {
    /// That of a helper whose thread has nothing else to do.
    pub(crate) const NEVER: Wanted<'static> = Wanted(None);

    /// That of a helper for which `wanted` says so. It is called now and then, so it may search.
    pub(crate) fn by(wanted: &'w dyn Fn() -> bool) -> Wanted<'w> {
        Wanted(Some(wanted))
    }

    /// Whether the helper may be wanted while it helps.
    pub(crate) fn may_be(self) -> bool {
        self.0.is_some()
    }

    /// Whether the helper is wanted now.
    pub(crate) fn is(self) -> bool {
        self.0.is_some_and(|wanted| wanted())
    }
}

/// The nanoseconds between the times when a helper asks whether it is wanted.
const CHECK: f64 = 20_000.0;

/// Asks now and then whether a helper is wanted elsewhere.
pub(crate) struct Watch<'w> {
    wanted: Wanted<'w>,
    /// The time of the last check, or of the beginning.
    checked: Ticks,
    gap: Ticks,
}

impl<'w> Watch<'w> {
    /// That of a helper that begins now, so it is not wanted for [`CHECK`].
    pub(crate) fn new(wanted: Wanted<'w>) -> Watch<'w> {
        if !wanted.may_be() {
            return Watch { wanted, checked: 0, gap: 0 };
        }
        Watch { wanted, checked: ticks(), gap: (CHECK * ticks_per_ns()) as Ticks }
    }

    /// Whether the helper may be wanted while it helps.
    pub(crate) fn may_call(&self) -> bool {
        self.wanted.may_be()
    }

    /// Whether the helper is wanted now.
    #[inline]
    pub(crate) fn calls(&mut self, now: impl FnOnce() -> Ticks) -> bool {
        self.may_call() && self.checks(now())
    }

    #[cold]
    fn checks(&mut self, now: Ticks) -> bool {
        let is_due = now.saturating_sub(self.checked) >= self.gap;
        if is_due {
            self.checked = now;
        }
        is_due && self.wanted.is()
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
