//! Loops over slices: each chunk is lent to one call.

use super::Loop;
use std::ops::Range;

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

    /// Calls `body` with each block of an array of two dimensions that lies row by row in `items`, `columns` to a row.
    /// Blocks have `block` rows and columns, and fewer at the end.
    ///
    /// ```
    /// use thalweg_runtime::Loop;
    ///
    /// let mut table = vec![0; 5 * 7];
    /// Loop::new().for_blocks_mut(&mut table, 7, (2, 3), |mut block| {
    ///     for row in block.rows() {
    ///         let first = block.columns().start;
    ///         block.row_mut(row).iter_mut().enumerate().for_each(|(at, item)| *item = row * (first + at));
    ///     }
    /// });
    /// assert_eq!(table[4 * 7 + 6], 24);
    /// ```
    ///
    /// # Panics
    /// If `body` panics, a block has no rows or no columns, or the items are no whole rows.
    pub fn for_blocks_mut<T: Send>(
        self,
        items: &mut [T],
        columns: usize,
        block: (usize, usize),
        body: impl Fn(BlockMut<'_, T>) + Sync,
    ) {
        let count = items.len();
        assert!(count.is_multiple_of(columns), "{count} items are no rows of {columns}");
        let (rows, start) = (count.checked_div(columns).unwrap_or(0), Start(items.as_mut_ptr()));
        let start = &start;
        self.for_blocks((rows, columns), block, |rows, part| {
            // The loop passes each block once, so no two `BlockMut` have an item in common.
            body(BlockMut { start, stride: columns, rows, columns: part });
        });
    }
}

/// A block of an array of two dimensions, lent to one call of [`Loop::for_blocks_mut`].
///
/// Invariant: its rows and columns lie in the array, which is borrowed exclusively for `'s`, and no other block has one of
/// its items.
pub struct BlockMut<'s, T> {
    start: &'s Start<T>,
    stride: usize,
    rows: Range<usize>,
    columns: Range<usize>,
}

impl<T> BlockMut<'_, T> {
    /// The block's rows, as rows of the array.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// The block's columns, as columns of the array.
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// The block's part of a row, which is a row of the array.
    ///
    /// # Panics
    /// If the row is not in the block.
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        assert!(self.rows.contains(&row), "row {row} of a block with the rows {:?}", self.rows);
        // SAFETY: by the invariant the part lies in the array, and this block alone has it. The result borrows the block, so
        // there is no other reference to it.
        unsafe { self.start.chunk(row * self.stride + self.columns.start, self.columns.len()) }
    }
}

impl<T> std::fmt::Debug for BlockMut<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rows, columns) = (&self.rows, &self.columns);
        f.debug_struct("BlockMut").field("rows", rows).field("columns", columns).finish_non_exhaustive()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_array_once() {
        crate::build::in_team::tests::in_teams(cover_once);
    }

    fn cover_once() {
        let uneven = if cfg!(miri) { (5, 7, (3, 4)) } else { (17, 23, (4, 5)) };
        let even = if cfg!(miri) { (4, 3, (2, 3)) } else { (6, 6, (2, 3)) };
        for (rows, columns, block) in [uneven, (1, 1, (9, 9)), even, (0, 5, (1, 1))] {
            let mut items = vec![(0, 0, 0); rows * columns];
            Loop::new().for_blocks_mut(&mut items, columns, block, |mut part| {
                assert!(part.rows().len() <= block.0 && part.columns().len() <= block.1);
                for row in part.rows() {
                    let first = part.columns().start;
                    let cells = part.row_mut(row).iter_mut();
                    cells.enumerate().for_each(|(at, cell)| *cell = (cell.0 + 1, row, first + at));
                }
            });
            let right = |(at, cell): (usize, &(i32, usize, usize))| *cell == (1, at / columns, at % columns);
            assert!(items.iter().enumerate().all(right), "{items:?}");
        }
    }

    #[test]
    fn a_row_outside_of_the_block_is_refused() {
        let mut items = vec![0; 12];
        let reach = |row| {
            let call = std::panic::AssertUnwindSafe(|| {
                Loop::new().for_blocks_mut(&mut items, 3, (2, 2), |mut part| part.row_mut(row)[0] = 1);
            });
            let panic = std::panic::catch_unwind(call).unwrap_err();
            assert!(crate::panic_message(&*panic).contains("of a block with the rows"));
        };
        [4, usize::MAX].into_iter().for_each(reach);
        let call = std::panic::AssertUnwindSafe(|| Loop::new().for_blocks_mut(&mut items, 5, (2, 2), |_| ()));
        assert!(std::panic::catch_unwind(call).is_err(), "12 items are no rows of 5");
    }
}
