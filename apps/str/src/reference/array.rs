//! The beamformer.

use super::signal::{hamming, sinc};
use crate::Complex;
use std::f64::consts::PI;

/// Parameters of the beamformer, named as the constants of `beamformer.str`.
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

fn turn(angle: f64) -> Number {
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

    /// What the beams give, one after the other for each time.
    ///
    /// All is linear before the magnitude, so sensors are added first and filtered after, the other way
    /// round than in the program.
    pub fn form(&self, samples: &[Complex]) -> Vec<f64> {
        let beams: Vec<Vec<f64>> = (0..self.beams).map(|beam| self.beam(samples, self.sine(beam))).collect();
        (0..beams[0].len()).flat_map(|at| beams.iter().map(move |beam| beam[at])).collect()
    }

    fn beam(&self, samples: &[Complex], sine: f64) -> Vec<f64> {
        let steered: Vec<Number> = samples
            .chunks_exact(self.channels)
            .map(|row| {
                let turned = row
                    .iter()
                    .enumerate()
                    .map(|(i, x)| times((f64::from(x.0), f64::from(x.1)), turn(PI * i as f64 * sine)));
                let (re, im) = sum(turned);
                (re / self.channels as f64, im / self.channels as f64)
            })
            .collect();
        let slow = self.decimate(&self.decimate(&steered));
        slow.windows(self.pulse).map(|window| self.matched(window)).collect()
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
            times(*x, turn(-angle))
        });
        let (re, im) = sum(parts);
        re.hypot(im) / self.pulse as f64
    }
}
