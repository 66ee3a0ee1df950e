//! The random network of section 5.2.2 (Figure 8): layers of processes, messages that carry amounts of work, and back
//! edges, which make cycles.

use thalweg::{Feedback, Graph, Rx, Stream, Tx, Value, output};

use crate::job::{Job, fold};

/// The topology of a network. The same parameters give the same network.
///
/// ```
/// use thalweg_kpn::Layers;
///
/// let paper = Layers::default();
/// assert_eq!((paper.nodes(), paper.edges(), paper.cycles()), (212, 333, 13));
/// ```
#[derive(Clone, Debug)]
pub struct Layers {
    /// The successors of each node, in order of layers. The first node is the source, the last the sink.
    forward: Vec<Vec<usize>>,
    /// Back edges: a node, and a node of an earlier layer.
    back: Vec<(usize, usize)>,
}

impl Default for Layers {
    /// A network of about the paper's size: 50 layers, 212 nodes, 333 edges, 13 of them back edges.
    fn default() -> Self {
        Layers::new(50, 7, 13, PAPER_SEED)
    }
}

/// The most layers that a back edge spans. A node that waits for a back edge waits for all nodes on the path of its
/// message, so long back edges would make the network process one message at a time. The paper does not give the span.
const MAX_SPAN: usize = 3;

/// A seed for a network of the paper's size.
const PAPER_SEED: u64 = 689;

impl Layers {
    /// A network of `layers` layers of 1 to `most` nodes between source and sink, with up to `back` back edges, which
    /// have no node in common.
    ///
    /// # Panics
    /// If `layers` or `most` is 0.
    pub fn new(layers: usize, most: usize, back: usize, seed: u64) -> Layers {
        assert!(layers > 0 && most > 0, "at least one layer and one node a layer are needed");
        let mut random = Random(seed);
        let mut starts = vec![0, 1];
        for _ in 0..layers {
            starts.push(starts[starts.len() - 1] + 1 + random.below(most));
        }
        starts.push(starts[starts.len() - 1] + 1);
        let nodes = starts[starts.len() - 1];
        let mut net = Layers { forward: vec![Vec::new(); nodes], back: Vec::new() };
        for layer in starts.windows(3) {
            net.connect_layers(layer[0]..layer[1], layer[1]..layer[2], &mut random);
        }
        net.add_back_edges(&starts, back, &mut random);
        net
    }

    /// Adds edges between adjacent layers, such that every node of `from` has a successor and every node of `to` a
    /// predecessor.
    fn connect_layers(
        &mut self,
        from: std::ops::Range<usize>,
        to: std::ops::Range<usize>,
        random: &mut Random,
    ) {
        let pick =
            |range: &std::ops::Range<usize>, random: &mut Random| range.start + random.below(range.len());
        for node in to.clone() {
            let one = pick(&from, random);
            self.connect(one, node);
        }
        for node in from.clone().filter(|node| self.forward[*node].is_empty()).collect::<Vec<_>>() {
            let other = pick(&to, random);
            self.connect(node, other);
        }
        if random.below(2) == 0 {
            let (one, other) = (pick(&from, random), pick(&to, random));
            self.connect(one, other);
        }
    }

    /// Adds up to `count` back edges, each from a node to one of the [`MAX_SPAN`] layers before it.
    fn add_back_edges(&mut self, starts: &[usize], count: usize, random: &mut Random) {
        let mut free: Vec<bool> = (0..self.nodes()).map(|node| node > 0 && node + 1 < self.nodes()).collect();
        for _ in 0..count * 8 {
            let from = 1 + random.below(self.nodes() - 1);
            let layer = starts.partition_point(|start| *start <= from) - 1;
            let earliest = starts[layer.saturating_sub(MAX_SPAN).max(1)];
            if earliest >= starts[layer] || self.back.len() == count {
                continue;
            }
            let to = earliest + random.below(starts[layer] - earliest);
            if free[from] && free[to] {
                (free[from], free[to]) = (false, false);
                self.back.push((from, to));
            }
        }
    }

    fn connect(&mut self, from: usize, to: usize) {
        if !self.forward[from].contains(&to) {
            self.forward[from].push(to);
        }
    }

    /// The number of processes, including source and sink.
    pub fn nodes(&self) -> usize {
        self.forward.len()
    }

    /// The number of channels, including back edges.
    pub fn edges(&self) -> usize {
        self.forward.iter().map(Vec::len).sum::<usize>() + self.back.len()
    }

    /// The number of back edges. Each closes a cycle if there is a forward path between its ends.
    pub fn cycles(&self) -> usize {
        self.back.len()
    }

    /// The work of all nodes for a message of `share` units of work at the source.
    pub fn work(&self, share: u64) -> u64 {
        let mut due = vec![0; self.nodes()];
        due[0] = share;
        for node in 0..self.nodes() {
            for (at, to) in self.forward[node].iter().enumerate() {
                due[*to] += part_of(due[node], self.forward[node].len(), at);
            }
        }
        due[1..].iter().sum()
    }
}

/// A linear congruential generator with Knuth's constants. It is not taken from a crate, so that the network does not
/// change with a version of that crate.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// An amount of work, and a checksum of the work done before.
#[derive(Clone, Copy, Debug)]
struct Message {
    share: u64,
    trace: u64,
}

/// The part of `work` for output number `at` of `outputs`. The last output also has the remainder.
pub(crate) fn part_of(work: u64, outputs: usize, at: usize) -> u64 {
    let each = work / outputs as u64;
    if at + 1 == outputs { work - each * (outputs as u64 - 1) } else { each }
}

