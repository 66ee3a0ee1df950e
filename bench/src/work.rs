//! Calibrated work that never reads the clock, and the order-sensitive checksum of its results.
//!
//! The work is a chain of dependent multiplications; an exclusive or after each keeps compilers from merging it
//! with the next. Two pieces of work on one core must not overlap in the processor's pipeline, or short work
//! would run faster on several items in a row than on one. So the loop counter takes a value from the chain that
//! is always zero, which neither the compiler nor the processor can know: if the processor cannot predict the end of
//! the loop, it executes nothing behind it early. It does predict the end of a loop with a constant count. So a serial
//! stage also starts each piece of work with such a zero from the previous piece, which makes the pieces dependent.

use std::hint::black_box;
use std::time::Instant;

const MUL: u64 = 6_364_136_223_846_793_005;
const INC: u64 = 1_442_695_040_888_963_407;
const FOLD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Runs `steps` steps, of four dependent multiply-xors each, from `x`; `zero` must be zero and unknown.
///
/// Never inlined, and four multiply-xors a step: the speed of such small loops varies by a tenth and more with the code
/// around them, and every contestant must do the work that was calibrated.
#[inline(never)]
fn spin(mut x: u64, steps: u64, zero: u64) -> u64 {
    let next = |x: u64| x.wrapping_mul(MUL) ^ INC;
    let mut left = steps;
    while left != 0 {
        x = next(next(next(next(x))));
        left = left.wrapping_sub(1).wrapping_add(x & zero);
    }
    x
}

/// Adds `x` to the checksum `h`; a different order of the same values gives a different checksum.
#[inline]
pub fn fold(h: u64, x: u64) -> u64 {
    h.wrapping_mul(FOLD).wrapping_add(x)
}

/// The checksum of two runs of values, from the checksum of each and the length of the second.
pub fn join(first: u64, second: u64, second_len: u64) -> u64 {
    let (mut factor, mut base, mut exponent) = (1u64, FOLD, second_len);
    while exponent != 0 {
        if exponent & 1 == 1 {
            factor = factor.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    first.wrapping_mul(factor).wrapping_add(second)
}

/// Scatters an index over 64 bits (the finaliser of SplitMix64).
#[inline]
pub fn mix(i: u64) -> u64 {
    let z = i.wrapping_add(FOLD);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The time of one step on this machine.
#[derive(Clone, Copy, Debug)]
pub struct Calibration {
    /// Nanoseconds of one step.
    pub ns_per_step: f64,
}

impl Calibration {
    /// Measures on the calling thread: the fastest of many short runs, so that interruptions do not count.
    pub fn measure() -> Self {
        const STEPS: u64 = 50_000;
        let zero = black_box(0);
        let fastest = (0..60)
            .map(|seed| {
                let start = Instant::now();
                black_box(spin(black_box(seed), STEPS, zero));
                start.elapsed()
            })
            .min()
            .expect("at least one run");
        Self { ns_per_step: fastest.as_secs_f64() * 1e9 / STEPS as f64 }
    }

    fn steps(&self, ns: f64) -> u64 {
        (ns / self.ns_per_step).round() as u64
    }
}

/// The same amount of work for every item.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Steps of one piece of work.
    pub steps: u64,
    zero: u64,
}

impl Work {
    /// Work of about `ns` nanoseconds.
    pub fn lasting(ns: u64, calibration: &Calibration) -> Self {
        Self::of(calibration.steps(ns as f64))
    }

    /// Work of this many steps.
    pub fn of(steps: u64) -> Self {
        Self { steps, zero: black_box(0) }
    }

    /// A stage of the chain that does this work.
    pub fn stage(self) -> Stage {
        Stage { work: self, last: 0 }
    }
}

/// A serial stage of the chain: each piece of work depends on the previous one.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    work: Work,
    last: u64,
}

impl Stage {
    /// The work of the stage on an item.
    #[inline]
    pub fn run(&mut self, x: u64) -> u64 {
        let steps = self.work.steps;
        if steps == 0 {
            return x.wrapping_add(1);
        }
        self.run_steps(x, steps)
    }

    /// Work of `steps` steps on an item.
    #[inline]
    pub fn run_steps(&mut self, x: u64, steps: u64) -> u64 {
        let zero = self.work.zero;
        self.last = spin(x.wrapping_add(1).wrapping_add(self.last & zero), steps, zero);
        self.last
    }
}

/// Heavy-tailed work: bounded Pareto from W/3 to 10 W, with mean W.
///
/// The cost of an item depends only on its index: a hash of the index selects one of 1024 quantiles.
#[derive(Clone, Debug)]
pub struct Heavy {
    steps: Vec<u64>,
    zero: u64,
}

impl Heavy {
    /// The shape parameter with which a bounded Pareto distribution from 1/3 to 10 has mean 1.
    pub const ALPHA: f64 = 1.205;
    const LOW: f64 = 1.0 / 3.0;
    const HIGH: f64 = 10.0;
    const QUANTILES: usize = 1024;

    /// Work of about `ns` nanoseconds in the mean.
    pub fn lasting(ns: u64, calibration: &Calibration) -> Self {
        let steps = (0..Self::QUANTILES)
            .map(|q| (q as f64 + 0.5) / Self::QUANTILES as f64)
            .map(|u| calibration.steps(ns as f64 * Self::quantile(u)))
            .collect();
        Self { steps, zero: black_box(0) }
    }

    /// Even work: about `ns` nanoseconds for every item.
    pub fn even(ns: u64, calibration: &Calibration) -> Self {
        Self { steps: vec![calibration.steps(ns as f64); Self::QUANTILES], zero: black_box(0) }
    }

    /// The inverse of the distribution function, in units of W.
    fn quantile(u: f64) -> f64 {
        let tail = (Self::LOW / Self::HIGH).powf(Self::ALPHA);
        Self::LOW * (1.0 - u * (1.0 - tail)).powf(-1.0 / Self::ALPHA)
    }

    /// The steps that item `i` costs.
    #[inline]
    pub fn steps(&self, i: u64) -> u64 {
        self.steps[(mix(i) >> 54) as usize]
    }

    /// The work of item `i`, and its result.
    #[inline]
    pub fn run(&self, i: u64) -> u64 {
        let scattered = mix(i);
        spin(scattered, self.steps[(scattered >> 54) as usize], self.zero)
    }

    /// The table of quantiles as a list of numbers, for peers in other languages.
    pub fn table(&self) -> String {
        let numbers: Vec<String> = self.steps.iter().map(u64::to_string).collect();
        numbers.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_work_has_its_mean_and_bounds() {
        let heavy = Heavy::lasting(1_000_000, &Calibration { ns_per_step: 1.0 });
        let mean = heavy.steps.iter().sum::<u64>() as f64 / heavy.steps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.01, "mean {mean}");
        assert!(*heavy.steps.first().unwrap() >= 333_333);
        assert!(*heavy.steps.last().unwrap() <= 10_000_000);
    }

    #[test]
    fn joined_checksums_equal_the_whole() {
        let whole = (0..1000).fold(0, fold);
        let (a, b) = ((0..300).fold(0, fold), (300..1000).fold(0, fold));
        assert_eq!(join(a, b, 700), whole);
    }

    #[test]
    fn order_changes_the_checksum() {
        assert_ne!(fold(fold(0, 1), 2), fold(fold(0, 2), 1));
    }
}
