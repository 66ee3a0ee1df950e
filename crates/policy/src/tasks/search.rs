//! The search of a worker without work for an entry to steal.
//!
//! A search goes in rounds. A round has [`SearchSettings::tries`] coloured attempts for each level of the worker's
//! place, from near to far, and then one random attempt, which takes any entry. So random attempts are a constant share
//! of all attempts, on which the bound of work stealing depends (Theorem 5.3.1), and coloured attempts are at most
//! `tries * levels` for each random one or successful one (Lemma 5.3.2).
//!
//! The first search of a worker is *forced*: it has attempts of the nearest level only, since its first entry is usually a
//! large part of the graph, and a worker keeps what it has begun with. The paper forces without bound, so a worker without
//! tasks of its colour never works. Here it gives up after a number of attempts in proportion to the number of workers
//! ([`SearchSettings::first`]), each of which may be the one that has the colour.

use super::{Place, below};
use thalweg_graph::data;

data! {
    /// Settings of a [`Search`].
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct SearchSettings {
        /// Coloured attempts at each level before a random attempt. 0: random attempts alone, after the forced ones.
        copy tries: u32;
        /// The maximum number of forced attempts, for each worker of the run: a worker makes up to `first` times the number of
        /// workers before its first random attempt. 0: the first steal is like all others.
        copy first: u32;
    }
}

impl SearchSettings {
    /// Settings of [`tries`](Self::tries) coloured attempts, and of [`first`](Self::first) forced ones for each worker.
    pub const fn new(tries: u32, first: u32) -> SearchSettings {
        SearchSettings { tries, first }
    }

    /// Random attempts alone: NABBIT, whatever the colours are.
    pub const RANDOM: SearchSettings = SearchSettings::new(0, 0);
}

impl Default for SearchSettings {
    fn default() -> SearchSettings {
        // In virtual time, on 8 domains of 10 cores, with the costs of Table 5.1: a stencil has 5.6 % remote accesses with
        // the forced steal and 12.6 % without it. 6 forced attempts for each worker find most of the first entries, 12 all.
        // The thieves compete for each entry that is offered, and those of other domains are many: with 8 tries a level
        // before a random attempt 42 % of the accesses are remote, in the mean over the ten benchmarks, with 32 tries 35 %
        // and with 128 33 %, at 42.9, 45.0 and 46.4 times the speed of one worker. Where a task lasts a few microseconds,
        // 128 tries cost wavefronts a tenth of their speed.
        SearchSettings::new(32, 12)
    }
}

/// An attempt to steal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// The worker whose oldest entry the thief tries to take.
    pub victim: usize,
    /// `Some`: a coloured attempt, which succeeds only if the oldest entry of the victim has a colour of this level of the
    /// thief's place ([`Place::accepts`]). `None`: a random attempt, which takes any entry.
    pub level: Option<usize>,
}

/// The state of a worker that searches for an entry to steal.
///
/// ```
/// use thalweg_policy::random::XorShift;
/// use thalweg_policy::tasks::{Colour, Place, Search, SearchSettings};
///
/// let settings = SearchSettings::new(2, 0);
/// let mut search = Search::new(Place::of(Colour(3)), 8, 3, settings);
/// let mut random = XorShift::new(1, 3);
/// let mut levels = Vec::new();
/// for _ in 0..6 {
///     let attempt = search.next(&mut || random.number());
///     assert_ne!(attempt.victim, 3);
///     levels.push(attempt.level);
///     search.failed();
/// }
/// assert_eq!(levels, [Some(0), Some(0), None, Some(0), Some(0), None]);
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    place: Place,
    workers: usize,
    me: usize,
    settings: SearchSettings,
    /// Forced attempts that are left.
    forced: u64,
    /// Attempts of this round that have failed; 0 while attempts are forced.
    failed: u32,
}

impl Search {
    /// The search of worker `me` of these `workers`, before its first attempt.
    ///
    /// # Panics
    /// `me` is not below `workers`.
    pub fn new(place: Place, workers: usize, me: usize, settings: SearchSettings) -> Search {
        assert!(me < workers, "worker {me} of {workers} workers");
        let first = (workers as u64).saturating_mul(u64::from(settings.first));
        // Nothing can be forced on a worker that prefers nothing.
        let forced = if place.levels().is_empty() { 0 } else { first };
        Search { place, workers, me, settings, forced, failed: 0 }
    }

    /// The next attempt. After it call [`Search::failed`] or [`Search::stole`]. The victim is random and another
    /// worker; if there is no other, it is the worker itself, whose deque is empty while it searches.
    ///
    /// `random` returns 64 random bits; only the victim depends on them.
    pub fn next(&mut self, random: &mut impl FnMut() -> u64) -> Attempt {
        let victim = match self.workers {
            1 => self.me,
            workers => (self.me + 1 + below(random(), workers - 1)) % workers,
        };
        Attempt { victim, level: self.level() }
    }

