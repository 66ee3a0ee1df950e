//! Cursors on the stack for a run of firings.

/// Cursors moved to the stack for a run of firings, so that the compiler can keep their fields in registers. They move
/// back when the run ends, also by a panic.
///
/// Invariant: while the loan lives the bits exist twice, and only `here` is used: `origin` is neither read nor dropped.
pub(crate) struct Lent<C> {
    origin: *mut C,
    pub(crate) here: std::mem::ManuallyDrop<C>,
}

impl<C> Lent<C> {
    /// # Safety
    /// `origin` is valid, no other code has access to it, and it is not accessed while the loan lives.
    #[inline(always)]
    pub(crate) unsafe fn new(origin: *mut C) -> Lent<C> {
        // SAFETY: `origin` is valid by the contract; its bits are overwritten, not dropped, on return.
        Lent { origin, here: std::mem::ManuallyDrop::new(unsafe { origin.read() }) }
    }
}

impl<C> Drop for Lent<C> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `origin` is valid by the contract of `new`, and its old bits are a copy that must not be dropped.
        // This is the only `take`, and `here` is not used afterwards, so the value has one owner.
        unsafe { self.origin.write(std::mem::ManuallyDrop::take(&mut self.here)) };
    }
}
