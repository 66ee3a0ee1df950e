//! Which iterations a member gets.
//!
//! | schedule | shared state | a member takes |
//! |---|---|---|
//! | hybrid | [`Shares`]: a stretch for each member | from the front of its own rest, and half of the longest other rest |
//! | split | [`Shares`]: the caller has the only stretch | the same |
//! | static | [`Shares`] | its own stretch as a whole, and then the stretches that are not begun |
//! | dynamic, guided | the first iteration left | from the front |
//!
//! A member that is done with its own stretch of a static schedule spins for some time before it takes that of another
//! member, which may be about to begin.
//!
//! A helper that its own run may recall ([`Recall`](crate::team::lending::Recall)) executes short ranges only, of each schedule.
//! When it leaves, its rest is there for others, and the job has work for a member that comes later ([`Iterations::is_left`]).
//!
//! A number at which the loop has failed is a limit ([`Iterations::fail_at`]): no member takes higher ones, of any schedule,
//! so a loop without an upper end may end by a failure. Lower ones are taken as before. The limit is a counter that only
//! falls; what members have in their hands when it does, they drop at the next range.

use super::Schedule;
use crate::measure::clock::{ticks, ticks_per_ns};
use crate::sync::CachePadded;
use crate::threads::Shares;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use thalweg_policy::tasks::{StealOrder, guided};

/// The nanoseconds for which a member of a static schedule leaves the stretches of others to them.
const PATIENCE: f64 = 20_000.0;

/// The iterations that no member has taken.
pub(super) struct Iterations {
    left: Left,
    /// The next iteration of the schedules dynamic and guided.
    next: CachePadded<AtomicUsize>,
    length: usize,
    /// The lowest number at which the loop has failed; `usize::MAX`, which no loop has, if it has not. Relaxed: a stale value
    /// only lets a member take more.
    limit: AtomicUsize,
    /// A member's body has panicked: no range is taken any more.
    cancelled: AtomicBool,
    /// A helper has left, though there may be iterations.
    has_left: AtomicBool,
}

enum Left {
    Shares(Shares),
    Stretches(Shares),
    /// The end, and what a member takes: as many as it wants, or its part of the rest.
    Front {
        end: usize,
        grain: usize,
        /// Of a guided schedule: the number of members.
        guided: Option<usize>,
    },
}

impl Iterations {
    /// All iterations of a loop. The stretches of the team's members have these lengths, of which the schedules dynamic and
    /// guided use the number of members alone.
    pub(super) fn new(
        schedule: Schedule,
        stealing: StealOrder,
        range: &Range<usize>,
        (lengths, members): (impl ExactSizeIterator<Item = u64>, usize),
        grain: usize,
    ) -> Iterations {
        let shares = move || Shares::by_lengths(range.start as u64..range.end as u64, lengths);
        let front = |guided| Left::Front { end: range.end, grain, guided };
        let left = match schedule {
            Schedule::Static => Left::Stretches(shares()),
            Schedule::Hybrid | Schedule::Split if stealing == StealOrder::Off => Left::Stretches(shares()),
            Schedule::Hybrid | Schedule::Split => Left::Shares(shares().with_order(stealing)),
            Schedule::Dynamic => front(None),
            Schedule::Guided => front(Some(members)),
        };
        let next = CachePadded::new(AtomicUsize::new(range.start));
        Iterations {
            left,
            next,
            length: range.len(),
            limit: AtomicUsize::new(usize::MAX),
            cancelled: AtomicBool::new(false),
            has_left: AtomicBool::new(false),
        }
    }

    /// How many iterations the loop has.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The next iterations of a member, about `wanted` of them where the schedule lets it choose; `None` if none are left.
    /// A member that may leave gets few in any case, or may give the rest back. Calls `tried` with the result of each attempt to
    /// steal.
    pub(super) fn take(
        &self,
        member: usize,
        (wanted, may_leave): (usize, bool),
        tried: &mut impl FnMut(bool),
    ) -> Option<Range<usize>> {
        if self.cancelled.load(Ordering::Relaxed) {
            return None;
        }
        match &self.left {
            Left::Shares(shares) => {
                self.below_limit(shares, || shares.take_most(member, wanted as u64, tried))
            }
            Left::Stretches(shares) => self.below_limit(shares, || {
                let own = shares.take_whole(member);
                own.or_else(|| others(shares, member).inspect(|_| tried(true)))
            }),
            Left::Front { end, grain, guided } => {
                let end = self.limit().min(*end);
                let take = |next: usize| {
                    let left = end.saturating_sub(next);
                    let length = guided.map_or(*grain, |members| part(left, members, *grain));
                    let length = if may_leave { length.min(wanted.max(*grain)) } else { length };
                    (left > 0).then(|| next + length.min(left))
                };
                // Relaxed: the counter is all that members share here.
                let from = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
                take(from).map(|to| from..to)
            }
        }
    }

