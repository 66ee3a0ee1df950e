//! The graph under construction.

use super::draft::Shared;
use super::kernel::Kernel;
use super::mistake::Mistake;
use super::operators::pass_all;
use super::output::IntoEnding;
use super::spec::{InputSpecs, OutputSpecs, input, output};
use super::stream::{Feedback, Stream};
use crate::Glance;
use crate::built::Network;
use crate::error::{BuildError, Error};
use crate::node::{AnyFrame, Flow};
use crate::port::inputs::Inputs;
use crate::port::outputs::Outputs;
use crate::run::{Failed, Options, Prepared, Run};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use thalweg_graph::{GraphData, Link, Node, NodeId};
use thalweg_policy::Policy;

/// A graph of nodes and channels, to be built and run.
///
/// Its methods begin streams ([`source`](Graph::source), [`feedback`](Graph::feedback)) and add nodes that
/// have any number of streams ([`kernel`](Graph::kernel), [`process`](Graph::process),
/// [`coroutine`](Graph::coroutine), [`merge`](Graph::merge)). Operators with one input are methods of
/// [`Stream`]. Names are optional and unique: a name that is in use gets a suffix.
///
/// **Mistakes** in the use of these methods (a stream of another graph, settings that exclude each other, a
/// stream without a consumer) are errors of [`Graph::build`] and [`Graph::run`] that name the nodes and ports.
///
/// A `Graph` is a handle. Its streams and outputs keep the graph alive too, so it may be dropped before them;
/// [`Stream::graph`] returns another handle.
///
/// ```
/// use thalweg_runtime::{Graph, Options, output};
///
/// let graph = Graph::new();
/// let (even, odd) = graph
///     .source(0..10u64)
///     .kernel("split", (output("even"), output("odd")))
///     .sequential(|number, (even, odd)| {
///         let number = number.pop();
///         if number % 2 == 0 { even.push(number) } else { odd.push(number) }
///     });
/// let sums = even.zip(odd).par_map(|(even, odd)| even + odd).collect();
/// let run = graph.run_with(&Options::new().threads(2))?;
/// assert_eq!(run.take(sums)?, [1, 5, 9, 13, 17]);
/// # Ok::<(), thalweg_runtime::Error>(())
/// ```
pub struct Graph<'env> {
    pub(super) shared: Shared<'env>,
}

impl Default for Graph<'_> {
    fn default() -> Self {
        Graph { shared: Shared::new() }
    }
}

impl std::fmt::Debug for Graph<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A writer is user code, which must not be called under the lock.
        f.debug_struct("Graph").field("data", &self.data()).finish_non_exhaustive()
    }
}

/// The most inputs of a merge: its wait word has a bit for each.
const MERGED: usize = 64;

/// Maximum number of items in one firing of a node that passes on what has arrived: of a merge from one stream, before it
/// visits the next. The items of a firing that find no room wait in the node.
pub(super) const RUN: usize = 64;

