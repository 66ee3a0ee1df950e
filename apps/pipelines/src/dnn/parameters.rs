//! What a network is like.

use super::{Layer, Network};
use crate::random::Random;
use std::collections::BTreeSet;

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
    /// The inputs of a firing, at most 32,768. It reads all weights for each of them.
    pub batch: u32,
    /// The seed of connections, weights and thresholds.
    pub seed: u64,
}

impl Default for Parameters {
    /// 64 layers of 512 perceptrons with 8 connections each: 8 layers fit in a cache of 256 KiB. Of a layer 32 perceptrons cross
    /// a thin edge. If 8 workers have 8 layers each, all of which stay in their caches, then only edges between workers cost
    /// misses. Cuts at thin edges then have (7/16 + 1)/(7 + 1) = 0.18 of the misses of cuts at thick ones, with the ends of the
    /// chain; Table 4.2 of the thesis has 0.18.
    fn default() -> Self {
        Parameters {
            layers: 64,
            perceptrons: 512,
            thin: 32,
            connections: 8,
            thin_connections: 8,
            batch: 1,
            seed: 1,
        }
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
    /// What is wrong: there are no layers, 0 or more than 65,536 perceptrons, more thin ones than perceptrons, 0 or more
    /// connections than perceptrons that cross an edge, or 0 or more than 32,768 inputs in a firing.
    pub fn check(&self) -> Result<(), String> {
        let Parameters { layers, perceptrons, thin, connections, thin_connections, batch, .. } = *self;
        if layers == 0 {
            return Err("a network of no layers".to_owned());
        }
        if !(1..=1 << 16).contains(&perceptrons) {
            return Err(format!("a layer of {perceptrons} perceptrons, expected 1 to 65536"));
        }
        if thin > perceptrons {
            return Err(format!("{thin} of {perceptrons} perceptrons cross a thin edge"));
        }
        // A rate has 32 bits.
        if !(1..=1 << 15).contains(&batch) {
            return Err(format!("{batch} inputs in a firing, expected 1 to 32768"));
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
