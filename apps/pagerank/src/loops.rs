//! Parallel loops over slices, on the threads of the process.

use std::sync::{Mutex, PoisonError};

use thalweg::{Options, ThreadPool};

/// A parallel loop. Which thread executes a part never affects a result: parts share nothing, and their borders depend
/// on lengths alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    members: Option<usize>,
}

impl Loop {
    /// A loop on as many threads as the process may run at once.
    pub fn new() -> Loop {
        Loop { members: None }
    }

    /// The largest number of threads.
    pub fn members(self, members: usize) -> Loop {
        Loop { members: Some(members.max(1)) }
    }

    /// Calls `body` with the number and the items of each chunk of `size` items; the last chunk may be shorter.
    pub fn for_chunks<T: Send>(&self, items: &mut [T], size: usize, body: impl Fn(usize, &mut [T]) + Sync) {
        let members = self.members.unwrap_or_else(|| Options::new().workers());
        let members = members.min(items.len().div_ceil(size));
        let chunks = Mutex::new(items.chunks_mut(size).enumerate());
        let next = || chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
        let part = |_member| {
            while let Some((number, chunk)) = next() {
                body(number, chunk);
            }
        };
        match members {
            0 | 1 => part(0),
            _ => ThreadPool::process().fork_join(members - 1, &part, || part(0), || {}),
        }
    }
}
