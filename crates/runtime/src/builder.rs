//! Typed kernels in, a [`Network`] out.

use crate::channel::{Grow, Layout, Meter, Ring, Weigh};
use crate::coroutine::{STACK, Stacks, Wanted};
use crate::error::BuildError;
use crate::node::{AnyFrame, Body, Finish, FrameFn, IntoFlow, IntoResult, NodeLimits, Parallel, Sequential};
use crate::ports::{Inputs, Outputs};
use crate::process::{Owner, Process};
use crate::seal::EngineOnly;
use crate::spec::{InputSpecs, OutputSpecs, input, output};
use crate::sync::{AtomicUsize, Mutex, lock};
use crate::{Glance, NotYet};
use crossbeam_utils::CachePadded;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use thalweg_graph::{ChannelId, Fault, GraphData, Kind, Link, Node, NodeId, OutPort, Port, Rate};

/// An output that has no consumer yet.
///
/// Hand it to a consumer, by value: a channel has exactly one.
#[must_use = "an output without a consumer makes the graph incomplete"]
pub struct Stream<T> {
    /// Which builder's.
    graph: usize,
    edge: usize,
    socket: Arc<Socket<T>>,
    link: Link,
}

impl<T> std::fmt::Debug for Stream<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("edge", &self.edge).finish_non_exhaustive()
    }
}

impl<T> Stream<T> {
    /// Items the channel can hold. The plan chooses where nothing is said, and raises what is too
    /// little for one firing.
    pub fn capacity(mut self, items: usize) -> Self {
        self.link.capacity = Some(items);
        self
    }

    /// Counts each item as the bytes that `bytes` gives, against the run's byte budget.
    pub fn weigh(mut self, bytes: impl Fn(&T) -> usize + Send + Sync + 'static) -> Self {
        self.link.weighed = true;
        self.socket.set_weigh(Some(Arc::new(bytes)));
        self
    }

    pub(crate) fn socket(&self) -> Arc<Socket<T>> {
        self.socket.clone()
    }
}

/// The producing end of a feedback channel, to be closed with [`Builder::close`].
#[must_use = "a feedback channel needs a producer"]
#[derive(Debug)]
pub struct Feedback<T> {
    /// Which builder's.
    graph: usize,
    edge: usize,
    socket: Arc<Socket<T>>,
}

/// Where the two ends of a channel find their ring, once it is there.
pub(crate) struct Socket<T> {
    given: Mutex<Option<Box<Given<T>>>>,
    joined: OnceLock<Joined<T>>,
}

/// What a channel is given beforehand; most are given nothing.
struct Given<T> {
    weigh: Option<Weigh<T>>,
    initial: VecDeque<T>,
}

impl<T> Default for Given<T> {
    fn default() -> Given<T> {
        Given { weigh: None, initial: VecDeque::new() }
    }
}

enum Joined<T> {
    /// The ring is there.
    Ring(ChannelId, Arc<Ring<T>>),
    /// To a feedback channel, whose ring it shares.
    Feedback(Arc<Socket<T>>),
}

impl<T> std::fmt::Debug for Socket<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Socket")
    }
}

impl<T> Socket<T> {
    fn new(initial: VecDeque<T>) -> Arc<Socket<T>> {
        let given = (!initial.is_empty()).then(|| Box::new(Given { weigh: None, initial }));
        Arc::new(Socket { given: Mutex::new(given), joined: OnceLock::new() })
    }

    fn set_weigh(&self, weigh: Option<Weigh<T>>) {
        lock(&self.given).get_or_insert_default().weigh = weigh;
    }

    fn take_weigh(&self) -> Option<Weigh<T>> {
        lock(&self.given).as_mut().and_then(|given| given.weigh.take())
    }

    fn made(&self) -> (ChannelId, &Arc<Ring<T>>) {
        match self.joined.get().expect("rings are made before nodes") {
            Joined::Ring(id, ring) => (*id, ring),
            Joined::Feedback(other) => other.made(),
        }
    }

    pub(crate) fn ring(&self) -> Arc<Ring<T>> {
        self.made().1.clone()
    }

    pub(crate) fn id(&self) -> ChannelId {
        self.made().0
    }
}

