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
    let sink = |results: InOrder<u64>| results.fold(0, fold);
    ordered(0..job.items, |i| job.work.run(i), job.threads, CAPACITY, sink)
}

/// A thread that calls the iterator, `threads` workers, and a sink on the calling thread, to which the results come in
/// the order of the items. Each of the two channels has room for `capacity` items.
pub fn ordered<T: Send, U: Send, R>(
    items: impl Iterator<Item = T> + Send,
    map: impl Fn(T) -> U + Sync,
    threads: usize,
    capacity: usize,
    sink: impl FnOnce(InOrder<U>) -> R,
) -> R {
    let map = &map;
    thread::scope(|scope| {
        let (feed, tasks) = bounded::<(u64, T)>(capacity);
        let (done, results) = bounded::<(u64, U)>(capacity);
        scope.spawn(move || (0..).zip(items).all(|task| feed.send(task).is_ok()));
        for _ in 0..threads {
            let (tasks, done) = (tasks.clone(), done.clone());
            scope.spawn(move || tasks.iter().all(|(i, item)| done.send((i, map(item))).is_ok()));
        }
        drop((tasks, done));
        sink(InOrder { results, early: VecDeque::new(), next: 0 })
    })
}

/// Results in the order of their indices; keeps those that arrive too early.
pub struct InOrder<T> {
    results: Receiver<(u64, T)>,
    early: VecDeque<Option<T>>,
    next: u64,
}

impl<T> Iterator for InOrder<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        while !matches!(self.early.front(), Some(Some(_))) {
            let (i, x) = self.results.recv().ok()?;
            let at = (i - self.next) as usize;
            if at >= self.early.len() {
                self.early.resize_with(at + 1, || None);
            }
            self.early[at] = Some(x);
        }
        self.next += 1;
        self.early.pop_front().flatten()
    }
}
