//! The early end of a run: by an error, with its cause, or because the sink needs no more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// What is done when the run fails.
type Hook = Box<dyn Fn(&Error) + Send>;

/// What the threads of a process share about the end of the run.
///
/// The first error counts. The thread that reports it calls all hooks before it does anything else, so a thread
/// that sees [`is_stopped`](Ending::is_stopped) finds the error too.
#[derive(Default)]
pub(crate) struct Ending {
    stopped: AtomicBool,
    error: Mutex<Option<Error>>,
    hooks: Mutex<Vec<Hook>>,
    enough: AtomicBool,
    on_enough: Mutex<Vec<Box<dyn Fn() + Send>>>,
}

impl Ending {
    /// Whether the run ends early.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// What is done when the run ends early; at once, if it already does.
    pub fn on_stop(&self, hook: impl Fn(&Error) + Send + 'static) {
        let mut hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_stopped() {
            let error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(error) = &*error {
                hook(error);
            }
        }
        hooks.push(Box::new(hook));
    }

    /// Ends the run, unless it already ends.
    pub fn fail(&self, error: Error) {
        let others = error.to_others();
        {
            let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
            if first.is_some() {
                return;
            }
            *first = Some(error);
        }
        let hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        self.stopped.store(true, Ordering::Release);
        hooks.iter().for_each(|hook| hook(&others));
    }

    /// Whether the sink needs no more items.
    pub fn is_enough(&self) -> bool {
        self.enough.load(Ordering::Acquire)
    }

    /// What is done when the sink needs no more items; at once, if it already needs none.
    pub fn on_enough(&self, hook: impl Fn() + Send + 'static) {
        let mut hooks = self.on_enough.lock().unwrap_or_else(PoisonError::into_inner);
        if self.enough.load(Ordering::Acquire) {
            hook();
        }
        hooks.push(Box::new(hook));
    }

    /// The sink needs no more items: sources and stages end, and the run succeeds.
    pub fn enough(&self) {
        let hooks = self.on_enough.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.enough.swap(true, Ordering::AcqRel) {
            hooks.iter().for_each(|hook| hook());
        }
    }

    /// The error, once: the run is over. Drops all hooks: they own connections and stages, some of which own this.
    pub fn take(&self) -> Option<Error> {
        drop(std::mem::take(&mut *self.hooks.lock().unwrap_or_else(PoisonError::into_inner)));
        drop(std::mem::take(&mut *self.on_enough.lock().unwrap_or_else(PoisonError::into_inner)));
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn the_first_error_counts_and_every_hook_is_called_once() {
        let (ending, calls) = (Ending::default(), Arc::new(AtomicU32::new(0)));
        let hook = |calls: &Arc<AtomicU32>| {
            let calls = calls.clone();
            move |error: &Error| {
                assert_eq!(error.to_string(), "first");
                calls.fetch_add(1, Ordering::Relaxed);
            }
        };
        ending.on_stop(hook(&calls));
        ending.fail(Error::of(1, "first"));
        ending.fail(Error::of(2, "second"));
        ending.on_stop(hook(&calls));
        assert_eq!((ending.is_stopped(), calls.load(Ordering::Relaxed)), (true, 2));
        assert_eq!(ending.take().unwrap().process(), Some(1));
    }
}
