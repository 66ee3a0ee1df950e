//! The channel vocoder.

use super::signal::{band_pass, correlate, doubles, low_pass};

/// The parameters of the vocoder. They have the names of the constants of `channel_vocoder.str`.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "they are the program's constants")]
pub struct Vocoder {
    pub channels: usize,
    pub taps: usize,
    pub frame: usize,
    pub window: usize,
    pub shortest: usize,
    pub longest: usize,
    pub rate: f64,
    pub lowest: f64,
    pub highest: f64,
}

impl Default for Vocoder {
    fn default() -> Vocoder {
        Vocoder {
            channels: 16,
            taps: 64,
            frame: 50,
            window: 240,
            shortest: 20,
            longest: 100,
            rate: 8000.0,
            lowest: 100.0,
            highest: 3700.0,
        }
    }
}

impl Vocoder {
    /// For each frame for which both can be computed, the pitch and the strength of each band.
    pub fn analyse(&self, speech: &[f32]) -> Vec<f64> {
        let speech = doubles(speech);
        let pitches = self.pitches(&speech);
        let width = (self.highest - self.lowest) / self.channels as f64;
        let bands: Vec<Vec<f64>> = (0..self.channels)
            .map(|i| self.strengths(&speech, self.lowest + i as f64 * width, width))
            .collect();
        let frames = pitches.len().min(bands[0].len());
        let frame = |at: usize| [pitches[at]].into_iter().chain(bands.iter().map(move |band| band[at]));
        (0..frames).flat_map(frame).collect()
    }

    fn pitches(&self, speech: &[f64]) -> Vec<f64> {
        let clipped: Vec<f64> = speech.iter().map(|x| x.signum() * (x.abs() - 0.1).max(0.0)).collect();
        let pitch = |window: &[f64]| {
            let correlation = |lag: usize| window[lag..].iter().zip(window).map(|(a, b)| a * b).sum::<f64>();
            // Of equal correlations, the smaller lag is greater.
            let order = |a: &usize, b: &usize| correlation(*a).total_cmp(&correlation(*b)).then(b.cmp(a));
            // The range is never empty.
            let best = (self.shortest..=self.longest).max_by(order).unwrap_or(self.shortest);
            if correlation(best) > 0.3 * correlation(0) { self.rate / best as f64 } else { 0.0 }
        };
        clipped.windows(self.window).step_by(self.frame).map(pitch).collect()
    }

    fn strengths(&self, speech: &[f64], low: f64, width: f64) -> Vec<f64> {
        let band = correlate(speech, &band_pass(self.rate, low, low + width, self.taps), 1);
        let rectified: Vec<f64> = band.iter().map(|x| x.abs()).collect();
        let smooth = low_pass(self.rate, self.rate / (2 * self.frame) as f64, self.taps);
        correlate(&rectified, &smooth, self.frame)
    }
}
