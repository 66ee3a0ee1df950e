//! The engine beside the caller's thread.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::Builder;
use std::time::Duration;
use thalweg::{Error, Finished, Graph, Handle, Options};
use thalweg_lang::interpret::Stop;

/// How often a caller that waits looks whether it is interrupted.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a graph while the caller does something, and gives what comes of both. Where the engine fails, its failure is
/// told.
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

/// The next result; none where there will be no more. If the run is interrupted meanwhile all are told to stop, since
/// somebody may be in a firing that never ends.
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
            // Its output may still have a thread to wait for, which waits for the caller.
            Err(RecvTimeoutError::Timeout) if engine.is_over() => return results.try_recv().ok(),
            Err(RecvTimeoutError::Timeout) => _ = stopped.fetch_or(interrupted(), Ordering::Relaxed),
        }
    }
}
