//! Progress and warnings of a run.

use std::path::Path;

use crate::{Error, Result};

/// Observes a run. The first stage, which reads the input, calls it a few times per block.
pub trait Observer: Send {
    /// `count` more bytes of content were read.
    fn bytes(&mut self, _count: u64) {}

    /// `path` is not packed, and need not be.
    fn skipped(&mut self, _path: &Path, _why: &str) {}

    /// An entry could not be packed, or not as it was, for this reason. Returns an error to end the run.
    ///
    /// # Errors
    /// By default the run ends with the reason.
    fn failed(&mut self, why: Error) -> Result<()> {
        Err(why)
    }
}

/// An observer that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {}

impl<O: Observer + ?Sized> Observer for Box<O> {
    fn bytes(&mut self, count: u64) {
        (**self).bytes(count);
    }

    fn skipped(&mut self, path: &Path, why: &str) {
        (**self).skipped(path, why);
    }

    fn failed(&mut self, why: Error) -> Result<()> {
        (**self).failed(why)
    }
}
