//! Disjoint sets (union-find).

/// Disjoint sets of the numbers from 0, each represented by its least member.
pub(crate) struct Sets {
    above: Vec<u32>,
}

impl Sets {
    /// `count` sets of one number each.
    pub(crate) fn new(count: usize) -> Sets {
        Sets { above: (0..count as u32).collect() }
    }

    /// The least member of a number's set.
    pub(crate) fn least(&mut self, number: usize) -> usize {
        let mut at = number as u32;
        while self.above[at as usize] != at {
            // Path halving keeps later walks short.
            let above = self.above[at as usize];
            self.above[at as usize] = self.above[above as usize];
            at = self.above[at as usize];
        }
        at as usize
    }

    /// Joins the sets of two numbers.
    pub(crate) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.least(a), self.least(b));
        self.above[a.max(b)] = a.min(b) as u32;
    }
}
