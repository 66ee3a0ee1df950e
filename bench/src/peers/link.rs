//! Jobs that are generic over blocking channels: a thread per stage.

use std::thread;

use super::CAPACITY;
use crate::jobs::Chain;
use crate::row::{Row, confined, timed};
use crate::work::fold;

/// A kind of bounded, blocking channel.
pub trait Link {
    /// The sending end.
    type Sender<T: Send>: Send;
    /// The receiving end.
    type Receiver<T: Send>: Send;

    /// A channel for `capacity` items.
    fn bounded<T: Send>(capacity: usize) -> (Self::Sender<T>, Self::Receiver<T>);
    /// Sends an item; returns `false` if all receivers are dropped.
    fn send<T: Send>(to: &Self::Sender<T>, item: T) -> bool;
    /// Receives an item; `None` once all senders are dropped.
    fn receive<T: Send>(from: &Self::Receiver<T>) -> Option<T>;
}

/// The chain with a thread for every stage; the calling thread is the last stage.
pub fn chain<L: Link>(job: &Chain) -> Row {
    confined(job.threads, || {
        timed(|| {
            thread::scope(|scope| {
                let mut stage = job.work.stage();
                let (first, mut upstream) = L::bounded::<u64>(CAPACITY);
                scope.spawn(move || (0..job.items).all(|i| L::send(&first, stage.run(i))));
                for _ in 0..job.stages - 2 {
                    let (next, downstream) = L::bounded::<u64>(CAPACITY);
                    let from = std::mem::replace(&mut upstream, downstream);
                    scope.spawn(move || {
                        while let Some(x) = L::receive(&from) {
                            L::send(&next, stage.run(x));
                        }
                    });
                }
                std::iter::from_fn(|| L::receive(&upstream)).fold(0, |h, x| fold(h, stage.run(x)))
            })
        })
    })
}

/// Two threads that send one message to and fro.
pub fn ping_pong<L: Link>(rounds: u64, threads: usize) -> Row {
    confined(threads, || {
        timed(|| {
            thread::scope(|scope| {
                let ((to, there), (back, from)) = (L::bounded::<u64>(1), L::bounded::<u64>(1));
                scope.spawn(
                    move || while L::receive(&there).is_some_and(|value| L::send(&back, value + 1)) {},
                );
                let answer = |value| {
                    L::send(&to, value);
                    L::receive(&from).expect("the other thread answers")
                };
                let value = (0..rounds).fold(0, |value, _| answer(value));
                drop(to);
                value
            })
        })
    })
}

/// The channel alone: `items` numbers from one thread to another, one at a time.
pub fn items<L: Link>(items: u64) -> Row {
    timed(|| {
        thread::scope(|scope| {
            let (to, from) = L::bounded::<u64>(CAPACITY);
            scope.spawn(move || (0..items).all(|i| L::send(&to, i)));
            std::iter::from_fn(|| L::receive(&from)).fold(0, u64::wrapping_add)
        })
    })
}

/// The channel alone, with 64 numbers in each message.
pub fn slices<L: Link>(items: u64) -> Row {
    timed(|| {
        thread::scope(|scope| {
            let (to, from) = L::bounded::<[u64; 64]>(CAPACITY / 64);
            scope.spawn(move || {
                (0..items / 64).all(|s| L::send(&to, std::array::from_fn(|i| s * 64 + i as u64)))
            });
            std::iter::from_fn(|| L::receive(&from)).flatten().fold(0, u64::wrapping_add)
        })
    })
}
