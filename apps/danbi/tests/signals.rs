//! What the tests of signals share: definitions in double precision.

use std::f64::consts::PI;

/// The coefficients of a low-pass filter: the ideal response times a Hamming window.
pub fn low_pass(rate: f64, cutoff: f64, taps: usize) -> Vec<f64> {
    let middle = (taps - 1) as f64 / 2.0;
    let tap = |i: usize| {
        let t = i as f64 - middle;
        let ideal =
            if t == 0.0 { 2.0 * cutoff / rate } else { (2.0 * PI * cutoff / rate * t).sin() / (PI * t) };
        ideal * (0.54 - 0.46 * (PI * i as f64 / middle).cos())
    };
    (0..taps).map(tap).collect()
}

/// The coefficients of a filter between two frequencies.
pub fn band_pass(rate: f64, low: f64, high: f64, taps: usize) -> Vec<f64> {
    low_pass(rate, high, taps).iter().zip(low_pass(rate, low, taps)).map(|(high, low)| high - low).collect()
}

/// The convolution of a signal with a response, where it needs no samples from outside.
pub fn convolve(signal: &[f64], response: &[f64]) -> Vec<f64> {
    let product = |window: &[f64]| window.iter().zip(response.iter().rev()).map(|(a, b)| a * b).sum();
    signal.windows(response.len()).map(product).collect()
}

/// Asserts that a result is near to the beginning of what is expected.
pub fn assert_near(result: &[f32], expected: &[f64], tolerance: f64) {
    assert!(!result.is_empty() && result.len() <= expected.len(), "{} of {}", result.len(), expected.len());
    for (i, (value, expected)) in result.iter().zip(expected).enumerate() {
        let error = (f64::from(*value) - expected).abs();
        assert!(error <= tolerance, "sample {i}: {value} instead of {expected}");
    }
}

/// The bits of samples.
pub fn bits(samples: &[f32]) -> Vec<u32> {
    samples.iter().map(|sample| sample.to_bits()).collect()
}

/// The parts of complex numbers, real before imaginary.
pub fn parts(numbers: &[thalweg_danbi::Complex]) -> Vec<f32> {
    numbers.iter().flat_map(|number| [number.re, number.im]).collect()
}
