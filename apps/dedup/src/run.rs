//! The settings of a run, and its cancellation from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thalweg::embed::runtime::EmbedOptions;
use thalweg::{Handle, Options, Output, Report, Stream};

use crate::{Error, Result};

/// A cancellation token for a run on the engine or for a sequential loop, which checks it between records.
///
/// A request is permanent: a run that begins with this token afterwards stops at once.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    requested: AtomicBool,
    /// The current run.
    run: Mutex<Option<Handle>>,
}

impl Stop {
    /// A token without a request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests a stop. The run fails with [`Error::Stopped`].
    pub fn stop(&self) {
        self.shared.requested.store(true, Ordering::Release);
        if let Some(run) = &*self.run() {
            run.cancel();
        }
    }

    /// Whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.shared.requested.load(Ordering::Acquire)
    }

    /// Fails if a stop was requested.
    pub fn check(&self) -> Result<()> {
        if self.is_requested() { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Registers a run, which a request cancels. Cancels it at once if there was a request.
    ///
    /// No request is lost: [`Stop::stop`] sets the flag before it takes the lock, so either it finds the run, or
    /// this function, which holds the lock, sees the flag.
    fn attach(&self, handle: Handle) {
        let mut run = self.run();
        if self.is_requested() {
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

/// The settings of a run on the engine. `&Options` converts to it.
#[derive(Clone, Debug, Default)]
pub struct Run {
    options: Options,
    stop: Stop,
    blocking_input: bool,
}

impl Run {
    /// A run with these options. Their budget and run length have no effect: the pipelines of this crate choose
    /// their own. A plan ([`Options::plan`], [`Options::plan_with`]) decides all, also these two.
    pub fn new(options: &Options) -> Self {
        Run { options: options.clone(), ..Run::default() }
    }

    /// Ends the run when `stop` is requested.
    pub fn stop(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// Sets whether reads of the input may block for a long time, as those of a pipe do. Then a dedicated thread
    /// reads it, so no worker blocks.
    pub fn blocking_input(mut self, blocking: bool) -> Self {
        self.blocking_input = blocking;
        self
    }

    /// Makes the stage that reads the input `blocking` if its reads may block.
    pub(crate) fn read_stage<'env, T: Send + 'env>(&self, stage: Stream<'env, T>) -> Stream<'env, T> {
        if self.blocking_input { stage.blocking() } else { stage }
    }

    /// Runs the pipeline to its end. `budget` is the byte limit of its weighed channels.
    pub(crate) fn execute(&self, end: Output<'_, ()>, budget: usize) -> Result<Report> {
        // A firing takes microseconds to milliseconds, so claims of several firings would only take work away
        // from other threads.
        let options = match self.options.planned() {
            Some(_) => self.options.clone(),
            None => self.options.clone().claim_length(1).budget(budget),
        };
        let prepared = end.graph().prepare(&options)?;
        self.stop.attach(prepared.handle());
        let ran = prepared.run();
        self.stop.detach();
        ran.map(thalweg::Run::into_report).map_err(|failed| cause(failed.into()))
    }
}

impl From<&Options> for Run {
    fn from(options: &Options) -> Self {
        Run::new(options)
    }
}

/// The error of a stage without the engine's message around it.
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
