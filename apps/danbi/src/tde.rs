//! TDE, the time-delay equaliser of a ground moving target indicator: delays the channels of a radar by fractions of a sample,
//! so that they agree.
//!
//! ```text
//! source ─▶ transpose ─▶ expand ─▶ 5 reorder ─▶ 6 combine ─▶ respond ─▶ 5 reorder ─▶ 6 combine ─▶ contract ─▶ transpose ─▶ sink
//! ```
//!
//! The input is snapshots, a sample of each channel. Each [`PULSE`] of them are the samples after a pulse. A pulse of a channel,
//! followed by zeros, is transformed; each frequency is multiplied by the channel's response; and the inverse transform is
//! the delayed pulse. A delay is a windowed `sin(pi t)/(pi t)` of [`TAPS`] taps (T. I. Laakso et al., *Splitting the Unit Delay*,
//! 1996), so short that the ends of a pulse do not overlap in the transform.

use crate::block::BLOCK;
use crate::fourier::{self, COMBINED, REORDERED};
use crate::single::{cos, sin};
use crate::{Complex, inputs};
use std::f32::consts::PI;
use std::sync::Arc;
use thalweg::{Graph, Output, Stream, input as port, output};

/// The input of the paper's Table III, in million bytes.
pub const MEGABYTES: u32 = 14_832;

/// The channels.
pub const CHANNELS: usize = 6;

/// The snapshots of a pulse.
pub const PULSE: usize = 36;

/// The taps of a delay: a pulse that is delayed fits a transform.
pub const TAPS: usize = BLOCK - PULSE + 1;

/// The channels as a rate.
const RATE: u32 = CHANNELS as u32;

/// A sample of each channel.
pub type Snapshot = [Complex; CHANNELS];

/// The samples of a channel after a pulse.
type Pulse = [Complex; PULSE];

/// What the program is given beside its input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The delay of channel `c` is `c` times this number of samples.
    pub step: f32,
}

impl Default for Parameters {
    /// 0.3 samples.
    fn default() -> Self {
        Parameters { step: 0.3 }
    }
}

impl Parameters {
    /// The taps of a channel's delay.
    fn taps(&self, channel: usize) -> [f32; TAPS] {
        std::array::from_fn(|i| {
            let t = i as f32 - (TAPS / 2) as f32 - self.step * channel as f32;
            let window = 0.54 + 0.46 * cos(2.0 * PI * t / (TAPS + 1) as f32);
            if t.abs() < 0.0001 { 1.0 } else { window * sin(PI * t) / (PI * t) }
        })
    }

    /// The factor of each frequency of a channel.
    fn response(&self, channel: usize) -> fourier::Block {
        let taps = self.taps(channel);
        std::array::from_fn(|frequency| {
            let mut sum = Complex::default();
            for (i, tap) in taps.iter().enumerate() {
                let angle = 2.0 * PI * (frequency * i % BLOCK) as f32 / BLOCK as f32;
                sum += Complex::new(cos(angle), -sin(angle)) * *tap;
            }
            sum
        })
    }
}

/// Noise with both parts between -1 and 1: [`MEGABYTES`] times `scale`, in whole pulses.
pub fn input(scale: f64, seed: u64) -> Vec<Snapshot> {
    let pulses = inputs::units(MEGABYTES, scale, size_of::<[Pulse; CHANNELS]>(), 1);
    inputs::noise(PULSE * pulses, seed, |part| std::array::from_fn(|_| Complex::new(part(), part())))
}

