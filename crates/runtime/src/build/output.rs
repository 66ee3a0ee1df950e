//! Values that nodes return, and how the caller takes them from the finished run.
//!
//! The node and its [`Output`] share a slot:
//!
//! | the slot is | entered by | left by |
//! |---|---|---|
//! | empty | the declaration of the node | a sink, when the run drops it ([`Settle`]); a process, when it returns a [`Value`] |
//! | full | that node | [`Run::take`]; the result of the run that the output has started; the drop of the slot |
//!
//! A run returns only after its nodes have ended and are dropped, so it finds every value in its slot. A slot
//! remains empty if its node has not returned: it was ended early, or belongs to a graph that was not run.

use super::draft::Shared;
use super::graph::Graph;
use super::stream::Stream;
use crate::contain::drop_quietly;
use crate::error::Error;
use crate::node::Flow;
use crate::process::Ending;
use crate::run::{Failed, Options, Prepared, Run, Wanted};
use crate::sync::{Mutex, lock};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use thalweg_graph::{Footprint, NodeId};

/// The value that a node returns by the end of the run: that of a sink ([`Stream::fold`], [`Stream::collect`]), or of a
/// process or coroutine that returns [`Value`].
///
/// Run the graph and take this value ([`Output::run`]), or take it from the finished run of the graph ([`Run::take`]). A
/// process with an output runs to its end even if no other node reads what it sends. Only a drained run
/// ([`Handle::drain`](crate::Handle::drain)) ends a process without inputs earlier. If the output is dropped, the value
/// is dropped with its node.
///
/// ```
/// use thalweg_runtime::Graph;
///
/// let sum = Graph::new().source(0..100u64).fold(0, |sum, x| sum + x).run()?;
/// assert_eq!(*sum, 4950);
/// assert_eq!(sum.report().nodes().len(), 2);
/// # Ok::<(), thalweg_runtime::Error>(())
/// ```
pub struct Output<'env, T> {
    pub(super) shared: Shared<'env>,
    /// The number of its graph.
    pub(super) number: usize,
    pub(super) node: NodeId,
    pub(super) slot: Arc<Slot<T>>,
}

/// The slot of a node's value.
pub(crate) struct Slot<T> {
    value: Mutex<Option<T>>,
    /// Whether the value is no result and waits only to be dropped. Set before the value is put, whose lock orders it.
    is_void: AtomicBool,
    /// Drops a value that was not taken; `drop` if it is not set.
    discard: OnceLock<fn(T)>,
}

impl<T> Slot<T> {
    fn new() -> Slot<T> {
        Slot { value: Mutex::new(None), is_void: AtomicBool::new(false), discard: OnceLock::new() }
    }

    fn put(&self, value: Option<T>) {
        *lock(&self.value) = value;
    }

    pub(crate) fn take(&self) -> Option<T> {
        let mut value = lock(&self.value);
        if self.is_void.load(Ordering::Relaxed) { None } else { value.take() }
    }

    /// Drops a value of this slot.
    pub(crate) fn discards(&self) -> fn(T) {
        self.discard.get().copied().unwrap_or(drop)
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        if let Some(value) = lock(&self.value).take() {
            self.discards()(value);
        }
    }
}

impl<T> std::fmt::Debug for Output<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("node", &self.node).finish_non_exhaustive()
    }
}

