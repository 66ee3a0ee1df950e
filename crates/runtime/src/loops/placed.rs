//! Containers whose parts are first written by the members of a team, and that know by which one.
//!
//! On systems that place a page in the memory of the thread that first writes it, a part lies near the thread that has
//! written it. A loop of the same length and schedule finds its items near; a task that uses an item finds its colour in
//! the container.

use super::{Assignment, Loop, with_room};
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut, Range};
use thalweg_policy::tasks::Colour;

/// A vector whose items were first written by the members of a team: made by [`Loop::place`].
///
/// ```
/// use thalweg_runtime::Loop;
///
/// let squares = Loop::new().place(1000, |number| number * number);
/// assert_eq!(squares[30], 900);
/// // The colour of a task that uses items 200 to 299.
/// let colour = squares.colour_of(200).expect("an item of the vector");
/// assert!((colour.0 as usize) < thalweg_runtime::team_size());
/// ```
#[derive(Clone, Debug)]
pub struct Placed<T> {
    items: Vec<T>,
    parts: Parts,
}

/// An array of two dimensions whose rows were first written by the members of a team: made by [`Loop::place_rows`].
///
/// ```
/// use thalweg_runtime::Loop;
///
/// let mut grid = Loop::new().place_rows((3, 4), |row, column| row * 10 + column);
/// assert_eq!((grid.rows(), grid.columns(), grid.row(2)), (3, 4, &[20, 21, 22, 23][..]));
/// grid.row_mut(0)[1] = 7;
/// assert_eq!(grid.items()[..3], [0, 7, 2]);
/// assert!(grid.colour_of_row(2).is_some() && grid.colour_of_row(3).is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Grid<T> {
    items: Vec<T>,
    rows: usize,
    columns: usize,
    parts: Parts,
}

/// Which member has written which of some numbers: the first number of each stretch, ascending, and its member.
#[derive(Clone, Debug, Default)]
struct Parts {
    starts: Vec<(usize, u32)>,
    end: usize,
}

impl Parts {
    fn new(assignment: &Assignment, end: usize) -> Parts {
        let members = assignment.members().iter().enumerate();
        let start = |(member, ranges): (usize, &Vec<Range<usize>>)| {
            ranges.iter().map(|range| (range.start, member as u32)).collect::<Vec<_>>()
        };
        let mut starts: Vec<(usize, u32)> = members.flat_map(start).collect();
        starts.sort_unstable();
        Parts { starts, end }
    }

    fn colour_of(&self, number: usize) -> Option<Colour> {
        let after = self.starts.partition_point(|(start, _)| *start <= number);
        let (_, member) = self.starts.get(after.checked_sub(1)?)?;
        (number < self.end).then_some(Colour(*member))
    }

    fn colours(&self) -> impl Iterator<Item = (Range<usize>, Colour)> + '_ {
        let ends = self.starts.iter().skip(1).map(|(start, _)| *start).chain([self.end]);
        self.starts.iter().zip(ends).map(|((start, member), end)| (*start..end, Colour(*member)))
    }
}

impl<T> Placed<T> {
    /// The colour of the member that has written an item; `None` if there is no such item.
    pub fn colour_of(&self, item: usize) -> Option<Colour> {
        self.parts.colour_of(item)
    }

    /// The stretches of the items, in order, with the colour of the member that has written each.
    pub fn colours(&self) -> impl Iterator<Item = (Range<usize>, Colour)> + '_ {
        self.parts.colours()
    }

    /// The items, where they are.
    pub fn into_vec(self) -> Vec<T> {
        self.items
    }
}

impl<T> Deref for Placed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> DerefMut for Placed<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<T> Grid<T> {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All items, row by row.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// All items, row by row: for [`Loop::for_blocks_mut`] and [`Loop::for_chunks`].
    pub fn items_mut(&mut self) -> &mut [T] {
        &mut self.items
    }

    /// The items of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[T] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        &self.items[row * self.columns..][..self.columns]
    }

    /// The items of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        &mut self.items[row * self.columns..][..self.columns]
    }

    /// The colour of the member that has written a row; `None` if there is no such row.
    pub fn colour_of_row(&self, row: usize) -> Option<Colour> {
        self.parts.colour_of(row)
    }

    /// The stretches of the rows, in order, with the colour of the member that has written each.
    pub fn colours(&self) -> impl Iterator<Item = (Range<usize>, Colour)> + '_ {
        self.parts.colours()
    }
}

