//! A cell that is set once.

use std::cell::UnsafeCell;
use std::mem::{MaybeUninit, needs_drop};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicU8, Ordering};

/// A value that is set once and then shared. In contrast to [`std::sync::OnceLock`] no thread ever waits, so a cell takes one
/// byte more than its value, and [`SetOnce::set`] one compare-and-swap.
///
/// ```
/// let cell = thalweg_runtime::SetOnce::new();
/// assert_eq!(cell.get(), None);
/// assert_eq!(cell.set(1), Ok(()));
/// assert_eq!(cell.set(2), Err(2));
/// assert_eq!(cell.get(), Some(&1));
/// ```
///
/// # States
///
/// | `state` | `value` is accessed by | entered by | left by |
/// |---|---|---|---|
/// | `EMPTY` | none | `new`, `take` (`&mut`) | `set`, by compare-and-swap |
/// | `WRITING` | the thread in `set`, which writes it | `set` | the same thread |
/// | `SET` | all, which read it | `set`, `Release` after the write | `take` and the drop, which have the cell for themselves |
///
/// A reader that sees `SET` by an `Acquire` load comes after the write. One compare-and-swap from `EMPTY` succeeds, so one
/// thread writes, and it writes before any reads.
pub struct SetOnce<T> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
}

const EMPTY: u8 = 0;
const WRITING: u8 = 1;
const SET: u8 = 2;

// SAFETY: by shared references a thread may move a `T` in, and other threads may get `&T`; `T` allows both. The accesses are
// ordered as the type's documentation argues.
unsafe impl<T: Send + Sync> Sync for SetOnce<T> {}
// As for `OnceLock`: a panic leaves no broken value, since no foreign code runs in the cell.
impl<T: UnwindSafe + RefUnwindSafe> RefUnwindSafe for SetOnce<T> {}

impl<T> SetOnce<T> {
    /// An empty cell.
    pub const fn new() -> SetOnce<T> {
        SetOnce { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// Sets the value.
    ///
    /// # Errors
    /// Another call was first: the value comes back.
    #[inline]
    pub fn set(&self, value: T) -> Result<(), T> {
        // Relaxed: `EMPTY` publishes nothing. Only the thread that creates the cell, or has it mutably, was here before.
        if self.state.compare_exchange(EMPTY, WRITING, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return Err(value);
        }
        // SAFETY: this thread has changed `EMPTY` to `WRITING`, so it alone accesses the value.
        unsafe { (*self.value.get()).write(value) };
        self.state.store(SET, Ordering::Release);
        Ok(())
    }

    /// The value, if it is set.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: the value is set, and not changed as long as the cell is borrowed.
        (self.state.load(Ordering::Acquire) == SET).then(|| unsafe { (*self.value.get()).assume_init_ref() })
    }

    /// Takes the value out; the cell is empty again.
    pub fn take(&mut self) -> Option<T> {
        let state = std::mem::replace(self.state.get_mut(), EMPTY);
        // SAFETY: the value was set, and the state says that it is not any more.
        (state == SET).then(|| unsafe { self.value.get_mut().assume_init_read() })
    }
}

impl<T> Default for SetOnce<T> {
    fn default() -> SetOnce<T> {
        SetOnce::new()
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SetOnce").field(&self.get()).finish()
    }
}

impl<T> Drop for SetOnce<T> {
    #[inline]
    fn drop(&mut self) {
        if needs_drop::<T>() {
            drop(self.take());
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::SetOnce;
    use std::sync::Arc;

    #[test]
    fn one_of_several_threads_sets_the_value() {
        for _ in 0..if cfg!(miri) { 5 } else { 200 } {
            let cell = SetOnce::new();
            let set = |number: usize| {
                let first = cell.set(Box::new(number)).is_ok();
                (first, cell.get().map(|value| **value))
            };
            let all: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..3).map(|number| scope.spawn(move || set(number))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let winners: Vec<_> = (0..3).filter(|number| all[*number].0).collect();
            assert_eq!(winners.len(), 1);
            assert!(all.iter().all(|(_, seen)| seen.is_none_or(|seen| seen == winners[0])));
            assert_eq!(**cell.get().unwrap(), winners[0]);
        }
    }

    #[test]
    fn a_value_is_dropped_once() {
        let value = Arc::new(());
        let mut cell = SetOnce::new();
        assert!(cell.take().is_none());
        assert!(cell.set(value.clone()).is_ok() && cell.set(value.clone()).is_err());
        assert_eq!(Arc::strong_count(&value), 2);
        drop(cell.take());
        assert_eq!(Arc::strong_count(&value), 1);
        assert!(cell.set(value.clone()).is_ok());
        drop(cell);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
