//! The choice of activations that are measured more closely.
//!
//! Nodes that a worker activates in turn make a periodic sequence. A sample at fixed distances would meet the same
//! node each time, so the distances vary: they follow a sequence that is equidistributed over every period (multiples
//! of the golden ratio, modulo 1). It needs no random numbers, and a run of one worker takes the same samples each
//! time.

/// The number of activations for each sample, in the mean.
pub(crate) const SAMPLE: u32 = 64;
/// The number of activations for each one of which [`Sampler::is_frequent`] is true, in the long run.
pub(crate) const FREQUENT: u32 = 16;

/// The most activations between two samples.
const MOST_BETWEEN: u32 = SAMPLE / 2 + SAMPLE - 1;
/// 2^32 divided by the golden ratio.
const STEP: u32 = 0x9E37_79B9;

/// The position of a worker in its sequence of activations.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// Activations before the next sample.
    left: u32,
    /// The multiple of the golden ratio, modulo 1, in units of 2^-32.
    phase: u32,
}

impl Sampler {
    /// The sampler of a worker before its first activation. The second one is a sample: the first one finds all caches
    /// cold.
    pub(crate) fn new() -> Sampler {
        Sampler { left: 1, phase: 0 }
    }

    /// Begins an activation. Returns whether it is a sample.
    #[inline]
    pub(crate) fn step(&mut self) -> bool {
        self.phase = self.phase.wrapping_add(STEP);
        let is_sample = self.left == 0;
        // From 0 to 64, in the mean 32: so `left` is 63 in the mean, and the next sample comes `left + 1` steps later.
        let random = (self.phase >> 26) + (self.phase >> 25 & 1);
        self.left = if is_sample { SAMPLE / 2 - 1 + random } else { self.left - 1 };
        is_sample
    }

    /// Begins an activation that is no sample: one of the next [`Sampler::plain`].
    #[inline]
    pub(crate) fn step_plain(&mut self) {
        debug_assert!(self.left > 0, "the activation is a sample");
        self.phase = self.phase.wrapping_add(STEP);
        self.left = self.left.wrapping_sub(1);
    }

    /// Whether the current activation is one of the more frequent samples: one in [`FREQUENT`].
    #[inline]
    pub(crate) fn is_frequent(&self) -> bool {
        self.phase < u32::MAX / FREQUENT
    }

    /// The number of activations before the next sample.
    #[inline]
    pub(crate) fn plain(&self) -> u32 {
        self.left
    }
}

// `left` is at most this.
const _: () = assert!(SAMPLE / 2 - 1 + (u32::MAX >> 26) + 1 == MOST_BETWEEN);

#[cfg(test)]
mod tests {
    use super::*;

    /// In each periodic sequence of up to 200 activations, every position is sampled about equally often.
    #[test]
    fn every_position_of_a_period_is_sampled() {
        for period in 1..=if cfg!(miri) { 2 } else { 200 } {
            let (mut sampler, mut samples, mut frequent) = (Sampler::new(), vec![0; period], vec![0; period]);
            let mean = if cfg!(miri) { 40 } else { 200 };
            let rounds = 64 * mean as usize;
            for at in 0..period * rounds {
                samples[at % period] += u32::from(sampler.step());
                frequent[at % period] += u32::from(sampler.is_frequent());
            }
            let near = |count: &u32, mean: u32| (mean / 2..=mean * 3 / 2).contains(count);
            assert!(samples.iter().all(|count| near(count, mean)), "{period}: {samples:?}");
            assert!(frequent.iter().all(|count| near(count, 4 * mean)), "{period}: {frequent:?}");
        }
    }

    #[test]
    fn plain_activations_lead_to_the_same_samples() {
        let (mut one, mut other) = (Sampler::new(), Sampler::new());
        for _ in 0..if cfg!(miri) { 20 } else { 1000 } {
            let plain = one.plain();
            (0..plain).for_each(|_| one.step_plain());
            (0..plain).for_each(|_| assert!(!other.step()));
            assert!(one.step() && other.step());
            assert_eq!((one.phase, one.left), (other.phase, other.left));
        }
    }
}
