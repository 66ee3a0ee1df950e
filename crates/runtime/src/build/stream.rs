//! A stream: an output without a consumer, and the settings of its node and channel.

use super::draft::Shared;
use super::graph::Graph;
use super::mistake::Mistake;
use crate::built::RingCell;
use crate::contain::Contained;
use std::sync::Arc;
use std::time::Duration;
use thalweg_graph::{Bounds, Footprint, GraphData, Kind, Link, Node, NodeId};

/// The items of one output of a node, in order.
///
/// Its methods are the operators (`map`, `filter`, `zip`, ...): each consumes the stream, adds a node to its
/// graph and returns the node's stream or [`Output`](super::Output). A channel has exactly one consumer, so a stream can be
/// consumed once. To send its items to several consumers, split it: [`tee`](Stream::tee), [`partition`](Stream::partition),
/// [`deal`](Stream::deal), or a [kernel](Stream::kernel) with several outputs.
///
/// **Streams without a consumer.** Running a graph fails, before anything runs, with an error that names
/// every output whose stream was not consumed. [`Stream::discard`] consumes a stream that is not needed.
///
/// **Settings.** Operators that begin with `par_` process any number of items at a time and keep no state; the
/// others process one item at a time, in order, and may keep state. Results are in the order of the items either way.
/// [`named`](Stream::named), [`blocking`](Stream::blocking), [`unordered`](Stream::unordered) and
/// [`workers`](Stream::workers) are settings of the node that produces the stream, [`capacity`](Stream::capacity)
/// and [`weigh`](Stream::weigh) of the channel that carries it.
///
/// ```
/// use thalweg_runtime::{Graph, Options};
///
/// let graph = Graph::new();
/// let squares = graph.source(1..=5u64).par_map(|x| x * x).named("square").capacity(16).collect();
/// let run = graph.run_with(&Options::new().threads(2))?;
/// assert_eq!(run.take(squares)?, [1, 4, 9, 16, 25]);
/// # Ok::<(), thalweg_runtime::Error>(())
/// ```
#[must_use = "a stream without a consumer makes its graph incomplete: consume it, or call `discard`"]
pub struct Stream<'env, T> {
    pub(super) shared: Shared<'env>,
    /// The number of its graph.
    pub(super) number: usize,
    pub(super) edge: usize,
    pub(super) cell: Arc<RingCell<T>>,
    pub(super) link: Link,
    /// The node that produces the stream and has its settings; `None` for a feedback channel.
    pub(super) node: Option<NodeId>,
    /// A second node of the same operator, and the suffix of its name after that of the first.
    pub(super) gate: Option<(NodeId, &'static str)>,
}

impl<T> std::fmt::Debug for Stream<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("edge", &self.edge).finish_non_exhaustive()
    }
}

