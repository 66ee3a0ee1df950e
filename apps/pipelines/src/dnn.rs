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
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use thalweg::{Graph, Output, Stream, output, window};

/// What the network is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The layers.
    pub layers: u32,
    /// The perceptrons of a layer, at most 65,536.
    pub perceptrons: u32,
    /// The perceptrons that cross a thin edge.
    pub thin: u32,
    /// The perceptrons that each one observes behind a thick edge.
    pub connections: u32,
    /// The perceptrons that each one observes behind a thin edge.
    pub thin_connections: u32,
    /// The seed of connections, weights and thresholds.
    pub seed: u64,
}

impl Default for Parameters {
    /// 64 layers of 512 perceptrons, of which 16 cross a thin edge, with 8 connections each.
    fn default() -> Self {
        Parameters { layers: 64, perceptrons: 512, thin: 16, connections: 8, thin_connections: 8, seed: 1 }
    }
}

impl Parameters {
    /// Whether the edge before a layer is thin. Layers are counted from 0.
    fn is_thin(&self, layer: u32) -> bool {
        layer % 4 == 2
    }

    /// For each layer, the perceptrons that cross the edge before it, and those that each of its perceptrons observes.
    fn edge(&self, layer: u32) -> (u32, u32) {
        match self.is_thin(layer) {
            true => (self.thin, self.thin_connections),
            false => (self.perceptrons, self.connections),
        }
    }

    /// The bytes of state of the network, which [`network`](Parameters::network) allocates.
    pub fn state_bytes(&self) -> u64 {
        let connection = (size_of::<u16>() + size_of::<f32>()) as u64;
        let perceptron = |layer| u64::from(self.edge(layer).1) * connection + size_of::<f32>() as u64;
        (0..self.layers).map(|layer| u64::from(self.perceptrons) * perceptron(layer)).sum()
    }

    /// Whether there is such a network.
    ///
    /// # Errors
    /// What is wrong: there are no layers, 0 or more than 65,536 perceptrons, more thin ones than perceptrons, or 0 or more
    /// connections than perceptrons that cross an edge.
    pub fn check(&self) -> Result<(), String> {
        let Parameters { layers, perceptrons, thin, connections, thin_connections, .. } = *self;
        if layers == 0 {
            return Err("a network of no layers".to_owned());
        }
        if !(1..=1 << 16).contains(&perceptrons) {
            return Err(format!("a layer of {perceptrons} perceptrons, expected 1 to 65536"));
        }
        if thin > perceptrons {
            return Err(format!("{thin} of {perceptrons} perceptrons cross a thin edge"));
        }
        for (observed, of, edge) in [(connections, perceptrons, "thick"), (thin_connections, thin, "thin")] {
            if !(1..=of).contains(&observed) {
                return Err(format!(
                    "a perceptron observes {observed} of the {of} perceptrons that cross a {edge} edge"
                ));
            }
        }
        Ok(())
    }

    /// The network.
    ///
    /// # Panics
    /// If [`check`](Parameters::check) finds something wrong.
    pub fn network(&self) -> Network {
        self.check().unwrap_or_else(|wrong| panic!("{wrong}"));
        Network { parameters: *self, layers: (0..self.layers).map(|layer| self.layer(layer)).collect() }
    }

    fn layer(&self, layer: u32) -> Layer {
        let mut random = Random::part(self.seed, layer.into());
        let (crossing, connections) = self.edge(layer);
        let observed = draw(crossing, self.perceptrons, &mut random);
        let mut number = || 2.0 * random.unit() as f32 - 1.0;
        let thresholds = (0..self.perceptrons).map(|_| number() / 4.0).collect();
        let all = u64::from(self.perceptrons) * u64::from(connections);
        let weights = (0..all).map(|_| number()).collect();
        let inputs = (0..self.perceptrons).flat_map(|_| draw(connections, crossing, &mut random)).collect();
        Layer { observed, connections: connections as usize, inputs, weights, thresholds }
    }
}

/// `count` of the numbers below `below`, in their order (R. W. Floyd's algorithm).
fn draw(count: u32, below: u32, random: &mut Random) -> Vec<u16> {
    let mut chosen = BTreeSet::new();
    for last in below - count..below {
        let number = random.below(u64::from(last) + 1) as u16;
        if !chosen.insert(number) {
            chosen.insert(last as u16);
        }
    }
    chosen.into_iter().collect()
}

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
    /// Calls `each` with what each perceptron gives for the values that have crossed the edge.
    fn fire(&self, values: &[u32], mut each: impl FnMut(u32)) {
        let inputs = self.inputs.chunks_exact(self.connections);
        let weights = self.weights.chunks_exact(self.connections);
        for ((inputs, weights), threshold) in inputs.zip(weights).zip(&self.thresholds) {
            let mut sum = 0.0;
            for (input, weight) in inputs.iter().zip(weights) {
                sum += weight * values[usize::from(*input)] as f32;
            }
            each(u32::from(sum > *threshold));
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

    /// For each layer, the items that cross the edge before it for an input; then those that leave the last layer.
    pub fn widths(&self) -> Vec<usize> {
        let last = self.parameters.perceptrons as usize;
        self.layers.iter().map(|layer| layer.observed.len()).chain([last]).collect()
    }

    /// The program on as many inputs, which are zeros and ones from a seed. Its result is a checksum of what the last layer gives.
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
        let mut widths = self.widths().into_iter().map(|width| width as u32);
        let width = widths.next().unwrap_or_default();
        let first = &self.layers[0];
        let (mut random, mut left, perceptrons) = (Random::new(seed), inputs, self.parameters.perceptrons);
        let read =
            Graph::new().kernel("read", (), output("values").push(width)).sequential(move |(), out| {
                let Some(less) = left.checked_sub(1) else { return ControlFlow::Break(()) };
                left = less;
                let values = values(perceptrons, &mut random);
                out.extend(first.observed.iter().map(|at| values[usize::from(*at)]));
                ControlFlow::Continue(())
            });
        let (last, _) =
            (0..self.layers.len()).zip(widths).fold((read, width), |(values, width), (at, next)| {
                (self.add_layer(at, values, width, next), next)
            });
        last.fold(0, sum::with).named("write")
    }

    /// Adds the kernel of a layer, which pops `width` items and pushes those that the layer behind it observes.
    fn add_layer<'env>(
        &'env self,
        at: usize,
        values: Stream<'env, u32>,
        width: u32,
        next: u32,
    ) -> Stream<'env, u32> {
        let layer = &self.layers[at];
        let observed = self.layers.get(at + 1).map(|layer| &layer.observed[..]);
        let graph = values.graph();
        graph
            .kernel(
                &format!("layer {}", at + 1),
                window("values", values).pop(width),
                output("values").push(next),
            )
            .parallel(move |values, out| {
                let mut number = 0;
                let mut rest = observed.map(|observed| observed.iter().peekable());
                layer.fire(values.as_slice(), |value| {
                    let crosses =
                        rest.as_mut().is_none_or(|rest| rest.next_if(|at| **at == number).is_some());
                    if crosses {
                        out.push(value);
                    }
                    number = number.wrapping_add(1);
                });
            })
    }

    /// The program without a graph: whole layers, of which each perceptron looks up what it observes.
    pub fn sequential(&self, inputs: u64, seed: u64) -> u64 {
        let (mut random, mut sum) = (Random::new(seed), 0);
        for _ in 0..inputs {
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