impl<'env> Graph<'env> {
    /// A graph without nodes.
    pub fn new() -> Graph<'env> {
        Graph::default()
    }

    /// Adds a source: a node that pushes the items of an iterator. If the iterator waits for the outside world, make it
    /// [blocking](Stream::blocking).
    pub fn source<S>(&self, items: S) -> Stream<'env, S::Item>
    where
        S: IntoIterator,
        S::IntoIter: Send + 'env,
        S::Item: Send + 'env,
    {
        let mut items = items.into_iter();

        self.kernel("source", (), output("out")).sequential(move |(), out| match items.next() {
            Some(item) => {
                out.push(item);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        })
    }

    /// Adds a source with an iterator that may fail: the run fails with its first error.
    pub fn try_source<S, T, E>(&self, items: S) -> Stream<'env, T>
    where
        S: IntoIterator<Item = Result<T, E>>,
        S::IntoIter: Send + 'env,
        T: Send + 'env,
        E: Into<Box<dyn std::error::Error + Send + Sync>> + 'env,
    {
        let mut items = items.into_iter();

        self.kernel("source", (), output("out")).sequential(move |(), out| match items.next() {
            Some(Ok(item)) => {
                out.push(item);
                Flow::More
            }
            Some(Err(error)) => Flow::Fail(error.into()),
            None => Flow::End,
        })
    }

    /// Begins a kernel with the given ports; complete it with [`Kernel::sequential`] or
    /// [`Kernel::parallel`]. For one input there is [`Stream::kernel`].
    pub fn kernel<I, O>(&self, name: &str, inputs: I, outputs: O) -> Kernel<'env, I, O>
    where
        I: InputSpecs<'env> + 'env,
        O: OutputSpecs + 'env,
    {
        Kernel::new(self.shared.clone(), name, inputs, outputs)
    }

    /// Adds a Kahn process: sequential code with its own state that receives and sends, and waits
    /// while there is nothing to receive or no room to send. It shares the workers with all other
    /// nodes; to run one on a thread of its own, use [`Kernel::blocking`] and [`Kernel::process`].
    ///
    /// **One operation at a time.** A process must not poll two receives or sends at once (`select!`,
    /// `join!`, `FuturesUnordered`), drop one that is pending (a timeout around `recv`), or poll one
    /// with a waker of its own or inside of a parallel loop, [`join`](crate::join) or a task graph: such code
    /// can see which channel happens to be ready, and its result would depend on timing. The process fails at
    /// the attempt, with a message that says so. To wait for any of several inputs, use [`Graph::merge`],
    /// which says in the graph that it is not determinate, or choose the input by data.
    ///
    /// A process ends when its future completes. Then, or when it drops an end earlier, the stream of a
    /// [`Tx`](crate::Tx) ends, and items for an [`Rx`](crate::Rx) are discarded. An `Err` or a panic fails the run.
    /// The method returns the streams of the outputs and, if the process returns a [`Value`](super::Value), its
    /// [`Output`](super::Output).
    ///
    /// ```
    /// use thalweg_runtime::{Graph, output};
    ///
    /// let graph = Graph::new();
    /// let numbers = graph.process("count", (), output("out"), |(), mut out| async move {
    ///     for i in 0..10u64 {
    ///         out.send(i).await;
    ///     }
    /// });
    /// let sums = graph.process("sum", numbers, output("out"), |mut rx, mut tx| async move {
    ///     let mut sum = 0;
    ///     while let Some(i) = rx.recv().await {
    ///         sum += i;
    ///         tx.send(sum).await;
    ///     }
    /// });
    /// let sums = sums.collect().run()?.into_value();
    /// assert_eq!(sums, [0, 1, 3, 6, 10, 15, 21, 28, 36, 45]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn process<I, O, R, P, F>(
        &self,
        name: &str,
        inputs: I,
        outputs: O,
        body: F,
    ) -> R::Handles<'env, O::Streams<'env>>
    where
        I: InputSpecs<'env> + 'env,
        O: OutputSpecs + 'env,
        R: IntoEnding,
        R::Slot: 'env,
        P: Future<Output = R> + Send + 'env,
        F: FnOnce(<I::Ports as Inputs>::Receivers, <O::Ports as Outputs>::Senders) -> P + Send + 'env,
    {
        self.kernel(name, inputs, outputs).process(body)
    }

    /// Adds a channel whose producer is declared after its consumer, and which holds the items `initial`
    /// from the start. Close it with [`Stream::feed`].
    ///
    /// A loop ends when its inputs from outside have ended and nothing in it can fire any more. A loop of kernels without
    /// such inputs, a work-list, ends when all of them wait for items and its channels are empty; if items are left, or a
    /// process waits in it, the run fails with [`Error::Deadlock`]. What finishing functions push into the ended channel is
    /// left over.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use thalweg_runtime::{Graph, output};
    ///
    /// let graph = Graph::new();
    /// let (back, numbers) = graph.feedback([(0u64, 1u64)]);
    /// let (out, next) = numbers
    ///     .kernel("fibonacci", (output("out"), output("next")))
    ///     .sequential(|pair, (out, next)| {
    ///         let (a, b) = pair.pop();
    ///         out.push(a);
    ///         next.push((b, a + b));
    ///         if a > 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    ///     });
    /// next.feed(back);
    /// let numbers = out.collect().run()?.into_value();
    /// assert_eq!(numbers, [0, 1, 1, 2, 3, 5, 8, 13, 21]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn feedback<T: Send + 'env>(
        &self,
        initial: impl IntoIterator<Item = T>,
    ) -> (Feedback<'env, T>, Stream<'env, T>) {
        let initial: VecDeque<T> = initial.into_iter().collect();
        let link = Link::of::<T>().with_feedback(true).with_initial(initial.len());
        let mut draft = self.shared.draft();
        let (edge, cell) = draft.produce(None, initial, link);
        let number = draft.number();
        drop(draft);
        let back = Feedback { shared: self.shared.clone(), number, edge, cell: cell.clone() };
        (back, Stream { shared: self.shared.clone(), number, edge, cell, link, node: None, gate: None })
    }

    /// Merges at most 64 streams in the order in which items happen to arrive. **Not determinate**: the result
    /// depends on timing, and only the order within each stream is kept. If the order matters,
    /// choose the input by data with a framing function ([`Kernel::framed`]).
    pub fn merge<T: Send + 'env>(
        &self,
        streams: impl IntoIterator<Item = Stream<'env, T>>,
    ) -> Stream<'env, T> {
        let inputs: Vec<_> =
            streams.into_iter().enumerate().map(|(i, s)| input(&format!("in{i}"), s)).collect();
        let count = inputs.len();
        let mut kernel = self.kernel("merge", inputs, output("out"));
        let mut first = 0;
        kernel.frame = Some(Box::new(AnyFrame(move |inputs: &Vec<Glance<T>>, takes: &mut [usize]| {
            for i in (0..count).map(|i| (first + i) % count) {
                if inputs[i].arrived() > 0 {
                    takes[i] = inputs[i].arrived().min(RUN);
                    first = i + 1;
                    return 0;
                }
            }
            inputs.iter().enumerate().filter(|(_, s)| !s.ended()).fold(0, |mask, (i, _)| mask | 1 << i)
        })));
        let (node, merged) = kernel.add_sequential(
            |inputs, out| {
                inputs.iter_mut().for_each(|input| pass_all(input, out));
            },
            true,
        );
        if count > MERGED {
            let why = format!("{count} inputs: a merge has at most {MERGED}, so merge in two steps");
            self.shared.draft().mistake(Mistake::Node(node, why));
        }
        merged
    }

    /// Adds the consuming end of a stream that is held outside of the graph (an outlet).
    pub(crate) fn external<T: Send + 'env>(
        &self,
        name: &str,
        stream: Stream<'env, T>,
    ) -> (NodeId, std::sync::Arc<crate::built::RingCell<T>>) {
        let port = thalweg_graph::InPort::new("in", thalweg_graph::Item::of::<T>());
        let mut node = Node::sequential(name).input(port);
        *node.blocking_mut() = true;
        let mut draft = self.shared.draft();
        let id = draft.add(node);
        draft.add_code(None);
        (id, draft.consume(stream, (id, 0)))
    }

    /// The nodes so far and the channels between them, to be printed or analysed.
    pub fn data(&self) -> GraphData {
        self.shared.draft().connected()
    }

    /// Checks the graph and moves its nodes out. Later calls on this graph's handles have no effect on it.
    ///
    /// # Errors
    /// All mistakes made with its methods; if there are none, all faults found: streams without a consumer,
    /// feedback channels that were not closed, inconsistent
    /// static rates, cycles that can never start. A graph that was built already is a fault too.
    pub fn build(self) -> Result<Network<'env>, BuildError> {
        self.shared.build()
    }

    /// Builds the graph and makes everything that a run needs except its threads: to inspect the plan, or to get a
    /// [`Handle`](crate::Handle) that stops the run.
    ///
    /// # Errors
    /// As [`Graph::build`] and [`Options`].
    pub fn prepare(self, options: &Options) -> Result<Prepared<'env>, Error> {
        self.build()?.prepare(options)
    }

    /// Builds the graph and runs it to its end with default options: on this thread and as many more as the process may
    /// use.
    ///
    /// # Errors
    /// As [`Graph::build`]; [`Failed`] says why a run ended early, and has what it has done until then.
    pub fn run(self) -> Result<Run, Failed> {
        self.run_with(&Options::new())
    }

    /// Builds the graph and runs it to its end, on this thread and as many more as the options say.
    ///
    /// # Errors
    /// As [`Graph::run`].
    pub fn run_with(self, options: &Options) -> Result<Run, Failed> {
        self.build().map_err(Error::Build)?.run_with(options)
    }

    /// Builds the graph and runs it under a policy of the caller's own.
    ///
    /// # Errors
    /// As [`Graph::run`].
    pub fn run_under<P: Policy>(self, policy: &P, options: &Options) -> Result<Run, Failed> {
        self.prepare(options)?.run_under(policy)
    }
}

impl<'env, T: Send + 'env> Stream<'env, T> {
    /// Begins a kernel with this stream as its only input; complete it with [`Kernel::sequential`] or
    /// [`Kernel::parallel`]. For several inputs there is [`Graph::kernel`].
    pub fn kernel<O: OutputSpecs + 'env>(self, name: &str, outputs: O) -> Kernel<'env, Self, O> {
        Kernel::new(self.shared.clone(), name, self, outputs)
    }
}
