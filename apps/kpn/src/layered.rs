//! The random network of section 5.2.2 (Figure 8): layers of processes, messages that are work to be
//! done, and edges back that make cycles.

use thalweg::{Feedback, Graph, Rx, Stream, Tx, Value, output};

use crate::job::{Job, fold};

/// What the network looks like. The same numbers give the same network.
///
/// ```
/// use thalweg_kpn::Layers;
///
/// let paper = Layers::default();
/// assert_eq!((paper.nodes(), paper.edges(), paper.cycles()), (212, 333, 13));
/// ```
#[derive(Clone, Debug)]
pub struct Layers {
    /// By node, in order of layers: the nodes it sends to. The first is the source, the last the sink.
    forward: Vec<Vec<usize>>,
    /// From a node to one of an earlier layer.
    back: Vec<(usize, usize)>,
}

impl Default for Layers {
    /// About the paper's: 50 layers, 212 nodes, 333 edges, 13 of them back.
    fn default() -> Self {
        Layers::new(50, 7, 13, PAPER)
    }
}

/// Layers that an edge leads back at most. A node that waits for one waits for all that its message
/// goes through on the way, so long ones would make the network take one message at a time; the
/// paper does not say how long its are.
const SPAN: usize = 3;

/// A seed that gives a network of the paper's size.
const PAPER: u64 = 689;

impl Layers {
    /// A network of `layers` layers of 1 to `most` nodes between source and sink, with up to `back`
    /// edges back, no two of which meet.
    ///
    /// # Panics
    /// Without layers, or with empty ones.
    pub fn new(layers: usize, most: usize, back: usize, seed: u64) -> Layers {
        assert!(layers > 0 && most > 0, "a network has layers, and a layer nodes");
        let mut random = Random(seed);
        let mut starts = vec![0, 1];
        for _ in 0..layers {
            starts.push(starts[starts.len() - 1] + 1 + random.below(most));
        }
        starts.push(starts[starts.len() - 1] + 1);
        let nodes = starts[starts.len() - 1];
        let mut net = Layers { forward: vec![Vec::new(); nodes], back: Vec::new() };
        for layer in starts.windows(3) {
            net.join(layer[0]..layer[1], layer[1]..layer[2], &mut random);
        }
        net.lead_back(&starts, back, &mut random);
        net
    }

