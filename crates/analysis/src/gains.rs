//! Gains: how often a node fires, and how many items a channel carries, for one item of the source.
//!
//! Source: *Locality-Aware Concurrency Platforms* (J. Maglalang, 2017), section 1.1.2.

use crate::Balance;
use crate::ratio::gcd;
use std::fmt;
use thalweg_graph::{ChannelId, GraphData, NodeId, Rate};

/// An exact fraction in lowest terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Gain {
    numer: u128,
    denom: u128,
}

impl Gain {
    /// `numer / denom` in lowest terms, of which `denom` is not 0.
    fn new(numer: u128, denom: u128) -> Gain {
        let common = wide_gcd(numer, denom);
        Gain { numer: numer / common, denom: denom / common }
    }

    /// The numerator.
    pub fn numer(self) -> u128 {
        self.numer
    }

    /// The denominator, at least 1.
    pub fn denom(self) -> u128 {
        self.denom
    }

    /// The nearest number.
    pub fn value(self) -> f64 {
        self.numer as f64 / self.denom as f64
    }
}

impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denom {
            1 => write!(f, "{}", self.numer),
            denom => write!(f, "{}/{denom}", self.numer),
        }
    }
}

/// The gains of the nodes and channels that static rates relate to a source.
///
/// ```
/// use thalweg_analysis::Gains;
/// use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort, Rate};
///
/// let item = Item::of::<u8>();
/// let mut graph = GraphData::new();
/// let source = graph.add(Node::sequential("source").output(OutPort::new("out", item).with_push(Rate::Static(2))));
/// let triples = Node::parallel("triples").input(InPort::new("in", item).with_pop(Rate::Static(3)));
/// let triples = graph.add(triples.output(OutPort::new("out", item).with_push(Rate::Static(5))));
/// let sink = graph.add(Node::sequential("sink").input(InPort::new("in", item)));
/// graph.connect((source, 0), (triples, 0), Link::default()).unwrap();
/// let last = graph.connect((triples, 0), (sink, 0), Link::default()).unwrap();
///
/// let gains = Gains::of(&graph, source);
/// assert_eq!(gains.node(source).unwrap().to_string(), "1/2"); // it fires once for two items
/// assert_eq!(gains.node(triples).unwrap().to_string(), "1/3");
/// assert_eq!(gains.channel(last).unwrap().to_string(), "5/3");
/// ```
#[derive(Clone, Debug)]
pub struct Gains<'a> {
    graph: &'a GraphData,
    balance: Balance,
    source: NodeId,
    /// The items that a firing of the source pushes; 0 if that is dynamic, or nothing.
    pushed: u64,
}

impl Gains<'_> {
    /// The gains for an item that `source` pushes at its first output.
    pub fn of(graph: &GraphData, source: NodeId) -> Gains<'_> {
        let push = graph.node(source).outputs().first().map(|port| port.push());
        let pushed = push.and_then(Rate::fixed).unwrap_or(0);
        Gains { graph, balance: Balance::of(graph), source, pushed }
    }

    /// The firings of a node for an item of the source. `None` if no static rates relate them, or if the rates contradict each
    /// other.
    pub fn node(&self, node: NodeId) -> Option<Gain> {
        let (firings, of_source) = self.balance.proportion(node, self.source)?;
        if self.pushed == 0 {
            return None;
        }
        Some(Gain::new(firings, of_source.checked_mul(self.pushed.into())?))
    }

    /// The items that a channel carries for an item of the source. `None` as for [`Gains::node`], or if the producer's rate is
    /// dynamic.
    pub fn channel(&self, channel: ChannelId) -> Option<Gain> {
        let (from, port) = self.graph.channel(channel).from();
        let push = self.graph.node(from).outputs()[port].push().fixed()?;
        let firings = self.node(from)?;
        Some(Gain::new(firings.numer.checked_mul(push.into())?, firings.denom))
    }
}

/// The greatest common divisor, of numbers of which one is not 0.
fn wide_gcd(a: u128, b: u128) -> u128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => gcd(a, b).into(),
        _ if b == 0 => a,
        _ => wide_gcd(b, a % b),
    }
}
