//! Disjoint sets.

/// Numbers from 0 in disjoint sets, each known by its least member.
pub(super) struct Sets {
    above: Vec<usize>,
}

impl Sets {
    /// Each alone.
    pub fn new(count: usize) -> Sets {
        Sets { above: (0..count).collect() }
    }

    /// The least member of the set of one.
    pub fn least(&mut self, mut one: usize) -> usize {
        while self.above[one] != one {
            self.above[one] = self.above[self.above[one]];
            one = self.above[one];
        }
        one
    }

    /// Makes one set of two.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.least(a), self.least(b));
        self.above[a.max(b)] = a.min(b);
    }
}