    /// Every node of a layer gets something from the one before, and every node gives something.
    fn join(&mut self, from: std::ops::Range<usize>, to: std::ops::Range<usize>, random: &mut Random) {
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

    /// Adds edges back, from a node to one of the layers just before.
    fn lead_back(&mut self, starts: &[usize], count: usize, random: &mut Random) {
        let mut free: Vec<bool> = (0..self.nodes()).map(|node| node > 0 && node + 1 < self.nodes()).collect();
        for _ in 0..count * 8 {
            let from = 1 + random.below(self.nodes() - 1);
            let layer = starts.partition_point(|start| *start <= from) - 1;
            let earliest = starts[layer.saturating_sub(SPAN).max(1)];
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

    /// Processes, source and sink included.
    pub fn nodes(&self) -> usize {
        self.forward.len()
    }

    /// Channels, those back included.
    pub fn edges(&self) -> usize {
        self.forward.iter().map(Vec::len).sum::<usize>() + self.back.len()
    }

    /// Channels back, each of which closes a cycle where a way forward joins its ends.
    pub fn cycles(&self) -> usize {
        self.back.len()
    }

    /// Work that all nodes do for a message that stands for `share` at the source.
    pub fn work(&self, share: u64) -> u64 {
        let mut due = vec![0; self.nodes()];
        due[0] = share;
        for node in 0..self.nodes() {
            for (at, to) in self.forward[node].iter().enumerate() {
                due[*to] += part(due[node], self.forward[node].len(), at);
            }
        }
        due[1..].iter().sum()
    }
}

/// A small generator of its own (Knuth's constants): the network must not change with a crate's.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// Work to be done, and a number by which all that was done before can be told.
#[derive(Clone, Copy, Debug)]
struct Message {
    share: u64,
    trace: u64,
}

/// The part of some work that goes to one of several outputs; the last has what does not divide.
pub(crate) fn part(work: u64, outputs: usize, at: usize) -> u64 {
    let each = work / outputs as u64;
    if at + 1 == outputs { work - each * (outputs as u64 - 1) } else { each }
}

/// `messages` messages of `share` work each, through the network: every node does `work` for the
/// sum of what its inputs say, and shares it out again; a node with an edge back sends on it, or
/// waits for it, once a round. `work` is given how much to do, and a number to make another from.
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
    let mut hears: Vec<Option<Stream<Message>>> = (0..nodes).map(|_| None).collect();
    for (from, to) in &layers.back {
        let (end, stream) = graph.feedback([]);
        (ends[*from], hears[*to]) = (Some(end), Some(stream));
    }
    let last = nodes - 1;
    for node in 0..last {
        let back = Back { sends: ends[node].is_some(), hears: hears[node].is_some() };
        let ins = std::mem::take(&mut streams[node]).into_iter().chain(hears[node].take());
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
            out.pop().expect("the output back is the last").feed(end);
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

/// Whether a node's last output, or its last input, is an edge back.
#[derive(Clone, Copy)]
struct Back {
    sends: bool,
    hears: bool,
}

async fn source(mut txs: Vec<Tx<Message>>, messages: u64, share: u64) {
    let outputs = txs.len();
    for trace in 0..messages {
        for (at, tx) in txs.iter_mut().enumerate() {
            tx.send(Message { share: part(share, outputs, at), trace: fold(trace, at as u64) }).await;
        }
    }
}

/// What the inputs say, together; nothing after the end.
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
    back: Back,
    mut work: impl FnMut(u64, u64) -> u64,
) {
    let mut hears = if back.hears { rxs.pop() } else { None };
    let mut sends = if back.sends { txs.pop() } else { None };
    let (mut state, outputs) = (0, txs.len());
    while let Some(Message { share, trace }) = gather(&mut rxs, state).await {
        let trace = fold(trace, work(share, trace));
        for (at, tx) in txs.iter_mut().enumerate() {
            tx.send(Message { share: part(share, outputs, at), trace: fold(trace, at as u64) }).await;
        }
        if let Some(tx) = &mut sends {
            tx.send(Message { share: 0, trace }).await;
        }
        if let Some(rx) = &mut hears {
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

/// The same by a loop over messages, and in each over the nodes.
fn reference(layers: &Layers, messages: u64, share: u64, mut work: impl FnMut(u64, u64) -> u64) -> u64 {
    let nodes = layers.nodes();
    let (mut state, mut sum) = (vec![0; nodes], 0);
    for number in 0..messages {
        let mut arrived: Vec<Vec<Message>> = vec![Vec::new(); nodes];
        let mut said = vec![0; nodes];
        for node in 0..nodes {
            let before = if node + 1 == nodes { sum } else { state[node] };
            let mut all = Message { share: 0, trace: before };
            for message in std::mem::take(&mut arrived[node]) {
                all = Message { share: all.share + message.share, trace: fold(all.trace, message.trace) };
            }
            let trace = if node == 0 { number } else { fold(all.trace, work(all.share, all.trace)) };
            let all = if node == 0 { share } else { all.share };
            said[node] = trace;
            for (at, to) in layers.forward[node].iter().enumerate() {
                let share = part(all, layers.forward[node].len(), at);
                arrived[*to].push(Message { share, trace: fold(trace, at as u64) });
            }
            if node + 1 == nodes {
                sum = fold(trace, all);
            }
        }
        for (from, to) in &layers.back {
            state[*to] = fold(state[*to], said[*from]);
        }
    }
    sum
}