impl<'env, T> Output<'env, T> {
    /// The graph that it belongs to.
    pub fn graph(&self) -> Graph<'env> {
        Graph { shared: self.shared.clone() }
    }

    /// Names the node, for reports and errors. If another node has the name, it gets a suffix.
    pub fn named(self, name: &str) -> Self {
        self.shared.rename(Some(self.node), None, name);
        self
    }

    /// Gives the node a thread of its own, because it waits for files or sockets.
    pub fn blocking(self) -> Self {
        self.shared.block(Some(self.node));
        self
    }

    /// Declares how many bytes the node's firings use again and again beside their items. See
    /// [`Kernel::state_bytes`](super::Kernel::state_bytes).
    pub fn state_bytes(self, bytes: u64) -> Self {
        let declared = Footprint::Declared(bytes);
        self.shared.declare(Some(self.node), |graph, node| graph.set_footprint(node, declared));
        self
    }

    /// Declares the processor time of a firing, for a plan of a graph that never ran. See
    /// [`Kernel::firing_time`](super::Kernel::firing_time).
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::time::Duration;
    /// use thalweg_plan::Profile;
    /// use thalweg_runtime::{Graph, output};
    ///
    /// let mut left = 100u64;
    /// let numbers = Graph::new().kernel("numbers", (), output("out").push(1)).firing_time(Duration::from_nanos(10));
    /// let numbers = numbers.sequential(move |(), out| {
    ///     let Some(less) = left.checked_sub(1) else { return ControlFlow::Break(()) };
    ///     left = less;
    ///     out.push(less);
    ///     ControlFlow::Continue(())
    /// });
    /// let sum = numbers.fold(0, |sum, x| sum + x).firing_time(Duration::from_nanos(20)).state_bytes(8);
    /// let profile = Profile::declared(&sum.graph().data())?;
    /// let node = profile.nodes()[1];
    /// assert_eq!((node.busy(), node.state().bytes()), (Duration::from_nanos(20), 8));
    /// assert_eq!(*sum.run()?, 4950);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn firing_time(self, time: Duration) -> Self {
        self.shared.declare(Some(self.node), |graph, node| graph.declare_time(node, time));
        self
    }

    /// Runs the whole graph to its end with default options, and takes this value.
    ///
    /// # Errors
    /// As [`Graph::run`].
    pub fn run(self) -> Result<Run<T>, Failed<T>> {
        self.run_with(&Options::new())
    }

    /// Runs the whole graph to its end, and takes this value.
    ///
    /// # Errors
    /// As [`Graph::run`].
    pub fn run_with(self, options: &Options) -> Result<Run<T>, Failed<T>> {
        self.prepare(options)?.run()
    }

    /// Builds the graph and makes everything that a run needs except its threads: to stop or observe the run by a
    /// [`Handle`](crate::Handle), or to inspect its plan.
    ///
    /// ```
    /// use thalweg_runtime::{Error, Graph, Options};
    ///
    /// let prepared = Graph::new().source(0u64..).take(10).collect().prepare(&Options::new())?;
    /// let handle = prepared.handle(); // for another thread, or a signal
    /// handle.cancel();
    /// let failed = prepared.run().unwrap_err();
    /// assert!(matches!(failed.error(), Error::Cancelled));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Graph::prepare`].
    pub fn prepare(self, options: &Options) -> Result<Prepared<'env, T>, Error> {
        let wanted = Wanted::Output(self.slot.clone(), self.node);
        match self.graph().prepare(options) {
            Ok(prepared) => Ok(prepared.wanting(wanted)),
            Err(error) => {
                drop_quietly((self, wanted));
                Err(error)
            }
        }
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    pub(crate) fn slot(&self) -> &Slot<T> {
        &self.slot
    }
}

impl<T> Output<'_, T> {
    /// Lets `discard` drop a value that is not taken: of a collection that the engine has made, each item by itself.
    pub(super) fn discarded_by(self, discard: fn(T)) -> Self {
        _ = self.slot.discard.set(discard);
        self
    }
}

/// The value of a sink while it runs. Its drop, with the node's code, moves the result to the slot, so that no firing
/// locks.
pub(super) struct Settle<T, V> {
    /// `None` while a folding function has the value, and if that has panicked or failed.
    pub(super) value: Option<T>,
    /// Whether the sink's function is changing the value, or has failed or panicked while it did: then the value is no result.
    /// It goes to the slot all the same, which drops it where a panic of the drop ends no other one.
    pub(super) is_changing: bool,
    /// Makes the result of the value.
    finish: fn(T) -> Option<V>,
    slot: Arc<Slot<V>>,
}

impl<T, V> Settle<T, V> {
    /// A value, and the slot that the result which `finish` makes of it will be moved to.
    pub(super) fn new(value: T, finish: fn(T) -> Option<V>) -> (Settle<T, V>, Arc<Slot<V>>) {
        let slot = Arc::new(Slot::new());
        (Settle { value: Some(value), is_changing: false, finish, slot: slot.clone() }, slot)
    }
}

impl<T, V> Drop for Settle<T, V> {
    fn drop(&mut self) {
        if self.is_changing {
            self.slot.is_void.store(true, Ordering::Relaxed);
        }
        self.slot.put(self.value.take().and_then(self.finish));
    }
}

/// The result of a process or coroutine that has an [`Output`]: it returns `Value(sum)`, or `Ok(Value(sum))`.
///
/// ```
/// use thalweg_runtime::{Graph, Value};
///
/// let graph = Graph::new();
/// let numbers = graph.source(0..10u64);
/// let total = graph.process("total", numbers, (), |mut numbers, ()| async move {
///     let mut total = 0;
///     while let Some(number) = numbers.recv().await {
///         total += number;
///     }
///     Value(total)
/// });
/// assert_eq!(*total.run()?, 45);
/// # Ok::<(), thalweg_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value<T>(pub T);

/// The results that a process or coroutine may return: nothing, a [`Value`], a [`ControlFlow`], or a `Result` of these,
/// whose error fails the run.
#[diagnostic::on_unimplemented(
    message = "a process cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "a process returns `()`, `Value(result)` to have an `Output` of it, or a `Result` of either"
)]
pub trait IntoEnding {
    /// The slot of its value; `()` for a result without a value.
    #[doc(hidden)]
    type Slot: Clone + Default + Send + Sync;
    /// The handles that the declaration of the process returns: its streams, and its output if it returns a value.
    type Handles<'env, S: Streams>;
    /// Whether it returns a value.
    #[doc(hidden)]
    const RETURNS: bool;
    /// Moves the value to the slot, and returns how the node ends.
    #[doc(hidden)]
    fn settle(self, slot: &Self::Slot) -> Flow;
    /// The handles of a declared process.
    #[doc(hidden)]
    fn handles<'env, S: Streams>(streams: S, output: OutputOf<'env, Self::Slot>) -> Self::Handles<'env, S>;
}