impl Loop {
    /// Makes a vector of the results of `make` for the numbers below `count`. Each thread writes its own part first, so on
    /// systems that place a page in the memory of the thread that first writes it, a later loop of the same length and
    /// schedule finds its items near: as long as the system does not move the threads. Only those of a run are pinned, by
    /// [`Options::pinned_at`](crate::Options::pinned_at); [`in_team`](crate::in_team) executes loops on them.
    ///
    /// ```
    /// let squares = thalweg_runtime::Loop::new().collect(5, |number| number * number);
    /// assert_eq!(squares, [0, 1, 4, 9, 16]);
    /// ```
    ///
    /// # Panics
    /// If `make` panics; results that were made are then not dropped. If the system has no memory for this many items.
    pub fn collect<T: Send>(self, count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
        // SAFETY: a loop calls its body with disjoint ranges that together are its range.
        let (items, ()) = unsafe { write((count, 1), make, |body| self.for_ranges(0..count, body)) };
        items
    }

    /// Like [`Loop::collect`]; the result knows which member has written which items, so that tasks get their colours from
    /// it ([`Placed::colour_of`]). A colour is the number of a member, and says where the item is only if that member's thread
    /// stays there, as in [`Loop::collect`].
    ///
    /// With [`Schedule::Static`](super::Schedule::Static) the parts are those of the partition, unless a member begins late.
    /// With the other schedules a member that is done writes what others have left, and its colour is with that.
    ///
    /// # Panics
    /// As [`Loop::collect`].
    pub fn place<T: Send>(self, count: usize, make: impl Fn(usize) -> T + Sync) -> Placed<T> {
        // SAFETY: a loop calls its body with disjoint ranges that together are its range.
        let (items, written) = unsafe { write((count, 1), make, |body| self.record(0..count, body)) };
        Placed { items, parts: Parts::new(&written, count) }
    }

    /// A vector of `count` clones of an item: [`Loop::place`] with that item for each number.
    ///
    /// ```
    /// let zeros = thalweg_runtime::Loop::new().place_filled(1 << 20, 0.0f64);
    /// assert!(zeros.len() == 1 << 20 && zeros.iter().all(|zero| *zero == 0.0));
    /// ```
    ///
    /// # Panics
    /// If a clone panics, or the system has no memory for this many items.
    pub fn place_filled<T: Clone + Send + Sync>(self, count: usize, item: T) -> Placed<T> {
        self.place(count, |_| item.clone())
    }

    /// Makes an array of these rows and columns of the results of `make(row, column)`. A loop over the rows writes it, so
    /// each thread writes whole rows.
    ///
    /// # Panics
    /// As [`Loop::collect`]; and if there are more than `usize::MAX` items.
    pub fn place_rows<T: Send>(
        self,
        (rows, columns): (usize, usize),
        make: impl Fn(usize, usize) -> T + Sync,
    ) -> Grid<T> {
        let make = |at: usize| make(at / columns, at % columns);
        // SAFETY: a loop calls its body with disjoint ranges that together are its range.
        let (items, written) = unsafe { write((rows, columns), make, |body| self.record(0..rows, body)) };
        Grid { items, rows, columns, parts: Parts::new(&written, rows) }
    }
}

/// The start of a vector's items that are not written yet.
struct Unwritten<T>(*mut MaybeUninit<T>);

// SAFETY: only `write` uses the pointer, to make references to disjoint parts. So sharing it with other threads sends them
// `&mut [MaybeUninit<T>]`, which is `Send` for these `T`.
unsafe impl<T: Send> Sync for Unwritten<T> {}

impl<T> Unwritten<T> {
    /// The items of some numbers.
    ///
    /// # Safety
    /// The vector has room for them and lives for `'s`, and no other reference to them exists meanwhile.
    unsafe fn part<'s>(&self, items: Range<usize>) -> &'s mut [MaybeUninit<T>] {
        // SAFETY: by the function's own contract.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(items.start), items.len()) }
    }
}

