//! Drops of users' values, which may panic.
//!
//! A panic that leaves a drop while its thread unwinds from another one aborts the process. So the engine drops what it
//! holds in one of these ways:
//!
//! | values | dropped by |
//! |---|---|
//! | items in slots | [`Slots::drop_items`](crate::channel) |
//! | other collections of the engine | [`drop_each`] |
//! | the same in an item of a channel, or in a node's state | [`Each`] |
//! | a closure beside other values of one owner, a message that waits to be sent | [`Contained`] |
//! | a message that is lent | [`drop_contained`] |
//! | all that a node or a channel has | [`contain`], whose caller fails the run with the panic |
//! | values of which no run is left to fail | [`drop_quietly`] |
//! | the payload of a panic | [`drop_payload`], or [`into_message`] if the panic becomes an error |
//!
//! In the first five a panic continues after the other values are dropped, unless the thread unwinds already. What a user
//! has put into one value (two fields of a closure, the items of a vector) is dropped as in any Rust program.

use crate::error::panic_message;
use crate::threads::Panic;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Drops values. Returns the panic of the drop, if it panics.
pub(crate) fn contain(drop: impl FnOnce()) -> Option<Panic> {
    catch_unwind(AssertUnwindSafe(drop)).err()
}

/// Drops values of which no run is left to fail: a panic of the drop is reported by the panic hook alone.
#[doc(hidden)]
pub fn drop_quietly(value: impl Sized) {
    if let Some(panic) = contain(|| drop(value)) {
        drop_payload(panic);
    }
}

/// Drops the payload of a panic. That drop is user code, and may panic with a payload of the same kind.
pub(crate) fn drop_payload(panic: Panic) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
}

/// The message of a panic that becomes an error, in which its payload has no place.
#[doc(hidden)]
pub fn into_message(panic: Panic) -> String {
    let message = panic_message(&*panic);
    drop_payload(panic);
    message
}

/// Drops each value. If a drop panics, the rest are dropped before the first panic continues; a thread that is unwinding
/// already does not panic again.
pub(crate) fn drop_each<T>(values: impl IntoIterator<Item = T>) {
    let mut first: Option<Panic> = None;
    for value in values {
        if let Some(panic) = contain(|| drop(value)) {
            match &first {
                None => first = Some(panic),
                Some(_) => drop_payload(panic),
            }
        }
    }
    match first {
        Some(panic) if std::thread::panicking() => drop_payload(panic),
        Some(panic) => resume_unwind(panic),
        None => {}
    }
}

/// A collection of the engine that is an item of a channel, or in a node's state: its drop drops each value
/// ([`drop_each`]).
pub(crate) struct Each<T>(Vec<T>);

impl<T> Each<T> {
    pub(crate) fn new(values: Vec<T>) -> Each<T> {
        Each(values)
    }

    pub(crate) fn into_inner(mut self) -> Vec<T> {
        self.take()
    }

    /// The values; none are left.
    pub(crate) fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }

    /// Adds values.
    pub(crate) fn extend(&mut self, values: impl Iterator<Item = T>) {
        self.0.extend(values);
    }
}

impl<T> Drop for Each<T> {
    fn drop(&mut self) {
        drop_each(std::mem::take(&mut self.0));
    }
}

/// Drops a value, perhaps while the thread unwinds: a panic of the drop then ends here.
#[inline]
pub(crate) fn drop_contained(drop: impl FnOnce()) {
    if !std::thread::panicking() {
        drop();
    } else if let Some(panic) = contain(drop) {
        drop_payload(panic);
    }
}

/// A user's value that may be dropped while the thread unwinds ([`drop_contained`]).
pub(crate) struct Contained<T>(ManuallyDrop<T>);

impl<T> Contained<T> {
    pub(crate) fn new(value: T) -> Contained<T> {
        Contained(ManuallyDrop::new(value))
    }

    pub(crate) fn into_inner(self) -> T {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is neither used again nor dropped, so the value has one owner.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

impl<T> Deref for Contained<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Contained<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for Contained<T> {
    #[inline]
    fn drop(&mut self) {
        if !std::mem::needs_drop::<T>() {
            return;
        }
        let value = &mut self.0;
        // SAFETY: the value is dropped here only, and not used afterwards.
        drop_contained(|| unsafe { ManuallyDrop::drop(value) });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Bad<'a>(&'a AtomicUsize);

    impl Drop for Bad<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            std::panic::panic_any(self.0.load(Ordering::Relaxed));
        }
    }

    #[test]
    fn the_first_panic_continues_after_the_last_drop() {
        let count = AtomicUsize::new(0);
        let panic = contain(|| drop_each([Bad(&count), Bad(&count), Bad(&count)])).expect("all panic");
        assert_eq!((panic.downcast_ref(), count.into_inner()), (Some(&1usize), 3));
    }

    #[test]
    fn contained_values_panic_once() {
        let count = AtomicUsize::new(0);
        let all = [(); 3].map(|()| Contained::new(Bad(&count)));
        let panic = contain(|| drop(all)).expect("all panic");
        assert_eq!((panic.downcast_ref(), count.into_inner()), (Some(&1usize), 3));
    }
}
