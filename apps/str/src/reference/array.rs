//! The beamformer.

use super::signal::{hamming, sinc};
use crate::Complex;
use std::f64::consts::PI;

/// The parameters of the beamformer. They have the names of the constants of `beamformer.str`.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "they are the program's constants")]
pub struct Beamformer {
    pub channels: usize,
    pub beams: usize,
    pub taps: usize,
    pub decimation: usize,
    pub pulse: usize,
}

type Number = (f64, f64);

fn times(a: Number, b: Number) -> Number {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// The unit complex number with this angle.
fn unit(angle: f64) -> Number {
    (angle.cos(), angle.sin())
}

fn sum(numbers: impl Iterator<Item = Number>) -> Number {
    numbers.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
}

impl Beamformer {
    /// The sine of a beam's direction.
    pub fn sine(&self, beam: usize) -> f64 {
        (2 * beam + 1) as f64 / self.beams as f64 - 1.0
    }

    /// The outputs of the beams, interleaved.
    ///
    /// All steps before the magnitude are linear, so this function adds the sensors first and filters afterwards, while
    /// the program does the reverse.
    pub fn form(&self, samples: &[Complex]) -> Vec<f64> {
        let beams: Vec<Vec<f64>> = (0..self.beams).map(|beam| self.beam(samples, self.sine(beam))).collect();
        (0..beams[0].len()).flat_map(|at| beams.iter().map(move |beam| beam[at])).collect()
    }

    fn beam(&self, samples: &[Complex], sine: f64) -> Vec<f64> {
        let steered: Vec<Number> = samples
            .chunks_exact(self.channels)
            .map(|row| {
                let rotated = row
                    .iter()
                    .enumerate()
                    .map(|(i, x)| times((f64::from(x.0), f64::from(x.1)), unit(PI * i as f64 * sine)));
                let (re, im) = sum(rotated);
                (re / self.channels as f64, im / self.channels as f64)
            })
            .collect();
        let decimated = self.decimate(&self.decimate(&steered));
        decimated.windows(self.pulse).map(|window| self.matched(window)).collect()
    }

    fn decimate(&self, signal: &[Number]) -> Vec<Number> {
        let window = hamming(self.taps);
        let tap = |i: usize| {
            let t = (i as f64 - (self.taps - 1) as f64 / 2.0) / self.decimation as f64;
            (window(i) * sinc(t) / self.decimation as f64, 0.0)
        };
        let taps: Vec<Number> = (0..self.taps).map(tap).collect();
        let windows = signal.windows(self.taps).step_by(self.decimation);
        windows.map(|window| sum(window.iter().zip(&taps).map(|(x, h)| times(*x, *h)))).collect()
    }

    fn matched(&self, window: &[Number]) -> f64 {
        let half = (self.pulse / 2) as f64;
        let parts = window.iter().enumerate().map(|(i, x)| {
            let angle = PI * (i as f64 - half).powi(2) / (2.0 * self.pulse as f64);
            times(*x, unit(-angle))
        });
        let (re, im) = sum(parts);
        re.hypot(im) / self.pulse as f64
    }
}
