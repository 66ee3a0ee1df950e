//! A set of blocks of bounded size that evicts the one that was used longest ago.

/// No place.
const NONE: u32 = u32::MAX;

/// A block in the order of use.
#[derive(Clone, Copy, Debug)]
struct Entry {
    block: u64,
    /// The place of the block that was used before it.
    older: u32,
    /// The place of the block that was used after it.
    newer: u32,
}

/// The blocks, as a list in the order of use through the places of a table.
#[derive(Clone, Debug)]
pub(super) struct Lru {
    blocks: usize,
    /// The place of each block, by its number: [`Memory`](super::Memory) numbers them densely.
    place: Vec<u32>,
    /// Blocks that are there.
    count: usize,
    entries: Vec<Entry>,
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
}

impl Lru {
    pub(super) fn new(blocks: usize) -> Lru {
        Lru {
            blocks,
            place: Vec::new(),
            count: 0,
            entries: Vec::new(),
            free: Vec::new(),
            newest: NONE,
            oldest: NONE,
        }
    }

    /// Uses a block, and returns whether it was there.
    pub(super) fn touch(&mut self, block: u64) -> bool {
        let index = block as usize;
        if self.place.len() <= index {
            self.place.resize(index + 1, NONE);
        }
        let place = self.place[index];
        if place != NONE {
            if place != self.newest {
                self.unlink(place);
                self.link(place);
            }
            return true;
        }
        if self.count == self.blocks {
            self.remove(self.entries[self.oldest as usize].block);
        }
        let entry = Entry { block, older: NONE, newer: NONE };
        let place = match self.free.pop() {
            Some(place) => {
                self.entries[place as usize] = entry;
                place
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        self.place[index] = place;
        self.count += 1;
        self.link(place);
        false
    }

    /// Takes a block out, if it is there.
    pub(super) fn remove(&mut self, block: u64) {
        let Some(entry) = self.place.get_mut(block as usize).filter(|place| **place != NONE) else { return };
        let place = std::mem::replace(entry, NONE);
        self.count -= 1;
        self.unlink(place);
        self.free.push(place);
    }

    /// Makes an entry the newest.
    fn link(&mut self, place: u32) {
        self.entries[place as usize].older = self.newest;
        self.entries[place as usize].newer = NONE;
        match self.newest {
            NONE => self.oldest = place,
            newest => self.entries[newest as usize].newer = place,
        }
        self.newest = place;
    }

    fn unlink(&mut self, place: u32) {
        let Entry { older, newer, .. } = self.entries[place as usize];
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_what_a_list_in_the_order_of_use_has() {
        let (mut lru, mut list) = (Lru::new(5), Vec::new());
        let mut random = 1_u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (block, what) = (random >> 60, random >> 40 & 7);
            let at = list.iter().position(|other| *other == block);
            at.map(|at| list.remove(at));
            if what == 0 {
                lru.remove(block);
                continue;
            }
            assert_eq!(lru.touch(block), at.is_some());
            if list.len() == 5 {
                list.remove(0);
            }
            list.push(block);
        }
    }
}
