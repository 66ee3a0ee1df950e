//! Random numbers for mappers. The same pipeline always gets the same ones.

use super::Pipeline;

/// A sequence of random numbers: SplitMix64.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn of(pipeline: &Pipeline) -> Random {
        Random(pipeline.stages().len() as u64)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ mixed >> 31) * bound as u128) >> 64) as usize
    }
}
