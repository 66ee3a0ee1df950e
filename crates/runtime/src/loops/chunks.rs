//! Loops over slices: each chunk is lent to one call.

use super::Loop;
use std::mem::MaybeUninit;

/// The start of a slice that is lent by chunks.
struct Start<T>(*mut T);

// SAFETY: only `chunk` uses the pointer, to make references to disjoint chunks of a slice that is lent exclusively. So
// sending it to other threads sends them `&mut [T]`, which is `Send` for these `T`.
unsafe impl<T: Send> Sync for Start<T> {}

impl<T> Start<T> {
    /// The chunk of this length from `at` on.
    ///
    /// # Safety
    /// The chunk is inside of a slice that is borrowed exclusively for `'s`, and no other reference to it exists meanwhile.
    unsafe fn chunk<'s>(&self, at: usize, length: usize) -> &'s mut [T] {
        // SAFETY: by the function's own contract.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(at), length) }
    }
}

impl Loop {
    /// Calls `body` with each chunk of `size` items, the last of which may be shorter, and its number.
    ///
    /// # Panics
    /// If `body` panics, or `size` is 0.
    pub fn for_chunks<T: Send>(self, items: &mut [T], size: usize, body: impl Fn(usize, &mut [T]) + Sync) {
        assert!(size > 0, "a chunk has no items");
        let (count, start) = (items.len(), Start(items.as_mut_ptr()));
        let start = &start;
        self.for_each(0..count.div_ceil(size), |chunk| {
            let at = chunk * size;
            // SAFETY: a loop calls its body once with each number, so each chunk, which lies in `items`, is lent once.
            body(chunk, unsafe { start.chunk(at, size.min(count - at)) });
        });
    }

    /// Makes a vector of the results of `make` for the numbers below `count`. Each thread writes its own part first, so on
    /// systems that place a page in the memory of the thread that first writes it, a later loop of the same length and
    /// schedule finds its items near.
    ///
    /// ```
    /// let squares = thalweg_runtime::Loop::new().collect(5, |number| number * number);
    /// assert_eq!(squares, [0, 1, 4, 9, 16]);
    /// ```
    ///
    /// # Panics
    /// If `make` panics. Results that were made are then not dropped.
    pub fn collect<T: Send>(self, count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let mut items = Vec::with_capacity(count);
        let start = Start(items.spare_capacity_mut().as_mut_ptr());
        let start = &start;
        self.for_ranges(0..count, |range| {
            // SAFETY: the ranges of a loop are disjoint, and lie in the spare capacity.
            let part: &mut [MaybeUninit<T>] = unsafe { start.chunk(range.start, range.len()) };
            for (place, number) in part.iter_mut().zip(range) {
                place.write(make(number));
            }
        });
        // SAFETY: the loop has returned, so each of the numbers had its call, which wrote the item.
        unsafe { items.set_len(count) };
        items
    }
}

/// Calls `body` with each chunk of `size` items and its number, on several threads: [`Loop::for_chunks`] with the default
/// settings.
///
/// # Panics
/// If `body` panics, or `size` is 0.
pub fn par_chunks<T: Send>(items: &mut [T], size: usize, body: impl Fn(usize, &mut [T]) + Sync) {
    Loop::new().for_chunks(items, size, body);
}
