//! A run as a graph of the engine.
//!
//! ```text
//!         ┌──────────────── finished batches ◀───────────────┐
//!      driver ──batches──▶ body ──▶ body ──▶ ... ──▶ body ───┘
//! ```
//!
//! **Nodes.** The *driver* is a process that has the run: it reads and writes the files, prints, and executes the
//! program itself where one thread does so. A *body* executes a part of the program for one batch after the other. A
//! program that one thread executes is a driver alone.
//!
//! **Threads.**
//!
//! | the driver | runs | because |
//! |---|---|---|
//! | alone | as a process without a stack, on that of a worker | it neither receives nor sends, so it never leaves its poll |
//! | with bodies, if it waits for input or for some batches ([`Driver::waits`]) | on a thread of its own | a process with a stack is pinned to its worker: a long firing of a body there would keep it from sending batches to the other workers |
//! | with bodies, if it sends all batches at once and waits until all are back | on the caller's worker | that worker then executes a batch, so one thread less has to start |
//!
//! **Ends.** The driver ends the graph by returning; the bodies then find the end of their stream. If the engine ends
//! first, for a panic in a body or a deadline, the driver's next receive unwinds it.

use thalweg::node::{BlockingRx, BlockingTx};
use thalweg::{Error, Graph, Options, Report, Stream, Value, input, output};

/// The settings of the driver as a node.
pub(super) struct Driver<'n> {
    /// Its name in the graph.
    pub(super) name: &'n str,
    /// Bytes of its stack, where there are bodies.
    pub(super) stack: usize,
    /// It may wait while batches are left to send: for input, or for some of the batches under way.
    pub(super) waits: bool,
}

/// The driver's ends of the chain of bodies.
pub(super) struct Link<T> {
    jobs: BlockingTx<T>,
    results: BlockingRx<T>,
    under_way: usize,
}

impl<T: Send> Link<T> {
    /// Sends a batch to the first body.
    pub(super) fn send(&mut self, batch: T) {
        self.jobs.send(batch);
        self.under_way += 1;
    }

    /// The number of batches that have been sent and are not back.
    pub(super) fn under_way(&self) -> usize {
        self.under_way
    }

    /// Waits for all batches under way, and drops them.
    pub(super) fn drain(&mut self) {
        while self.under_way > 0 {
            self.next();
        }
    }

    /// Waits for the next finished batch. At least one must be under way. If the engine ends first, this unwinds.
    pub(super) fn next(&mut self) -> T {
        self.under_way -= 1;
        self.results.recv().expect("the bodies return every batch")
    }
}

/// Runs a driver alone, on the stack of the worker that the policy chooses: mostly the calling thread.
pub(super) fn alone<'e, R: Send + 'e>(
    driver: &Driver<'_>,
    options: &Options,
    drive: impl FnOnce() -> R + Send + 'e,
) -> Result<(R, Report), Error> {
    let graph = Graph::new();
    let done = graph.kernel(driver.name, (), ()).process(|(), ()| async move { Value(drive()) });
    let finished = graph.run_with(options)?;
    Ok((finished.take(done)?, finished.into_report()))
}

/// Runs a driver with a chain of bodies, among which at most `most` batches are under way.
pub(super) fn with_chain<'e, T: Send + 'e, R: Send + 'e>(
    driver: &Driver<'_>,
    options: &Options,
    most: usize,
    chain: impl FnOnce(Stream<'e, T>) -> Stream<'e, T>,
    drive: impl FnOnce(Link<T>) -> R + Send + 'e,
) -> Result<(R, Report), Error> {
    let graph = Graph::new();
    let (back, results) = graph.feedback([]);
    let kernel = graph.kernel(driver.name, input("finished", results), output("batches"));
    let kernel = kernel.stack(driver.stack);
    let kernel = if driver.waits { kernel.blocking() } else { kernel };
    let (jobs, done) =
        kernel.coroutine(move |results, jobs| Value(drive(Link { jobs, results, under_way: 0 })));
    chain(jobs.capacity(most)).capacity(most).feed(back);
    let finished = graph.run_with(options)?;
    Ok((finished.take(done)?, finished.into_report()))
}
