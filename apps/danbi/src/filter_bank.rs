//! FilterBank: splits a signal into bands, each at a fraction of the rate, and puts it together again.
//!
//! ```text
//!                       ┌▶ band-pass ─▶ resample ═▶ {low, high} ═▶ subtract ─┐
//! source ─▶ duplicate ──┼▶    ...                                            ├─▶ adder ─▶ sink
//!                       └▶ band-pass ─▶ resample ═▶ {low, high} ═▶ subtract ─┘
//! ```
//!
//! Each of the bands, of equal width, keeps every eighth sample. A second band-pass filter makes a signal of the full rate of
//! them: the difference of two low-pass filters, which are kernels of their own. Frequencies in the middle of a band come out as
//! they went in; those near a border also as their mirror images, for the filters are not those of a perfect bank.
//!
//! In the StreamIt program the second filter of a band is a band-stop filter: its output is the band's mirror images without the
//! band. This program has the same kernels, and subtracts where that one adds.

use crate::block::{self, BLOCK, Block};
use crate::filter::{filter_all, low_pass};
use crate::inputs;
use thalweg::{Graph, Output, Stream, input as port, output};

/// The input of the paper's Table III, in million bytes.
pub const MEGABYTES: u32 = 98;

/// What the program is given beside its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The bands: a power of two, at most [`BLOCK`].
    pub bands: usize,
    /// The coefficients of each filter, at least two.
    pub taps: usize,
}

impl Default for Parameters {
    /// The StreamIt program's: 8 bands and 128 coefficients.
    fn default() -> Self {
        Parameters { bands: 8, taps: 128 }
    }
}

impl Parameters {
    /// The low-pass filters at the lower and the upper border of a band.
    fn borders(&self, band: usize) -> [Vec<f32>; 2] {
        [band, band + 1].map(|border| low_pass(2.0 * self.bands as f32, border as f32, self.taps))
    }

    /// The filter that passes a band.
    fn band_pass(&self, band: usize) -> Vec<f32> {
        let [low, high] = self.borders(band);
        high.iter().zip(low).map(|(high, low)| high - low).collect()
    }
}

/// Noise between -1 and 1: [`MEGABYTES`] times `scale`.
pub fn input(scale: f64, seed: u64) -> Vec<f32> {
    inputs::noise(inputs::units(MEGABYTES, scale, size_of::<f32>(), 16 * BLOCK), seed, |number| number())
}

/// The program. Its result is approximately the signal, from sample `taps - 1` on. It has whole blocks: at the end of the
/// input, samples that are too few for a block of the result are left out.
///
/// ```
/// use thalweg_danbi::filter_bank;
///
/// let wave = |i: usize| (std::f32::consts::PI * 0.3125 * i as f32).sin(); // in the middle of a band
/// let signal: Vec<f32> = (0..1024).map(wave).collect();
/// let blocks = filter_bank::graph(&signal, &Default::default()).run()?.into_value();
/// let result = blocks.as_flattened();
/// assert!(result.len() == 768 && result.iter().zip(&signal[127..]).all(|(a, b)| (a - b).abs() < 0.01));
/// # Ok::<(), thalweg::Error>(())
/// ```
///
/// # Panics
/// If a parameter is not as [`Parameters`] says.
pub fn graph<'env>(signal: &'env [f32], parameters: &Parameters) -> Output<'env, Vec<[f32; BLOCK]>> {
    let Parameters { bands, taps } = *parameters;
    assert!(bands.is_power_of_two() && bands <= BLOCK, "{bands} bands are no power of two up to {BLOCK}");
    assert!(taps >= 2, "a filter of fewer than two coefficients has no window");
    let graph = Graph::new();
    let copies =
        block::source(&graph, signal).kernel("duplicate", block::copies(bands)).parallel(|signal, copies| {
            let block = signal.pop();
            copies.iter_mut().for_each(|copy| copy.push(block));
        });
    let bands =
        copies.into_iter().enumerate().map(|(band, signal)| branch(signal, band, parameters)).collect();
    block::add(&graph, bands).collect().named("sink")
}

/// Adds the kernels of a band.
fn branch<'env>(
    signal: Stream<'env, Block<f32>>,
    band: usize,
    parameters: &Parameters,
) -> Stream<'env, Block<f32>> {
    let graph = signal.graph();
    let passed = block::filtered(&format!("band-pass {band}"), signal, parameters.band_pass(band), 1);
    let (to_low, to_high) = resample(passed, band, parameters.bands);
    let [low, high] = parameters.borders(band);
    let low = block::filtered(&format!("low {band}"), to_low, low, 1);
    let high = block::filtered(&format!("high {band}"), to_high, high, 1);
    graph
        .kernel(&format!("subtract {band}"), (port("low", low), port("high", high)), output("band").push(1))
        .parallel(|(low, high), band| {
            let (low, high) = (low.pop(), high.pop());
            band.push(std::array::from_fn(|i| high[i] - low[i]));
        })
}

/// Adds a kernel that keeps every `step`th sample and sets the others to 0 (the compressor, the process and the expander of the
/// StreamIt program). It multiplies by `step`, since the signal has lost that share.
fn resample<'env>(
    signal: Stream<'env, Block<f32>>,
    band: usize,
    step: usize,
) -> (Stream<'env, Block<f32>>, Stream<'env, Block<f32>>) {
    let outputs = (output("low").push(1), output("high").push(1));
    signal.kernel(&format!("resample {band}"), outputs).parallel(move |signal, (low, high)| {
        let block = signal.pop();
        let kept = std::array::from_fn(|i| if i % step == 0 { block[i] * step as f32 } else { 0.0 });
        low.push(kept);
        high.push(kept);
    })
}

/// The program without a graph: filters the whole signal, one filter after the other.
pub fn sequential(signal: &[f32], parameters: &Parameters) -> Vec<f32> {
    let Parameters { bands, taps } = *parameters;
    let lost = 2 * (taps - 1).div_ceil(BLOCK);
    let mut sum = vec![0.0; (signal.len() / BLOCK).saturating_sub(lost) * BLOCK];
    for band in 0..bands {
        let mut passed = filter_all(signal, &parameters.band_pass(band), 1);
        for (i, sample) in passed.iter_mut().enumerate() {
            *sample *= if i % bands == 0 { bands as f32 } else { 0.0 };
        }
        let [low, high] = parameters.borders(band).map(|taps| filter_all(&passed, &taps, 1));
        for ((sum, low), high) in sum.iter_mut().zip(low).zip(high) {
            *sum += high - low;
        }
    }
    sum
}
