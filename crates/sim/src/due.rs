//! The steps of workers that are due, by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The next step of each worker. Of steps that are due at the same time, the one that was added first comes first.
#[derive(Default)]
pub(crate) struct Due {
    steps: BinaryHeap<Reverse<(u64, u64, usize)>>,
    added: u64,
}

impl Due {
    /// Adds a step of a worker at a time.
    pub(crate) fn add(&mut self, time: u64, worker: usize) {
        self.steps.push(Reverse((time, self.added, worker)));
        self.added += 1;
    }

    /// Removes the first step: its time and worker.
    pub(crate) fn next(&mut self) -> Option<(u64, usize)> {
        self.steps.pop().map(|Reverse((time, _, worker))| (time, worker))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_by_time_and_then_in_the_order_of_their_addition() {
        let mut due = Due::default();
        for (time, worker) in [(5, 1), (3, 2), (5, 0), (3, 1)] {
            due.add(time, worker);
        }
        let order: Vec<_> = std::iter::from_fn(|| due.next()).collect();
        assert_eq!(order, [(3, 2), (3, 1), (5, 1), (5, 0)]);
    }
}