    fn level(&self) -> Option<usize> {
        if self.is_forced() {
            return Some(0);
        }
        let level = self.failed.checked_div(self.settings.tries)? as usize;
        (level < self.place.levels().len()).then_some(level)
    }

    /// The latest attempt failed: there was no entry, or none of the level's colours.
    pub fn failed(&mut self) {
        if self.is_forced() {
            self.forced -= 1;
        } else {
            let was_random = self.level().is_none();
            self.failed = if was_random { 0 } else { self.failed + 1 };
        }
    }

    /// The search is over: the latest attempt took an entry, or the worker has got one otherwise (the root of the graph,
    /// for example). The next search begins a round, and is not forced.
    pub fn stole(&mut self) {
        (self.forced, self.failed) = (0, 0);
    }

    /// The number of attempts of a round, if all fail. For hosts that count a whole round of such attempts at once.
    pub fn round(&self) -> u64 {
        u64::from(self.settings.tries) * self.place.levels().len() as u64 + 1
    }

    /// Whether the next attempt is one of the forced ones before the worker's first steal.
    pub fn is_forced(&self) -> bool {
        self.forced > 0
    }

    /// The colours that the worker prefers.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::XorShift;
    use crate::tasks::{Colour, ColourSet};

    fn two_levels() -> Place {
        Place::new([ColourSet::of(Colour(0)), ColourSet::from_iter((0..10).map(Colour))])
    }

    /// The levels of the next attempts, all of which fail.
    fn failing(search: &mut Search, attempts: usize) -> Vec<Option<usize>> {
        let levels = (0..attempts).map(|_| {
            let level = search.next(&mut || 0).level;
            search.failed();
            level
        });
        levels.collect()
    }

    #[test]
    fn a_round_goes_from_near_to_far_and_ends_with_a_random_attempt() {
        let settings = SearchSettings::new(2, 0);
        let mut search = Search::new(two_levels(), 4, 0, settings);
        let round = [Some(0), Some(0), Some(1), Some(1), None];
        assert_eq!(failing(&mut search, 10), [round, round].concat());
        assert_eq!(search.round(), 5);
        failing(&mut search, 3);
        search.stole();
        assert_eq!(failing(&mut search, 5), round, "a new search begins a round");
    }

    #[test]
    fn without_tries_or_levels_all_attempts_are_random() {
        let random = [None; 4];
        assert_eq!(failing(&mut Search::new(two_levels(), 4, 0, SearchSettings::RANDOM), 4), random);
        let settings = SearchSettings::new(3, 9);
        assert_eq!(failing(&mut Search::new(Place::default(), 4, 0, settings), 4), random);
    }

    #[test]
    fn the_first_search_is_forced_up_to_its_bound() {
        let settings = SearchSettings::new(2, 3);
        let mut search = Search::new(two_levels(), 4, 0, settings);
        let round = [Some(0), Some(0), Some(1), Some(1), None];
        assert_eq!(failing(&mut search, 17), [&[Some(0); 12][..], &round].concat());
        assert!(!search.is_forced());
        // Forcing needs no tries of the later searches.
        let mut search = Search::new(two_levels(), 3, 0, SearchSettings::new(0, 1));
        assert_eq!(failing(&mut search, 5), [Some(0), Some(0), Some(0), None, None]);
    }

    #[test]
    fn only_the_first_steal_is_forced() {
        let mut search = Search::new(two_levels(), 4, 0, SearchSettings::new(1, 100));
        failing(&mut search, 5);
        assert!(search.is_forced());
        search.stole();
        assert_eq!(failing(&mut search, 3), [Some(0), Some(1), None]);
    }

    #[test]
    fn victims_are_the_other_workers_with_equal_chances() {
        let mut random = XorShift::new(1, 0);
        let mut search = Search::new(Place::default(), 5, 2, SearchSettings::RANDOM);
        let mut counts = [0; 5];
        for _ in 0..4_000 {
            counts[search.next(&mut || random.number()).victim] += 1;
        }
        assert_eq!(counts[2], 0);
        assert!([0, 1, 3, 4].iter().all(|&victim| (900..1_100).contains(&counts[victim])), "{counts:?}");
        let mut alone = Search::new(Place::default(), 1, 0, SearchSettings::RANDOM);
        assert_eq!(alone.next(&mut || 0), Attempt { victim: 0, level: None });
    }

    #[test]
    #[should_panic(expected = "worker 4 of 4 workers")]
    fn a_worker_that_does_not_exist_is_refused() {
        Search::new(Place::default(), 4, 4, SearchSettings::RANDOM);
    }
}
