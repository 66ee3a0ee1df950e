//! Maps whose keys are small, and come from this crate alone: hashing them is most of what looking for them costs.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// Numbers multiplied and turned, one after the other.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Mixer(u64);

/// Odd, and with as many ones as zeros: two to the 64th by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for bytes in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, x: u8) {
        self.write_u64(x.into());
    }

    fn write_u32(&mut self, x: u32) {
        self.write_u64(x.into());
    }

    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(5) ^ x).wrapping_mul(FACTOR);
    }

    fn write_usize(&mut self, x: usize) {
        self.write_u64(x as u64);
    }

    /// Of a product the upper bits depend on all of both factors, and maps look at the lower ones first.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
