//! Random numbers: one seeded sequence per filter.

/// A sequence of numbers, each at least 0 and below 1.
///
/// The generator is splitmix64: it adds the constant `0x9e3779b97f4a7c15` to a 64-bit state and mixes the sum
/// (shifts by 30, 27 and 31, products with `0xbf58476d1ce4e5b9` and `0x94d049bb133111eb`); the number is the
/// upper 24 bits of the result divided by 2^24. So every implementation yields the same sequence, and each number
/// is an exact binary32. (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
/// section 6.)
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The sequence of a filter's work.
    pub fn of_work(filter: u32) -> Random {
        Random { state: u64::from(filter) << 2 | 1 }
    }

    /// The sequence of a filter's field initialisers and `init`.
    pub fn of_init(filter: u32) -> Random {
        Random { state: u64::from(filter) << 2 | 2 }
    }

    /// The sequence of all other code executed during elaboration.
    pub fn of_elaboration() -> Random {
        Random { state: 0 }
    }

    /// The next number.
    pub fn next_float(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed >> 40) as f32 / (1 << 24) as f32
    }
}
