//! Generates inputs: signals, numbers, texts and events, determined by a seed.

use crate::Complex;
use std::f64::consts::PI;

/// Pseudo-random numbers (the generator *splitmix64* of S. Vigna).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `0..limit`.
    pub fn below(&mut self, limit: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(limit)) >> 32) as u32
    }

    /// A number in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number in `-1.0..1.0`.
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }
}

/// Noise between -1 and 1.
pub fn noise(seed: u64, count: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.signed() as f32).collect()
}

/// Complex noise, both parts between -1 and 1.
pub fn complex_noise(seed: u64, count: usize) -> Vec<Complex> {
    let mut random = Random::new(seed);
    (0..count).map(|_| (random.signed() as f32, random.signed() as f32)).collect()
}

/// Integers in the whole range of `i32`.
pub fn integers(seed: u64, count: usize) -> Vec<i32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.bits() as i32).collect()
}

/// The sum of a few tones at a time in seconds, with a magnitude below 1.
pub fn sound(time: f64) -> f64 {
    let tones = [(440.0, 0.4), (1760.0, 0.3), (5000.0, 0.2)];
    tones.iter().map(|(frequency, loud)| loud * (2.0 * PI * frequency * time).sin()).sum()
}

/// `count` samples of an FM signal of [`sound`] at baseband, with a little noise. I and Q are interleaved.
pub fn fm_signal(seed: u64, rate: f64, deviation: f64, count: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    let mut phase = 0.0f64;
    let mut signal = Vec::with_capacity(2 * count);
    for i in 0..count {
        phase += 2.0 * PI * deviation * sound(i as f64 / rate) / rate;
        for part in [phase.cos(), phase.sin()] {
            signal.push((part + 0.01 * random.signed()) as f32);
        }
    }
    signal
}

/// A vowel-like sound: pulses at a pitch through two resonances.
pub fn speech(rate: f64, pitch: f64, count: usize) -> Vec<f32> {
    let resonance = |time: f64, frequency: f64| (-400.0 * time).exp() * (2.0 * PI * frequency * time).sin();
    let period = rate / pitch;
    let sample = |i: usize| {
        let since = i as f64 % period;
        let pulses = (0..4).map(|k| (since + f64::from(k) * period) / rate);
        pulses.map(|time| 0.6 * resonance(time, 700.0) + 0.4 * resonance(time, 1220.0)).sum::<f64>() as f32
    };
    (0..count).map(sample).collect()
}

/// The signals of a linear array of sensors half a wavelength apart, interleaved. In every period of `every` samples, a
/// chirp of `pulse` samples (at the rate divided by `step`) begins in the middle. It arrives from the direction with the
/// given sine, in noise.
pub fn pulses(
    seed: u64,
    channels: usize,
    sine: f64,
    (pulse, step): (usize, usize),
    every: usize,
    count: usize,
) -> Vec<Complex> {
    let mut random = Random::new(seed);
    let mut samples = Vec::with_capacity(channels * count);
    for i in 0..count {
        let at = ((i + every / 2) % every) as f64 / step as f64;
        let within = at < pulse as f64;
        let middle = at - (pulse / 2) as f64;
        let angle = PI * middle * middle / (2.0 * pulse as f64);
        for channel in 0..channels {
            let turned = angle - PI * channel as f64 * sine;
            let strength = f64::from(u8::from(within));
            let part = |of: f64, random: &mut Random| (strength * of + 0.2 * random.signed()) as f32;
            samples.push((part(turned.cos(), &mut random), part(turned.sin(), &mut random)));
        }
    }
    samples
}

/// Runs of numbers from 0 to 9.
pub fn runs(seed: u64, count: usize, longest: u32) -> Vec<i32> {
    let mut random = Random::new(seed);
    let mut numbers = Vec::new();
    while numbers.len() < count {
        let value = random.below(10) as i32;
        let length = 1 + random.below(longest) as usize;
        numbers.extend(std::iter::repeat_n(value, length));
    }
    numbers.truncate(count);
    numbers
}

/// A text of letters 0 to 25, and 26 for a blank. Its words are from a small vocabulary, so they repeat often.
pub fn text(seed: u64, count: usize) -> Vec<i32> {
    let mut random = Random::new(seed);
    // Letters with small numbers are more frequent.
    let letter = |random: &mut Random| random.below(26).min(random.below(26)) as i32;
    let words: Vec<Vec<i32>> = (0..40)
        .map(|_| {
            let length = 2 + random.below(7);
            (0..length).map(|_| letter(&mut random)).collect()
        })
        .collect();
    let mut text = Vec::new();
    while text.len() < count {
        text.extend(&words[random.below(words.len() as u32) as usize]);
        text.push(26);
    }
    text.truncate(count);
    text
}

/// `count` trades of a share: time in milliseconds, price in cents, volume. On average they are `gap` milliseconds
/// apart.
pub fn ticks(seed: u64, count: usize, gap: u32) -> Vec<i32> {
    let mut random = Random::new(seed);
    let (mut time, mut price) = (34_200_000, 10_000);
    let mut ticks = Vec::with_capacity(3 * count);
    for _ in 0..count {
        time += random.below(2 * gap + 1) as i32;
        price = (price + random.below(21) as i32 - 10).max(100);
        ticks.extend([time, price, 100 * (1 + random.below(20) as i32)]);
    }
    ticks
}

/// Heights with a uniform distribution from 0 to 1, so one in `n` is above the threshold `1 - 1/n`.
pub fn heights(seed: u64, count: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.unit() as f32).collect()
}

/// A frame of a film: a gradient, and a disc and a bar that move across it.
pub fn picture(width: usize, height: usize, number: usize) -> Vec<i32> {
    let pixel = |at: usize| {
        let (x, y) = ((at % width) as f64, (at / width) as f64);
        let (cx, cy) = (8.0 + 2.0 * number as f64, height as f64 / 2.0 + number as f64 % 3.0);
        let disc = 90.0 / (1.0 + ((x - cx).hypot(y - cy) - 4.0).exp());
        let bar = 50.0 / (1.0 + ((x - (width as f64 - 1.5 * number as f64)).abs() - 2.0).exp());
        (60.0 + 2.0 * x + y + disc - bar).clamp(0.0, 255.0) as i32
    };
    (0..width * height).map(pixel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_repeat_from_their_seed() {
        assert_eq!(integers(7, 5), integers(7, 5));
        assert_ne!(integers(7, 5), integers(8, 5));
        // Published first outputs of splitmix64 from seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!([random.bits(), random.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn heights_are_uniform() {
        let above = heights(3, 10_000).iter().filter(|height| **height > 0.9).count();
        assert!((900..1100).contains(&above), "{above}");
    }

    #[test]
    fn times_of_ticks_do_not_decrease() {
        let ticks = ticks(5, 100, 10);
        assert!(ticks.chunks(3).map(|tick| tick[0]).is_sorted());
    }
}