/// A ring's counters and the way to make it grow.
pub(crate) type MadeRing<'env> = (Arc<Meter>, Arc<dyn Grow + 'env>);

/// Makes the ring of a channel, whatever its item type.
pub(crate) trait MakeRing<'env>: Send + Sync {
    fn make(&self, id: ChannelId, capacity: usize, layout: Layout) -> MadeRing<'env>;
}

impl<'env, T: Send + 'env> MakeRing<'env> for Socket<T> {
    fn make(&self, id: ChannelId, capacity: usize, layout: Layout) -> MadeRing<'env> {
        let Given { weigh, initial } = lock(&self.given).take().map_or_else(Given::default, |given| *given);
        let ring = Arc::new(Ring::new(capacity, layout, initial, weigh));
        let _ = self.joined.set(Joined::Ring(id, ring.clone()));
        (ring.meter.clone(), ring)
    }
}

struct EdgeData<'env> {
    from: Option<Port>,
    to: Option<Port>,
    link: Link,
    make: Option<Arc<dyn MakeRing<'env> + 'env>>,
}

/// What a node's code needs to be made.
pub(crate) struct MakeNode<'a> {
    /// Tickets of its reorder window.
    pub(crate) tickets: usize,
    pub(crate) retired: Option<Arc<CachePadded<AtomicUsize>>>,
    /// The channel of its first weighed output.
    pub(crate) weighed: Option<ChannelId>,
    /// Bytes that completed tickets may hold.
    pub(crate) held: usize,
    /// Of a parallel node, as the graph has them.
    pub(crate) unordered: bool,
    pub(crate) workers: Option<u32>,
    /// Those of the run's coroutines.
    pub(crate) stacks: &'a Stacks,
    /// Of a process's ends.
    pub(crate) owner: Owner,
}

pub(crate) type NodeMaker<'env> = Box<dyn FnOnce(MakeNode<'_>) -> Box<dyn Body + 'env> + Send + 'env>;

/// Collects the nodes and channels of a graph.
pub struct Builder<'env> {
    /// No other builder's of this process.
    number: usize,
    pub(crate) graph: GraphData,
    edges: Vec<EdgeData<'env>>,
    pub(crate) nodes: Vec<Option<NodeMaker<'env>>>,
    /// Of coroutines, by their bytes.
    pub(crate) stacks: Wanted,
}

impl Default for Builder<'_> {
    fn default() -> Self {
        static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Builder {
            number,
            graph: GraphData::new(),
            edges: Vec::new(),
            nodes: Vec::new(),
            stacks: Wanted::new(),
        }
    }
}

impl std::fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("graph", &self.graph).finish_non_exhaustive()
    }
}

