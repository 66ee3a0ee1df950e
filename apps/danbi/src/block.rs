//! Samples in blocks: the items of the signal programs.
//!
//! A firing computes a block, so that the compiler computes several samples at a time. The order of the additions of one
//! sample is that of its definition all the same.

use crate::filter::filter;
use std::ops::{AddAssign, Mul};
use std::sync::Arc;
use thalweg::node::{PeekSpec, PushSpec};
use thalweg::{Graph, Stream, input, output, window};

/// The samples of a block.
pub const BLOCK: usize = 64;

/// A block of a signal.
pub(crate) type Block<T> = [T; BLOCK];

/// The whole blocks of an input, without the samples behind them.
pub(crate) fn source<'env, T: Copy + Send + Sync>(
    graph: &Graph<'env>,
    samples: &'env [T],
) -> Stream<'env, Block<T>> {
    graph.source(samples.as_chunks().0.iter().copied())
}

/// The blocks that contain `samples` samples.
pub(crate) fn blocks(samples: usize) -> u32 {
    u32::try_from(samples.div_ceil(BLOCK)).expect("a window of fewer than 2^32 blocks")
}

/// The window of a filter of `taps` coefficients that computes every `step`th sample.
pub(crate) fn filter_window<T>(
    signal: Stream<'_, Block<T>>,
    taps: usize,
    step: usize,
) -> PeekSpec<'_, Block<T>> {
    window("signal", signal).pop(blocks(step * BLOCK)).peek(blocks(step * (BLOCK - 1) + taps))
}

/// Adds a kernel that filters a signal and keeps every `step`th sample.
pub(crate) fn filtered<'env, T>(
    name: &str,
    signal: Stream<'env, Block<T>>,
    taps: Vec<f32>,
    step: usize,
) -> Stream<'env, Block<T>>
where
    T: Copy + Default + Mul<f32, Output = T> + AddAssign + Send + Sync + 'env,
{
    let taps: Arc<[f32]> = taps.into();
    let graph = signal.graph();
    graph
        .kernel(name, filter_window(signal, taps.len(), step), output("filtered").push(1))
        .parallel(move |signal, out| out.push(filter(signal.as_slice().as_flattened(), &taps, step)))
}

/// The outputs of a kernel that sends each block to `count` others.
pub(crate) fn copies(count: usize) -> Vec<PushSpec<Block<f32>>> {
    (0..count).map(|copy| output(&format!("copy {copy}")).push(1)).collect()
}

/// Adds a kernel that adds up signals, sample by sample in the order of the streams, from 0.
pub(crate) fn add<'env>(
    graph: &Graph<'env>,
    signals: Vec<Stream<'env, Block<f32>>>,
) -> Stream<'env, Block<f32>> {
    let inputs: Vec<_> =
        signals.into_iter().enumerate().map(|(i, signal)| input(&format!("signal {i}"), signal)).collect();
    graph.kernel("adder", inputs, output("sum").push(1)).parallel(|signals, sum| {
        let mut block = [0.0; BLOCK];
        for signal in signals.iter_mut() {
            block.iter_mut().zip(signal.pop()).for_each(|(sum, sample)| *sum += sample);
        }
        sum.push(block);
    })
}
