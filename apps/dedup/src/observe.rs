//! Progress and warnings of a run.

use std::path::Path;

/// Observes a run. The first stage, which reads the input, calls it a few times per block.
pub trait Observer: Send {
    /// `count` more bytes of content were read.
    fn bytes(&mut self, _count: u64) {}

    /// `path` was not packed.
    fn skipped(&mut self, _path: &Path, _why: &str) {}
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
}
