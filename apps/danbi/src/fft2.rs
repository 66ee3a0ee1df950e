//! FFT2: Fourier transforms of 64 complex numbers.
//!
//! ```text
//! source ─▶ reorder ─▶ combine ─▶ sink
//! ```
//!
//! Items are runs of [`RUN`] transforms, so that a firing lasts some microseconds. The StreamIt program has a filter for each of five reorderings and six lengths of butterflies; here those of a kind are one
//! kernel.

use crate::block::BLOCK;
use crate::fourier::{self, COMBINED};
use crate::{Complex, inputs};
use std::sync::Arc;
use thalweg::{Graph, Output, output};

/// The input of the paper's Table III, in million bytes.
pub const MEGABYTES: u32 = 14_648;

/// The transforms of an item.
pub const RUN: usize = 16;

/// What the program is given beside its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Computes the inverse transform, without the factor 1/64.
    pub inverse: bool,
}

impl Parameters {
    /// The sign of the exponent.
    fn sign(&self) -> f32 {
        if self.inverse { 1.0 } else { -1.0 }
    }
}

/// Noise with both parts between -1 and 1: [`MEGABYTES`] times `scale`, in whole transforms.
pub fn input(scale: f64, seed: u64) -> Vec<Complex> {
    let blocks = inputs::units(MEGABYTES, scale, size_of::<[Complex; BLOCK]>(), 1);
    inputs::noise(blocks * BLOCK, seed, |part| Complex::new(part(), part()))
}

/// The program. Its result is the transforms of each 64 numbers, in runs: the sums over `k` of `x[k] exp(-2 pi i j k / 64)`.
/// Numbers at the end that are fewer than 64 are left out.
///
/// The source sends references to the numbers, and the sink collects vectors, so neither of them moves the data: they would be
/// most of the time.
///
/// ```
/// use thalweg_danbi::{Complex, fft2};
///
/// let mut impulse = [Complex::default(); 64];
/// impulse[0].re = 1.0;
/// let spectra = fft2::graph(&impulse, &Default::default()).run()?.into_value();
/// assert_eq!(spectra[0], [[Complex::new(1.0, 0.0); 64]]);
/// # Ok::<(), thalweg::Error>(())
/// ```
pub fn graph<'env>(
    numbers: &'env [Complex],
    parameters: &Parameters,
) -> Output<'env, Vec<Vec<[Complex; BLOCK]>>> {
    let order = Arc::new(fourier::bit_reversed());
    let factors: Arc<[_]> = COMBINED.map(|length| fourier::factors(length, parameters.sign())).into();
    Graph::new()
        .source(numbers.as_chunks().0.chunks(RUN))
        .kernel("reorder", output("out").push(1))
        .parallel(move |runs, out| {
            let reordered = runs.pop().iter().map(|block| fourier::reorder(block, &order));
            out.push(reordered.collect::<Vec<_>>());
        })
        .kernel("combine", output("out").push(1))
        .parallel(move |runs, out| {
            let mut run = runs.pop();
            for block in &mut run {
                factors.iter().for_each(|factors| fourier::combine(block, factors));
            }
            out.push(run);
        })
        .collect()
        .named("sink")
}

/// The program without a graph: transforms by the recursive definition.
pub fn sequential(numbers: &[Complex], parameters: &Parameters) -> Vec<Complex> {
    numbers.chunks_exact(BLOCK).flat_map(|block| fourier::transform(block, parameters.sign())).collect()
}
