//! Waiting on a ring without blocking operations.

/// Repeats `attempt` until it returns a value: spins at first, then yields between attempts.
#[inline]
pub fn until<R>(mut attempt: impl FnMut() -> Option<R>) -> R {
    const SPINS: u32 = 4096;
    let mut spins = 0;
    loop {
        if let Some(result) = attempt() {
            return result;
        }
        if spins < SPINS {
            spins += 1;
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}
