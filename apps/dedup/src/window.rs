//! The last bytes of unique data, which duplicates refer to.
//!
//! One ring, so that the memory is bounded by its size whatever the records look like. It grows
//! with what really arrived: a header that announces a large window takes nothing by itself.

/// A ring of bytes.
#[derive(Debug)]
pub(crate) struct Window {
    ring: Vec<u8>,
    capacity: usize,
    /// All bytes ever pushed.
    total: u64,
}

impl Window {
    /// Keeps the last `capacity` bytes.
    pub fn new(capacity: usize) -> Self {
        Window { ring: Vec::new(), capacity, total: 0 }
    }

    /// All bytes ever pushed.
    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn push(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(self.capacity.max(1)) {
            self.push_part(part);
        }
    }

    /// The byte at place `p` lies at `p % capacity`: in order until the ring is full, then over the
    /// oldest.
    fn push_part(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.capacity - self.ring.len();
        let (straight, wrapped) = bytes.split_at(bytes.len().min(room));
        self.grow(straight.len());
        self.ring.extend_from_slice(straight);
        if !wrapped.is_empty() {
            self.overwrite(wrapped);
        }
    }

    /// Doubles, but never beyond the capacity.
    fn grow(&mut self, by: usize) {
        if self.ring.capacity() - self.ring.len() < by {
            let more = self.ring.len().max(by).min(self.capacity - self.ring.len());
            self.ring.reserve_exact(more);
        }
    }

    /// The ring is full: the newest bytes take the place of the oldest.
    fn overwrite(&mut self, bytes: &[u8]) {
        let start = ((self.total - bytes.len() as u64) % self.capacity as u64) as usize;
        let first = bytes.len().min(self.capacity - start);
        self.ring[start..start + first].copy_from_slice(&bytes[..first]);
        self.ring[..bytes.len() - first].copy_from_slice(&bytes[first..]);
    }

    /// The `length` bytes from `place` on (counted from the very first byte), in one or two parts;
    /// `None` if they are not, or no longer, there.
    pub fn get(&self, place: u64, length: usize) -> Option<[&[u8]; 2]> {
        let oldest = self.total - self.ring.len() as u64;
        if place < oldest || place.checked_add(length as u64)? > self.total {
            return None;
        }
        let start = (place % self.capacity.max(1) as u64) as usize;
        let first = length.min(self.ring.len() - start);
        Some([&self.ring[start..start + first], &self.ring[..length - first]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_plain_vector() {
        for capacity in [1, 2, 7, 64] {
            let mut window = Window::new(capacity);
            let mut all: Vec<u8> = Vec::new();
            for step in 0..200usize {
                let bytes: Vec<u8> = (0..step * 7 % 23).map(|i| (step * 31 + i) as u8).collect();
                window.push(&bytes);
                all.extend(&bytes);
                assert!(window.ring.capacity() <= capacity.max(8) * 2);
                for length in 0..=capacity.min(all.len()) {
                    let place = all.len() - length;
                    let [a, b] = window.get(place as u64, length).unwrap();
                    assert_eq!([a, b].concat(), all[place..]);
                }
                assert!(window.get(all.len() as u64, 1).is_none());
                if all.len() > capacity {
                    assert!(window.get((all.len() - capacity - 1) as u64, 1).is_none());
                }
            }
        }
    }
}
