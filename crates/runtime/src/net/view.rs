//! The view of a running network from outside the run.
//!
//! A [`Handle`](crate::Handle) is `'static` and may be on any thread, but the network of a run borrows what its nodes
//! borrow, and lives only until the run has ended. So a handle does not own the network: it finds a reference to it here,
//! whose lifetime is erased, while the run lasts.
//!
//! # Protocol
//!
//! | the run is | `shown` | entered by | left by |
//! |---|---|---|---|
//! | hidden | `None` | its preparation; the end of [`Viewed::during`], also by a panic | the beginning of `during` |
//! | shown | the network, and the time of its start | the beginning of `during` | the end of `during` |
//!
//! All accesses to `shown` are under its mutex, and a reader keeps the mutex locked until it has used the reference for
//! the last time. So `during` cannot end while a reader uses the reference, and no reader finds it afterwards. What a
//! reader holds when it unlocks is plain data without a borrow.
//!
//! The engine takes the mutex at the beginning and at the end of a run only; snapshots take it once each, on whichever
//! thread calls. A
//! snapshot in progress delays the end of the run by the rest of its own time, and two snapshots follow each other. A
//! reader calls no code of the user, so it cannot come back to the mutex.
//!
//! Why not a safe reference: a `Weak` of the network, upgraded by a reader, could become its last owner, and would drop the
//! nodes' code on the reader's thread after what they borrow is gone. To keep only what is `'static` in an `Arc` of its own would
//! put node states and code apart, and cost every activation a cache line.

use crate::sync::{AtomicBool, Mutex, Ordering, lock};
use std::fmt;
use std::time::{Duration, Instant};
use thalweg_trace::Snapshot;

/// The state of a run that a snapshot reads.
pub(crate) trait View: Sync {
    /// The state now. `at` is the time since the run was shown. Calls no code of the user.
    fn snapshot(&self, at: Duration) -> Snapshot;
}

/// A reference to the network of a run, while it runs: see the module.
#[derive(Default)]
pub(crate) struct Viewed {
    shown: Mutex<Option<(&'static dyn View, Instant)>>,
    /// `during` is about to end: readers that have not locked `shown` yet do not try. Without it a series of readers could
    /// keep the mutex from the run, since it is not fair. `Relaxed`: it protects nothing.
    ending: AtomicBool,
}

impl fmt::Debug for Viewed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Viewed").finish_non_exhaustive()
    }
}

impl Viewed {
    /// The state of the run; `None` while the run is hidden. From any thread.
    pub(crate) fn snapshot(&self) -> Option<Snapshot> {
        if self.ending.load(Ordering::Relaxed) {
            return None;
        }
        let shown = lock(&self.shown); // until the reference was used
        let (view, began) = (*shown)?;
        Some(view.snapshot(began.elapsed()))
    }

    /// Runs `run` while `view` is shown. Not called again during the call.
    pub(crate) fn during<R>(&self, view: &dyn View, run: impl FnOnce() -> R) -> R {
        // SAFETY: the erased borrow outlives its uses. It is reachable through `shown` alone, and used only under the
        // lock (`snapshot`). The guard removes it under that lock before this call returns or unwinds, while `view` is
        // still borrowed by this call; the guard is a local that is never forgotten.
        let view = unsafe { std::mem::transmute::<&dyn View, &'static dyn View>(view) };
        *lock(&self.shown) = Some((view, Instant::now()));
        let _hide = Hide(self);
        run()
    }
}

/// The guard of a shown run: hides it when dropped.
struct Hide<'a>(&'a Viewed);

impl Drop for Hide<'_> {
    fn drop(&mut self) {
        self.0.ending.store(true, Ordering::Relaxed);
        *lock(&self.0.shown) = None;
    }
}