impl<'env, T> Stream<'env, T> {
    /// The graph that it belongs to.
    pub fn graph(&self) -> Graph<'env> {
        Graph { shared: self.shared.clone() }
    }

    /// Names the node that produces the stream, for reports and errors. A name that is in use gets a suffix.
    pub fn named(self, name: &str) -> Self {
        self.shared.rename(self.node, self.gate, name);
        self.early("named")
    }

    /// Sets the number of items that the channel can hold. By default the plan chooses it. The plan raises a capacity that
    /// is too small for one firing. A channel of items without a size takes no memory, and holds at most 2^56 items on
    /// 64-bit machines.
    pub fn capacity(mut self, items: usize) -> Self {
        self.link = self.link.with_capacity(items);
        self
    }

    /// Weighs the items: each counts as `bytes(item)` against the run's byte budget.
    pub fn weigh(mut self, bytes: impl Fn(&T) -> usize + Send + Sync + 'static) -> Self {
        self.link = self.link.with_weighed(true);
        let bytes = Contained::new(bytes);
        drop(self.cell.set_weigh(Some(Arc::new(move |item: &T| bytes(item)))));
        self
    }

    /// Treats the items as those of type `U`, where the items own memory only in rare cases.
    #[doc(hidden)]
    pub fn owns_as<U>(mut self) -> Self {
        self.link = self.link.with_owns(Link::of::<U>().owns());
        self
    }

    /// Runs the node on a thread of its own, or a source on an additional worker, because it waits for files or sockets: see
    /// [`Kernel::blocking`](super::Kernel::blocking). Not for a parallel node.
    pub fn blocking(self) -> Self {
        self.shared.block(self.node);
        self.early("blocking")
    }

    /// Lets a parallel node publish each result when it is complete, instead of in the order of the items.
    /// **Not determinate,** except after [`par_iterate`](Stream::par_iterate) and [`par_fork_join`](Stream::par_fork_join). See
    /// [`Kernel::unordered`](super::Kernel::unordered).
    pub fn unordered(self) -> Self {
        self.shared.set_parallel(self.node, "unordered", |node| *node.unordered_mut() = true);
        self.early("unordered")
    }

    /// Lets a worker begin with the node although it has inputs. See [`Kernel::starting`](super::Kernel::starting).
    pub fn starting(self) -> Self {
        self.shared.set(self.node, |node| {
            *node.starting_mut() = true;
            Ok(())
        });
        self.early("starting")
    }

    /// Lets at most `most` workers, at least one, fire a parallel node at the same time.
    pub fn workers(self, most: u32) -> Self {
        self.shared.set_parallel(self.node, "workers", |node| *node.workers_mut() = Some(most));
        self.at_least_one("workers", most as usize);
        self.early("workers")
    }

    /// Declares how many bytes the node's firings use again and again beside their items. See
    /// [`Kernel::state_bytes`](super::Kernel::state_bytes).
    pub fn state_bytes(self, bytes: u64) -> Self {
        self.shared.declare(self.node, |graph, node| graph.set_footprint(node, Footprint::Declared(bytes)));
        self.early("state_bytes")
    }

    /// Declares the processor time of a firing, for a plan of a graph that never ran. See
    /// [`Kernel::firing_time`](super::Kernel::firing_time).
    pub fn firing_time(self, time: Duration) -> Self {
        self.shared.declare(self.node, |graph, node| graph.declare_time(node, time));
        self.early("firing_time")
    }

    /// Declares the most items that a firing of the node pops, by which the plan chooses the capacity of its input.
    pub(super) fn pops_at_most(&self, count: usize) {
        self.shared.set(self.node, |node| {
            *node.inputs_mut()[0].bounds_mut() = Some(Bounds::new(0, None, Some(count as u64)));
            Ok(())
        });
    }

    /// Adds a mistake if a setting of the node is 0 and must not be.
    pub(super) fn at_least_one(&self, setting: &str, count: usize) {
        if let Some(node) = self.node.filter(|_| count == 0) {
            self.shared.draft().mistake(Mistake::Node(node, format!("`{setting}` 0: at least 1 is needed")));
        }
    }

    /// Adds a mistake if a setting of a node was made on a feedback channel, whose producer is not known yet.
    fn early(self, setting: &'static str) -> Self {
        if self.node.is_none() {
            let why = format!(
                "cannot have `{setting}`, a setting of a node: set it on the stream that closes the channel"
            );
            self.shared.draft().mistake(Mistake::Feedback(self.edge, why));
        }
        self
    }

    /// Closes a feedback channel: the items of this stream go through it. See [`Graph::feedback`].
    ///
    /// A stream of another graph, or a stream that is itself a feedback channel, is a
    /// mistake that [`Graph::build`] reports.
    pub fn feed(self, feedback: Feedback<'env, T>)
    where
        T: Send + 'env,
    {
        let mut draft = feedback.shared.draft();
        if self.number != feedback.number {
            let why = "cannot be closed: it was given a stream of another graph";
            draft.mistake(Mistake::Feedback(feedback.edge, why.to_owned()));
        } else if self.link.feedback() {
            let why =
                "cannot be closed: it was given the stream of a feedback channel: pass that through a node";
            draft.mistake(Mistake::Feedback(feedback.edge, why.to_owned()));
        } else {
            draft.feed(self, (feedback.edge, &feedback.cell));
        }
    }
}

/// The producing end of a feedback channel, to be closed with [`Stream::feed`].
#[must_use = "a feedback channel needs a producer: close it with `Stream::feed`"]
pub struct Feedback<'env, T> {
    pub(super) shared: Shared<'env>,
    pub(super) number: usize,
    pub(super) edge: usize,
    pub(super) cell: Arc<RingCell<T>>,
}

impl<T> std::fmt::Debug for Feedback<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feedback").field("edge", &self.edge).finish_non_exhaustive()
    }
}

/// Settings of a node, made through its streams and outputs.
impl Shared<'_> {
    /// Renames a node and, if its operator consists of two nodes, the gate.
    pub(super) fn rename(&self, node: Option<NodeId>, gate: Option<(NodeId, &str)>, name: &str) {
        let mut draft = self.draft();
        if let Some(node) = node.filter(|node| draft.has(*node)) {
            draft.graph.rename(node, name);
        }
        if let Some((gate, suffix)) = gate.filter(|(gate, _)| draft.has(*gate)) {
            draft.graph.rename(gate, &format!("{name}.{suffix}"));
        }
    }

    pub(super) fn block(&self, node: Option<NodeId>) {
        self.set(node, |node| match node.kind() {
            Kind::Parallel => Err("`blocking`: it is parallel, and its firings share the workers".to_owned()),
            _ => {
                *node.blocking_mut() = true;
                Ok(())
            }
        });
    }

    pub(super) fn set_parallel(&self, node: Option<NodeId>, what: &str, set: impl FnOnce(&mut Node)) {
        self.set(node, |node| match node.kind() {
            Kind::Parallel => {
                set(node);
                Ok(())
            }
            _ => Err(format!("`{what}`: it is not parallel")),
        });
    }

    pub(super) fn set(&self, node: Option<NodeId>, set: impl FnOnce(&mut Node) -> Result<(), String>) {
        let mut draft = self.draft();
        if let Some(id) = node.filter(|id| draft.has(*id))
            && let Err(why) = set(draft.graph.node_mut(id))
        {
            draft.mistake(Mistake::Node(id, why));
        }
    }

    /// Declares something of a node, which no run depends on.
    pub(super) fn declare(&self, node: Option<NodeId>, declare: impl FnOnce(&mut GraphData, NodeId)) {
        let mut draft = self.draft();
        if let Some(id) = node.filter(|id| draft.has(*id)) {
            declare(&mut draft.graph, id);
        }
    }
}
