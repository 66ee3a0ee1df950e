//! The FM receiver.

use super::signal::{band_pass, correlate, doubles, low_pass};
use std::f64::consts::PI;

/// The parameters of the receiver. They have the names of the constants of `fm_radio.str`.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "they are the program's constants")]
pub struct Receiver {
    pub bands: usize,
    pub taps: usize,
    pub channel_decimation: usize,
    pub audio_decimation: usize,
    pub rate: f64,
    pub channel_cutoff: f64,
    pub audio_cutoff: f64,
    pub deviation: f64,
    pub lowest: f64,
    pub highest: f64,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver {
            bands: 10,
            taps: 64,
            channel_decimation: 4,
            audio_decimation: 5,
            rate: 1_000_000.0,
            channel_cutoff: 110_000.0,
            audio_cutoff: 16_000.0,
            deviation: 75_000.0,
            lowest: 55.0,
            highest: 15_000.0,
        }
    }
}

impl Receiver {
    /// The sound before the equaliser, for a signal with interleaved I and Q.
    pub fn demodulate(&self, signal: &[f32]) -> Vec<f64> {
        let part = |offset| doubles(&signal.iter().skip(offset).step_by(2).copied().collect::<Vec<_>>());
        let taps = low_pass(self.rate, self.channel_cutoff, self.taps);
        let i = correlate(&part(0), &taps, self.channel_decimation);
        let q = correlate(&part(1), &taps, self.channel_decimation);
        let rate = self.rate / self.channel_decimation as f64;
        let angles: Vec<f64> = i.iter().zip(&q).map(|(i, q)| q.atan2(*i)).collect();
        let frequencies: Vec<f64> = angles.windows(2).map(|pair| wrapped(pair[1] - pair[0]) * rate).collect();
        let taps = low_pass(rate, self.audio_cutoff, self.taps);
        let sound = correlate(&frequencies, &taps, self.audio_decimation);
        sound.iter().map(|x| x / (2.0 * PI * self.deviation)).collect()
    }

    /// The output of the receiver. The equaliser's parallel filters are computed as one filter with summed taps.
    pub fn receive(&self, signal: &[f32]) -> Vec<f64> {
        let rate = self.rate / (self.channel_decimation * self.audio_decimation) as f64;
        let bands = self.bands as f64;
        let edge = |i: usize| self.lowest * (self.highest / self.lowest).powf(i as f64 / bands);
        let mut taps = vec![0.0; self.taps];
        for band in 0..self.bands {
            let gain = 2.0 - (band as f64 - (bands - 1.0) / 2.0).abs() / bands;
            let one = band_pass(rate, edge(band), edge(band + 1), self.taps);
            taps.iter_mut().zip(one).for_each(|(sum, tap)| *sum += gain * tap);
        }
        correlate(&self.demodulate(signal), &taps, 1)
    }
}

/// The equivalent angle between -π and π.
fn wrapped(angle: f64) -> f64 {
    angle - 2.0 * PI * (angle / (2.0 * PI)).round()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    #[test]
    fn the_transmitted_sound_is_demodulated() {
        let receiver = Receiver::default();
        let signal = generate::fm_signal(1, receiver.rate, receiver.deviation, 20_000);
        let sound = receiver.demodulate(&signal);
        // Each filter delays by half its length, and the difference of two samples by half a sample.
        let delay = 31.5 / receiver.rate + (0.5 + 31.5) * 4.0 / receiver.rate;
        for (i, x) in sound.iter().enumerate() {
            let time = i as f64 * 20.0 / receiver.rate + delay;
            assert!((x - generate::sound(time)).abs() < 0.05, "{i}: {x}");
        }
    }
}
