//! Runs an engine graph beside the caller's thread.
//!
//! **Actors.** The *caller* feeds the graph through one channel and takes results from another; the *engine*
//! runs the graph on its own threads. **Ends.** The caller ends the graph by dropping its sender; the engine
//! ends the caller by dropping its senders, or by failing (`Handle::is_over`).
//!
//! **Interruption.** `stopped` goes from false to true once. The caller sets it; the program reads it through
//! [`Host::stops`](crate::build::Host). Both accesses are relaxed, since the flag publishes no data: results
//! pass through channels, and the caller joins the engine's thread before it reads anything else.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::Builder;
use std::time::Duration;
use thalweg::{Error, Finished, Graph, Handle, Options};
use thalweg_lang::interpret::Stop;

/// Interval at which a waiting caller checks for interruption.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a graph while the caller runs `f`, and returns both results. If the engine fails, its error is
/// returned.
pub(super) fn beside<R>(
    graph: Graph<'_>,
    options: &Options,
    f: impl FnOnce(&Handle) -> Result<R, Stop>,
) -> Result<(R, Finished), Stop> {
    let told = |error: Error| Stop::Output(error.to_string());
    let engine = graph.prepare(options).map_err(told)?;
    let handle = engine.handle();
    std::thread::scope(|scope| {
        let ran = Builder::new().spawn_scoped(scope, move || engine.run());
        let ran = ran.map_err(|error| told(Error::Thread(error)))?;
        let done = f(&handle);
        let over = ran.join().unwrap_or_else(|panic| resume_unwind(panic)).map_err(told)?;
        Ok((done?, over))
    })
}

/// The next result; `None` where there will be no more. Sets `stopped` if the run is interrupted while it
/// waits, since a worker may be in a firing that never ends.
pub(super) fn next<T>(
    results: &Receiver<T>,
    engine: &Handle,
    stopped: &AtomicBool,
    interrupted: &dyn Fn() -> bool,
) -> Option<T> {
    loop {
        match results.recv_timeout(LOOK) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Disconnected) => return None,
            // The graph's output may still wait for a thread that waits for the caller, so the channel need
            // not be closed yet.
            Err(RecvTimeoutError::Timeout) if engine.is_over() => return results.try_recv().ok(),
            Err(RecvTimeoutError::Timeout) => _ = stopped.fetch_or(interrupted(), Ordering::Relaxed),
        }
    }
}
