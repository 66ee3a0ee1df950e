//! What could not be restored of a tree.

use std::io;

use crate::{Error, Result};

/// Passes what could not be restored to the receiver, or keeps the first failure if there is none.
#[derive(Default)]
pub(crate) struct Failures {
    pub receiver: Option<Box<dyn FnMut(Error) + Send>>,
    first: Option<Error>,
}

impl Failures {
    /// `path` is asked only here, since it may be as long as the tree is deep.
    pub fn add(&mut self, what: &str, path: impl Fn() -> String, source: io::Error) {
        let error = Error::io(format!("{what} {}", path()), source);
        match &mut self.receiver {
            Some(receiver) => receiver(error),
            None => _ = self.first.get_or_insert(error),
        }
    }

    /// Fails if a failure was kept.
    pub fn check(&mut self) -> Result<()> {
        self.first.take().map_or(Ok(()), Err)
    }
}