/// The program. Its result is the snapshots with all channels but the first one delayed, by pulse. The samples before and
/// after a pulse are taken as zero. Snapshots at the end that are too few for a pulse are left out.
///
/// The source sends references to the snapshots, and the sink collects boxes, so neither of them moves the data.
///
/// ```
/// use thalweg_danbi::{Complex, tde};
///
/// let mut snapshots = [[Complex::default(); 6]; 36];
/// snapshots[10] = [Complex::new(1.0, 0.0); 6];
/// let delayed = tde::graph(&snapshots, &tde::Parameters { step: 1.0 }).run()?.into_value();
/// for (channel, sample) in delayed[0][13].iter().enumerate() {
///     assert!((sample.re - if channel == 3 { 1.0 } else { 0.0 }).abs() < 1e-5);
/// }
/// # Ok::<(), thalweg::Error>(())
/// ```
pub fn graph<'env>(
    snapshots: &'env [Snapshot],
    parameters: &Parameters,
) -> Output<'env, Vec<Box<[Snapshot; PULSE]>>> {
    let responses: Arc<[_]> = (0..CHANNELS).map(|channel| parameters.response(channel)).collect();
    let graph = Graph::new();
    let channels = graph
        .source(snapshots.as_chunks().0)
        .kernel("transpose", output("channels").push(RATE))
        .parallel(|pulses, channels| {
            let pulse: &[Snapshot; PULSE] = pulses.pop();
            channels.extend((0..CHANNELS).map(|channel| std::array::from_fn(|at| pulse[at][channel])));
        });
    let blocks = each("expand", channels, |_, pulse| expand(&pulse));
    let spectra = each("respond", transform(blocks, "forward", -1.0), move |channel, spectrum| {
        std::array::from_fn(|f| spectrum[f] * responses[channel][f])
    });
    let pulses = each("contract", transform(spectra, "inverse", 1.0), |_, block| contract(&block));
    graph
        .kernel("transpose back", port("channels", pulses).pop(RATE), output("pulse").push(1))
        .parallel(|channels, out| {
            let channels: [Pulse; CHANNELS] = std::array::from_fn(|_| channels.pop());
            out.push(Box::new(std::array::from_fn(|at| {
                std::array::from_fn(|channel| channels[channel][at])
            })));
        })
        .collect()
        .named("sink")
}

/// Adds a kernel that makes an item of each channel's. A firing does all channels of a pulse.
fn each<'env, T: Send + 'env, U: Send + 'env>(
    name: &str,
    channels: Stream<'env, T>,
    make: impl Fn(usize, T) -> U + Send + Sync + 'env,
) -> Stream<'env, U> {
    let graph = channels.graph();
    graph.kernel(name, port("in", channels).pop(RATE), output("out").push(RATE)).parallel(
        move |channels, out| {
            (0..CHANNELS).for_each(|channel| out.push(make(channel, channels.pop())));
        },
    )
}

/// A pulse followed by zeros.
fn expand(pulse: &Pulse) -> fourier::Block {
    std::array::from_fn(|at| pulse.get(at).copied().unwrap_or_default())
}

/// The part of a delayed block that has the place of the pulse, without the factor of a transform and its inverse.
fn contract(block: &fourier::Block) -> Pulse {
    std::array::from_fn(|at| block[at + TAPS / 2] * (1.0 / BLOCK as f32))
}

/// Adds the kernels of a transform: five reorderings and six combinations.
fn transform<'env>(
    blocks: Stream<'env, fourier::Block>,
    name: &str,
    sign: f32,
) -> Stream<'env, fourier::Block> {
    let reorder = |blocks: Stream<'env, fourier::Block>, length: usize| {
        let order = Arc::new(fourier::evens_first(length));
        each(&format!("{name} reorder {length}"), blocks, move |_, block| fourier::reorder(&block, &order))
    };
    let combine = |blocks: Stream<'env, fourier::Block>, length: usize| {
        let factors: Arc<[_]> = fourier::factors(length, sign).into();
        each(&format!("{name} combine {length}"), blocks, move |_, mut block| {
            fourier::combine(&mut block, &factors);
            block
        })
    };
    COMBINED.into_iter().fold(REORDERED.into_iter().fold(blocks, reorder), combine)
}

/// The program without a graph: transforms one pulse of one channel after the other, by the recursive definition.
pub fn sequential(snapshots: &[Snapshot], parameters: &Parameters) -> Vec<Snapshot> {
    let responses: Vec<_> = (0..CHANNELS).map(|channel| parameters.response(channel)).collect();
    let mut result = Vec::new();
    for pulse in snapshots.chunks_exact(PULSE) {
        let mut delayed = vec![Snapshot::default(); PULSE];
        for channel in 0..CHANNELS {
            let mut block: Vec<_> = pulse.iter().map(|snapshot| snapshot[channel]).collect();
            block.resize(BLOCK, Complex::default());
            let spectrum = fourier::transform(&block, -1.0);
            let product: Vec<_> = spectrum.iter().zip(&responses[channel]).map(|(a, b)| *a * *b).collect();
            let block = fourier::transform(&product, 1.0);
            for (snapshot, sample) in delayed.iter_mut().zip(&block[TAPS / 2..]) {
                snapshot[channel] = Complex::new(sample.re / BLOCK as f32, sample.im / BLOCK as f32);
            }
        }
        result.extend(delayed);
    }
    result
}
