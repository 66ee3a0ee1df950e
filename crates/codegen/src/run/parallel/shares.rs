//! Who does which steady states, where any thread may do any of them.
//!
//! They are dealt out in stretches, one to a thread, which goes through it from its beginning, so that each reads and
//! writes memory in its order. Who has done with its own takes the later half of the longest that is left of another's.
//! From the front it takes no more than half of what it has, so that there is something to be taken behind.
//!
//! Stretches are in units, of which the last may be shorter; each is one word, `from` and `to`. A unit that has been taken is
//! never in a word again, so a word that looks as it did before means what it did before, and whoever changes it by
//! compare-and-swap has those units alone.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a thread has not begun yet, on a cache line of its own.
#[repr(align(128))]
struct Rest(AtomicU64);

/// Steady states, dealt out.
pub(super) struct Shares {
    rests: Vec<Rest>,
    all: Range<u64>,
    unit: u64,
    /// Units that are taken at once at most.
    most: u64,
}

impl Shares {
    /// Deals them out to so many threads, in units of so many; how many are taken at once at most.
    pub(super) fn new(all: Range<u64>, threads: usize, unit: u64, most: u64) -> Shares {
        let states = all.end - all.start;
        let unit = unit.max(1).max(states.div_ceil(u64::from(u32::MAX)));
        let (units, threads) = (states.div_ceil(unit), threads as u64);
        let border =
            |thread: u64| u64::try_from(u128::from(units) * u128::from(thread) / u128::from(threads));
        let border = |thread| border(thread).unwrap_or(units);
        let rest = |thread| Rest(AtomicU64::new(word(border(thread)..border(thread + 1))));
        Shares { rests: (0..threads).map(rest).collect(), all, unit, most: (most / unit).max(1) }
    }

    /// The next steady states for a thread, which nobody else is given; none where there are no more.
    pub(super) fn take(&self, thread: usize) -> Option<Range<u64>> {
        loop {
            if let Some(units) = self.take_front(thread) {
                return Some(self.states(units));
            }
            let stolen = self.take_back()?;
            // Nobody takes from a word in which there is nothing, so it is still so.
            self.rests[thread].0.store(word(stolen), Ordering::Relaxed);
        }
    }

    /// The first that nobody has begun; what comes behind all where there is none. Once nobody takes any more.
    pub(super) fn first_left(&self) -> u64 {
        let rests = self.rests.iter().map(|rest| units(rest.0.load(Ordering::Relaxed)));
        let left = rests.filter(|rest| !rest.is_empty()).map(|rest| self.states(rest).start);
        left.min().unwrap_or(self.all.end)
    }

    fn take_front(&self, thread: usize) -> Option<Range<u64>> {
        let mut taken = 0..0;
        let take = |rest| {
            let Range { start, end } = units(rest);
            taken = start..start + ((end - start) / 2).clamp(1, self.most);
            (start < end).then(|| word(taken.end..end))
        };
        // The words alone matter, so no order of anything else does, here and below.
        self.rests[thread].0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(taken)
    }

    /// The later half of the longest stretch that is left.
    fn take_back(&self) -> Option<Range<u64>> {
        loop {
            let rests = self.rests.iter().map(|rest| (rest, rest.0.load(Ordering::Relaxed)));
            let length = |word| units(word).end - units(word).start;
            let (rest, seen) = rests.max_by_key(|(_, word)| length(*word))?;
            let Range { start, end } = units(seen);
            if start == end {
                return None;
            }
            let middle = start + (end - start) / 2;
            let left = word(start..middle);
            if rest.0.compare_exchange(seen, left, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                return Some(middle..end);
            }
        }
    }

    fn states(&self, units: Range<u64>) -> Range<u64> {
        let first = |unit: u64| (self.all.start + unit * self.unit).min(self.all.end);
        first(units.start)..first(units.end)
    }
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

    /// How often each steady state is taken by threads that take turns as told.
    fn taken(shares: &Shares, turns: impl Iterator<Item = usize>) -> Vec<Range<u64>> {
        turns.map_while(|thread| shares.take(thread)).collect()
    }

    #[test]
    fn each_is_taken_once_whoever_comes() {
        for (first, count, threads, unit, most) in
            [(0, 1, 1, 1, 1), (7, 100, 2, 3, 9), (3, 1000, 3, 1, 1000), (0, 5, 8, 2, 2), (0, 64, 2, 8, 8)]
        {
            for seed in 0..50 {
                let shares = Shares::new(first..first + count, threads, unit, most);
                let mut random: u64 = seed;
                let turns = std::iter::repeat_with(|| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005_u64).wrapping_add(seed | 1);
                    // Some come seldom.
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
    fn a_thread_goes_through_its_own_stretch_and_then_takes_the_later_half_of_anothers() {
        let shares = Shares::new(0..32, 2, 1, 4);
        let own: Vec<_> = taken(&shares, std::iter::repeat_n(1, 6));
        assert_eq!(own, [16..20, 20..24, 24..28, 28..30, 30..31, 31..32]);
        assert_eq!(shares.take(1), Some(8..12));
        assert_eq!((shares.take(0), shares.first_left()), (Some(0..4), 4));
    }

    #[test]
    fn each_is_taken_once_by_threads() {
        for _ in 0..50 {
            let shares = Shares::new(0..20_000, 4, 1, 5);
            let by = |thread| {
                let all = std::iter::from_fn(|| shares.take(thread));
                all.flatten().collect::<Vec<_>>()
            };
            let mut all: Vec<u64> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || by(thread))).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..20_000));
        }
    }
}
