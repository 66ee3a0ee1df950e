//! What a driver tells whoever watches it: progress and warnings.

use std::path::Path;

/// Watches a run. Called from whichever thread reads or writes, a few times per block.
pub trait Observer: Send {
    /// So many further bytes of content went by.
    fn bytes(&mut self, _count: u64) {}

    /// Something of the input was left out.
    fn skipped(&mut self, _path: &Path, _why: &str) {}
}

/// Watches nothing.
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
