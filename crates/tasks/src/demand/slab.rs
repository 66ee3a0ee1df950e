//! Growing storage with stable places: elements are made with their default and never move, so that threads may share
//! them while others add more.

use std::sync::OnceLock;
use thalweg_runtime::prefer_huge_pages;

/// The number of chunks between one power of two and the next. The last chunk may be empty, so at most one in this many
/// elements is made in vain.
const PARTS: u32 = 8;
/// The logarithm of the first power of two.
const FIRST: u32 = 6;

/// Elements with the numbers of `u32`.
pub(crate) struct Slab<T> {
    chunks: Box<[OnceLock<Box<[T]>>]>,
}

impl<T: Default> Slab<T> {
    pub(crate) fn new() -> Slab<T> {
        let chunks = (33 - FIRST) * PARTS;
        Slab { chunks: (0..chunks).map(|_| OnceLock::new()).collect() }
    }

    /// An element that may be used for the first time.
    #[inline]
    pub(crate) fn make(&self, index: u32) -> &T {
        let (chunk, offset, len) = place(index);
        &self.chunks[chunk].get_or_init(|| memory(len, T::default).into())[offset]
    }

    /// An element that was used before.
    ///
    /// # Panics
    /// It was not.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> &T {
        let (chunk, offset, _) = place(index);
        &self.chunks[chunk].get().expect("an element that was made")[offset]
    }

    /// As [`Slab::get`], for the owner.
    pub(crate) fn get_mut(&mut self, index: u32) -> &mut T {
        let (chunk, offset, _) = place(index);
        &mut self.chunks[chunk].get_mut().expect("an element that was made")[offset]
    }

    /// All elements of the chunks that were made, in order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let starts = (0..self.chunks.len()).map(start);
        let chunks = self.chunks.iter().zip(starts);
        let made = chunks.filter_map(|(chunk, start)| Some((chunk.get()?, start)));
        made.flat_map(|(chunk, start)| (start..).zip(chunk.iter()))
    }
}

/// This many elements, in huge pages if they are many.
pub(super) fn memory<T>(len: usize, make: impl FnMut() -> T) -> Vec<T> {
    let mut memory = Vec::with_capacity(len);
    prefer_huge_pages(memory.spare_capacity_mut());
    memory.resize_with(len, make);
    memory
}

/// The chunk of an element, its place in it, and the chunk's length.
#[inline]
fn place(index: u32) -> (usize, usize, usize) {
    let index = u64::from(index) + (1 << FIRST);
    let power = index.ilog2();
    let shift = power - PARTS.ilog2();
    let part = (index >> shift) as usize & (PARTS as usize - 1);
    let len = 1_usize << shift;
    ((power - FIRST) as usize * PARTS as usize + part, index as usize & (len - 1), len)
}

/// The number of a chunk's first element.
fn start(chunk: usize) -> u32 {
    let (power, part) = (chunk as u32 / PARTS + FIRST, chunk as u64 % u64::from(PARTS));
    let start = (u64::from(PARTS) + part) << (power - PARTS.ilog2());
    (start - (1 << FIRST)) as u32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_a_place_of_its_own() {
        let mut next = (0, 0);
        for index in 0..if cfg!(miri) { 2000 } else { 200_000 } {
            let (chunk, offset, len) = place(index);
            assert_eq!((chunk, offset), next, "element {index}");
            assert_eq!(start(chunk) + offset as u32, index);
            next = if offset + 1 == len { (chunk + 1, 0) } else { (chunk, offset + 1) };
        }
        let (chunk, ..) = place(u32::MAX);
        assert!(chunk < Slab::<u8>::new().chunks.len());
        assert!((start(chunk)..=u32::MAX).contains(&u32::MAX));
    }

    #[test]
    fn elements_stay_where_they_are() {
        let slab = Slab::<std::sync::OnceLock<u32>>::new();
        let indices = [0, 1, 63, 64, 1000, if cfg!(miri) { 1999 } else { 99_999 }];
        let places: Vec<_> = indices.iter().map(|index| std::ptr::from_ref(slab.make(*index))).collect();
        indices.iter().for_each(|index| slab.get(*index).set(*index).unwrap());
        for (index, place) in indices.iter().zip(places) {
            assert_eq!(slab.get(*index).get(), Some(index));
            assert!(std::ptr::eq(slab.get(*index), place));
        }
        let used: Vec<u32> = slab.iter().filter_map(|(_, element)| element.get().copied()).collect();
        assert_eq!(used, indices);
        assert!(slab.iter().all(|(index, element)| element.get().is_none_or(|held| *held == index)));
    }
}
