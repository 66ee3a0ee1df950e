//! Colours of tasks, and sets of them.

use std::fmt;

/// A hint at where the data of a task is: tasks of one colour use the same data, and a worker prefers tasks of its own
/// colours ([`Place`](super::Place)). A wrong colour costs time, and never changes a result.
///
/// Every number is a legal colour. One that is not below [`ColourSet::COLOURS`] is in no set, so no worker prefers
/// it, and its tasks are stolen by random attempts alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Colour(pub u32);

/// A set of colours below [`ColourSet::COLOURS`].
///
/// Its size is fixed, so that a thief tests an entry of a deque in constant time: the number of colours of the entry
/// does not matter.
///
/// ```
/// use thalweg_policy::tasks::{Colour, ColourSet};
///
/// let mut set = ColourSet::from_iter([Colour(3), Colour(80)]);
/// set.insert(Colour(1023));
/// assert!(set.contains(Colour(80)) && !set.contains(Colour(4)));
/// assert!(set.intersects(&ColourSet::of(Colour(1023))));
/// // A colour that is too large is in no set.
/// set.insert(Colour(1024));
/// assert!(!set.contains(Colour(1024)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ColourSet([u64; WORDS]);

const WORDS: usize = ColourSet::COLOURS.div_ceil(64) as usize;

impl ColourSet {
    /// The number of colours that a set can have: 0 to this number, less one.
    pub const COLOURS: u32 = 1024;

    /// The set without colours.
    pub const EMPTY: ColourSet = ColourSet([0; WORDS]);

    /// The set of one colour.
    pub fn of(colour: Colour) -> ColourSet {
        ColourSet::from_iter([colour])
    }

    /// Adds a colour; without effect if it is not below [`ColourSet::COLOURS`].
    pub fn insert(&mut self, colour: Colour) {
        if let Some(word) = self.0.get_mut(colour.0 as usize / 64) {
            *word |= 1 << (colour.0 % 64);
        }
    }

    /// Whether the colour is in the set.
    pub fn contains(&self, colour: Colour) -> bool {
        self.0.get(colour.0 as usize / 64).is_some_and(|word| word >> (colour.0 % 64) & 1 == 1)
    }

    /// Whether some colour is in both sets.
    pub fn intersects(&self, other: &ColourSet) -> bool {
        // Without early exit: all words are one pass of vector instructions.
        self.0.iter().zip(&other.0).fold(0, |both, (a, b)| both | a & b) != 0
    }

    /// The colours of either set.
    #[must_use]
    pub fn union(&self, other: &ColourSet) -> ColourSet {
        ColourSet(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// Whether the set has no colours.
    pub fn is_empty(&self) -> bool {
        *self == ColourSet::EMPTY
    }

    /// The colours of the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Colour> + '_ {
        (0..ColourSet::COLOURS).map(Colour).filter(|&colour| self.contains(colour))
    }

    /// The set as bits: bit `i` of word `w` stands for colour `64 w + i`. For hosts that publish sets to other threads
    /// word by word.
    pub fn words(&self) -> &[u64; WORDS] {
        &self.0
    }

    /// The set of these bits; the inverse of [`ColourSet::words`].
    pub fn from_words(words: [u64; WORDS]) -> ColourSet {
        ColourSet(words)
    }
}

impl FromIterator<Colour> for ColourSet {
    fn from_iter<I: IntoIterator<Item = Colour>>(colours: I) -> ColourSet {
        let mut set = ColourSet::EMPTY;
        colours.into_iter().for_each(|colour| set.insert(colour));
        set
    }
}

impl fmt::Debug for ColourSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|colour| colour.0)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::XorShift;
    use std::collections::BTreeSet;

    #[test]
    fn sets_agree_with_ordered_sets() {
        let mut random = XorShift::new(5, 0);
        let mut pick = |n: u64| (random.number() >> 32) % n;
        for _ in 0..200 {
            // Among the numbers are colours that are too large.
            let mut some = || (0..pick(40)).map(|_| Colour(pick(1100) as u32)).collect::<Vec<_>>();
            let (a, b) = (some(), some());
            let small = |all: &[Colour]| {
                let below = all.iter().copied().filter(|colour| colour.0 < ColourSet::COLOURS);
                below.collect::<BTreeSet<Colour>>()
            };
            let (set_a, set_b) = (ColourSet::from_iter(a.clone()), ColourSet::from_iter(b.clone()));
            let (a, b) = (small(&a), small(&b));
            assert!(set_a.iter().eq(a.iter().copied()));
            assert!(set_a.union(&set_b).iter().eq(a.union(&b).copied()));
            assert_eq!(set_a.intersects(&set_b), !a.is_disjoint(&b));
            assert_eq!(set_a.is_empty(), a.is_empty());
            assert_eq!(ColourSet::from_words(*set_a.words()), set_a);
        }
    }

    #[test]
    fn the_largest_numbers_are_in_no_set() {
        let all = ColourSet::from_iter((0..=1100).chain([u32::MAX]).map(Colour));
        assert_eq!(all.iter().count(), 1024);
        assert!(!all.contains(Colour(u32::MAX)) && !all.contains(Colour(1024)));
        assert_eq!(format!("{:?}", ColourSet::of(Colour(7))), "{7}");
    }
}