impl<'env> Builder<'env> {
    /// A graph without nodes.
    pub fn new() -> Builder<'env> {
        Builder::default()
    }

    pub(crate) fn graph(&self) -> &GraphData {
        &self.graph
    }

    pub(crate) fn produce<T: Send + 'env>(&mut self, from: Option<Port>) -> Stream<T> {
        self.produce_with(from, VecDeque::new(), Link::default())
    }

    fn produce_with<T: Send + 'env>(
        &mut self,
        from: Option<Port>,
        initial: VecDeque<T>,
        link: Link,
    ) -> Stream<T> {
        let socket = Socket::new(initial);
        let make: Arc<dyn MakeRing<'env> + 'env> = socket.clone();
        self.edges.push(EdgeData { from, to: None, link, make: Some(make) });
        Stream { graph: self.number, edge: self.edges.len() - 1, socket, link }
    }

    pub(crate) fn consume<T>(&mut self, stream: Stream<T>, to: Port) -> Arc<Socket<T>> {
        let node = self.graph.node(to.0);
        assert!(
            stream.graph == self.number,
            "input `{}.{}` was given a stream of another graph",
            node.name,
            node.inputs[to.1].name
        );
        let edge = &mut self.edges[stream.edge];
        edge.to = Some(to);
        edge.link = stream.link;
        stream.socket
    }

    /// Begins a kernel with the given ports: finish it with [`Kernel::sequential`] or
    /// [`Kernel::parallel`].
    pub fn kernel<I: InputSpecs, O: OutputSpecs>(
        &mut self,
        name: &str,
        inputs: I,
        outputs: O,
    ) -> Kernel<'_, 'env, I, O> {
        Kernel {
            builder: self,
            name: name.to_owned(),
            inputs,
            outputs,
            blocking: false,
            frame: None,
            finish: None,
            stack: STACK,
            starting: false,
            unordered: false,
            workers: None,
        }
    }

    /// Adds a Kahn process: sequential code of its own state that receives and sends, and waits
    /// where there is nothing to receive or no room to send. It shares the workers with all other
    /// nodes; [`Kernel::blocking`] and [`Kernel::process`] give one a thread of its own.
    ///
    /// **One operation at a time.** A process must not poll two receives or sends at once (`select!`,
    /// `join!`, `FuturesUnordered`), drop one that is pending (a timeout around `recv`), or poll one
    /// with a waker of its own: such code can see which channel happens to be ready, and its result
    /// would depend on timing. The process fails at the attempt, with a message that says so. To wait
    /// for any of several inputs, use [`Builder::merge`], which says in the graph that it is not
    /// determinate, or choose the input by data.
    ///
    /// A process ends when its future does. Then, or when it drops an end before, the stream of a
    /// [`Tx`](crate::Tx) ends, and an [`Rx`](crate::Rx) is read no more. It fails the run with an `Err`, or a panic.
    ///
    /// ```
    /// use thalweg_runtime::{Builder, Options, input, output};
    ///
    /// let mut seen = Vec::new();
    /// let mut graph = Builder::new();
    /// let numbers = graph.process("count", (), output("out"), |(), mut out| async move {
    ///     for i in 0..10u64 {
    ///         out.send(i).await;
    ///     }
    /// });
    /// let sums = graph.process("sum", input("in", numbers), output("out"), |mut rx, mut tx| async move {
    ///     let mut sum = 0;
    ///     while let Some(i) = rx.recv().await {
    ///         sum += i;
    ///         tx.send(sum).await;
    ///     }
    /// });
    /// graph.sink("collect", sums, |sum| seen.push(sum));
    /// graph.build()?.run(&Options::new())?;
    /// assert_eq!(seen, [0, 1, 3, 6, 10, 15, 21, 28, 36, 45]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn process<I, O, R, P, F>(&mut self, name: &str, inputs: I, outputs: O, body: F) -> O::Streams
    where
        I: InputSpecs + 'env,
        O: OutputSpecs + 'env,
        R: IntoFlow + 'env,
        P: Future<Output = R> + Send + 'env,
        F: FnOnce(<I::Ports as Inputs>::Receivers, <O::Ports as Outputs>::Senders) -> P + Send + 'env,
    {
        self.kernel(name, inputs, outputs).process(body)
    }

    /// A starting node that gives the items of an iterator.
    pub fn source<S>(&mut self, name: &str, items: S) -> Stream<S::Item>
    where
        S: IntoIterator,
        S::IntoIter: Send + 'env,
        S::Item: Send + 'env,
    {
        self.source_kernel(name, items.into_iter(), false)
    }

    /// The same for an iterator that waits for the outside world: it gets a thread of its own, and
    /// each item goes on at once.
    pub fn blocking_source<S>(&mut self, name: &str, items: S) -> Stream<S::Item>
    where
        S: IntoIterator,
        S::IntoIter: Send + 'env,
        S::Item: Send + 'env,
    {
        self.source_kernel(name, items.into_iter(), true)
    }

    fn source_kernel<S>(&mut self, name: &str, mut items: S, blocking: bool) -> Stream<S::Item>
    where
        S: Iterator + Send + 'env,
        S::Item: Send + 'env,
    {
        let kernel = self.kernel(name, (), output("out"));
        let kernel = if blocking { kernel.blocking() } else { kernel };

        kernel.sequential(move |(), out| match items.next() {
            Some(item) => {
                out.push(item);
                std::ops::ControlFlow::Continue(())
            }
            None => std::ops::ControlFlow::Break(()),
        })
    }

    /// An ending node: takes the items one by one, in order.
    pub fn sink<T, R>(&mut self, name: &str, stream: Stream<T>, mut take: impl FnMut(T) -> R + Send + 'env)
    where
        T: Send + 'env,
        R: IntoFlow + 'env,
    {
        self.kernel(name, input("in", stream), ()).sequential(move |item, ()| take(item.pop()));
    }

    /// A channel whose producer comes later in the graph than its consumer, holding `initial`
    /// from the start. Close it with [`Builder::close`].
    pub fn feedback<T: Send + 'env>(
        &mut self,
        initial: impl IntoIterator<Item = T>,
    ) -> (Feedback<T>, Stream<T>) {
        let initial: VecDeque<T> = initial.into_iter().collect();
        let link = Link { initial: initial.len(), feedback: true, ..Link::default() };
        let stream = self.produce_with(None, initial, link);
        (Feedback { graph: self.number, edge: stream.edge, socket: stream.socket.clone() }, stream)
    }

    /// Makes `stream` the producer of a feedback channel.
    ///
    /// # Panics
    /// Where `stream` or `feedback` is of another graph, or `stream` comes from a feedback channel itself.
    pub fn close<T>(&mut self, feedback: Feedback<T>, stream: Stream<T>) {
        assert!(stream.graph == self.number, "a feedback channel was given a stream of another graph");
        assert!(feedback.graph == self.number, "a feedback channel of another graph was closed");
        assert!(
            !self.edges[stream.edge].link.feedback,
            "a feedback channel was closed with another's stream: pass it through a node"
        );
        let from = self.edges[stream.edge].from.take();
        self.edges[stream.edge].make = None;
        let edge = &mut self.edges[feedback.edge];
        edge.from = from;
        edge.link.capacity = edge.link.capacity.or(stream.link.capacity);
        if stream.link.weighed {
            edge.link.weighed = true;
            feedback.socket.set_weigh(stream.socket.take_weigh());
        }
        let _ = stream.socket.joined.set(Joined::Feedback(feedback.socket));
    }

    /// Joins streams in the order in which items happen to arrive. **Not determinate**: the result
    /// depends on timing, and only each stream's own order is kept. Where the order matters,
    /// choose by data with a framing function instead ([`Kernel::framed`]).
    ///
    /// # Panics
    /// With more than 64 streams.
    pub fn merge<T: Send + 'env>(&mut self, name: &str, streams: Vec<Stream<T>>) -> Stream<T> {
        assert!(streams.len() <= 64, "a merge has at most 64 inputs");
        let inputs: Vec<_> =
            streams.into_iter().enumerate().map(|(i, s)| input(&format!("in{i}"), s)).collect();
        let mut kernel = self.kernel(name, inputs, output("out"));
        let mut first = 0;
        kernel.frame = Some(Box::new(AnyFrame(move |inputs: &Vec<Glance<T>>, takes: &mut [usize]| {
            let count = inputs.len();
            for i in (0..count).map(|i| (first + i) % count) {
                if inputs[i].arrived() > 0 {
                    takes[i] = inputs[i].arrived().min(MERGE_RUN);
                    first = i + 1;
                    return 0;
                }
            }
            inputs.iter().enumerate().filter(|(_, s)| !s.ended()).fold(0, |mask, (i, _)| mask | 1 << i)
        })));

        kernel.finish_sequential(
            |inputs, out| {
                for input in inputs.iter_mut() {
                    while let Some(item) = input.try_pop() {
                        out.push(item);
                    }
                }
            },
            true,
        )
    }

    /// Sends each item round a loop until it is done; results come in the order of the items.
    ///
    /// `step` sees an item's state and says whether to go round again (`Continue`) or what the
    /// result is (`Break`). Different items go round in parallel, up to `in_flight` of them, and a
    /// long one delays only the results behind it. The result does not depend on timing.
    ///
    /// Built as two nodes and a feedback channel: a gate that numbers the items and puts the
    /// results back in order, and the parallel kernel `step`.
    pub fn round<S, R, F>(&mut self, name: &str, stream: Stream<S>, in_flight: usize, step: F) -> Stream<R>
    where
        S: Send + 'env,
        R: Send + 'env,
        F: Fn(S) -> std::ops::ControlFlow<R, S> + Send + Sync + 'env,
    {
        crate::round::build(self, name, stream, in_flight.max(1), step)
    }

    /// Adds the node of a process, which has neither a framing nor a finishing function: it does both
    /// `itself`.
    pub(crate) fn add_process<I: InputSpecs, O: OutputSpecs>(
        &mut self,
        name: String,
        inputs: &I,
        outputs: &O,
        blocking: bool,
        itself: bool,
    ) -> NodeId {
        assert!(itself, "process `{name}` frames and finishes by itself");
        let mut node = outputs.declare(inputs.declare(Node::sequential(name), true)).into_process();
        node.blocking = blocking;
        self.graph.add(node)
    }

    /// The consuming end of a stream, held by the outside.
    pub(crate) fn external<T: Send + 'env>(
        &mut self,
        name: &str,
        stream: Stream<T>,
    ) -> (NodeId, Arc<Socket<T>>) {
        let port = thalweg_graph::InPort::new("in", thalweg_graph::Item::of::<T>());
        let mut node = Node::sequential(name).input(port);
        node.blocking = true;
        let id = self.graph.add(node);
        self.nodes.push(None);
        (id, self.consume(stream, (id, 0)))
    }

    /// Renames the node added last; a name taken already gets a suffix.
    ///
    /// # Panics
    /// Where there is no node yet.
    pub fn name_last(&mut self, name: &str) {
        self.graph.rename(self.last(), name);
    }

    /// Gives the node added last a thread of its own. See [`Kernel::blocking`].
    ///
    /// # Panics
    /// Where there is no node yet, or the last one is parallel.
    pub fn block_last(&mut self) {
        let last = self.last();
        let node = self.graph.node_mut(last);
        assert!(
            node.kind != Kind::Parallel,
            "kernel `{}` is parallel: its firings share the workers",
            node.name
        );
        node.blocking = true;
    }

    /// Lets the node added last give results in any order. See [`Kernel::unordered`].
    ///
    /// # Panics
    /// Where there is no node yet, or the last one is not parallel.
    pub fn unorder_last(&mut self) {
        self.last_parallel().unordered = true;
    }

    /// Lets at most `workers` workers fire the node added last. See [`Kernel::workers`].
    ///
    /// # Panics
    /// Where there is no node yet, or the last one is not parallel.
    pub fn limit_last(&mut self, workers: u32) {
        self.last_parallel().workers = Some(workers.max(1));
    }

    fn last_parallel(&mut self) -> &mut Node {
        let last = self.last();
        let node = self.graph.node_mut(last);
        assert!(node.kind == Kind::Parallel, "kernel `{}` is not parallel", node.name);
        node
    }

    fn last(&self) -> NodeId {
        self.graph.node_ids().last().expect("a node was added")
    }

    /// Checks the graph.
    ///
    /// # Errors
    /// All faults found: ports without a partner, inconsistent static rates, cycles that can never
    /// start.
    pub fn build(mut self) -> Result<Network<'env>, BuildError> {
        let mut faults: Vec<Fault> = Vec::new();
        let mut rings = Vec::new();
        for edge in &mut self.edges {
            let (Some(from), Some(to)) = (edge.from, edge.to) else { continue };
            match self.graph.connect(from, to, edge.link) {
                Ok(_) => rings.extend(edge.make.take()),
                Err(fault) => faults.push(fault),
            }
        }
        if let Err(found) = thalweg_analysis::check(&self.graph) {
            faults.extend(found);
        }
        if !faults.is_empty() {
            return Err(BuildError { faults });
        }
        Ok(Network { graph: self.graph, rings, nodes: self.nodes, stacks: self.stacks })
    }
}

