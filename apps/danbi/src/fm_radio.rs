//! FMRadio: a receiver of frequency modulation with an equaliser.
//!
//! ```text
//!                                       ┌▶ low-passes ═▶ amplify ─┐
//! source ─▶ low-pass ─▶ demodulator ────┼▶     ...                ├─▶ adder ─▶ sink
//!                                       └▶ low-passes ═▶ amplify ─┘
//! ```
//!
//! The input is the signal of a station as from a tuner, in complex numbers. A low-pass filter selects the station and lowers the
//! rate. The angle between neighbouring samples is the frequency, which is the sound. The equaliser is a bank of band-pass
//! filters, each with its gain: the differences of two low-pass filters, which are one kernel with two outputs.

use crate::block::{self, BLOCK, Block};
use crate::filter::{filter, filter_all, low_pass};
use crate::single::atan2;
use crate::{Complex, inputs};
use std::f32::consts::PI;
use std::sync::Arc;
use thalweg::{Graph, Output, Stream, input as port, output, window};

/// The input of the paper's Table III, in million bytes.
pub const MEGABYTES: u32 = 977;

/// What the program is given beside its input. Frequencies are in Hz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The samples of the input in a second.
    pub rate: f32,
    /// Half the width of the station's channel.
    pub channel: f32,
    /// The frequency, apart from the middle of the channel, that stands for a sample of 1.
    pub deviation: f32,
    /// The samples of the input for one of the sound, at least one.
    pub decimation: usize,
    /// The bands of the equaliser.
    pub bands: usize,
    /// The lowest frequency of the equaliser. The borders of its bands have equal ratios.
    pub lowest: f32,
    /// The highest frequency of the equaliser.
    pub highest: f32,
    /// The coefficients of each filter, at least two.
    pub taps: usize,
}

impl Default for Parameters {
    /// A narrow station at 256 kHz, sound at 64 kHz, six bands between 100 Hz and 12.8 kHz, filters of 64 coefficients.
    fn default() -> Self {
        Parameters {
            rate: 256_000.0,
            channel: 28_000.0,
            deviation: 15_000.0,
            decimation: 4,
            bands: 6,
            lowest: 100.0,
            highest: 12_800.0,
            taps: 64,
        }
    }
}

impl Parameters {
    /// The filter that selects the station.
    fn channel_taps(&self) -> Vec<f32> {
        low_pass(self.rate, self.channel, self.taps)
    }

    /// The factor that makes samples of angles.
    fn gain(&self) -> f32 {
        self.rate / self.decimation as f32 / (2.0 * PI * self.deviation)
    }

    /// The bands of the equaliser. The gain is highest in the middle.
    fn equaliser(&self) -> Vec<Band> {
        let ratio = f64::from(self.highest / self.lowest).powf(f64::from(1.0 / self.bands as f32)) as f32;
        let border = |cutoff: f32| -> Arc<[f32]> {
            low_pass(self.rate / self.decimation as f32, cutoff, self.taps).into()
        };
        let mut low = self.lowest;
        let band = |i: usize| {
            let high = low * ratio;
            let off = (i as f32 - (self.bands - 1) as f32 / 2.0).abs() / self.bands as f32;
            let band = Band { low: border(low), high: border(high), gain: 2.0 - off };
            low = high;
            band
        };
        (0..self.bands).map(band).collect()
    }
}

/// A band of the equaliser: low-pass filters at its borders, and its gain.
struct Band {
    low: Arc<[f32]>,
    high: Arc<[f32]>,
    gain: f32,
}

/// The sum of some tones, at a time in seconds, between -1 and 1.
fn sound(time: f64) -> f64 {
    let tones = [(440.0, 0.4), (1760.0, 0.3), (5000.0, 0.2)];
    tones.iter().map(|(frequency, loud)| loud * (2.0 * std::f64::consts::PI * frequency * time).sin()).sum()
}

/// The signal of a station that sends some tones, with a little noise: [`MEGABYTES`] times `scale`.
pub fn input(scale: f64, seed: u64) -> Vec<Complex> {
    let Parameters { rate, deviation, .. } = Parameters::default();
    let count = inputs::units(MEGABYTES, scale, size_of::<Complex>(), 16 * BLOCK);
    let (mut phase, mut i) = (0.0f64, 0.0);
    let per_sample = 2.0 * std::f64::consts::PI * f64::from(deviation) / f64::from(rate);
    inputs::noise(count, seed, |noise| {
        phase = (phase + per_sample * sound(i / f64::from(rate))) % (2.0 * std::f64::consts::PI);
        i += 1.0;
        Complex::new(phase.cos() as f32 + 0.01 * noise(), phase.sin() as f32 + 0.01 * noise())
    })
}

