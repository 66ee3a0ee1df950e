//! Builds a model of the virtual host as a graph for the engine: the same nodes, channels, rates and
//! capacities, with kernels that move numbers.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use thalweg::embed::graph::{ChannelId, Kind, NodeId};
use thalweg::graph::GraphData;
use thalweg::node::{Glance, Many};
use thalweg::{Graph, In, Out, Stream, input, output, window};
use thalweg_sim::{Model, NodeModel, Ratio};

/// A port: the node, and the index among its inputs or outputs.
type Port = (NodeId, usize);

/// The model's graph for the engine. Starving sources push their bursts without waiting.
pub fn build(model: &Model) -> Graph<'static> {
    build_gated(model, &Gates::new(model, u64::MAX))
}

/// The model's graph for the engine, with starving sources that wait at their gates.
pub fn build_gated(model: &Model, gates: &Gates) -> Graph<'static> {
    if model.heavy { build_of::<Box<u64>>(model, gates) } else { build_of::<u64>(model, gates) }
}

fn build_of<T: From<u64> + Send + Sync + 'static>(model: &Model, gates: &Gates) -> Graph<'static> {
    let (streams, open) = (BTreeMap::new(), BTreeMap::new());
    let mut builder = Builder::<T> { model, gates, graph: Graph::new(), streams, open };
    model.graph.node_ids().for_each(|node| builder.node(node));
    builder.graph
}

/// Blocks a source, on a thread of its own, before each burst and before its end.
#[derive(Default)]
pub struct Gate {
    /// The number of openings, and the number of times the source has arrived.
    counts: Mutex<(u64, u64)>,
    changed: Condvar,
}

impl Gate {
    fn counts(&self) -> MutexGuard<'_, (u64, u64)> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called by the source: waits until the openings are as many as its arrivals, this one included.
    fn pass(&self) {
        let mut counts = self.counts();
        counts.1 += 1;
        self.changed.notify_all();
        drop(self.changed.wait_while(counts, |(opened, arrived)| opened < arrived));
    }

    /// Lets the source pass once.
    pub fn open(&self) {
        self.counts().0 += 1;
        self.changed.notify_all();
    }

    /// Waits until the source has arrived once more than the gate was opened: all bursts so far are pushed.
    /// The source publishes each item before it produces the next, so all of them are visible.
    pub fn wait(&self) {
        drop(self.changed.wait_while(self.counts(), |(opened, arrived)| *arrived <= *opened));
    }
}

/// The gate of each starving source.
pub struct Gates(BTreeMap<NodeId, Arc<Gate>>);

impl Gates {
    /// Gates with this number of openings.
    pub fn new(model: &Model, opened: u64) -> Gates {
        let starving = model.graph.node_ids().filter(|id| model.graph.node(*id).blocking());
        let gate = || Arc::new(Gate { counts: Mutex::new((opened, 0)), ..Gate::default() });
        Gates(starving.map(|id| (id, gate())).collect())
    }

    /// The gate of a source.
    pub fn of(&self, source: NodeId) -> &Arc<Gate> {
        &self.0[&source]
    }
}

/// The model's channel that corresponds to a channel of the engine's graph.
pub fn in_model(model: &GraphData, engine: &GraphData, id: ChannelId) -> ChannelId {
    let to = engine.channel(id).to();
    model
        .channel_ids()
        .find(|other| model.channel(*other).to() == to)
        .expect("both graphs join the same ports")
}

struct Builder<'m, T: Send> {
    model: &'m Model,
    gates: &'m Gates,
    graph: Graph<'static>,
    /// Outputs that no consumer has been built for yet.
    streams: BTreeMap<Port, Stream<'static, T>>,
    /// Feedback channels that no producer has been built for yet.
    open: BTreeMap<Port, thalweg::Feedback<'static, T>>,
}

impl<T: From<u64> + Send + Sync + 'static> Builder<'_, T> {
    fn node(&mut self, id: NodeId) {
        let peeks = self
            .model
            .graph
            .node(id)
            .inputs()
            .iter()
            .any(|port| port.peek() > port.pop().fixed().unwrap_or(1));
        let streams = match (self.model.graph.node(id).blocking(), peeks) {
            (true, _) => self.starving(id),
            (false, true) => self.peeking(id),
            (false, false) => self.popping(id),
        };
        for (port, stream) in streams.into_iter().enumerate() {
            match self.open.remove(&(id, port)) {
                Some(feedback) => stream.feed(feedback),
                None => _ = self.streams.insert((id, port), stream),
            }
        }
    }

