//! The random sequence of a worker.
//!
//! Every host draws [`Host::random`](crate::Host::random) from this generator, so a seed means the same decisions in
//! each of them.

use crate::WorkerId;

/// Marsaglia's xorshift64 with a multiplied output (`xorshift64*`): eight bytes of state, three shifts a number, and
/// high bits that are good enough for scheduling.
#[derive(Clone, Debug)]
pub struct XorShift(u64);

impl XorShift {
    /// The sequence of one worker of a run.
    pub fn new(seed: u64, worker: WorkerId) -> XorShift {
        let mixed = mix(seed ^ mix(worker as u64 + 1));
        // The all-zero state is the one that xorshift never leaves.
        XorShift(if mixed == 0 { 1 } else { mixed })
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

/// The finaliser of SplitMix64: consecutive seeds yield unrelated numbers.
pub fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_worker_determine_the_sequence() {
        let take = |seed, worker| {
            let mut random = XorShift::new(seed, worker);
            [random.number(), random.number(), random.number()]
        };
        assert_eq!(take(7, 3), take(7, 3));
        assert_ne!(take(7, 3), take(7, 4));
        assert_ne!(take(7, 3), take(8, 3));
    }
}
