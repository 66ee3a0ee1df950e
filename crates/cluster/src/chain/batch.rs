//! Calls of users' functions for a batch, and what is known of a failure.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::ticket::Ticket;

/// An error of a user's function.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The name of a stage, which may change while the chain is built.
pub(crate) type Name = Arc<Mutex<String>>;

/// The stage that runs, for messages.
pub(crate) enum Stage {
    /// One that users cannot name.
    Fixed(&'static str),
    Named(Name),
}

impl Stage {
    fn name(&self) -> String {
        match self {
            Stage::Fixed(name) => (*name).to_owned(),
            Stage::Named(name) => name.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// A stage failed with a batch.
pub(crate) struct Failure {
    pub stage: String,
    pub ticket: Ticket,
    pub text: String,
    pub help: Option<&'static str>,
    pub cause: Option<Cause>,
}

/// Calls users' functions for a batch: an error or a panic is a failure of the stage that runs.
pub(crate) fn guard<T>(
    mut stage: Stage,
    ticket: Ticket,
    work: impl FnOnce(&mut Stage) -> Result<T, Cause>,
) -> Result<T, Failure> {
    let (text, cause) = match catch_unwind(AssertUnwindSafe(|| work(&mut stage))) {
        Ok(Ok(made)) => return Ok(made),
        Ok(Err(cause)) => match cause.downcast::<Failure>() {
            Ok(failure) => return Err(*failure),
            Err(cause) => (format!("failed: {cause}"), Some(cause)),
        },
        Err(panic) => (format!("panicked: {}", message(&*panic)), None),
    };
    Err(Failure { stage: stage.name(), ticket, text, help: None, cause })
}

/// Calls a user's function of a stage with this name for a batch.
pub(crate) fn guarded<T>(
    name: &'static str,
    ticket: Ticket,
    work: impl FnOnce() -> Result<T, Cause>,
) -> Result<T, Failure> {
    guard(Stage::Fixed(name), ticket, |_| work())
}

/// What a panic says.
pub(crate) fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stage {}, {}: {}", self.stage, self.ticket, self.text)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}