/// The program. Its result is the sound, in whole blocks: samples at the end of the input that are too few for a block of the
/// result are left out.
///
/// ```
/// use thalweg_danbi::fm_radio::{Parameters, graph, input};
///
/// let sound = graph(&input(0.0001, 1), &Parameters::default()).run()?.into_value();
/// assert_eq!(sound.len(), 45); // blocks of 64 samples, each of four samples of the input
/// # Ok::<(), thalweg::Error>(())
/// ```
///
/// # Panics
/// If a parameter is smaller than [`Parameters`] says.
pub fn graph<'env>(signal: &'env [Complex], parameters: &Parameters) -> Output<'env, Vec<[f32; BLOCK]>> {
    let Parameters { decimation, bands, taps, .. } = *parameters;
    assert!(decimation >= 1 && taps >= 2, "decimation {decimation} or {taps} coefficients: too few");
    let graph = Graph::new();
    let station =
        block::filtered("low-pass", block::source(&graph, signal), parameters.channel_taps(), decimation);
    let sound = demodulate(&graph, station, parameters.gain(), bands);
    let bands = parameters.equaliser().into_iter().zip(sound).enumerate();
    let bands = bands.map(|(i, (band, sound))| branch(&graph, sound, i, band)).collect();
    block::add(&graph, bands).collect().named("sink")
}

/// Adds the kernel that makes sound of the station's signal, and sends it to `copies` others.
fn demodulate<'env>(
    graph: &Graph<'env>,
    station: Stream<'env, Block<Complex>>,
    gain: f32,
    copies: usize,
) -> Vec<Stream<'env, Block<f32>>> {
    let inputs = window("station", station).peek(2);
    graph.kernel("demodulator", inputs, block::copies(copies)).parallel(move |station, copies| {
        let samples = station.as_slice().as_flattened();
        let sound = std::array::from_fn(|i| gain * angle(samples[i], samples[i + 1]));
        copies.iter_mut().for_each(|copy| copy.push(sound));
    })
}

/// The angle from a sample to the next one.
fn angle(now: Complex, next: Complex) -> f32 {
    let re = next.re * now.re + next.im * now.im;
    let im = next.im * now.re - next.re * now.im;
    atan2(im, re)
}

/// Adds the kernels of a band of the equaliser.
fn branch<'env>(
    graph: &Graph<'env>,
    sound: Stream<'env, Block<f32>>,
    number: usize,
    band: Band,
) -> Stream<'env, Block<f32>> {
    let Band { low, high, gain } = band;
    let inputs = block::filter_window(sound, low.len(), 1);
    let outputs = (output("high").push(1), output("low").push(1));
    let (highs, lows) = graph.kernel(&format!("low-passes {number}"), inputs, outputs).parallel(
        move |sound, (highs, lows)| {
            let samples = sound.as_slice().as_flattened();
            highs.push(filter(samples, &high, 1));
            lows.push(filter(samples, &low, 1));
        },
    );
    graph
        .kernel(
            &format!("amplify {number}"),
            (port("high", highs), port("low", lows)),
            output("band").push(1),
        )
        .parallel(move |(highs, lows), band| {
            let (highs, lows) = (highs.pop(), lows.pop());
            band.push(std::array::from_fn(|i| (highs[i] - lows[i]) * gain));
        })
}

/// The program without a graph: one step after the other over the whole signal.
pub fn sequential(signal: &[Complex], parameters: &Parameters) -> Vec<f32> {
    let Parameters { decimation, taps, .. } = *parameters;
    let station = filter_all(signal, &parameters.channel_taps(), decimation);
    let sound: Vec<f32> =
        station.windows(2).map(|pair| parameters.gain() * angle(pair[0], pair[1])).collect();
    let whole =
        (signal.len() / BLOCK + decimation).saturating_sub((decimation * (BLOCK - 1) + taps).div_ceil(BLOCK));
    let lost = 1 + (taps - 1).div_ceil(BLOCK);
    let mut sum = vec![0.0; (whole / decimation).saturating_sub(lost) * BLOCK];
    for band in parameters.equaliser() {
        let [low, high] = [&band.low, &band.high].map(|taps| filter_all(&sound, taps, 1));
        for ((sum, low), high) in sum.iter_mut().zip(low).zip(high) {
            *sum += (high - low) * band.gain;
        }
    }
    sum
}
