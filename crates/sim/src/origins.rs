//! The workers from which the items of a channel come: exact, where the engine's log (`runtime/src/channel/origins.rs`) is
//! a hint.

use std::collections::VecDeque;
use thalweg_policy::WorkerId;

/// The published items of a channel that its consumer has not claimed, in runs of items that the same worker has pushed.
///
/// Invariant: no run is empty, and neighbouring runs have different workers.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    runs: VecDeque<Run>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    /// `None` if no worker has pushed them: initial items, and those of a source with a thread of its own.
    worker: Option<WorkerId>,
    items: usize,
}

impl Origins {
    pub(crate) fn push(&mut self, items: usize, worker: Option<WorkerId>) {
        match self.runs.back_mut().filter(|run| run.worker == worker) {
            Some(run) => run.items += items,
            None if items > 0 => self.runs.push_back(Run { worker, items }),
            None => {}
        }
    }

    /// Removes the next `items`, or all if they are fewer. Returns the number of those that `worker` has not pushed.
    pub(crate) fn pop(&mut self, mut items: usize, worker: Option<WorkerId>) -> usize {
        let mut foreign = 0;
        while let Some(run) = self.runs.front_mut().filter(|_| items > 0) {
            let part = run.items.min(items);
            items -= part;
            run.items -= part;
            foreign += if worker.is_some() && run.worker == worker { 0 } else { part };
            if run.items == 0 {
                self.runs.pop_front();
            }
        }
        foreign
    }

    pub(crate) fn clear(&mut self) {
        self.runs.clear();
    }

    /// The worker that has pushed the next item.
    pub(crate) fn next(&self) -> Option<WorkerId> {
        self.runs.front()?.worker
    }

    /// The number of items before the first one that another worker has pushed. `None` if there is no such item.
    pub(crate) fn before_another(&self) -> Option<usize> {
        self.runs.front().filter(|_| self.runs.len() > 1).map(|run| run.items)
    }

    /// Whether items that `worker` has pushed wait.
    pub(crate) fn any_waiting(&self, worker: WorkerId) -> bool {
        self.runs.iter().any(|run| run.worker == Some(worker))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three items of worker 0, two of worker 1, one of no worker, one of worker 0.
    fn origins() -> Origins {
        let mut origins = Origins::default();
        for (items, worker) in
            [(1, Some(0)), (2, Some(0)), (0, Some(7)), (2, Some(1)), (1, None), (1, Some(0))]
        {
            origins.push(items, worker);
        }
        origins
    }

    #[test]
    fn a_run_lasts_until_another_worker_pushes() {
        let mut origins = origins();
        assert_eq!((origins.next(), origins.before_another()), (Some(0), Some(3)));
        origins.pop(3, Some(0));
        assert_eq!((origins.next(), origins.before_another()), (Some(1), Some(2)));
        origins.pop(2, Some(0));
        assert_eq!((origins.next(), origins.before_another()), (None, Some(1)));
        origins.pop(1, Some(0));
        assert_eq!((origins.next(), origins.before_another()), (Some(0), None));
        origins.pop(9, Some(0));
        assert_eq!((origins.next(), origins.before_another()), (None, None));
    }

    #[test]
    fn foreign_items_are_counted() {
        assert_eq!([Some(0), Some(1), Some(2), None].map(|worker| origins().pop(6, worker)), [3, 4, 6, 6]);
        let mut origins = origins();
        assert_eq!([1, 3, 1].map(|items| origins.pop(items, Some(0))), [0, 1, 1]);
    }

    #[test]
    fn items_wait_until_they_are_taken() {
        let mut origins = origins();
        assert_eq!([0, 1, 7].map(|worker| origins.any_waiting(worker)), [true, true, false]);
        origins.pop(5, Some(0));
        assert_eq!([0, 1].map(|worker| origins.any_waiting(worker)), [true, false]);
        origins.clear();
        assert!(!origins.any_waiting(0));
    }
}
