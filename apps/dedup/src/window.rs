//! The last bytes of unique data, to which duplicates refer: the packer finds them
//! there, and the unpacker copies them from there.
//!
//! One ring buffer, so its capacity bounds the memory for any records. It grows only with the data that has arrived,
//! so a header that declares a large window does not allocate.

/// A ring buffer of bytes.
#[derive(Debug)]
pub(crate) struct Window {
    ring: Vec<u8>,
    capacity: usize,
    /// The number of all bytes pushed so far.
    total: u64,
}

impl Window {
    /// A window that keeps the last `capacity` bytes.
    pub fn new(capacity: usize) -> Self {
        Window { ring: Vec::new(), capacity, total: 0 }
    }

    /// The number of all bytes pushed so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn push(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(self.capacity.max(1)) {
            self.push_part(part);
        }
    }

    /// Stores the byte at position `p` at `p % capacity`: appends until the ring is full, then overwrites the oldest
    /// bytes.
    fn push_part(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.capacity - self.ring.len();
        let (appended, overwriting) = bytes.split_at(bytes.len().min(room));
        self.grow(appended.len());
        self.ring.extend_from_slice(appended);
        if !overwriting.is_empty() {
            self.overwrite(overwriting);
        }
    }

    /// Doubles the allocation, up to the capacity.
    fn grow(&mut self, by: usize) {
        if self.ring.capacity() - self.ring.len() < by {
            let more = self.ring.len().max(by).min(self.capacity - self.ring.len());
            self.ring.reserve_exact(more);
        }
    }

    /// Overwrites the oldest bytes. The ring must be full.
    fn overwrite(&mut self, bytes: &[u8]) {
        let start = ((self.total - bytes.len() as u64) % self.capacity as u64) as usize;
        let first = bytes.len().min(self.capacity - start);
        self.ring[start..start + first].copy_from_slice(&bytes[..first]);
        self.ring[..bytes.len() - first].copy_from_slice(&bytes[first..]);
    }

    /// The `length` bytes from `position` on, counted from the first byte pushed, in two parts, of which the second
    /// may be empty. `None` if the window does not have all of them.
    pub fn get(&self, position: u64, length: usize) -> Option<[&[u8]; 2]> {
        let oldest = self.total - self.ring.len() as u64;
        if position < oldest || position.checked_add(length as u64)? > self.total {
            return None;
        }
        let start = (position % self.capacity.max(1) as u64) as usize;
        let first = length.min(self.ring.len() - start);
        Some([&self.ring[start..start + first], &self.ring[..length - first]])
    }

    /// All bytes of the window before `position`, in two parts. `None` if it lies outside the window.
    pub fn before(&self, position: u64) -> Option<[&[u8]; 2]> {
        let oldest = self.total - self.ring.len() as u64;
        self.get(oldest, usize::try_from(position.checked_sub(oldest)?).ok()?)
    }

    /// All bytes of the window from `position` on, in two parts. `None` if it lies outside the window.
    pub fn after(&self, position: u64) -> Option<[&[u8]; 2]> {
        self.get(position, usize::try_from(self.total.checked_sub(position)?).ok()?)
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
                    let position = all.len() - length;
                    let [a, b] = window.get(position as u64, length).unwrap();
                    assert_eq!([a, b].concat(), all[position..]);
                    assert_eq!(window.after(position as u64), Some([a, b]));
                    let before = window.before(position as u64).unwrap().concat();
                    assert_eq!(before, all[all.len().saturating_sub(capacity)..position]);
                }
                assert!(window.get(all.len() as u64, 1).is_none());
                assert!(window.before(all.len() as u64 + 1).is_none());
                if all.len() > capacity {
                    assert!(window.before((all.len() - capacity - 1) as u64).is_none());
                    assert!(window.get((all.len() - capacity - 1) as u64, 1).is_none());
                }
            }
        }
    }
}
