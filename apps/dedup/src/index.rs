//! The bounded index of anchors, and the history of unique data in which it finds duplicates.
//!
//! Positions are counted in bytes of unique data from the start of the archive, as the unpacker counts them. The index
//! and the history change in stream order only, so every run finds the same duplicates. Both have a fixed maximum size:
//! a new anchor replaces an older one in its slot, and the history is the same ring of bytes that the unpacker has.

use std::ops::Range;

use crate::params::Params;
use crate::sample::Anchor;
use crate::window::Window;

/// A part of a block that duplicates earlier unique data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub range: Range<usize>,
    /// The part begins this many bytes of unique data back.
    pub distance: u64,
}

/// The positions of anchors, by hash.
#[derive(Debug)]
pub(crate) struct Index {
    /// In each slot, the lowest bits of an anchor's position, as many as tell all positions of the window apart, and in
    /// the bits above them as many of its hash, which spare most comparisons with other anchors. 0: empty.
    slots: Vec<u32>,
    /// Selects the bits of the position. A position outside the window looks like one within it, where other bytes are:
    /// every match is compared, so such a slot costs a comparison alone.
    positions: u32,
    history: Window,
    /// The largest distance of a match.
    reach: u64,
    /// The least length of a match.
    min: usize,
}

impl Index {
    pub fn new(params: &Params) -> Self {
        let entries = usize::try_from(params.index_entries()).unwrap_or(usize::MAX);
        let capacity = usize::try_from(params.window).unwrap_or(usize::MAX);
        Index {
            slots: vec![0; entries],
            positions: u32::MAX >> u32::try_from(params.window | 1).map_or(0, u32::leading_zeros),
            history: Window::new(capacity.max(1)),
            reach: params.window,
            min: params.matching.min as usize,
        }
    }

    /// Finds a duplicate around `anchor` in `bytes`, which end with its file. The match begins at or after `from`; the
    /// bytes from there to the match are unique.
    pub fn find(&self, bytes: &[u8], from: usize, anchor: &Anchor) -> Option<Match> {
        let slot = self.slots[self.slot(anchor.hash)];
        if slot == 0 || (slot ^ tag(anchor.hash)) & !self.positions != 0 {
            return None;
        }
        let (total, at) = (self.history.total(), anchor.at as usize);
        // The latest position with these bits.
        let back = (total as u32).wrapping_sub(slot) & self.positions;
        let position = total.checked_sub(u64::from(back))?;
        // The distance of all pairs of equal bytes around the anchor, so also of the first pair.
        let distance = total + (at - from) as u64 - position;
        if distance > self.reach {
            return None;
        }
        let before = common_suffix(&bytes[from..at], self.history.before(position)?);
        let after = common_prefix(&bytes[at..], self.history.after(position)?);
        (before + after >= self.min).then(|| Match { range: at - before..at + after, distance })
    }

    /// Adds unique data: the bytes `range` of a block. `anchors` are those at or before the end of the range.
    pub fn insert(&mut self, bytes: &[u8], range: Range<usize>, anchors: &[Anchor]) {
        let start = self.history.total();
        for anchor in anchors.iter().filter(|anchor| anchor.at as usize > range.start) {
            let slot = self.slot(anchor.hash);
            let position = (start as u32).wrapping_add(anchor.at - range.start as u32);
            self.slots[slot] = position & self.positions | tag(anchor.hash) & !self.positions;
        }
        self.history.push(&bytes[range]);
    }

    /// The slot of a hash, by its upper bits.
    fn slot(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.slots.len() as u64) >> 32) as usize
    }
}

/// The bits of a hash with those on top that select no slot.
fn tag(hash: u32) -> u32 {
    hash.swap_bytes()
}

/// The length of the longest common prefix of `bytes` and the concatenation of two parts.
fn common_prefix(bytes: &[u8], [first, second]: [&[u8]; 2]) -> usize {
    let length = equal_start(bytes, first);
    if length < first.len() { length } else { length + equal_start(&bytes[length..], second) }
}

/// The length of the longest common suffix of `bytes` and the concatenation of two parts.
fn common_suffix(bytes: &[u8], [first, second]: [&[u8]; 2]) -> usize {
    let length = equal_end(bytes, second);
    if length < second.len() { length } else { length + equal_end(&bytes[..bytes.len() - length], first) }
}

fn equal_start(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 32;
    let steps = a.chunks_exact(STEP).zip(b.chunks_exact(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    steps + a[steps..].iter().zip(&b[steps..]).take_while(|(a, b)| a == b).count()
}

fn equal_end(a: &[u8], b: &[u8]) -> usize {
    a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{INDEX_ENTRY_BYTES, Matching};

    /// An index with this window, and anchors after each 16 bytes, with their content as hash.
    fn index(window: u64, entries: u64) -> Index {
        let params = Params { matching: Matching { min: 32, spacing: 16 }, ..Params::default() };
        Index::new(&params.window(window).index_bytes(entries * INDEX_ENTRY_BYTES))
    }

    fn anchors(bytes: &[u8]) -> Vec<Anchor> {
        let hash = |part: &[u8]| {
            part.iter().fold(1u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
        };
        (16..=bytes.len()).map(|at| Anchor { at: at as u32, hash: hash(&bytes[at - 16..at]) }).collect()
    }

    fn insert(index: &mut Index, bytes: &[u8]) {
        index.insert(bytes, 0..bytes.len(), &anchors(bytes));
    }

    fn find(index: &Index, bytes: &[u8]) -> Option<Match> {
        anchors(bytes).iter().find_map(|anchor| index.find(bytes, 0, anchor))
    }

    #[test]
    fn a_match_extends_to_both_sides() {
        let mut index = index(1000, 1000);
        let old: Vec<u8> = (0..200).collect();
        insert(&mut index, &old);
        let new = [&[255; 10][..], &old[50..150], &[255; 10]].concat();
        // Ten bytes of unique data lie between the end of the history and the match.
        assert_eq!(find(&index, &new), Some(Match { range: 10..110, distance: 160 }));
        assert_eq!(find(&index, &old[50..81]), None, "shorter than the minimum");
        assert!(find(&index, &old[50..82]).is_some());
    }

    #[test]
    fn no_match_begins_beyond_the_window() {
        let old: Vec<u8> = (0..=255).collect();
        for window in 0..300u64 {
            let mut index = index(window, 1000);
            insert(&mut index, &old[..100]);
            insert(&mut index, &old[100..]);
            let Some(found) = find(&index, &old) else { continue };
            // The bytes before the match are unique data by then.
            let (position, start) = (256 + found.range.start as u64, found.range.start as u64);
            assert_eq!((found.distance <= window, position - found.distance), (true, start), "{window}");
            assert_eq!(found.range, 256usize.saturating_sub(window as usize)..256);
        }
    }

    #[test]
    fn a_newer_anchor_replaces_an_older_one() {
        let mut index = index(1000, 1);
        let old: Vec<u8> = (0..200).collect();
        insert(&mut index, &old);
        assert_eq!(index.slots.len(), 1);
        assert_eq!(find(&index, &old[100..]), Some(Match { range: 0..100, distance: 100 }));
        assert_eq!(find(&index, &old[..150]), None);
    }
}
