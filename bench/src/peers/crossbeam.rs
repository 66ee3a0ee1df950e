//! crossbeam-channel: bounded channels, a thread per stage, and a farm with a reorder buffer.

use std::collections::VecDeque;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::CAPACITY;
use super::link::Link;
use crate::jobs::{Farm, Small};
use crate::row::{Row, confined, median_of, once, timed};
use crate::work::fold;

/// crossbeam's channels.
pub struct Crossbeam;

impl Link for Crossbeam {
    type Sender<T: Send> = Sender<T>;
    type Receiver<T: Send> = Receiver<T>;

    fn bounded<T: Send>(capacity: usize) -> (Sender<T>, Receiver<T>) {
        bounded(capacity)
    }
    fn send<T: Send>(to: &Sender<T>, item: T) -> bool {
        to.send(item).is_ok()
    }
    fn receive<T: Send>(from: &Receiver<T>) -> Option<T> {
        from.recv().ok()
    }
}

/// The farm: a source thread, `threads` workers, and a sink that restores the order of the results.
pub fn farm(job: &Farm) -> Row {
    confined(job.threads, || timed(|| threads(job)))
}

/// A short farm, on newly started threads.
pub fn small(job: &Small) -> Row {
    median_of(job.jobs, || once(|| threads(&job.farm)))
}

fn threads(job: &Farm) -> u64 {
    thread::scope(|scope| {
        let (feed, tasks) = bounded::<u64>(CAPACITY);
        let (done, results) = bounded::<(u64, u64)>(CAPACITY);
        scope.spawn(move || (0..job.items).all(|i| feed.send(i).is_ok()));
        for _ in 0..job.threads {
            let (tasks, done) = (tasks.clone(), done.clone());
            scope.spawn(move || tasks.iter().all(|i| done.send((i, job.work.run(i))).is_ok()));
        }
        drop((tasks, done));
        in_order(results)
    })
}

/// Folds the results in the order of their indices; buffers those that arrive too early.
fn in_order(results: Receiver<(u64, u64)>) -> u64 {
    let (mut early, mut next, mut sum) = (VecDeque::<Option<u64>>::new(), 0, 0);
    for (i, x) in results {
        let at = (i - next) as usize;
        if at >= early.len() {
            early.resize(at + 1, None);
        }
        early[at] = Some(x);
        while let Some(Some(x)) = early.front() {
            sum = fold(sum, *x);
            early.pop_front();
            next += 1;
        }
    }
    sum
}
