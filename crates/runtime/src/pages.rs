//! Advice to the operating system about memory.

use std::mem::MaybeUninit;

/// The size of a huge page on the machines that have one size of these.
#[cfg(all(target_os = "linux", not(miri)))]
const HUGE: usize = 2 << 20;

/// Asks for huge pages behind this memory, if it is large. Call it before the first access: then few page faults
/// stand for many. Without effect where the system has no huge pages.
///
/// ```
/// let mut numbers: Vec<u64> = Vec::with_capacity(1 << 20);
/// thalweg_runtime::prefer_huge_pages(numbers.spare_capacity_mut());
/// numbers.resize(1 << 20, 0);
/// ```
pub fn prefer_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let bytes = memory.as_mut_ptr_range();
        // Whole pages, so the addresses are aligned to smaller pages too.
        let (start, end) = (bytes.start.addr().next_multiple_of(HUGE), bytes.end.addr() / HUGE * HUGE);
        if start < end {
            let first = bytes.start.cast::<libc::c_void>().wrapping_byte_add(start - bytes.start.addr());
            // SAFETY: the range is inside of `memory`, which this thread borrows mutably. The advice changes neither
            // contents nor access rights.
            _ = unsafe { libc::madvise(first, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = memory;
}
