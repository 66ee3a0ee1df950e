//! Where the entries of a worker are, and how many of them move at once.

use super::{ColourSet, Place};
use std::collections::VecDeque;

/// Whether a worker that has `owned` entries for itself offers all of them to thieves, which find `shared` entries of it: if
/// it has more than twice as many. It asks before each task.
///
/// So at least a third of its entries can be stolen while the worker executes a long task, and all of them if thieves have
/// taken what it offered: no entry waits behind the task while thieves search in vain. The owner takes back half of
/// what it offered ([`taken_back`]) and must push as many again before it offers again, so an entry moves a constant
/// number of times in the mean.
///
/// ```
/// use thalweg_policy::tasks::{offers, stolen, taken_back};
///
/// assert!(!offers(0, 0) && offers(1, 0) && !offers(2, 1) && offers(3, 1));
/// assert_eq!([0, 1, 2, 5].map(taken_back), [0, 1, 1, 3]);
/// assert_eq!(stolen([4, 8, 3, 2, 6].iter(), |entry| entry % 4 == 0), 2); // of the oldest three
/// ```
#[inline]
pub fn offers(owned: usize, shared: usize) -> bool {
    owned > 2 * shared
}

/// The number of the newest entries that a worker without entries of its own takes back, of as many as thieves have left:
/// half, rounded up.
pub fn taken_back(shared: usize) -> usize {
    shared.div_ceil(2)
}

/// The number of the oldest entries that a thief takes, of those offered, which are given from the oldest on: half,
/// rounded up, but none from the first one on that does not fit. So the test of a deque of which the oldest entry does
/// not fit takes constant time.
pub fn stolen<'e, T: 'e>(
    shared: impl ExactSizeIterator<Item = &'e T>,
    fits: impl Fn(&'e T) -> bool,
) -> usize {
    let half = shared.len().div_ceil(2);
    shared.take(half).take_while(|&entry| fits(entry)).count()
}

/// How many entries a thief takes at once.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Transfer {
    /// Half of what is offered: the engine's. A worker takes half of what it has offered back.
    #[default]
    Half,
    /// The oldest entry alone, and all entries are offered: that of Cilk Plus, and so of the paper.
    One,
}

/// The entries of a worker that other workers may steal, each with the colours of its tasks.
///
/// The owner pushes and pops the newest, so one worker alone runs depth first; a thief takes the oldest, which are
/// nearest to the root and usually have the most work behind them. This is the form of the virtual host. The engine's
/// form has a lock, and calls [`offers`], [`taken_back`] and [`stolen`] as this one does.
///
/// ```
/// use thalweg_policy::tasks::{Colour, ColourSet, Deque, Place, Transfer};
///
/// let mut deque = Deque::new(Transfer::One);
/// deque.push("old", ColourSet::of(Colour(1)));
/// deque.push("new", ColourSet::of(Colour(2)));
/// let thief = Place::of(Colour(2));
/// assert_eq!(deque.steal(&thief, Some(0)), None); // the oldest entry has another colour
/// assert_eq!(deque.steal(&thief, None).map(|stolen| stolen.oldest), Some("old"));
/// assert_eq!(deque.pop(), Some("new"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deque<T> {
    transfer: Transfer,
    /// What the owner has for itself; the newest entry is the last one. Empty with [`Transfer::One`].
    owned: Vec<(T, ColourSet)>,
    /// What thieves may take; the oldest entry is the first one.
    shared: VecDeque<(T, ColourSet)>,
}

/// What a thief has taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stolen<T> {
    /// The entry that the thief runs.
    pub oldest: T,
    /// The others, the oldest first, for the thief's own deque.
    pub others: Vec<(T, ColourSet)>,
}

impl<T> Deque<T> {
    /// A deque without entries.
    pub fn new(transfer: Transfer) -> Deque<T> {
        Deque { transfer, owned: Vec::new(), shared: VecDeque::new() }
    }

    /// Adds an entry with the colours of its tasks, as the newest.
    pub fn push(&mut self, entry: T, colours: ColourSet) {
        match self.transfer {
            Transfer::Half => self.owned.push((entry, colours)),
            Transfer::One => self.shared.push_back((entry, colours)),
        }
    }

    /// Takes the newest entry, for the owner.
    pub fn pop(&mut self) -> Option<T> {
        if self.transfer == Transfer::One {
            return self.shared.pop_back().map(|(entry, _)| entry);
        }
        if self.owned.is_empty() {
            let kept = self.shared.len() - taken_back(self.shared.len());
            self.owned.extend(self.shared.drain(kept..));
        }
        self.owned.pop().map(|(entry, _)| entry)
    }

    /// Offers entries to thieves, if they find few. The owner calls this before each task.
    pub fn share(&mut self) {
        if offers(self.owned.len(), self.shared.len()) {
            self.shared.extend(self.owned.drain(..));
        }
    }

    /// Whether thieves find an entry.
    pub fn has_offers(&self) -> bool {
        !self.shared.is_empty()
    }

