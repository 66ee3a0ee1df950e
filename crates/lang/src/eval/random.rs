//! Random numbers: one seeded sequence for each filter.

/// A sequence of numbers from 0 up to 1.
///
/// It is splitmix64: to a state of 64 bits the constant `0x9e3779b97f4a7c15` is added, and the sum is
/// mixed (shifts by 30, 27 and 31, products with `0xbf58476d1ce4e5b9` and `0x94d049bb133111eb`); the
/// upper 24 bits of what comes out, divided by 2^24, are the number. So it is the same in every
/// implementation, and each number is a binary32 as it stands.
/// (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, section 6.)
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The sequence of a filter's work, by the filter's number.
    pub fn of_work(filter: u32) -> Random {
        Random { state: u64::from(filter) << 2 | 1 }
    }

    /// The sequence of a filter's first values and `init`.
    pub fn of_init(filter: u32) -> Random {
        Random { state: u64::from(filter) << 2 | 2 }
    }

    /// The sequence of all other code that is executed while streams are made.
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
