//! DNN: a deep network of perceptrons, a layer a kernel.
//!
//! ```text
//! read ─▶ layer 1 ━▶ layer 2 ─▶ layer 3 ━▶ ... ━▶ layer 64 ━▶ write
//! ```
//!
//! A perceptron gives 1 if the weighted sum of what it observes is above its threshold, else 0. Each layer has the same number of
//! perceptrons, and each observes a fixed set of those of the layer before. As in the thesis, the network is no trained one: a seed
//! gives its weights.
//!
//! What a layer does not observe does not cross its edge. Of each four edges one is *thin*: its layer observes only
//! [`thin`](Parameters::thin) perceptrons of the layer before, and each perceptron fewer of them. The other edges are thick: all
//! perceptrons cross. The thin edges are those before layers 3, 7, 11 and so on. A mapping that balances work alone divides
//! 64 layers among 2, 4 or 8 workers before layers 9, 17, 25 and so on, which are thick edges with thin ones nearby.
//!
//! Weights are read only and belong to one layer, so all kernels between source and sink are parallel.
//! [`Network::state_bytes`] says how many bytes they are.

use crate::random::Random;
use crate::sum;
use std::ops::ControlFlow;
use thalweg::{Graph, Output, Stream, output, window};

mod parameters;

pub use parameters::Parameters;

/// A layer, with the edge before it.
#[derive(Debug)]
struct Layer {
    /// The perceptrons of the layer before that cross the edge, in their order.
    observed: Vec<u16>,
    /// The perceptrons that each one observes.
    connections: usize,
    /// For each connection, which of the perceptrons that cross it observes.
    inputs: Vec<u16>,
    weights: Vec<f32>,
    thresholds: Vec<f32>,
}

impl Layer {
    /// Calls `each` with what the perceptrons give that the layer behind this one observes, for the values that have crossed the
    /// edge. All perceptrons are observed behind the last layer.
    fn fire(&self, values: &[u32], observed: Option<&[u16]>, mut each: impl FnMut(u32)) {
        let inputs = self.inputs.chunks_exact(self.connections);
        let weights = self.weights.chunks_exact(self.connections);
        let mut crossing = observed.map(|observed| observed.iter().peekable());
        for (number, ((inputs, weights), threshold)) in inputs.zip(weights).zip(&self.thresholds).enumerate()
        {
            let mut sum = 0.0;
            for (input, weight) in inputs.iter().zip(weights) {
                sum += weight * values[usize::from(*input)] as f32;
            }
            let value = u32::from(sum > *threshold);
            let next = |at: &&u16| usize::from(**at) == number;
            if crossing.as_mut().is_none_or(|crossing| crossing.next_if(next).is_some()) {
                each(value);
            }
        }
    }

    fn state_bytes(&self) -> usize {
        size_of_val(&self.inputs[..]) + size_of_val(&self.weights[..]) + size_of_val(&self.thresholds[..])
    }
}

/// A network of perceptrons.
#[derive(Debug)]
pub struct Network {
    parameters: Parameters,
    layers: Vec<Layer>,
}

impl Network {
    /// For each layer, the bytes of its connections, weights and thresholds: what a firing reads besides its items.
    pub fn state_bytes(&self) -> Vec<usize> {
        self.layers.iter().map(Layer::state_bytes).collect()
    }

    /// For each layer, the items that cross the edge before it for an input; then those that leave the last layer. A firing takes and
    /// gives [`batch`](Parameters::batch) times as many.
    pub fn widths(&self) -> Vec<usize> {
        let last = self.parameters.perceptrons as usize;
        self.layers.iter().map(|layer| layer.observed.len()).chain([last]).collect()
    }

    /// The firings for at least as many inputs.
    fn firings(&self, inputs: u64) -> u64 {
        inputs.div_ceil(self.parameters.batch.into())
    }

    /// The program on `inputs` inputs, rounded up to whole firings, which are zeros and ones from a seed. Its result is a checksum of
    /// what the last layer gives.
    ///
    /// ```
    /// use thalweg_pipelines::dnn;
    ///
    /// let network = dnn::Parameters { layers: 8, perceptrons: 64, ..Default::default() }.network();
    /// let sum = network.graph(10, 1).run()?.into_value();
    /// assert_eq!(sum, network.sequential(10, 1));
    /// # Ok::<(), thalweg::Error>(())
    /// ```
    pub fn graph(&self, inputs: u64, seed: u64) -> Output<'_, u64> {
        let Parameters { perceptrons, batch, .. } = self.parameters;
        let mut rates = self.widths().into_iter().map(|width| batch * width as u32);
        let rate = rates.next().unwrap_or_default();
        let first = &self.layers[0];
        let (mut random, mut left) = (Random::new(seed), self.firings(inputs));
        let read = Graph::new().kernel("read", (), output("values").push(rate)).sequential(move |(), out| {
            let Some(less) = left.checked_sub(1) else { return ControlFlow::Break(()) };
            left = less;
            for _ in 0..batch {
                let values = values(perceptrons, &mut random);
                out.extend(first.observed.iter().map(|at| values[usize::from(*at)]));
            }
            ControlFlow::Continue(())
        });
        let (last, _) = (0..self.layers.len())
            .zip(rates)
            .fold((read, rate), |(values, rate), (at, next)| (self.add_layer(at, values, rate, next), next));
        last.fold(0, sum::with).named("write")
    }

    /// Adds the kernel of a layer, which pops `pops` items and pushes those that the layer behind it observes.
    fn add_layer<'env>(
        &'env self,
        at: usize,
        values: Stream<'env, u32>,
        pops: u32,
        pushes: u32,
    ) -> Stream<'env, u32> {
        let layer = &self.layers[at];
        let observed = self.layers.get(at + 1).map(|layer| &layer.observed[..]);
        let graph = values.graph();
        let input = window("values", values).pop(pops);
        let kernel = graph.kernel(&format!("layer {}", at + 1), input, output("values").push(pushes));
        kernel.state_bytes(layer.state_bytes() as u64).parallel(move |values, out| {
            for values in values.as_slice().chunks_exact(layer.observed.len()) {
                layer.fire(values, observed, |value| out.push(value));
            }
        })
    }

    /// The program without a graph: whole layers, of which each perceptron looks up what it observes.
    pub fn sequential(&self, inputs: u64, seed: u64) -> u64 {
        let (mut random, mut sum) = (Random::new(seed), 0);
        for _ in 0..self.firings(inputs) * u64::from(self.parameters.batch) {
            let mut all = values(self.parameters.perceptrons, &mut random);
            for layer in &self.layers {
                let given = (0..all.len()).map(|perceptron| {
                    let mut weighted = 0.0;
                    for at in perceptron * layer.connections..(perceptron + 1) * layer.connections {
                        let from = layer.observed[usize::from(layer.inputs[at])];
                        weighted += layer.weights[at] * all[usize::from(from)] as f32;
                    }
                    u32::from(weighted > layer.thresholds[perceptron])
                });
                all = given.collect();
            }
            sum = all.into_iter().fold(sum, sum::with);
        }
        sum
    }
}

/// An input: zeros and ones.
fn values(count: u32, random: &mut Random) -> Vec<u32> {
    (0..count).map(|_| (random.number() >> 63) as u32).collect()
}
