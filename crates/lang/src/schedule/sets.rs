//! Disjoint sets.

/// Disjoint sets of the numbers from 0, each represented by its least member.
pub(super) struct Sets {
    above: Vec<usize>,
}

impl Sets {
    /// `count` singletons.
    pub fn new(count: usize) -> Sets {
        Sets { above: (0..count).collect() }
    }

    /// The least member of a number's set.
    pub fn least(&mut self, mut one: usize) -> usize {
        while self.above[one] != one {
            self.above[one] = self.above[self.above[one]];
            one = self.above[one];
        }
        one
    }

    /// Joins two sets.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.least(a), self.least(b));
        self.above[a.max(b)] = a.min(b);
    }
}