    /// What `take` takes of the shares, as far as it is below the limit.
    fn below_limit(
        &self,
        shares: &Shares,
        mut take: impl FnMut() -> Option<Range<u64>>,
    ) -> Option<Range<usize>> {
        loop {
            let range = take()?;
            let limit = self.limit();
            if (range.start as usize) < limit {
                return Some(range.start as usize..(range.end as usize).min(limit));
            }
            // The member has dropped it. The others' rests, and what else it has stolen, follow at once.
            shares.cut(limit as u64);
        }
    }

    /// The loop has failed at this number: no member takes a higher one from now on, but for those that it has begun to
    /// take.
    #[cold]
    pub(super) fn fail_at(&self, number: usize) {
        self.limit.fetch_min(number, Ordering::Relaxed);
        if let Left::Shares(shares) | Left::Stretches(shares) = &self.left {
            shares.cut(number as u64);
        }
    }

    /// The lowest number at which the loop has failed, as far as the caller knows: higher ones need not be executed.
    #[inline]
    pub(super) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    /// The first part of what a member has taken: all of it, but for one that may leave. `None` if it is empty.
    #[inline]
    pub(super) fn next_of(
        &self,
        rest: &mut Range<usize>,
        wanted: usize,
        may_leave: bool,
    ) -> Option<Range<usize>> {
        rest.end = rest.end.min(self.limit());
        if rest.start >= rest.end {
            return None;
        }
        let end = match &self.left {
            Left::Stretches(shares) if may_leave && !self.cancelled.load(Ordering::Relaxed) => {
                shares.border(rest.start as u64, wanted as u64).min(rest.end as u64) as usize
            }
            _ => rest.end,
        };
        Some(std::mem::replace(&mut rest.start, end)..end)
    }

    /// A member leaves before all iterations are executed, and this is the rest of what it has taken.
    pub(super) fn leave(&self, member: usize, rest: Range<usize>) {
        if let Left::Stretches(shares) = &self.left
            && !rest.is_empty()
        {
            shares.give_back(member, rest.start as u64..rest.end as u64);
        }
        self.has_left.store(true, Ordering::Relaxed);
    }

    /// Whether a member has left iterations that none executes. A hint in a loop that no member has left.
    pub(super) fn is_left(&self) -> bool {
        self.has_left.load(Ordering::Relaxed)
            && !self.cancelled.load(Ordering::Relaxed)
            && match &self.left {
                Left::Shares(shares) | Left::Stretches(shares) => !shares.is_empty(),
                Left::Front { end, .. } => self.next.load(Ordering::Relaxed) < self.limit().min(*end),
            }
    }

    /// Executes the part of a member, and cancels the loop if it panics. (The thread may have panicked before: a `drop`
    /// may execute a loop.)
    pub(super) fn cancelled_by_panic(&self, part: impl FnOnce()) {
        struct Cancel<'d>(&'d AtomicBool);
        impl Drop for Cancel<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let cancel = Cancel(&self.cancelled);
        part();
        std::mem::forget(cancel);
    }
}

/// What a member of a guided schedule takes of the iterations left.
fn part(left: usize, members: usize, grain: usize) -> usize {
    guided(left as u64, members, grain as u64) as usize
}

