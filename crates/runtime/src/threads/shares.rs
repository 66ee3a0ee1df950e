//! Work stealing over a range of numbers: iterations of a loop, or steady states of a program.
//!
//! **Actors.** Each thread owns one word of [`Shares`]: the range of units `start << 32 | end` that it has
//! not begun. A unit is a fixed number of numbers; the last one may be shorter.
//!
//! **Transitions** of a word:
//!
//! | by | when | change |
//! |---|---|---|
//! | its owner | the range is not empty | takes one unit or at most half, from the front |
//! | another thread | its own range is empty, and this one is its victim ([`StealOrder`]) | takes the later half |
//! | its owner | the range is empty | takes from the front of what it has stolen, and stores the others |
//! | any thread | a number has ended the loop ([`Shares::cut`]) | drops the units behind that number |
//!
//! So each thread goes through a contiguous stretch in order, and half of it remains for others to steal.
//!
//! **Races.** Owner and thieves change a word by compare-and-swap. A unit is in at most one word until it is
//! taken, and in none afterwards; and a word's value names its units. So a swap that succeeds removes exactly
//! the units that were read, even if the word has changed and changed back (ABA). The plain store of stolen
//! units is safe, since no other thread changes an empty range: neither a thief nor one that cuts. What its owner
//! stores after a cut may lie behind it, and is cut when the owner takes it.
//!
//! **Ordering.** All accesses are relaxed: the words are the only shared data, and read-modify-writes of one
//! word are totally ordered. What the threads do for their numbers is theirs to order: the caller of [`Shares::first_left`]
//! has joined them, for example.

use crate::sync::{AtomicU64, Ordering};
use std::ops::Range;
use thalweg_plan::MOST_THREADS;
use thalweg_policy::random::mix;
use thalweg_policy::tasks::{StealOrder, back, front, stretch};

/// The range that a thread has not begun, on a cache line of its own.
#[repr(align(128))]
#[derive(Debug)]
struct Rest {
    left: AtomicU64,
    /// The first unit of the thread's own stretch, which never changes. By it a thief sees that the stretch is not begun.
    begin: u64,
}

/// The ranges of all threads. A thread keeps the memory of the last ones that it has dropped, for its next loop: aligned
/// memory takes longer to allocate than a short loop does.
#[derive(Debug)]
struct Rests(Vec<Rest>);

#[cfg(not(loom))]
thread_local! {
    static SPARE: std::cell::Cell<Vec<Rest>> = const { std::cell::Cell::new(Vec::new()) };
}

impl Rests {
    /// No ranges yet.
    #[cfg(not(loom))]
    fn new() -> Rests {
        Rests(SPARE.try_with(std::cell::Cell::take).unwrap_or_default())
    }

    /// A model's atomics belong to one execution, so none are kept.
    #[cfg(loom)]
    fn new() -> Rests {
        Rests(Vec::new())
    }
}

#[cfg(not(loom))]
impl Drop for Rests {
    fn drop(&mut self) {
        let mut rests = std::mem::take(&mut self.0);
        rests.clear();
        // A thread that ends keeps nothing.
        _ = SPARE.try_with(|spare| spare.set(rests));
    }
}

impl std::ops::Deref for Rests {
    type Target = [Rest];

    fn deref(&self) -> &[Rest] {
        &self.0
    }
}

/// A range of numbers that threads share out among themselves, each with a stretch of its own to begin with.
///
/// ```
/// use thalweg_runtime::Shares;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let (shares, sum) = (Shares::new(0..1000, 2, 1, 100), AtomicU64::new(0));
/// std::thread::scope(|scope| {
///     for thread in 0..2 {
///         let (shares, sum) = (&shares, &sum);
///         scope.spawn(move || {
///             while let Some(numbers) = shares.take(thread) {
///                 sum.fetch_add(numbers.sum::<u64>(), Ordering::Relaxed);
///             }
///         });
///     }
/// });
/// assert_eq!(sum.into_inner(), 499_500);
/// ```
#[derive(Debug)]
pub struct Shares {
    rests: Rests,
    all: Range<u64>,
    unit: u64,
    /// The most units taken at once.
    most: u64,
    order: StealOrder,
}

impl Shares {
    /// Shares the range out to threads, in units of at least `unit` numbers; at most `most` numbers are taken at once,
    /// but at least a unit.
    ///
    /// # Panics
    /// There are no threads, or more than a run may have (4096).
    pub fn new(all: Range<u64>, threads: usize, unit: u64, most: u64) -> Shares {
        assert!((1..=MOST_THREADS).contains(&threads), "{threads} threads: expected 1 to {MOST_THREADS}");
        Shares::with_rests(all, unit, most, |units, _| {
            (0..threads).map(move |thread| stretch(units, threads, thread))
        })
    }

