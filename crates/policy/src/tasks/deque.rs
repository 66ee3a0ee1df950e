//! The order in which the entries of a deque are taken.

use super::{ColourSet, Place};
use std::collections::VecDeque;

/// The entries of a worker that other workers may steal, each with the colours of its tasks.
///
/// The owner pushes and pops the newest, so one worker alone runs depth first; a thief takes the oldest, which is
/// nearest to the root and usually has the most work behind it. Only the oldest entry is tested for colours, so an
/// attempt takes constant time.
///
/// ```
/// use thalweg_policy::tasks::{Colour, ColourSet, Deque, Place};
///
/// let mut deque = Deque::default();
/// deque.push("old", ColourSet::of(Colour(1)));
/// deque.push("new", ColourSet::of(Colour(2)));
/// let thief = Place::of(Colour(2));
/// assert_eq!(deque.steal(&thief, Some(0)), None); // the oldest entry has another colour
/// assert_eq!(deque.steal(&thief, None), Some("old"));
/// assert_eq!(deque.pop(), Some("new"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deque<T> {
    entries: VecDeque<(T, ColourSet)>,
}

impl<T> Deque<T> {
    /// Adds an entry with the colours of its tasks, as the newest.
    pub fn push(&mut self, entry: T, colours: ColourSet) {
        self.entries.push_back((entry, colours));
    }

    /// Takes the newest entry, for the owner.
    pub fn pop(&mut self) -> Option<T> {
        self.entries.pop_back().map(|(entry, _)| entry)
    }

    /// Takes the oldest entry, for a thief with this place. With a level, only if the entry has a colour of that level
    /// ([`Attempt::level`](super::Attempt::level)).
    ///
    /// # Panics
    /// The place has no such level.
    pub fn steal(&mut self, thief: &Place, level: Option<usize>) -> Option<T> {
        let (_, colours) = self.entries.front()?;
        if level.is_some_and(|level| !thief.accepts(colours, level)) {
            return None;
        }
        self.entries.pop_front().map(|(entry, _)| entry)
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<T> Default for Deque<T> {
    fn default() -> Deque<T> {
        Deque { entries: VecDeque::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::Colour;

    #[test]
    fn the_owner_takes_the_newest_entry_and_thieves_the_oldest() {
        let mut deque = Deque::default();
        (0..5).for_each(|entry| deque.push(entry, ColourSet::of(Colour(entry))));
        let thief = Place::of(Colour(1));
        assert_eq!(deque.pop(), Some(4));
        assert_eq!(deque.steal(&thief, None), Some(0));
        assert_eq!(deque.steal(&thief, Some(0)), Some(1));
        assert_eq!(deque.steal(&thief, Some(0)), None);
        assert_eq!((deque.len(), deque.pop(), deque.pop(), deque.pop()), (2, Some(3), Some(2), None));
        assert_eq!(deque.steal(&thief, None), None);
        assert!(deque.is_empty());
    }
}