/// A stretch that its member has not begun after a while.
fn others(shares: &Shares, member: usize) -> Option<Range<u64>> {
    let until = ticks() + (PATIENCE * ticks_per_ns()) as u64;
    while !shares.is_empty() {
        if ticks() > until {
            return shares.steal_whole(member);
        }
        std::hint::spin_loop();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Schedule; 5] =
        [Schedule::Static, Schedule::Dynamic, Schedule::Guided, Schedule::Split, Schedule::Hybrid];

    #[test]
    fn each_iteration_is_taken_once_by_members_that_come_in_any_order() {
        let (long, seeds) = if cfg!(miri) { (50, 2) } else { (1000, 20) };
        for schedule in ALL {
            for (range, members, grain) in [(0..1, 1, 1), (5..105, 3, 7), (0..long, 4, 1), (3..5, 4, 1)] {
                for seed in 0..seeds {
                    let iterations = iterations(schedule, &range, (members, 4), grain);
                    let mut random = fast_random(seed);
                    let mut taken: Vec<Range<usize>> = Vec::new();
                    let turns = std::iter::repeat_with(|| random() as usize);
                    taken.extend(
                        turns.map_while(|turn| {
                            iterations.take(turn % 4, (1 + turn / 4 % 9, false), &mut |_| ())
                        }),
                    );
                    taken.sort_by_key(|range| range.start);
                    assert!(taken.iter().cloned().flatten().eq(range.clone()), "{schedule:?} {taken:?}");
                }
            }
        }
    }

    fn iterations(
        schedule: Schedule,
        range: &Range<usize>,
        (members, size): (usize, usize),
        grain: usize,
    ) -> Iterations {
        let lengths = super::super::even(size, members, range.len() as u64);
        Iterations::new(schedule, StealOrder::Longest, range, (lengths, members), grain)
    }

    fn fast_random(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        }
    }

    #[test]
    fn members_begin_with_the_same_stretches_each_time() {
        for schedule in [Schedule::Static, Schedule::Hybrid] {
            for _ in 0..2 {
                let iterations = iterations(schedule, &(0..90), (3, 3), 1);
                let first =
                    [2, 0, 1].map(|member| iterations.take(member, (5, false), &mut |_| ()).unwrap().start);
                assert_eq!(first, [60, 0, 30], "{schedule:?}");
            }
        }
        let iterations = iterations(Schedule::Static, &(0..90), (3, 3), 1);
        assert_eq!(
            iterations.take(1, (1, false), &mut |_| ()),
            Some(30..60),
            "a static stretch is taken as a whole"
        );
    }

    /// The stretches of a loop with fewer members than the team, and those of a replay.
    #[test]
    fn the_papers_order_steals_from_the_next_stretch_that_is_not_begun() {
        let (few, replayed) = (super::super::even(5, 3, 90).collect(), vec![40, 0, 0, 33, 17]);
        for (lengths, [begun, waits]) in [(few, [0, 1]), (replayed, [0, 3])] {
            let lengths: Vec<u64> = lengths;
            let starts: Vec<u64> =
                lengths.iter().scan(0, |sum, length| Some(std::mem::replace(sum, *sum + length))).collect();
            let iterations = Iterations::new(
                Schedule::Hybrid,
                StealOrder::Paper,
                &(0..90),
                (lengths.clone().into_iter(), 3),
                1,
            );
            let take = |member, wanted| iterations.take(member, (wanted, false), &mut |_| ()).unwrap();
            assert_eq!(take(begun, 1).len(), 1);
            // The last member has no stretch, or takes its own first.
            let done = starts[4] as usize..starts[4] as usize + lengths[4] as usize;
            let mut stolen = take(4, 90);
            while done.contains(&stolen.start) {
                stolen = take(4, 90);
            }
            let stretch = starts[waits]..starts[waits] + lengths[waits];
            assert!(stretch.contains(&(stolen.start as u64)), "{stolen:?} of {lengths:?}");
        }
    }

    #[test]
    fn a_panic_of_the_part_alone_cancels_a_loop() {
        struct InDrop<'d>(&'d Iterations);
        impl Drop for InDrop<'_> {
            fn drop(&mut self) {
                self.0.cancelled_by_panic(|| assert_eq!(self.0.take(0, (1, false), &mut |_| ()), Some(0..1)));
            }
        }
        let iterations = iterations(Schedule::Dynamic, &(0..9), (2, 2), 1);
        let panics = |part: &dyn Fn()| {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(part)).expect_err("it panics");
        };
        panics(&|| {
            let _in_drop = InDrop(&iterations);
            panic!("planted");
        });
        assert_eq!(
            iterations.take(1, (1, false), &mut |_| ()),
            Some(1..2),
            "the loop in the drop has not panicked"
        );
        panics(&|| iterations.cancelled_by_panic(|| panic!("planted")));
        assert_eq!(iterations.take(1, (1, false), &mut |_| ()), None);
    }

    #[test]
    fn a_member_that_leaves_gives_its_rest_back() {
        let range = if cfg!(miri) { 10..110 } else { 10..1010 };
        for schedule in ALL {
            let (iterations, mut taken) = (iterations(schedule, &range, (3, 4), 1), Vec::new());
            assert!(!iterations.is_left(), "no member has left");
            let mut rest = iterations.take(1, (7, true), &mut |_| ()).unwrap_or_default();
            taken.extend(iterations.next_of(&mut rest, 7, true).into_iter().flatten());
            assert!(taken.len() <= 7, "{schedule:?} {taken:?}");
            iterations.leave(1, rest);
            assert!(iterations.is_left());
            taken.extend(std::iter::from_fn(|| iterations.take(0, (9, false), &mut |_| ())).flatten());
            taken.sort_unstable();
            assert!(taken.into_iter().eq(range.clone()) && !iterations.is_left(), "{schedule:?}");
        }
    }

    #[test]
    fn guided_ranges_become_shorter() {
        let iterations = iterations(Schedule::Guided, &(0..100), (2, 2), 3);
        let lengths: Vec<_> = std::iter::from_fn(|| iterations.take(0, (1, false), &mut |_| ()))
            .map(|range| range.len())
            .collect();
        assert_eq!((lengths[0], lengths.iter().sum::<usize>()), (25, 100));
        assert!(lengths.windows(2).all(|pair| pair[0] >= pair[1]) && lengths.contains(&3), "{lengths:?}");
    }
}