    /// The same with another rule for whom a thread steals from. With [`StealOrder::Off`] each thread must take until
    /// it gets `None`: [`take`](Shares::take) gives its numbers to no other thread.
    pub fn with_order(self, order: StealOrder) -> Shares {
        Shares { order, ..self }
    }

    /// Gives each thread a stretch of its own length, in order, and the last one what is left.
    ///
    /// # Panics
    /// There are no threads.
    pub(crate) fn by_lengths(all: Range<u64>, lengths: impl ExactSizeIterator<Item = u64>) -> Shares {
        let (threads, mut from) = (lengths.len(), 0);
        assert!(threads > 0, "no threads");
        Shares::with_rests(all, 1, u64::MAX, |units, unit| {
            lengths.enumerate().map(move |(at, length)| {
                let length = if at + 1 == threads { units } else { in_units(length, unit) };
                let to = units.min(from + length);
                std::mem::replace(&mut from, to)..to
            })
        })
    }

    /// Gives each thread the units that `rests` returns for it, called with the number of units and the numbers in one.
    fn with_rests<R: Iterator<Item = Range<u64>>>(
        all: Range<u64>,
        unit: u64,
        most: u64,
        rests: impl FnOnce(u64, u64) -> R,
    ) -> Shares {
        let states = all.end.saturating_sub(all.start);
        let unit = unit.max(1).max(in_units(states, u64::from(u32::MAX)));
        let units = in_units(states, unit);
        let mut own = Rests::new();
        own.0.extend(
            rests(units, unit).map(|rest| Rest { begin: rest.start, left: AtomicU64::new(word(rest)) }),
        );
        Shares { rests: own, all, unit, most: (most / unit).max(1), order: StealOrder::default() }
    }

    /// Like [`Shares::take`], but about `most` numbers. Calls `tried` with the result of each attempt to steal.
    #[inline]
    pub(crate) fn take_most(
        &self,
        thread: usize,
        most: u64,
        tried: &mut impl FnMut(bool),
    ) -> Option<Range<u64>> {
        self.take_units(thread, most / self.unit, tried)
    }

    /// All that a thread has left of its own.
    pub(crate) fn take_whole(&self, thread: usize) -> Option<Range<u64>> {
        let whole = units(self.rests[thread].left.swap(0, Ordering::Relaxed));
        (!whole.is_empty()).then(|| self.numbers(whole))
    }

    /// All that some other thread has left.
    pub(crate) fn steal_whole(&self, thread: usize) -> Option<Range<u64>> {
        let count = self.rests.len();
        (1..count).find_map(|at| self.take_whole((thread + at) % count))
    }

    /// The first border between units that is `most` numbers or more behind `number`, a border itself.
    pub(crate) fn border(&self, number: u64, most: u64) -> u64 {
        number.saturating_add(most.max(1).div_ceil(self.unit).saturating_mul(self.unit))
    }

    /// Gives back what a thread has taken, from a border on. The thread has nothing left of its own.
    pub(crate) fn give_back(&self, thread: usize, numbers: Range<u64>) {
        let unit = |number: u64| (number - self.all.start).div_ceil(self.unit);
        // Other threads do not change an empty range, so no update is lost.
        self.rests[thread].left.store(word(unit(numbers.start)..unit(numbers.end)), Ordering::Relaxed);
    }

