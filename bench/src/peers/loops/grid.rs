//! Cells with a border.

use std::marker::PhantomData;

/// The bytes of a row's border, left and right: a cache line.
const PAD: usize = 64;

/// Rows of cells. All have neighbours: the border's cells are zero, and no iteration writes them.
pub struct Grid<T> {
    cells: Vec<T>,
    rows: usize,
    columns: usize,
    /// The first cell inside of the border. It begins a cache line, if a row is a multiple of one.
    first: usize,
}

impl<T: Copy + Default> Grid<T> {
    /// A grid with these cells, by row and column.
    pub fn new((rows, columns): (usize, usize), cell: impl Fn(usize, usize) -> T) -> Grid<T> {
        let pad = PAD / size_of::<T>();
        let stride = columns + 2 * pad;
        let mut cells = vec![T::default(); (rows + 2) * stride + pad];
        let first = cells.as_ptr().align_offset(PAD) + stride + pad;
        for row in 0..rows {
            let inside = &mut cells[first + row * stride..][..columns];
            inside.iter_mut().enumerate().for_each(|(column, to)| *to = cell(row, column));
        }
        Grid { cells, rows, columns, first }
    }

    fn stride(&self) -> usize {
        self.columns + 2 * PAD / size_of::<T>()
    }

    /// The cells, for reading.
    pub fn read(&self) -> Read<'_, T> {
        Read { first: self.cells.as_ptr().wrapping_add(self.first), stride: self.stride(), grid: PhantomData }
    }

    /// The cells, for writing by several threads.
    pub fn write(&mut self) -> Write<'_, T> {
        Write {
            first: self.cells.as_mut_ptr().wrapping_add(self.first),
            stride: self.stride(),
            grid: PhantomData,
        }
    }

    /// All cells inside of the border, in order.
    pub fn cells(&self) -> impl Iterator<Item = T> + '_ {
        let row = |row: usize| &self.cells[self.first + row * self.stride()..][..self.columns];
        (0..self.rows).flat_map(move |at| row(at).iter().copied())
    }
}

/// The cells of a grid that nothing writes.
#[derive(Clone, Copy)]
pub struct Read<'g, T> {
    first: *const T,
    stride: usize,
    grid: PhantomData<&'g [T]>,
}

/// The cells of a grid of which each iteration writes its own part.
#[derive(Clone, Copy)]
pub struct Write<'g, T> {
    first: *mut T,
    stride: usize,
    grid: PhantomData<&'g mut [T]>,
}

// SAFETY: it stands for a shared borrow of the cells.
unsafe impl<T: Sync> Sync for Read<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Send for Read<'_, T> {}
// SAFETY: unsafe code alone uses the pointer, and argues that no two threads access the same cell.
unsafe impl<T: Send> Sync for Write<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Write<'_, T> {}

impl<T> Read<'_, T> {
    /// The number of cells from a cell to the one below.
    pub fn stride(self) -> usize {
        self.stride
    }

    /// The cell at a row, which may be the border's, and a column.
    pub fn at(self, row: isize, column: usize) -> *const T {
        self.first.wrapping_offset(row * self.stride as isize).wrapping_add(column)
    }
}

impl<'g, T> Write<'g, T> {
    /// The same cells, for reading, where unsafe code argues that nothing writes them meanwhile.
    pub fn reader(self) -> Read<'g, T> {
        Read { first: self.first, stride: self.stride, grid: PhantomData }
    }

    /// The cell at a row and a column.
    pub fn at(self, row: usize, column: usize) -> *mut T {
        self.first.wrapping_add(row * self.stride + column)
    }
}