/// Sends `messages` messages of `share` units of work through the network. Every node does the sum of the work of its
/// input messages and divides this sum among its outputs. A node with an outgoing back edge sends on it once a round,
/// a node with an incoming one receives from it once a round. `work(units, trace)` does that many units of work and
/// returns a number that depends on `trace`.
pub fn layered(
    layers: &Layers,
    messages: u64,
    share: u64,
    work: impl FnMut(u64, u64) -> u64 + Clone + Send + 'static,
) -> Job {
    let graph = Graph::new();
    let nodes = layers.nodes();
    let mut streams: Vec<Vec<Stream<Message>>> = (0..nodes).map(|_| Vec::new()).collect();
    let mut ends: Vec<Option<Feedback<Message>>> = (0..nodes).map(|_| None).collect();
    let mut back_streams: Vec<Option<Stream<Message>>> = (0..nodes).map(|_| None).collect();
    for (from, to) in &layers.back {
        let (end, stream) = graph.feedback([]);
        (ends[*from], back_streams[*to]) = (Some(end), Some(stream));
    }
    let last = nodes - 1;
    for node in 0..last {
        let back = BackEdges { sends: ends[node].is_some(), receives: back_streams[node].is_some() };
        let ins = std::mem::take(&mut streams[node]).into_iter().chain(back_streams[node].take());
        let ins: Vec<_> = ins.collect();
        let outs = layers.forward[node].len() + usize::from(back.sends);
        let outs: Vec<_> = (0..outs).map(|i| output(&format!("out{i}"))).collect();
        let (name, work) = (format!("node{node}"), work.clone());
        let mut out = match node {
            0 => {
                graph.process(&name, ins, outs, move |_, txs: Vec<Tx<Message>>| source(txs, messages, share))
            }
            _ => graph.process(&name, ins, outs, move |rxs, txs| middle(rxs, txs, back, work)),
        };
        if let Some(end) = ends[node].take() {
            out.pop().expect("the back edge is the last output").feed(end);
        }
        for (to, stream) in layers.forward[node].iter().zip(out) {
            streams[*to].push(stream);
        }
    }
    let (name, ins, f) = (format!("node{last}"), std::mem::take(&mut streams[last]), work.clone());
    let result = graph.process(&name, ins, (), move |rxs, ()| sink(rxs, f));
    let layers = layers.clone();
    Job::new(result, move || reference(&layers, messages, share, work))
}

/// Whether the last output, and the last input, of a node is a back edge.
#[derive(Clone, Copy)]
struct BackEdges {
    sends: bool,
    receives: bool,
}

async fn source(mut txs: Vec<Tx<Message>>, messages: u64, share: u64) {
    let outputs = txs.len();
    for trace in 0..messages {
        for (at, tx) in txs.iter_mut().enumerate() {
            tx.send(Message { share: part_of(share, outputs, at), trace: fold(trace, at as u64) }).await;
        }
    }
}

/// Receives one message from each input. Returns their sum, or `None` at the end of the streams.
async fn gather(rxs: &mut [Rx<Message>], state: u64) -> Option<Message> {
    let mut all = Message { share: 0, trace: state };
    for rx in rxs {
        let message = rx.recv().await?;
        all = Message { share: all.share + message.share, trace: fold(all.trace, message.trace) };
    }
    Some(all)
}

async fn middle(
    mut rxs: Vec<Rx<Message>>,
    mut txs: Vec<Tx<Message>>,
    back: BackEdges,
    mut work: impl FnMut(u64, u64) -> u64,
) {
    let mut back_rx = if back.receives { rxs.pop() } else { None };
    let mut back_tx = if back.sends { txs.pop() } else { None };
    let (mut state, outputs) = (0, txs.len());
    while let Some(Message { share, trace }) = gather(&mut rxs, state).await {
        let trace = fold(trace, work(share, trace));
        for (at, tx) in txs.iter_mut().enumerate() {
            tx.send(Message { share: part_of(share, outputs, at), trace: fold(trace, at as u64) }).await;
        }
        if let Some(tx) = &mut back_tx {
            tx.send(Message { share: 0, trace }).await;
        }
        if let Some(rx) = &mut back_rx {
            let Some(message) = rx.recv().await else { return };
            state = fold(state, message.trace);
        }
    }
}

async fn sink(mut rxs: Vec<Rx<Message>>, mut work: impl FnMut(u64, u64) -> u64) -> Value<u64> {
    let mut sum = 0;
    while let Some(Message { share, trace }) = gather(&mut rxs, sum).await {
        sum = fold(fold(trace, work(share, trace)), share);
    }
    Value(sum)
}

/// The result of the network, computed by a loop over messages and nodes.
fn reference(layers: &Layers, messages: u64, share: u64, mut work: impl FnMut(u64, u64) -> u64) -> u64 {
    let nodes = layers.nodes();
    let (mut state, mut sum) = (vec![0; nodes], 0);
    for number in 0..messages {
        let mut arrived: Vec<Vec<Message>> = vec![Vec::new(); nodes];
        let mut traces = vec![0; nodes];
        for node in 0..nodes {
            let before = if node + 1 == nodes { sum } else { state[node] };
            let mut all = Message { share: 0, trace: before };
            for message in std::mem::take(&mut arrived[node]) {
                all = Message { share: all.share + message.share, trace: fold(all.trace, message.trace) };
            }
            let trace = if node == 0 { number } else { fold(all.trace, work(all.share, all.trace)) };
            let all = if node == 0 { share } else { all.share };
            traces[node] = trace;
            for (at, to) in layers.forward[node].iter().enumerate() {
                let share = part_of(all, layers.forward[node].len(), at);
                arrived[*to].push(Message { share, trace: fold(trace, at as u64) });
            }
            if node + 1 == nodes {
                sum = fold(trace, all);
            }
        }
        for (from, to) in &layers.back {
            state[*to] = fold(state[*to], traces[*from]);
        }
    }
    sum
}