    /// Drops the units of which all numbers are `limit` or higher. What a thread is about to steal is not among them, so a
    /// thread that takes such numbers afterwards drops them, and calls this again.
    pub(crate) fn cut(&self, limit: u64) {
        let end = limit.saturating_sub(self.all.start).div_ceil(self.unit);
        let cut = |left| {
            let left = units(left);
            // An empty range is its owner's to change.
            (!left.is_empty() && left.end > end).then(|| word(left.start.min(end)..end))
        };
        for rest in &*self.rests {
            // Relaxed, as in `take_front`. An error means that there is nothing to cut.
            _ = rest.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, cut);
        }
    }

    /// Whether no numbers are left. A hint, while threads take them.
    pub(crate) fn is_empty(&self) -> bool {
        self.rests.iter().all(|rest| units(rest.left.load(Ordering::Relaxed)).is_empty())
    }

    /// The number of threads.
    pub fn count(&self) -> usize {
        self.rests.len()
    }

    /// The next numbers for a thread, which no other thread gets; `None` if none are left. A thread gets the numbers of
    /// its own stretch in order, and then the later half of what another thread has left: by default, of the longest rest.
    ///
    /// # Panics
    /// `thread` is not below [`Shares::count`].
    pub fn take(&self, thread: usize) -> Option<Range<u64>> {
        self.take_units(thread, self.most, &mut |_| ())
    }

    fn take_units(&self, thread: usize, most: u64, tried: &mut impl FnMut(bool)) -> Option<Range<u64>> {
        let units = self.take_front(thread, most).or_else(|| {
            let stolen = self.take_back(thread, tried)?;
            let taken = front(&stolen, most)?;
            // Other threads do not change an empty range, so no update is lost.
            self.rests[thread].left.store(word(taken.end..stolen.end), Ordering::Relaxed);
            Some(taken)
        });
        Some(self.numbers(units?))
    }

    /// The first number that no thread has taken; the end of the range if all are taken. Call it when no thread takes any
    /// more.
    pub fn first_left(&self) -> u64 {
        let rests = self.rests.iter().map(|rest| units(rest.left.load(Ordering::Relaxed)));
        let left = rests.filter(|rest| !rest.is_empty()).map(|rest| self.numbers(rest).start);
        left.min().unwrap_or(self.all.end)
    }

    fn take_front(&self, thread: usize, most: u64) -> Option<Range<u64>> {
        let mut taken = None;
        let take = |rest| {
            let rest = units(rest);
            taken = front(&rest, most);
            taken.as_ref().map(|taken| word(taken.end..rest.end))
        };
        // Relaxed: only the words are shared; see the module's documentation.
        self.rests[thread].left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        taken
    }

    /// The later half of the range of a victim.
    fn take_back(&self, thread: usize, tried: &mut impl FnMut(bool)) -> Option<Range<u64>> {
        let load = |thread: usize| self.rests[thread].left.load(Ordering::Relaxed);
        // The empty range that the thread has ended with tells its searches apart.
        let mut state = mix(load(thread) ^ thread as u64);
        loop {
            let rest = |thread: usize| units(load(thread));
            let mut random = || {
                state = mix(state);
                state
            };
            let begin = |thread: usize| self.rests[thread].begin;
            let (victim, seen) = self.order.victim(thread, self.rests.len(), begin, rest, &mut random)?;
            let stolen = back(&seen)?;
            let left = word(seen.start..stolen.start);
            let victim = &self.rests[victim].left;
            let swapped = victim.compare_exchange(word(seen), left, Ordering::Relaxed, Ordering::Relaxed);
            tried(swapped.is_ok());
            if swapped.is_ok() {
                return Some(stolen);
            }
        }
    }

    fn numbers(&self, units: Range<u64>) -> Range<u64> {
        let first =
            |unit: u64| self.all.start.saturating_add(unit.saturating_mul(self.unit)).min(self.all.end);
        first(units.start)..first(units.end)
    }
}

/// The units that hold this many numbers.
fn in_units(numbers: u64, unit: u64) -> u64 {
    // A division takes some nanoseconds, and loops mostly have units of one.
    if unit == 1 { numbers } else { numbers.div_ceil(unit) }
}

fn word(units: Range<u64>) -> u64 {
    units.start << 32 | units.end
}

