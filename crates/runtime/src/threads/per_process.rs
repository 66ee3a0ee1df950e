//! State of the process that a child of `fork` does not inherit.
//!
//! A child has one thread, the copy of the one that forked. What other threads have left in shared state is wrong there: idle
//! threads of the pool that do not exist, members that look for no job, and locks that no thread will release. So a child
//! begins such state anew, and never looks at the old: it is leaked, with its locks.
//!
//! | generation | entered by | left by |
//! |---|---|---|
//! | that of the parent | the start of the program | `fork`, in the child: its handler increments [`GENERATION`] |
//! | the next | that handler, before `fork` returns | a `fork` of this child |
//!
//! The handler runs in the only thread of the child, and does nothing but a store: a handler may call no function that takes
//! a lock. A value is made when it is first used in its generation, so a child that uses none pays nothing.
//!
//! What is in use on the forking thread itself belongs to the parent, and cannot go on in the child. An outlet sees that its
//! generation is over, and ends with an error; a run or a loop in one of whose calls the thread forks does not.

use std::ptr::null_mut;
#[cfg(all(unix, not(miri)))]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The number of forks between this process and the one that has begun the program.
static GENERATION: AtomicUsize = AtomicUsize::new(0);

/// A value of this process: see the module.
pub(crate) struct PerProcess<T> {
    /// Null, or a value that is never freed.
    value: AtomicPtr<Made<T>>,
    make: fn() -> T,
}

/// A value, and the generation for which it was made.
struct Made<T> {
    generation: usize,
    value: T,
}

/// The generation of this process. What was started in another one has its threads there.
#[doc(hidden)]
#[inline]
pub fn generation() -> usize {
    // Before the load: a fork after this call is counted.
    watch_forks();
    GENERATION.load(Ordering::Relaxed)
}

impl<T: Send + Sync + 'static> PerProcess<T> {
    /// A value that `make` returns when it is first used. Several threads may call `make` then, and one of the results is kept.
    pub(crate) const fn new(make: fn() -> T) -> PerProcess<T> {
        PerProcess { value: AtomicPtr::new(null_mut()), make }
    }

    /// The value of this process.
    #[inline]
    pub(crate) fn get(&'static self) -> &'static T {
        // Acquire: pairs with the exchange in `make`. The generation changes only before the first instruction of a child
        // after `fork`, on the same thread.
        let made = self.value.load(Ordering::Acquire);
        // SAFETY: the pointer is null or from `Box::into_raw` in `make`, and what it points to is never freed.
        match unsafe { made.as_ref() } {
            Some(made) if made.generation == GENERATION.load(Ordering::Relaxed) => &made.value,
            _ => self.make(made),
        }
    }

    /// Makes the value of this process, in place of `before`.
    #[cold]
    fn make(&'static self, before: *mut Made<T>) -> &'static T {
        let made = Made { generation: generation(), value: (self.make)() };
        let made = Box::into_raw(Box::new(made));
        // Release: a thread that loads the pointer sees the value. Acquire: as in `get`, for another thread's.
        match self.value.compare_exchange(before, made, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: never freed from now on.
            Ok(_) => unsafe { &(*made).value },
            Err(others) => {
                // SAFETY: no other thread has this pointer.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: as in `get`. Only null and values of earlier generations are replaced, so it is of this one.
                unsafe { &(*others).value }
            }
        }
    }
}

/// Lets children of this process begin a new generation.
#[cfg(all(unix, not(miri)))]
fn watch_forks() {
    unsafe extern "C" {
        fn pthread_atfork(
            prepare: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> std::ffi::c_int;
    }
    extern "C" fn begin_generation() {
        GENERATION.fetch_add(1, Ordering::Relaxed);
    }
    // A child inherits the handlers with this flag.
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.load(Ordering::Relaxed) && !WATCHED.swap(true, Ordering::Relaxed) {
        // SAFETY: the handler only accesses an atomic, which is allowed in a child of a process with several threads. It
        // fails only without memory; children then have the old state.
        _ = unsafe { pthread_atfork(None, None, Some(begin_generation)) };
    }
}

/// Without `fork` there are no children that have state.
#[cfg(not(all(unix, not(miri))))]
fn watch_forks() {}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn all_threads_get_the_same_value() {
        static VALUE: PerProcess<AtomicUsize> = PerProcess::new(|| AtomicUsize::new(0));
        std::thread::scope(|scope| {
            (0..4).for_each(|_| _ = scope.spawn(|| VALUE.get().fetch_add(1, Ordering::Relaxed)));
        });
        assert_eq!(VALUE.get().load(Ordering::Relaxed), 4);
    }
}