impl<R: IntoEnding> Ending<R::Slot> for R {
    #[inline(always)]
    fn settle(self, slot: &R::Slot) -> Flow {
        IntoEnding::settle(self, slot)
    }
}

/// An [`Output`] before it is known whether `S` is the slot of a value.
#[doc(hidden)]
pub struct OutputOf<'env, S> {
    pub(super) shared: Shared<'env>,
    pub(super) number: usize,
    pub(super) node: NodeId,
    pub(super) slot: S,
}

impl<S> std::fmt::Debug for OutputOf<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutputOf").field("node", &self.node).finish_non_exhaustive()
    }
}

/// The slot of a value, shared by node and output.
#[doc(hidden)]
pub struct ValueSlot<T>(Arc<Slot<T>>);

impl<T> std::fmt::Debug for ValueSlot<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ValueSlot")
    }
}

impl<T> Clone for ValueSlot<T> {
    fn clone(&self) -> Self {
        ValueSlot(self.0.clone())
    }
}

impl<T> Default for ValueSlot<T> {
    fn default() -> Self {
        ValueSlot(Arc::new(Slot::new()))
    }
}

/// Implements [`IntoEnding`] for a result without a value.
macro_rules! without_value {
    ($Type:ty, |$it:ident| $flow:expr) => {
        impl IntoEnding for $Type {
            type Slot = ();
            type Handles<'env, S: Streams> = S;
            const RETURNS: bool = false;

            #[inline(always)]
            fn settle(self, (): &()) -> Flow {
                let $it = self;
                $flow
            }
            fn handles<'env, S: Streams>(streams: S, _: OutputOf<'env, ()>) -> S {
                streams
            }
        }
    };
}

without_value!((), |_nothing| Flow::More);
without_value!(Flow, |flow| flow);
without_value!(ControlFlow<()>, |_either| Flow::End);

impl<T: Send> IntoEnding for Value<T> {
    type Slot = ValueSlot<T>;
    type Handles<'env, S: Streams> = S::And<Output<'env, T>>;
    const RETURNS: bool = true;

    fn settle(self, slot: &ValueSlot<T>) -> Flow {
        slot.0.put(Some(self.0));
        Flow::End
    }
    fn handles<'env, S: Streams>(
        streams: S,
        output: OutputOf<'env, ValueSlot<T>>,
    ) -> S::And<Output<'env, T>> {
        let OutputOf { shared, number, node, slot } = output;
        streams.and(Output { shared, number, node, slot: slot.0 })
    }
}

impl<R: IntoEnding, E: Into<Box<dyn std::error::Error + Send + Sync>>> IntoEnding for Result<R, E> {
    type Slot = R::Slot;
    type Handles<'env, S: Streams> = R::Handles<'env, S>;
    const RETURNS: bool = R::RETURNS;

    fn settle(self, slot: &R::Slot) -> Flow {
        match self {
            Ok(ending) => ending.settle(slot),
            Err(error) => Flow::Fail(error.into()),
        }
    }
    fn handles<'env, S: Streams>(streams: S, output: OutputOf<'env, R::Slot>) -> R::Handles<'env, S> {
        R::handles(streams, output)
    }
}

/// The streams of a node, with or without its [`Output`].
pub trait Streams {
    /// The streams and a value: only the value if the node has no streams, otherwise a pair.
    type And<V>;
    /// Pairs the streams with a value.
    #[doc(hidden)]
    fn and<V>(self, value: V) -> Self::And<V>;
}

impl Streams for () {
    type And<V> = V;

    fn and<V>(self, value: V) -> V {
        value
    }
}

macro_rules! pair {
    ([$($generic:tt)*] $Type:ty) => {
        impl<$($generic)*> Streams for $Type {
            type And<V> = (Self, V);

            fn and<V>(self, value: V) -> (Self, V) {
                (self, value)
            }
        }
    };
}

pair!(['env, T] Stream<'env, T>);
pair!(['env, T] Vec<Stream<'env, T>>);
pair!(['env, A, B] (Stream<'env, A>, Stream<'env, B>));
pair!(['env, A, B, C] (Stream<'env, A>, Stream<'env, B>, Stream<'env, C>));
pair!(['env, A, B, C, D] (Stream<'env, A>, Stream<'env, B>, Stream<'env, C>, Stream<'env, D>));
pair!(['env, A, B, C, D, E]
    (Stream<'env, A>, Stream<'env, B>, Stream<'env, C>, Stream<'env, D>, Stream<'env, E>));
pair!(['env, A, B, C, D, E, F]
    (Stream<'env, A>, Stream<'env, B>, Stream<'env, C>, Stream<'env, D>, Stream<'env, E>, Stream<'env, F>));