fn units(word: u64) -> Range<u64> {
    word >> 32..word & u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranges taken by threads in this order.
    fn taken(shares: &Shares, turns: impl Iterator<Item = usize>) -> Vec<Range<u64>> {
        turns.map_while(|thread| shares.take(thread)).collect()
    }

    #[test]
    fn each_state_is_taken_once_in_any_order_of_threads() {
        for (first, count, threads, unit, most) in
            [(0, 1, 1, 1, 1), (7, 100, 2, 3, 9), (3, 1000, 3, 1, 1000), (0, 5, 8, 2, 2), (0, 64, 2, 8, 8)]
        {
            for seed in 0..if cfg!(miri) { 2 } else { 50 } {
                let shares = Shares::new(first..first + count, threads, unit, most);
                let mut random: u64 = seed;
                let turns = std::iter::repeat_with(|| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005_u64).wrapping_add(seed | 1);
                    // Some threads come seldom.
                    ((random >> 40) % (threads as u64 + seed % 7)).min(threads as u64 - 1) as usize
                });
                let mut all = taken(&shares, turns);
                all.sort_by_key(|states| states.start);
                assert_eq!((all[0].start, all[all.len() - 1].end), (first, first + count));
                assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start), "{all:?}");
                assert!(all.iter().all(|states| states.end - states.start <= most.max(unit)), "{all:?}");
                assert_eq!(shares.first_left(), first + count);
            }
        }
    }

    #[test]
    fn the_largest_range_is_taken_whole() {
        let shares = Shares::new(1..u64::MAX, 2, 1, 1);
        let all = taken(&shares, std::iter::repeat_n(0, 3));
        assert_eq!(all[0].start, 1);
        assert!(shares.first_left() > 1);
        assert_eq!(Shares::new(5..5, 3, 1, 1).take(2), None);
    }

    #[test]
    fn a_thread_goes_through_its_own_stretch_and_then_steals_the_later_half_of_another() {
        let shares = Shares::new(0..32, 2, 1, 4);
        let own: Vec<_> = taken(&shares, std::iter::repeat_n(1, 6));
        assert_eq!(own, [16..20, 20..24, 24..28, 28..30, 30..31, 31..32]);
        assert_eq!(shares.take(1), Some(8..12));
        assert_eq!((shares.take(0), shares.first_left()), (Some(0..4), 4));
    }

    #[test]
    fn without_stealing_each_thread_gets_its_own_stretch() {
        let shares = Shares::new(0..32, 2, 1, 4).with_order(StealOrder::Off);
        let own: Vec<_> = taken(&shares, std::iter::repeat_n(1, 9));
        assert_eq!((own.len(), own[0].start, shares.take(1)), (6, 16, None));
        assert_eq!(shares.first_left(), 0);
    }

    /// Stretches of any lengths, of which some are begun: the first steal takes from the next one that is not.
    #[test]
    fn the_papers_order_knows_the_stretches_of_any_length() {
        for lengths in [&[10, 10, 10, 0][..], &[7, 0, 9, 30, 2], &[4, 0, 0, 4], &[1 << 40, 5, 1 << 40, 9]] {
            (0..1 << lengths.len()).for_each(|begun| steal_from_the_next_stretch(lengths, begun));
        }
    }

    /// The members whose bits are set in `begun` have begun their stretches, and the last one with a stretch is done.
    fn steal_from_the_next_stretch(lengths: &[u64], begun: usize) {
        let threads = lengths.len();
        let shares = Shares::by_lengths(0..lengths.iter().sum(), lengths.iter().copied());
        let shares = shares.with_order(StealOrder::Paper);
        let left = |thread: usize| units(shares.rests[thread].left.load(Ordering::Relaxed));
        let thief = (0..threads).rfind(|at| !left(*at).is_empty()).unwrap();
        let takes = |at: &usize| *at != thief && begun >> at & 1 == 1;
        (0..threads).filter(takes).for_each(|at| _ = shares.take_front(at, 1));
        while shares.take_front(thief, u64::MAX).is_some() {}
        let waits = |at: &usize| !left(*at).is_empty() && begun >> at & 1 == 0;
        let Some(victim) = (1..threads).map(|i| (thief + i) % threads).find(waits) else { return };
        let end = left(victim).end;
        let stolen = shares.take_back(thief, &mut |_| ()).expect("a stretch is not begun");
        assert_eq!(stolen.end, end, "{lengths:?}, {begun:b}");
    }

    #[test]
    fn a_cut_leaves_the_numbers_before_it() {
        for limit in [0, 1, 7, 16, 31, 32, 99] {
            let shares = Shares::new(0..32, 4, 1, 1);
            shares.cut(limit);
            let all = taken(&shares, std::iter::repeat(2));
            let mut numbers: Vec<u64> = all.into_iter().flatten().collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..limit.min(32)), "{limit}");
            assert!(shares.is_empty());
        }
        // Units are cut as a whole.
        let shares = Shares::new(0..u64::MAX, 2, 1, 1);
        shares.cut(1);
        assert_eq!((shares.take(1).map(|numbers| numbers.start), shares.take(0)), (Some(0), None));
    }

    #[test]
    fn each_state_is_taken_once_by_concurrent_threads() {
        let (rounds, count) = if cfg!(miri) { (3, 200) } else { (60, 20_000) };
        for round in 0..rounds {
            let order = [StealOrder::Longest, StealOrder::Paper, StealOrder::Off][round % 3];
            let shares = Shares::new(0..count, 4, 1, 5).with_order(order);
            let by = |thread| {
                let all = std::iter::from_fn(|| shares.take(thread));
                all.flatten().collect::<Vec<_>>()
            };
            let mut all: Vec<u64> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || by(thread))).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..count));
        }
    }
}
