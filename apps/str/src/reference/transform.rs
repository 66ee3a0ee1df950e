//! Transforms and products by their definitions, in double precision.

use super::signal::sinc;
use crate::Complex;
use std::f64::consts::PI;

/// The discrete Fourier transforms of blocks of `size` items.
pub fn dft(items: &[Complex], size: usize) -> Vec<(f64, f64)> {
    items.chunks_exact(size).flat_map(|block| (0..size).map(|j| coefficient(block, j))).collect()
}

fn coefficient(block: &[Complex], j: usize) -> (f64, f64) {
    block.iter().enumerate().fold((0.0, 0.0), |(re, im), (k, x)| {
        // Reduces the product of indices, which may be large, to keep the angle small and exact.
        let angle = -2.0 * PI * (j * k % block.len()) as f64 / block.len() as f64;
        let (a, b) = (f64::from(x.0), f64::from(x.1));
        (re + a * angle.cos() - b * angle.sin(), im + a * angle.sin() + b * angle.cos())
    })
}

/// The orthonormal two-dimensional DCT of blocks of `size * size` items. Each result is a sum over all items of a block.
pub fn dct(items: &[f32], size: usize) -> Vec<f64> {
    let wave = |k: usize, i: usize| {
        let scale = if k == 0 { 1.0 / size as f64 } else { 2.0 / size as f64 };
        scale.sqrt() * (PI * k as f64 * (2 * i + 1) as f64 / (2 * size) as f64).cos()
    };
    let mut results = Vec::with_capacity(items.len());
    for block in items.chunks_exact(size * size) {
        for (v, u) in (0..size * size).map(|at| (at / size, at % size)) {
            let pixels = block.iter().enumerate();
            results.push(pixels.map(|(at, x)| f64::from(*x) * wave(v, at / size) * wave(u, at % size)).sum());
        }
    }
    results
}

/// The products of pairs of matrices, `n * m` and `m * p`, by definition. Floats are added in the order of the index, as
/// in the programs, so results are exact.
pub fn products(items: &[f32], n: usize, m: usize, p: usize) -> Vec<f32> {
    let mut results = Vec::new();
    for pair in items.chunks_exact(n * m + m * p) {
        let (left, right) = pair.split_at(n * m);
        for (i, j) in (0..n * p).map(|at| (at / p, at % p)) {
            results.push((0..m).fold(0.0, |sum, k| sum + left[i * m + k] * right[k * p + j]));
        }
    }
    results
}

/// Delays interleaved channels: channel `c` by half of `taps` plus `step * c` samples, by direct convolution with a
/// windowed sin(πt)/(πt).
pub fn delayed(items: &[Complex], channels: usize, taps: usize, step: f64) -> Vec<(f64, f64)> {
    let filters: Vec<Vec<f64>> = (0..channels)
        .map(|channel| {
            let tap = |i| {
                let t = i as f64 - (taps / 2) as f64 - step * channel as f64;
                let window = 0.54 + 0.46 * (2.0 * PI * t / (taps + 1) as f64).cos();
                window * sinc(t)
            };
            (0..taps).map(tap).collect()
        })
        .collect();
    let result = |at: usize| {
        let past = (0..=at / channels).zip(&filters[at % channels]);
        past.fold((0.0, 0.0), |(re, im), (back, h)| {
            let x = items[at - back * channels];
            (re + h * f64::from(x.0), im + h * f64::from(x.1))
        })
    };
    (0..items.len()).map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_frequency_is_one_coefficient() {
        let wave: Vec<Complex> =
            (0..8).map(|i| f64::from(i) * PI / 2.0).map(|a| (a.cos() as f32, a.sin() as f32)).collect();
        for (j, (re, im)) in dft(&wave, 8).into_iter().enumerate() {
            let expected = if j == 2 { 8.0 } else { 0.0 };
            assert!((re - expected).abs() < 1e-5 && im.abs() < 1e-5, "{j}");
        }
    }

    #[test]
    fn a_flat_block_has_one_coefficient() {
        let coefficients = dct(&[1.0; 64], 8);
        assert!((coefficients[0] - 8.0).abs() < 1e-12);
        assert!(coefficients[1..].iter().all(|x| x.abs() < 1e-12));
    }
}
