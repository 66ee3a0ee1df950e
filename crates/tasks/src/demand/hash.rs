//! The hash of keys. Keys are the user's own and seldom hostile, so speed counts more than protection from chosen keys.

use std::hash::{Hash, Hasher};

/// The hash of a key: 64 bits. All depend on all bits of the key but the lowest six of its last word; these are then
/// combined with the lowest six of the hash. So consecutive numbers, and neighbours in the last coordinate of a grid, have
/// slots of the table near each other; and keys with the same low bits do not.
#[inline]
pub(crate) fn hash(key: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = Folded { state: 0x9E37_79B9_7F4A_7C15, low: 0 };
    key.hash(&mut hasher);
    hasher.finish()
}

/// The bits of the last word that choose among near slots.
const LOW: u64 = 63;

/// Multiplies to 128 bits and folds the halves, once for each word.
struct Folded {
    state: u64,
    /// The low bits of the last word.
    low: u64,
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Folded {
    #[inline]
    fn word(&mut self, word: u64) {
        let state = self.state.wrapping_add(self.low) ^ (word & !LOW);
        self.state = fold(state, 0xD6E8_FEB8_6659_FD93).rotate_left(23);
        self.low = word & LOW;
    }
}

impl Hasher for Folded {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.word(word.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
        let rest = words.remainder();
        self.word(rest.iter().fold(rest.len() as u64, |word, byte| word << 8 | u64::from(*byte)));
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.word(number.into());
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.word(number.into());
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.word(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.word(number);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.word(number as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // The last multiplication reaches the bits that choose a shard and a slot.
        fold(self.state, 0xA076_1D64_78BD_642F) ^ self.low
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::hash;
    use std::collections::HashSet;

    #[test]
    #[cfg_attr(miri, ignore = "thousands of keys in sets, and no unsafe code")]
    fn keys_spread_over_shards_and_slots() {
        for keys in [(0..4096u64).map(|n| n * 64).collect::<Vec<_>>(), (0..4096).map(|n| n << 32).collect()] {
            let shards = keys.iter().map(|key| hash(key) >> 52).collect::<HashSet<_>>();
            let slots = keys.iter().map(|key| hash(key) & 4095).collect::<HashSet<_>>();
            // Of 4096 random numbers below 4096, 2589 differ in the mean.
            assert!(shards.len() > 2400 && slots.len() > 2400, "{} {}", shards.len(), slots.len());
        }
        let texts = (0..1000).map(|n| hash(&format!("a longer key with number {n}"))).collect::<HashSet<_>>();
        assert_eq!(texts.len(), 1000);
        let pairs = (0..100u32).flat_map(|a| (0..100u32).map(move |b| hash(&(a, b)))).collect::<HashSet<_>>();
        assert_eq!(pairs.len(), 10_000);
    }

    #[test]
    fn neighbours_have_near_slots() {
        assert_eq!(hash(&64u64) >> 6, hash(&127u64) >> 6);
        assert_eq!(hash(&(3u32, 64u32)) >> 6, hash(&(3u32, 127u32)) >> 6);
        assert_ne!(hash(&(3u32, 64u32)) >> 6, hash(&(4u32, 64u32)) >> 6);
    }
}
