//! What the NAS parallel benchmarks share (*The NAS Parallel Benchmarks*, report RNR-94-007): random numbers and classes.

use std::fmt;
use std::str::FromStr;

/// The multiplier, 5^13.
const MULTIPLIER: u64 = 1_220_703_125;

/// The modulus is 2^46.
const BITS: u32 = 46;

/// The linear congruential generator of the benchmarks (section 2.3 of the report).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator with the benchmarks' own seed.
    pub fn new() -> Self {
        Random(314_159_265)
    }

    /// The next number, between 0 and 1.
    pub fn next(&mut self) -> f64 {
        // The product modulo 2^64 has the low bits of the product.
        self.0 = self.0.wrapping_mul(MULTIPLIER) & ((1 << BITS) - 1);
        self.0 as f64 / (1u64 << BITS) as f64
    }
}

/// The classes of problems, from small to large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Sample: a second at most.
    S,
    /// Workstation.
    W,
    /// The first of three for machines.
    A,
    /// The second.
    B,
    /// The third.
    C,
}

impl FromStr for Class {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "S" | "s" => Class::S,
            "W" | "w" => Class::W,
            "A" | "a" => Class::A,
            "B" | "b" => Class::B,
            "C" | "c" => Class::C,
            other => return Err(format!("unknown class `{other}`\nhelp: the classes are S, W, A, B and C")),
        })
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A result beside the value that a class of problems must have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verified {
    /// The computed value.
    pub value: f64,
    /// The value of the report. `None` for problems of no class.
    pub expected: Option<f64>,
    /// The relative difference that the report allows.
    pub tolerance: f64,
}

impl Verified {
    /// Whether the value is that of the report. `None` for problems of no class.
    pub fn agrees(&self) -> Option<bool> {
        self.expected.map(|expected| ((self.value - expected) / expected).abs() <= self.tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The generator is 5^13 s mod 2^46: computed here with 128 bits.
    #[test]
    fn numbers_are_those_of_the_definition() {
        let mut random = Random::new();
        let mut state = 314_159_265u128;
        for _ in 0..1000 {
            state = 5u128.pow(13) * state % (1 << 46);
            assert_eq!(random.next(), state as f64 / (1u64 << 46) as f64);
        }
    }
}
