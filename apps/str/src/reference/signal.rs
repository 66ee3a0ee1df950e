//! Filters in double precision.

use std::f64::consts::PI;

/// sin(πt)/(πt).
pub fn sinc(t: f64) -> f64 {
    if t == 0.0 { 1.0 } else { (PI * t).sin() / (PI * t) }
}

/// The Hamming window of `taps` taps.
pub fn hamming(taps: usize) -> impl Fn(usize) -> f64 {
    move |i| 0.54 - 0.46 * (2.0 * PI * i as f64 / (taps - 1) as f64).cos()
}

/// The taps of a low-pass filter: the ideal impulse response times a Hamming window.
pub fn low_pass(rate: f64, cutoff: f64, taps: usize) -> Vec<f64> {
    let window = hamming(taps);
    let part = 2.0 * cutoff / rate;
    let tap = |i| {
        let t = i as f64 - (taps - 1) as f64 / 2.0;
        part * sinc(part * t) * window(i)
    };
    (0..taps).map(tap).collect()
}

/// The taps of a band-pass filter: the difference of two low-pass filters.
pub fn band_pass(rate: f64, low: f64, high: f64, taps: usize) -> Vec<f64> {
    let pairs = low_pass(rate, high, taps).into_iter().zip(low_pass(rate, low, taps));
    pairs.map(|(high, low)| high - low).collect()
}

/// The inner products of the taps with every `step`th complete window of the signal.
pub fn correlate(signal: &[f64], taps: &[f64], step: usize) -> Vec<f64> {
    let windows = signal.windows(taps.len()).step_by(step);
    windows.map(|window| window.iter().zip(taps).map(|(x, h)| x * h).sum()).collect()
}

/// The full convolution of two signals.
pub fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; (a.len() + b.len()).saturating_sub(1)];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            sum[i + j] += x * y;
        }
    }
    sum
}

/// Converts items to double precision.
pub fn doubles(items: &[f32]) -> Vec<f64> {
    items.iter().map(|x| f64::from(*x)).collect()
}

/// The output of the cosine-modulated filter bank with `bands` bands and filters of `taps` taps, by its definition:
/// filter, downsample by `bands`, upsample with zeros, filter, add. Omits the beginning, where filters would need
/// samples before the signal.
pub fn filter_bank(signal: &[f64], bands: usize, taps: usize) -> Vec<f64> {
    let mut sum = vec![0.0; signal.len()];
    for band in 0..bands {
        let phase = if band % 2 == 0 { PI / 4.0 } else { -PI / 4.0 };
        let analysis = modulated(band, bands, taps, phase);
        let synthesis = modulated(band, bands, taps, -phase);
        let filtered = convolve(signal, &analysis);
        let mut sparse = vec![0.0; signal.len()];
        for at in (0..signal.len()).step_by(bands) {
            sparse[at] = filtered.get(at + taps - 1).copied().unwrap_or(0.0) * bands as f64;
        }
        for (sum, part) in sum.iter_mut().zip(convolve(&sparse, &synthesis)) {
            *sum += part;
        }
    }
    sum.split_off(taps - bands)
}

fn modulated(band: usize, bands: usize, taps: usize, phase: f64) -> Vec<f64> {
    let narrow = 1.6 * bands as f64;
    let tap = |i: usize| {
        let t = i as f64 - (taps - 1) as f64 / 2.0;
        let turn = 2.0 * PI * (i as f64 + 0.5) / taps as f64;
        let window = 0.42 - 0.5 * turn.cos() + 0.08 * (2.0 * turn).cos();
        let angle = (2 * band + 1) as f64 * PI / (2 * bands) as f64 * t;
        2.0 * window * sinc(t / narrow) / narrow * (angle + phase).cos()
    };
    (0..taps).map(tap).collect()
}

/// The output of `gain_control.str`: a growing tone, limited block by block.
pub fn limited_tone(count: usize, block: usize, limit: f64) -> Vec<f64> {
    let tone = |i: usize| i as f64 * 0.01 * (2.0 * PI * 0.05 * i as f64).sin();
    let samples: Vec<f64> = (0..count).map(tone).collect();
    let mut limited = Vec::with_capacity(count);
    for block in samples.chunks(block) {
        let peak = block.iter().fold(0.0, |peak: f64, x| peak.max(x.abs()));
        let gain = if peak > limit { limit / peak } else { 1.0 };
        limited.extend(block.iter().map(|x| x * gain));
    }
    limited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_pass_filter_passes_low_frequencies() {
        let taps = low_pass(1000.0, 100.0, 64);
        let at = |frequency: f64| {
            let turn = |i: usize| 2.0 * PI * frequency * i as f64 / 1000.0;
            let (re, im) = taps
                .iter()
                .enumerate()
                .fold((0.0, 0.0), |(re, im), (i, h)| (re + h * turn(i).cos(), im + h * turn(i).sin()));
            f64::hypot(re, im)
        };
        assert!((at(0.0) - 1.0).abs() < 0.01 && (at(50.0) - 1.0).abs() < 0.01);
        assert!(at(200.0) < 0.01 && at(400.0) < 0.01);
    }

    #[test]
    fn the_filter_bank_reconstructs_the_signal() {
        let signal = doubles(&crate::generate::noise(11, 600));
        let (bands, taps) = (8, 64);
        let again = filter_bank(&signal, bands, taps);
        let off: Vec<f64> =
            again[taps..400].iter().zip(&signal[2 * taps - bands..]).map(|(a, b)| a - b).collect();
        let rms = (off.iter().map(|x| x * x).sum::<f64>() / off.len() as f64).sqrt();
        // The root mean square of the noise is 0.58.
        assert!(rms < 0.01, "{rms}");
    }
}
