//! A fingerprint of a graph, so that a plan of another graph is refused.

use std::fmt;
use thalweg_graph::{GraphData, Kind, Node, Rate, data};

data! {
    /// What identifies the graph that a plan was made for: the numbers of nodes and channels, and a hash of what a plan
    /// depends on.
    ///
    /// The hash covers names, kinds, ports, rates, item sizes, initial items, which ports the channels join, and where they
    /// exist first firings and the pairs of nodes that send messages. It leaves out the settings that a plan replaces
    /// (capacities, the most workers of a node), the names of item types, which differ between compilers, and places in a
    /// source text. The rates of a splitter or joiner determine its weights. It is the same in every process and on every machine of 64 bits.
    #[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
    pub struct Fingerprint {
        /// The number of nodes.
        copy nodes: usize;
        /// The number of channels.
        copy channels: usize;
        /// The hash.
        copy hash: u64;
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x} nodes {} channels {}", self.hash, self.nodes, self.channels)
    }
}

impl Fingerprint {
    /// The fingerprint that has these numbers, as a plan's text has them.
    pub fn new(nodes: usize, channels: usize, hash: u64) -> Fingerprint {
        Fingerprint { nodes, channels, hash }
    }

    /// The fingerprint of a graph. Takes time in proportion to the graph: tens of nanoseconds a node.
    pub fn of(graph: &GraphData) -> Fingerprint {
        let mut hash = Hash::new();
        for node in graph.nodes() {
            hash.node(node);
        }
        for channel in graph.channels() {
            let (from, to) = (channel.from(), channel.to());
            hash.word(u64::from(from.0.0) << 32 | u64::from(to.0.0));
            hash.word((from.1 as u64) << 32 ^ to.1 as u64);
            hash.word(channel.link().initial() as u64);
        }
        for messages in graph.messages() {
            hash.word(u64::from(messages.from().0) << 32 | u64::from(messages.to().0));
        }
        Fingerprint { nodes: graph.nodes().len(), channels: graph.channels().len(), hash: hash.0 }
    }
}

/// FNV-1a on words of 8 bytes instead of bytes. A multiplication carries differences only to higher bits, so a shift
/// follows that carries them back.
struct Hash(u64);

impl Hash {
    fn new() -> Hash {
        Hash(0xCBF2_9CE4_8422_2325)
    }

    #[inline]
    fn word(&mut self, word: u64) {
        let product = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01B3);
        self.0 = product ^ product >> 32;
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        for chunk in text.as_bytes().chunks(8) {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(bytes));
        }
    }

    fn node(&mut self, node: &Node) {
        let kind = match node.kind() {
            Kind::Sequential => 0,
            Kind::Parallel => 1,
            Kind::Process => 2,
        };
        self.text(node.name());
        self.word(
            kind | u64::from(node.merge()) << 2
                | u64::from(node.unordered()) << 3
                | u64::from(node.timed()) << 4,
        );
        self.word((node.inputs().len() as u64) << 32 | node.outputs().len() as u64);
        for port in node.inputs() {
            self.text(port.name());
            self.word(rate(port.pop()));
            self.word(port.peek().rotate_left(32) ^ port.item().bytes() as u64);
            if let Some(first) = port.first() {
                self.word(rate(first.pop()));
                self.word(first.peek());
            }
        }
        for port in node.outputs() {
            self.text(port.name());
            self.word(rate(port.push()));
            self.word(port.item().bytes() as u64);
            if let Some(first) = port.first() {
                self.word(rate(first));
            }
        }
    }
}

/// A rate as a number: 0 for a dynamic one.
fn rate(rate: Rate) -> u64 {
    rate.fixed().map_or(0, |rate| rate.saturating_add(1))
}
