//! What executes a loop.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ops::Range;
use thalweg::Loop;
use thalweg::loops::Schedule;

/// A system that executes loops.
///
/// # Safety
/// Both functions call `body` at most once for each iteration, and have no call left when they return: iterations write
/// their own parts of shared memory.
pub unsafe trait Executor: Sync {
    /// Calls `body` with each number below `count`.
    fn each(&self, count: usize, body: impl Fn(usize) + Sync + Send);

    /// Calls `body` with the rows and the columns of each block of a grid of this size.
    fn blocks(
        &self,
        (rows, columns): (usize, usize),
        block: (usize, usize),
        body: impl Fn(Range<usize>, Range<usize>) + Sync + Send,
    ) {
        let across = columns.div_ceil(block.1);
        let part = |at: usize, length: usize, all: usize| at * length..(at * length + length).min(all);
        self.each(rows.div_ceil(block.0) * across, |at| {
            body(part(at / across, block.0, rows), part(at % across, block.1, columns));
        });
    }

    /// Calls `run`, which executes many loops, where this system executes them best.
    fn enter<R: Send>(&self, run: impl FnOnce() -> R + Send) -> R {
        run()
    }
}

/// The calling thread alone: the reference for results.
pub struct Alone;

// SAFETY: the calls are those of a range's iterator.
unsafe impl Executor for Alone {
    fn each(&self, count: usize, body: impl Fn(usize) + Sync + Send) {
        (0..count).for_each(body);
    }
}

/// This engine.
pub struct Ours {
    pub schedule: Schedule,
    pub threads: usize,
}

impl Ours {
    /// The loop's settings. A dynamic schedule has no grain of its own.
    fn settings(&self, count: usize) -> Loop {
        let settings = Loop::new().schedule(self.schedule).members(self.threads);
        if self.schedule == Schedule::Dynamic { settings.grain(count / 1024) } else { settings }
    }
}

// SAFETY: `Loop` states that it calls its body once for each iteration, and returns after all of them.
unsafe impl Executor for Ours {
    fn each(&self, count: usize, body: impl Fn(usize) + Sync + Send) {
        self.settings(count).for_each(0..count, body);
    }

    fn blocks(
        &self,
        size: (usize, usize),
        block: (usize, usize),
        body: impl Fn(Range<usize>, Range<usize>) + Sync + Send,
    ) {
        let count = size.0.div_ceil(block.0) * size.1.div_ceil(block.1);
        self.settings(count).for_blocks(size, block, body);
    }
}

/// A pool of rayon's.
pub struct Rayon(ThreadPool);

impl Rayon {
    /// A pool of this many threads.
    ///
    /// # Panics
    /// If the system cannot start threads.
    pub fn new(threads: usize) -> Rayon {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        Rayon(pool.expect("the system can start threads"))
    }
}

// SAFETY: a parallel iterator over a range calls its body once with each number, and returns after all calls.
unsafe impl Executor for Rayon {
    fn each(&self, count: usize, body: impl Fn(usize) + Sync + Send) {
        (0..count).into_par_iter().for_each(body);
    }

    /// Loops that begin on a thread of the pool start sooner.
    fn enter<R: Send>(&self, run: impl FnOnce() -> R + Send) -> R {
        self.0.install(run)
    }
}

/// A pool of rayon's that divides a range down to single iterations: for long ones, of which a thread should not begin several.
pub struct RayonByOne(pub Rayon);

// SAFETY: as for `Rayon`.
unsafe impl Executor for RayonByOne {
    fn each(&self, count: usize, body: impl Fn(usize) + Sync + Send) {
        (0..count).into_par_iter().with_max_len(1).for_each(body);
    }

    fn enter<R: Send>(&self, run: impl FnOnce() -> R + Send) -> R {
        self.0.enter(run)
    }
}
