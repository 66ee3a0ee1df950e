//! How a run is driven: on which threads, and how it is stopped from elsewhere.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thalweg::{Finished, Handle, Options, Output, Report, Stream};

use crate::{Error, Result};

/// Stops what goes on elsewhere: a run of the engine, or a loop that looks at it between records.
///
/// Once asked for, it stays: whatever is begun with it afterwards stops at once.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    asked: AtomicBool,
    /// The run under way.
    run: Mutex<Option<Handle>>,
}

impl Stop {
    /// Nothing is asked for yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for it. What stops fails with [`Error::Stopped`].
    pub fn stop(&self) {
        self.shared.asked.store(true, Ordering::Release);
        if let Some(run) = &*self.run() {
            run.cancel();
        }
    }

    /// Whether it was asked for.
    pub fn is_asked(&self) -> bool {
        self.shared.asked.load(Ordering::Acquire)
    }

    /// Fails if it was asked for.
    pub fn check(&self) -> Result<()> {
        if self.is_asked() { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Cancels this run when asked, or now. `stop` sets the flag before it takes the lock, so
    /// either it finds the run or the flag is seen here.
    fn attach(&self, handle: Handle) {
        let mut run = self.run();
        if self.is_asked() {
            handle.cancel();
        }
        *run = Some(handle);
    }

    fn detach(&self) {
        *self.run() = None;
    }

    fn run(&self) -> MutexGuard<'_, Option<Handle>> {
        self.shared.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How to run a pipeline. `&Options` will do where nothing else is to be said.
#[derive(Clone, Debug, Default)]
pub struct Run {
    options: Options,
    stop: Stop,
    waits: bool,
}

impl Run {
    /// On the engine with these options. Their budget and run length have no effect: this crate's
    /// pipelines choose their own.
    pub fn new(options: &Options) -> Self {
        Run { options: options.clone(), ..Run::default() }
    }

    /// Ends when `stop` is asked for.
    pub fn stop(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// Whether the input is a pipe or the like, which gives its bytes when it pleases. Reading it
    /// then has a thread of its own, so that no worker waits.
    pub fn waits(mut self, waits: bool) -> Self {
        self.waits = waits;
        self
    }

    /// The reading stage, as it suits the input.
    pub(crate) fn reading<'env, T: Send + 'env>(&self, stage: Stream<'env, T>) -> Stream<'env, T> {
        if self.waits { stage.blocking() } else { stage }
    }

    /// Runs to the end; `budget` is what its weighed channels may hold, in bytes.
    pub(crate) fn go(&self, end: Output<'_, ()>, budget: usize) -> Result<Report> {
        // Every firing is microseconds to milliseconds of work, so claims of several would only
        // take work away from other threads.
        let options = self.options.clone().run_length(1).budget(budget);
        let prepared = end.graph().prepare(&options)?;
        self.stop.attach(prepared.handle());
        let ran = prepared.run();
        self.stop.detach();
        ran.map(Finished::into_report).map_err(cause)
    }
}

impl From<&Options> for Run {
    fn from(options: &Options) -> Self {
        Run::new(options)
    }
}

/// A stage's own error without the engine's words around it.
fn cause(error: thalweg::Error) -> Error {
    match error {
        thalweg::Error::Cancelled => Error::Stopped,
        thalweg::Error::Node { node, cause } => match cause.downcast::<Error>() {
            Ok(ours) => *ours,
            Err(cause) => Error::Engine(thalweg::Error::Node { node, cause }),
        },
        other => Error::Engine(other),
    }
}
