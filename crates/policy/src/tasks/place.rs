//! What a worker prefers.

use super::{Colour, ColourSet};

/// The colours that a worker prefers, as sets from near to far: its own colour, those of the workers with which it
/// shares a cache, those of its memory domain. Usually each set contains the one before.
///
/// The paper has one level, a unique colour for each worker ([`Place::of`]). A place without levels
/// ([`Place::default`]) prefers nothing: its worker makes random attempts alone, as NABBIT does.
///
/// ```
/// use thalweg_policy::tasks::{Colour, ColourSet, Place};
///
/// // Worker 13 of a machine with domains of ten cores.
/// let domain = ColourSet::from_iter((10..20).map(Colour));
/// let place = Place::new([ColourSet::of(Colour(13)), domain]);
/// assert_eq!(place.level_of(Colour(13)), Some(0));
/// assert_eq!(place.level_of(Colour(17)), Some(1));
/// assert_eq!(place.level_of(Colour(20)), None);
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Place {
    levels: Vec<ColourSet>,
}

impl Place {
    /// A place with these levels, from near to far.
    pub fn new(levels: impl IntoIterator<Item = ColourSet>) -> Place {
        Place { levels: levels.into_iter().collect() }
    }

    /// The place of a worker with one colour: the paper's.
    pub fn of(colour: Colour) -> Place {
        Place::new([ColourSet::of(colour)])
    }

    /// The place of one of `workers` workers, which have the colours from 0 on: its own colour, and the colours of the workers
    /// near it, from near to far. A level that is like the one before, or has the colours of all workers, is left out: it
    /// would prefer nothing.
    ///
    /// ```
    /// use thalweg_policy::tasks::{Colour, ColourSet, Place};
    ///
    /// let domain = ColourSet::from_iter([Colour(0), Colour(1)]);
    /// assert_eq!(Place::among(4, Colour(1), [domain]).levels().len(), 2);
    /// assert_eq!(Place::among(2, Colour(1), [domain]), Place::of(Colour(1)));
    /// ```
    pub fn among(workers: usize, own: Colour, near: impl IntoIterator<Item = ColourSet>) -> Place {
        let has_all = |level: &ColourSet| (0..workers as u32).all(|colour| level.contains(Colour(colour)));
        let mut levels = vec![ColourSet::of(own)];
        levels.extend(near.into_iter().filter(|level| !has_all(level)));
        levels.dedup();
        Place { levels }
    }

    /// The levels, from near to far.
    pub fn levels(&self) -> &[ColourSet] {
        &self.levels
    }

    /// The nearest level that has the colour; `None` if no level has it.
    pub fn level_of(&self, colour: Colour) -> Option<usize> {
        self.levels.iter().position(|level| level.contains(colour))
    }

    /// Whether a coloured attempt at this level takes an entry with these colours: some colour is in both sets.
    ///
    /// # Panics
    /// The place has no such level.
    pub fn accepts(&self, colours: &ColourSet, level: usize) -> bool {
        self.levels[level].intersects(colours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_accepted_from_the_level_on_that_has_one_of_its_colours() {
        let set = |colours: std::ops::Range<u32>| ColourSet::from_iter(colours.map(Colour));
        let place = Place::new([set(4..5), set(4..6), set(0..8)]);
        let by_level = |first| [0, 1, 2].map(|level| place.accepts(&set(first..80), level));
        assert_eq!(by_level(0), [true, true, true]);
        assert_eq!(by_level(5), [false, true, true]);
        assert_eq!(by_level(6), [false, false, true]);
        assert_eq!(by_level(8), [false, false, false]);
        assert_eq!(Place::default().level_of(Colour(0)), None);
    }
}