    /// The stream of an input port, with the model's capacity.
    fn stream(&mut self, to: Port) -> Stream<'static, T> {
        let (model, id) = (self.model, self.model.graph.node(to.0).inputs()[to.1].channel().expect("joined"));
        let channel = model.graph.channel(id);
        let stream = match self.streams.remove(&channel.from()) {
            Some(stream) => stream,
            None => {
                let (feedback, stream) =
                    self.graph.feedback(std::iter::repeat_with(|| T::from(0)).take(channel.link().initial()));
                self.open.insert(channel.from(), feedback);
                stream
            }
        };
        stream.capacity(model.capacity_of(id))
    }

    fn outputs(&self, id: NodeId) -> Vec<thalweg::node::PushSpec<T>> {
        let ports = self.model.graph.node(id).outputs().iter();
        let spec = |rate: Option<u64>, name: &str| match rate {
            Some(rate) => output(name).push(items(rate)),
            None => output(name),
        };
        ports.map(|port| spec(port.push().fixed(), port.name())).collect()
    }

    fn starving(&mut self, id: NodeId) -> Vec<Stream<'static, T>> {
        let (node, model) = (self.model.graph.node(id).clone(), self.model.nodes[id.index()].clone());
        assert_eq!(
            model.pushes,
            [Ratio::ONE],
            "a starving source has one output and pushes one item a firing"
        );
        let gate = self.gates.of(id).clone();
        let mut bursts = model.bursts.into_iter();
        let mut left = 0;
        let items = std::iter::from_fn(move || {
            if left == 0 {
                gate.pass();
                left = bursts.next()?;
            }
            left -= 1;
            Some(T::from(left))
        });
        vec![self.graph.source(items).blocking().named(node.name())]
    }

    fn popping(&mut self, id: NodeId) -> Vec<Stream<'static, T>> {
        let (node, model) = (self.model.graph.node(id).clone(), self.model.nodes[id.index()].clone());
        let fixed = node.inputs().iter().all(|port| port.pop().fixed().is_some());
        let inputs: Vec<_> = (0..node.inputs().len())
            .map(|i| (i, self.stream((id, i)), node.inputs()[i].pop().fixed()))
            .map(|(i, stream, pop)| match (input(node.inputs()[i].name(), stream), pop) {
                (input, Some(pop)) => input.pop(items(pop)),
                (input, None) => input,
            })
            .collect();
        let outputs = self.outputs(id);
        let kernel = self.graph.kernel(node.name(), inputs, outputs);
        if node.kind() == Kind::Parallel {
            return kernel.parallel(move |ins, outs| {
                move_items(&model, 0, ins, outs);
            });
        }
        let mut ticket = 0;
        let source = node.is_source();
        let pops = model.pops.clone();
        let fire = move |ins: &mut Many<In<T>>, outs: &mut Many<Out<T>>| {
            move_items(&model, ticket, ins, outs);
            ticket += 1;
            if source && ticket == model.firings { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        if fixed {
            return kernel.sequential(fire);
        }
        let mut framed = 0;
        let frame = move |glances: &Vec<Glance<T>>| {
            let needed: Vec<usize> = pops.iter().map(|pop| pop.at(framed)).collect();
            for (glance, needed) in glances.iter().zip(&needed).filter(|(_, needed)| **needed > 0) {
                if glance.peek(needed - 1)?.is_none() {
                    return Ok(None);
                }
            }
            framed += 1;
            Ok(Some(needed))
        };
        kernel.framed(frame).sequential(fire)
    }

    fn peeking(&mut self, id: NodeId) -> Vec<Stream<'static, T>> {
        let (node, model) = (self.model.graph.node(id).clone(), self.model.nodes[id.index()].clone());
        let inputs: Vec<_> = (0..node.inputs().len())
            .map(|i| {
                let pop =
                    node.inputs()[i].pop().fixed().expect("a peeking port has a static rate in these models");
                window(node.inputs()[i].name(), self.stream((id, i)))
                    .pop(items(pop))
                    .peek(items(node.inputs()[i].peek()))
            })
            .collect();
        let outputs = self.outputs(id);
        let kernel = self.graph.kernel(node.name(), inputs, outputs);
        if node.kind() == Kind::Parallel {
            return kernel.parallel(move |_, outs| push_items(&model, 0, outs));
        }
        let mut tickets = 0..;
        kernel.sequential(move |_, outs| push_items(&model, tickets.next().expect("no end"), outs))
    }
}

fn move_items<T: From<u64>>(model: &NodeModel, ticket: u64, ins: &mut Many<In<T>>, outs: &mut Many<Out<T>>) {
    for (port, pop) in ins.iter_mut().zip(&model.pops) {
        (0..pop.at(ticket)).for_each(|_| _ = port.pop());
    }
    push_items(model, ticket, outs);
}

fn push_items<T: From<u64>>(model: &NodeModel, ticket: u64, outs: &mut Many<Out<T>>) {
    for (port, push) in outs.iter_mut().zip(&model.pushes) {
        (0..push.at(ticket)).for_each(|item| port.push(T::from(item as u64)));
    }
}

/// A rate as the builder takes it.
fn items(rate: u64) -> u32 {
    u32::try_from(rate).expect("the rates of models are small")
}