    /// Takes the oldest entries, for a thief with this place. With a level, only entries that have a colour of that level
    /// ([`Attempt::level`](super::Attempt::level)).
    ///
    /// # Panics
    /// The place has no such level.
    pub fn steal(&mut self, thief: &Place, level: Option<usize>) -> Option<Stolen<T>> {
        let fits = |(_, colours): &(T, ColourSet)| level.is_none_or(|level| thief.accepts(colours, level));
        let count = match self.transfer {
            Transfer::Half => stolen(self.shared.iter(), fits),
            Transfer::One => usize::from(self.shared.front().is_some_and(fits)),
        };
        let mut stolen = self.shared.drain(..count);
        let (oldest, _) = stolen.next()?;
        Some(Stolen { oldest, others: stolen.collect() })
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.owned.len() + self.shared.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Extend<(T, ColourSet)> for Deque<T> {
    fn extend<I: IntoIterator<Item = (T, ColourSet)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(entry, colours)| self.push(entry, colours));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::XorShift;
    use crate::tasks::Colour;

    fn of_five(transfer: Transfer) -> Deque<u32> {
        let mut deque = Deque::new(transfer);
        deque.extend((0..5).map(|entry| (entry, ColourSet::of(Colour(entry / 2)))));
        deque
    }

    fn entries(stolen: Option<Stolen<u32>>) -> Vec<u32> {
        stolen.map_or(Vec::new(), |stolen| {
            std::iter::once(stolen.oldest).chain(stolen.others.into_iter().map(|(entry, _)| entry)).collect()
        })
    }

    #[test]
    fn one_entry_is_the_owners_newest_or_a_thiefs_oldest() {
        let mut deque = of_five(Transfer::One);
        let thief = Place::of(Colour(0));
        assert_eq!(deque.pop(), Some(4));
        assert_eq!(entries(deque.steal(&thief, None)), [0]);
        assert_eq!(entries(deque.steal(&thief, Some(0))), [1]);
        assert_eq!(deque.steal(&thief, Some(0)), None);
        assert_eq!((deque.len(), deque.pop(), deque.pop(), deque.pop()), (2, Some(3), Some(2), None));
        assert_eq!(deque.steal(&thief, None), None);
        assert!(deque.is_empty());
    }

    #[test]
    fn all_entries_are_offered_and_half_is_taken_back_or_stolen() {
        let mut deque = of_five(Transfer::Half);
        let thief = Place::of(Colour(0));
        assert_eq!(deque.steal(&thief, None), None, "nothing is offered yet");
        deque.share();
        assert_eq!((deque.owned.len(), deque.shared.len()), (0, 5));
        // Of 0, 1 and 2 the older two, both of colour 0.
        assert_eq!(entries(deque.clone().steal(&thief, Some(0))), [0, 1]);
        assert_eq!(
            deque.clone().steal(&Place::of(Colour(1)), Some(0)),
            None,
            "the oldest has another colour"
        );
        // Three are taken back, and then the newer of two.
        assert_eq!([(); 2].map(|()| deque.pop()), [Some(4), Some(3)]);
        assert_eq!((deque.owned.len(), deque.shared.len()), (1, 2));
        assert_eq!([(); 2].map(|()| deque.pop()), [Some(2), Some(1)]);
        assert_eq!((deque.len(), entries(deque.steal(&thief, None))), (1, vec![0]));
        assert_eq!(deque.pop(), None);
    }

    #[test]
    fn entries_are_offered_again_when_thieves_have_taken_many() {
        let mut deque = of_five(Transfer::Half);
        deque.share();
        deque.extend((5..15).map(|entry| (entry, ColourSet::EMPTY)));
        deque.share();
        assert_eq!((deque.owned.len(), deque.shared.len()), (10, 5), "a third can be stolen");
        assert_eq!(entries(deque.steal(&Place::default(), None)), [0, 1, 2]);
        deque.share();
        assert_eq!((deque.owned.len(), deque.shared.len()), (0, 12));
        assert_eq!(deque.pop(), Some(14));
    }

    /// Without thieves, whatever the worker pushes and pops.
    #[test]
    fn an_entry_moves_a_constant_number_of_times_in_the_mean() {
        let mut random = XorShift::new(11, 0);
        let mut pick = |most: usize| (random.number() >> 33) as usize % (most + 1);
        for most in [1, 2, 5, 40, 1_000] {
            let (mut deque, mut moved, mut pushed) = (Deque::new(Transfer::Half), 0, 0);
            for _ in 0..500 {
                for entry in 0..pick(most) {
                    deque.push(entry, ColourSet::EMPTY);
                    pushed += 1;
                    let before = deque.shared.len();
                    deque.share();
                    moved += deque.shared.len() - before;
                }
                for _ in 0..pick(most) {
                    let before = deque.shared.len();
                    deque.pop();
                    moved += before - deque.shared.len();
                    let before = deque.shared.len();
                    deque.share();
                    moved += deque.shared.len() - before;
                }
            }
            assert!(moved <= 3 * pushed, "{moved} moves of {pushed} entries, at most {most} at once");
        }
    }

    #[test]
    fn a_thief_takes_no_entry_behind_one_that_does_not_fit() {
        let mut deque = Deque::new(Transfer::Half);
        for colour in [1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] {
            deque.push(colour, ColourSet::of(Colour(colour)));
        }
        deque.share();
        assert_eq!(entries(deque.steal(&Place::of(Colour(1)), Some(0))), [1, 1]);
        assert_eq!(entries(deque.steal(&Place::of(Colour(1)), None)), [2, 1, 1, 1, 1, 1, 1]);
    }
}