/// Items that a merge takes from one stream before it looks at the next.
const MERGE_RUN: usize = 64;

/// A kernel whose ports are declared and whose code is not given yet.
#[must_use = "a kernel needs its code: `sequential` or `parallel`"]
pub struct Kernel<'a, 'env, I: InputSpecs, O: OutputSpecs> {
    pub(crate) builder: &'a mut Builder<'env>,
    pub(crate) name: String,
    pub(crate) inputs: I,
    pub(crate) outputs: O,
    pub(crate) blocking: bool,
    pub(crate) frame: Option<Box<dyn FrameFn<I::Ports> + 'env>>,
    pub(crate) finish: Option<Finish<'env, O::Ports>>,
    /// Bytes, should it be a coroutine.
    pub(crate) stack: usize,
    pub(crate) starting: bool,
    /// Of a parallel kernel.
    pub(crate) unordered: bool,
    pub(crate) workers: Option<u32>,
}

impl<I: InputSpecs, O: OutputSpecs> std::fmt::Debug for Kernel<'_, '_, I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a, 'env, I, O> Kernel<'a, 'env, I, O>
where
    I: InputSpecs + 'env,
    O: OutputSpecs + 'env,
{
    /// The kernel waits for the outside world in its firings (files, sockets): it gets a thread of
    /// its own, and publishes after every firing.
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// Makes consumption depend on the data: before each firing, in order, the function looks at
    /// the inputs and says how many items the firing takes from each, or `None` where the node
    /// ends. It asks with [`Glance::peek`] and passes [`NotYet`] on with `?`; it is asked again
    /// when more has arrived, so until it answers `Ok` it must change nothing. Its answer cannot
    /// depend on timing. For a parallel kernel the heavy work then runs in parallel.
    pub fn framed(
        mut self,
        frame: impl FnMut(&<I::Ports as Inputs>::Glances) -> Result<Option<<I::Ports as Inputs>::Takes>, NotYet>
        + Send
        + 'env,
    ) -> Self {
        self.frame = Some(Box::new(frame));
        self
    }

    /// Lets a worker begin with this kernel though it has inputs, such as the items that a loop holds
    /// at first. The result does not depend on it. (DANBI, section III-A1: the initial schedule of
    /// `random`, `qes`, `pss` and `prs`.)
    pub fn starting(mut self) -> Self {
        self.starting = true;
        self
    }

    /// Lets a parallel kernel give what a firing has pushed when that firing has ended, and not in
    /// the order of the inputs. **Not determinate**: the result depends on timing. The graph marks
    /// the node as unordered. A slow firing then delays no results but its own; those of at most
    /// one reorder window overtake it.
    ///
    /// It has no effect on other kernels.
    pub fn unordered(mut self) -> Self {
        self.unordered = true;
        self
    }

    /// Lets at most `most` workers fire a parallel kernel at the same time, at least one: for
    /// firings that share something scarce, such as memory bandwidth or a licence.
    ///
    /// It has no effect on other kernels.
    pub fn workers(mut self, most: u32) -> Self {
        self.workers = Some(most.max(1));
        self
    }

    /// Called once after the last firing of a sequential kernel, to give what is left to give.
    /// Needs dynamic outputs.
    ///
    /// # Panics
    /// Where an output's rate is static: what a node gives last is not a firing.
    pub fn finish(
        mut self,
        finish: impl for<'f> FnOnce(&mut <O::Ports as Outputs>::Cursors<'f>) + Send + 'env,
    ) -> Self {
        let node = self.outputs.declare(Node::sequential(""));
        assert!(
            node.outputs.iter().all(|port: &OutPort| port.push == Rate::Dynamic),
            "kernel `{}` has a finishing function, so its outputs need dynamic rates",
            self.name
        );
        self.finish = Some(Box::new(finish));
        self
    }

    /// One firing at a time, in order, with state. Gives back the outputs.
    pub fn sequential<R, F>(self, fire: F) -> O::Streams
    where
        R: IntoFlow + 'env,
        F: for<'f> FnMut(
                &mut <I::Ports as Inputs>::Cursors<'f>,
                &mut <O::Ports as Outputs>::Cursors<'f>,
            ) -> R
            + Send
            + 'env,
    {
        self.finish_sequential(fire, false)
    }

    pub(crate) fn finish_sequential<R, F>(self, fire: F, merge: bool) -> O::Streams
    where
        R: IntoFlow + 'env,
        F: for<'f> FnMut(
                &mut <I::Ports as Inputs>::Cursors<'f>,
                &mut <O::Ports as Outputs>::Cursors<'f>,
            ) -> R
            + Send
            + 'env,
    {
        let Kernel { builder, name, inputs, outputs, blocking, frame, finish, starting, .. } = self;
        let mut node = outputs.declare(inputs.declare(Node::sequential(name), frame.is_some()));
        (node.blocking, node.merge, node.starting) = (blocking, merge, starting);
        let id = builder.graph.add(node);
        let ins = inputs.attach(builder, id, EngineOnly(()));
        let (streams, outs) = outputs.attach(builder, id, EngineOnly(()));
        builder
            .nodes
            .push(Some(Box::new(move |_| Box::new(Sequential::new(ins(), outs(), fire, finish, frame)))));
        streams
    }

    /// A process: sequential code with its own ends of the channels, on which it receives and sends
    /// and waits ([`Rx`](crate::Rx), [`Tx`](crate::Tx)). `body` is called when the run is prepared. Gives back the
    /// outputs. See [`Builder::process`].
    ///
    /// # Panics
    /// With a framing or a finishing function: a process is its own.
    pub fn process<R, P, F>(self, body: F) -> O::Streams
    where
        R: IntoFlow + 'env,
        P: Future<Output = R> + Send + 'env,
        F: FnOnce(<I::Ports as Inputs>::Receivers, <O::Ports as Outputs>::Senders) -> P + Send + 'env,
    {
        let Kernel { builder, name, inputs, outputs, blocking, frame, finish, .. } = self;
        let itself = frame.is_none() && finish.is_none();
        let id = builder.add_process(name, &inputs, &outputs, blocking, itself);
        let ins = inputs.attach(builder, id, EngineOnly(()));
        let (streams, outs) = outputs.attach(builder, id, EngineOnly(()));
        builder.nodes.push(Some(Box::new(move |make| {
            let (ins, outs) = (ins(), outs());
            Box::new(Process::new(body(ins.receivers(make.owner), outs.senders(make.owner))))
        })));
        streams
    }

    /// Any number of firings at a time, without state; every output comes in the order of the
    /// inputs. Gives back the outputs.
    ///
    /// # Panics
    /// Without inputs, and where the kernel is blocking or has a finishing function.
    pub fn parallel<R, F>(self, fire: F) -> O::Streams
    where
        R: IntoResult + 'env,
        F: for<'f> Fn(&mut <I::Ports as Inputs>::Cursors<'f>, &mut <O::Ports as Outputs>::Cursors<'f>) -> R
            + Send
            + Sync
            + 'env,
    {
        let Kernel { builder, name, inputs, outputs, frame, blocking, finish, starting, .. } = self;
        assert!(!blocking, "kernel `{name}` is parallel: its firings share the workers");
        assert!(finish.is_none(), "kernel `{name}` is parallel: it has no last firing to finish after");
        let mut node = outputs.declare(inputs.declare(Node::parallel(name), frame.is_some()));
        (node.unordered, node.workers, node.starting) = (self.unordered, self.workers, starting);
        assert!(
            !node.is_source(),
            "parallel kernel `{}` needs an input: tickets follow its items",
            node.name
        );
        let id = builder.graph.add(node);
        let ins = inputs.attach(builder, id, EngineOnly(()));
        let (streams, outs) = outputs.attach(builder, id, EngineOnly(()));
        builder.nodes.push(Some(Box::new(move |make: MakeNode<'_>| {
            let MakeNode { tickets, retired, weighed, held, unordered, workers, .. } = make;
            let retired = retired.expect("made for a parallel node");
            let limits = NodeLimits { tickets, weighed, held, workers, unordered };
            Box::new(Parallel::new(ins(), outs(), fire, frame, retired, limits))
        })));
        streams
    }
}

/// A graph that may be run, with the code of its nodes.
pub struct Network<'env> {
    pub(crate) graph: GraphData,
    pub(crate) rings: Vec<Arc<dyn MakeRing<'env> + 'env>>,
    pub(crate) nodes: Vec<Option<NodeMaker<'env>>>,
    pub(crate) stacks: Wanted,
}

impl Network<'_> {
    /// The graph, to be printed or analysed.
    pub fn graph(&self) -> &GraphData {
        &self.graph
    }
}

impl std::fmt::Debug for Network<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("graph", &self.graph).finish_non_exhaustive()
    }
}