/// Makes the items of rows of this length by `make`, row by row. `execute` gets a body that writes ranges of rows, and its
/// result is returned with the items.
///
/// # Safety
/// If `execute` returns, it has called the body with disjoint ranges that together are all rows.
unsafe fn write<T: Send, R>(
    (rows, columns): (usize, usize),
    make: impl Fn(usize) -> T + Sync,
    execute: impl FnOnce(&(dyn Fn(Range<usize>) + Sync)) -> R,
) -> (Vec<T>, R) {
    let count =
        rows.checked_mul(columns).unwrap_or_else(|| panic!("{rows} rows of {columns} items are too many"));
    let mut items = with_room(count);
    let start = Unwritten(items.spare_capacity_mut().as_mut_ptr());
    let start = &start;
    let result = execute(&|range: Range<usize>| {
        let numbers = range.start * columns..range.end * columns;
        // SAFETY: the ranges are disjoint, and lie in the spare capacity of a vector that nothing else uses meanwhile.
        let part: &mut [MaybeUninit<T>] = unsafe { start.part(numbers.clone()) };
        for (place, number) in part.iter_mut().zip(numbers) {
            place.write(make(number));
        }
    });
    // SAFETY: by the contract each row had its call, which wrote its items.
    unsafe { items.set_len(count) };
    (items, result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment(text: &str) -> Assignment {
        format!("assignment 1\n{text}").parse().unwrap()
    }

    #[test]
    fn colours_are_those_of_the_members_that_have_written() {
        let parts = Parts::new(&assignment("member 0 0-9 20-29\nmember 1\nmember 2 10-19 30-34\n"), 35);
        let of = |number| parts.colour_of(number).map(|colour| colour.0);
        assert_eq!([0, 9, 10, 19, 20, 34].map(of), [0, 0, 2, 2, 0, 2].map(Some));
        assert_eq!((of(35), of(usize::MAX)), (None, None));
        let colours: Vec<_> =
            parts.colours().map(|(range, colour)| (range.start, range.end, colour.0)).collect();
        assert_eq!(colours, [(0, 10, 0), (10, 20, 2), (20, 30, 0), (30, 35, 2)]);
        let none = Parts::new(&assignment("member 0\n"), 0);
        assert_eq!((none.colour_of(0), none.colours().count()), (None, 0));
    }

    #[test]
    fn each_item_has_the_colour_of_the_thread_that_has_made_it() {
        let (rows, turns) = if cfg!(miri) { (5, 3) } else { (100, 200) };
        let count = rows * 10;
        crate::build::in_team::tests::in_teams(|| {
            for schedule in [crate::Schedule::Static, crate::Schedule::Hybrid, crate::Schedule::Dynamic] {
                let settings = Loop::new().schedule(schedule).grain(7);
                let make = |at: usize| {
                    (0..turns).for_each(|_| std::hint::spin_loop());
                    (at, crate::team::member() as u32)
                };
                let placed = settings.place(count, make);
                assert!(placed.iter().enumerate().all(|(at, (number, _))| *number == at));
                let colour = |at: usize| placed.colour_of(at).unwrap().0;
                assert!((0..count).all(|at| colour(at) == placed[at].1), "{schedule:?}");
                let grid = settings.place_rows((rows, 10), |row, column| make(row * 10 + column));
                assert!((0..rows).all(|row| grid.colour_of_row(row).unwrap().0 == grid.row(row)[9].1));
                assert!(grid.items().iter().enumerate().all(|(at, (number, _))| *number == at));
            }
        });
    }

    #[test]
    fn empty_containers_have_no_colours() {
        assert!(Loop::new().place(0, |_| ()).colour_of(0).is_none());
        let flat = Loop::new().place_rows((5, 0), |_, _| 1u8);
        assert_eq!((flat.rows(), flat.items().len(), flat.row(4).len()), (5, 0, 0));
        assert_eq!(Loop::new().place_rows((0, 5), |_, _| 1u8).colours().count(), 0);
    }

    #[test]
    fn items_are_dropped_once() {
        let item = std::sync::Arc::new(());
        let placed = Loop::new().place_filled(100, item.clone());
        assert_eq!(std::sync::Arc::strong_count(&item), 101);
        drop(placed);
        assert_eq!(std::sync::Arc::strong_count(&item), 1);
    }
}
