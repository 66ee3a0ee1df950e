//! Finite impulse responses.

use crate::block::BLOCK;
use crate::single::{cos, sin};
use std::f32::consts::PI;
use std::ops::{AddAssign, Mul};

/// The samples that are computed side by side, in registers.
const LANES: usize = 16;

/// The coefficients of a low-pass filter by the window method: the ideal response times a Hamming window (A. V. Oppenheim, R.
/// W. Schafer, *Discrete-Time Signal Processing*, section on the design of FIR filters by windowing).
///
/// `rate` and `cutoff` are in the same unit, and there are two taps at least. The filter delays a signal by `(taps - 1) / 2` samples.
pub(crate) fn low_pass(rate: f32, cutoff: f32, taps: usize) -> Vec<f32> {
    let w = 2.0 * PI * cutoff / rate;
    let tap = |i: usize| {
        let t = i as f32 - (taps - 1) as f32 / 2.0;
        let ideal = if t == 0.0 { w / PI } else { sin(w * t) / (PI * t) };
        ideal * (0.54 - 0.46 * cos(2.0 * PI * i as f32 / (taps - 1) as f32))
    };
    (0..taps).map(tap).collect()
}

/// A block of the filtered signal: sample `j` is the sum of `samples[step * j + i] * taps[i]` in the order of `i`, from 0.
/// There are `step * (BLOCK - 1) + taps.len()` samples at least.
pub(crate) fn filter<T>(samples: &[T], taps: &[f32], step: usize) -> [T; BLOCK]
where
    T: Copy + Default + Mul<f32, Output = T> + AddAssign,
{
    let mut block = [T::default(); BLOCK];
    let (lanes, _) = block.as_chunks_mut::<LANES>();
    for (at, sums) in lanes.iter_mut().enumerate() {
        let samples = &samples[at * LANES * step..];
        for (i, tap) in taps.iter().enumerate() {
            let shifted = samples[i..].iter().step_by(step);
            sums.iter_mut().zip(shifted).for_each(|(sum, sample)| *sum += *sample * *tap);
        }
    }
    block
}

/// The filtered signal, sample by sample: [`filter`] as it is defined.
pub(crate) fn filter_all<T>(samples: &[T], taps: &[f32], step: usize) -> Vec<T>
where
    T: Copy + Default + Mul<f32, Output = T> + AddAssign,
{
    let sample = |window: &[T]| {
        let mut sum = T::default();
        for i in 0..taps.len() {
            sum += window[i] * taps[i];
        }
        sum
    };
    samples.windows(taps.len()).step_by(step).map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_a_part_of_the_filtered_signal() {
        let samples: Vec<f32> = (0..500u16).map(|i| f32::from(i % 89 * i % 97) - 50.0).collect();
        for (taps, step) in [(2, 1), (64, 1), (65, 2), (33, 4)] {
            let taps = low_pass(10.0, 2.0, taps);
            let whole = filter_all(&samples, &taps, step);
            assert_eq!(filter(&samples, &taps, step), whole[..BLOCK], "{} taps, step {step}", taps.len());
        }
    }

    #[test]
    fn a_low_pass_filter_passes_low_frequencies() {
        let taps = low_pass(100.0, 10.0, 101);
        let response = |frequency: f32| {
            let wave = |i: usize| (2.0 * PI * frequency / 100.0 * (i as f32 - 50.0)).cos();
            taps.iter().enumerate().map(|(i, tap)| tap * wave(i)).sum::<f32>()
        };
        assert!((response(0.0) - 1.0).abs() < 0.003 && (response(8.0) - 1.0).abs() < 0.003);
        assert!(response(12.0).abs() < 0.003 && response(50.0).abs() < 0.003);
        assert!((response(10.0) - 0.5).abs() < 0.01);
    }
}
