//! Nodes with user code: kernels and processes.
//!
//! A [`Kernel`] collects settings; the method that takes its code adds the node. That method, in this order:
//!
//! 1. declares the node in the graph's terms, and collects the settings that its kind excludes as mistakes;
//! 2. locks the draft, adds the node and connects its ports ([`attach`]);
//! 3. adds the maker of its code, a closure that is called when a run is prepared, and has the user's function.
//!
//! Step 3 follows step 2 under one lock, since the makers of code are numbered as the nodes are. User code runs in no
//! step.

use super::draft::{Draft, Shared, Site};
use super::mistake::Mistake;
use super::output::{IntoEnding, OutputOf};
use super::spec::{InputSpecs, OutputSpecs};
use crate::NotYet;
use crate::built::MakeNode;
use crate::contain::Contained;
#[cfg(feature = "coroutines")]
use crate::coroutine::STACK;
use crate::node::{Code, Finish, FrameFn, IntoFlow, IntoResult, NodeLimits, Parallel, Whole};
use crate::node::{Sequential, SequentialCode, Steps};
use crate::port::inputs::Inputs;
use crate::port::outputs::Outputs;
use crate::process::Process;
use crate::seal::EngineOnly;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use thalweg_graph::{Footprint, Node, NodeId, OutPort, Rate};

/// A kernel with declared ports and without code.
///
/// Settings come first, the code last: [`sequential`](Kernel::sequential), [`parallel`](Kernel::parallel),
/// [`process`](Kernel::process) or [`coroutine`](Kernel::coroutine). Settings that the kind of code excludes are
/// mistakes, which [`Graph::build`](super::Graph::build) reports.
#[must_use = "a kernel needs its code: `sequential`, `parallel`, `process` or `coroutine`"]
pub struct Kernel<'env, I: InputSpecs<'env>, O: OutputSpecs> {
    pub(super) shared: Shared<'env>,
    pub(super) name: String,
    pub(super) inputs: I,
    pub(super) outputs: O,
    /// The node gets a thread of its own.
    pub(super) blocking: bool,
    pub(super) frame: Option<Box<dyn FrameFn<I::Ports> + 'env>>,
    pub(super) finish: Option<Finish<'env, O::Ports>>,
    /// The size of a coroutine's stack, in bytes.
    #[cfg(feature = "coroutines")]
    pub(super) stack: usize,
    /// A worker may begin with the node although it has inputs.
    pub(super) starting: bool,
    /// A parallel kernel publishes in any order.
    pub(super) unordered: bool,
    /// The greatest number of workers that fire a parallel kernel at the same time.
    pub(super) workers: Option<u32>,
    pub(super) declared: Declared,
    /// The share of [`Kernel::request_budget`], set when the node is made.
    kept: Option<Arc<AtomicUsize>>,
}

impl<'env, I: InputSpecs<'env>, O: OutputSpecs> std::fmt::Debug for Kernel<'env, I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What the user says of a node for mappers. No answer depends on it.
#[derive(Clone, Copy, Default)]
pub(super) struct Declared {
    state: Option<u64>,
    time: Option<Duration>,
}

/// Minimum size of a closure that is recorded as state, in bytes: a few blocks of a cache. A smaller one, which may have captured references, says
/// nothing of what its node uses.
const MIN_CLOSURE_BYTES: usize = 256;

impl Declared {
    /// Records it; without a declared state the size of the node's closure, as a lower bound.
    pub(super) fn note(self, draft: &mut Draft<'_>, node: NodeId, closure: usize) {
        match self.state {
            Some(bytes) => draft.graph.set_footprint(node, Footprint::Declared(bytes)),
            None if closure >= MIN_CLOSURE_BYTES => {
                draft.graph.set_footprint(node, Footprint::AtLeast(closure as u64));
            }
            None => {}
        }
        if let Some(time) = self.time {
            draft.graph.declare_time(node, time);
        }
    }
}

/// The ports and streams of an added node.
pub(super) struct Attached<I, O, S> {
    pub(super) node: NodeId,
    pub(super) ins: I,
    pub(super) outs: O,
    pub(super) streams: S,
}

impl<'env, I, O> Kernel<'env, I, O>
where
    I: InputSpecs<'env> + 'env,
    O: OutputSpecs + 'env,
{
    /// A kernel without settings.
    pub(super) fn new(shared: Shared<'env>, name: &str, inputs: I, outputs: O) -> Self {
        Kernel {
            shared,
            name: name.to_owned(),
            inputs,
            outputs,
            blocking: false,
            frame: None,
            finish: None,
            #[cfg(feature = "coroutines")]
            stack: STACK,
            starting: false,
            unordered: false,
            workers: None,
            declared: Declared::default(),
            kept: None,
        }
    }

    /// Requests a share of the byte budget for items that the node keeps. The result is set to the bytes when the node
    /// is made.
    pub(super) fn request_budget(&mut self) -> Arc<AtomicUsize> {
        self.shared.draft().budget_sharers += 1;
        self.kept.get_or_insert_default().clone()
    }

    /// Runs the kernel on a thread of its own, because its firings wait for the outside world (files, sockets). It
    /// publishes after every firing. Not for parallel kernels.
    ///
    /// A source of items that own memory has no such thread under the policy `auto`: the run has one worker more instead,
    /// and any worker fires the source and goes on with what it has made, as long as firings are short. So a source that
    /// seldom waits costs little more than one that is not blocking. At most [`threads`](crate::Options::threads) workers fire other
    /// nodes. An item waits for the next one for one or two milliseconds at most, and not at all if one of the 256 firings
    /// before it has waited. If the options choose another policy, a plan, pinned threads, their stacks or
    /// [one thread for each node](crate::Options::thread_per_node), or in a counted run, the source has its thread.
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// Makes consumption depend on the data. Before each firing, in order, the function peeks at
    /// the inputs and returns the number of items that the firing pops from each, or `None` if the node
    /// ends. It calls [`Glance::peek`](crate::Glance::peek) and propagates [`NotYet`] with `?`. It is called again
    /// when more items have arrived, so it must not change its state before it returns `Ok`. Its result cannot
    /// depend on timing. The framing function of a parallel kernel is sequential; the firings run in parallel.
    /// It is called for several firings before the first of them begins, so those wait while it computes: do the work in the
    /// firing.
    ///
    /// Each firing pops at least one item, from any of the inputs. A function that returns 0 for all of them fails the
    /// run: the node would fire for ever without a change of its inputs.
    pub fn framed(
        mut self,
        frame: impl FnMut(
            &<I::Ports as Inputs>::Glances,
        ) -> Result<Option<<I::Ports as Inputs>::PopCounts>, NotYet>
        + Send
        + 'env,
    ) -> Self {
        let mut frame = Contained::new(frame);
        self.frame = Some(Box::new(move |inputs: &<I::Ports as Inputs>::Glances| frame(inputs)));
        self
    }

    /// Lets a worker begin with this kernel although it has inputs, for example because a loop holds
    /// initial items. The result does not depend on it. (DANBI, section III-A1: the initial schedule of
    /// `qes`, `pss` and `prs`. No other policy reads it: `random` deals all nodes, and the others follow the data.)
    pub fn starting(mut self) -> Self {
        self.starting = true;
        self
    }

    /// Lets a parallel kernel publish the items of a firing when that firing has ended, instead of in
    /// the order of the inputs. **Not determinate**: the result depends on timing. The graph marks
    /// the node as unordered. A slow firing then delays only its own results; at most one
    /// reorder window of later results overtakes it.
    pub fn unordered(mut self) -> Self {
        self.unordered = true;
        self
    }

    /// Lets at most `most` workers fire a parallel kernel at the same time, at least one: for
    /// firings that share something scarce, such as memory bandwidth or a licence.
    pub fn workers(mut self, most: u32) -> Self {
        self.workers = Some(most);
        self
    }

    /// Declares how many bytes the firings read and write again and again beside their items: state, tables, weights. A
    /// plan from a profile keeps nodes together whose bytes fit into a cache ([`thalweg_plan::mappers`]). No answer depends
    /// on it.
    pub fn state_bytes(mut self, bytes: u64) -> Self {
        self.declared.state = Some(bytes);
        self
    }

    /// Declares the processor time of a firing, from which a plan is made for a graph that never ran. A measured time
    /// replaces it.
    pub fn firing_time(mut self, time: Duration) -> Self {
        self.declared.time = Some(time);
        self
    }

    /// Sets a function that is called once after the last firing of a sequential kernel, to push the items that the
    /// kernel still holds. The outputs need dynamic rates, since this is not a firing.
    pub fn finish(
        mut self,
        finish: impl for<'f> FnOnce(&mut <O::Ports as Outputs>::Cursors<'f>) + Send + 'env,
    ) -> Self {
        let finish = Contained::new(finish);
        self.finish = Some(Box::new(move |outs| finish.into_inner()(outs)));
        self
    }

    /// Adds a sequential kernel: one firing at a time, in order, with state. Returns the streams of the outputs.
    ///
    /// Items that a firing pushes beyond the room of an output with a dynamic rate are kept until they fit: its closure
    /// cannot be interrupted. [`Stream::flat_map`](super::Stream::flat_map) has no such limit.
    pub fn sequential<R, F>(self, fire: F) -> O::Streams<'env>
    where
        R: IntoFlow + 'env,
        F: for<'f> FnMut(
                &mut <I::Ports as Inputs>::Cursors<'f>,
                &mut <O::Ports as Outputs>::Cursors<'f>,
            ) -> R
            + Send
            + 'env,
    {
        self.add_sequential(fire, false).1
    }

    /// [`Kernel::sequential`] for the engine's own nodes. `merge`: the node may depend on timing. Returns the node too.
    pub(super) fn add_sequential<R, F>(self, fire: F, merge: bool) -> (NodeId, O::Streams<'env>)
    where
        R: IntoFlow + 'env,
        F: for<'f> FnMut(
                &mut <I::Ports as Inputs>::Cursors<'f>,
                &mut <O::Ports as Outputs>::Cursors<'f>,
            ) -> R
            + Send
            + 'env,
    {
        let mut fire = Contained::new(fire);
        let fire = firing::<I::Ports, O::Ports, R, _>(move |ins, outs| fire(ins, outs));
        self.add_code(Steps::new(fire), merge)
    }

    /// [`Kernel::add_sequential`] for any code.
    pub(super) fn add_code<C>(mut self, code: C, merge: bool) -> (NodeId, O::Streams<'env>)
    where
        C: SequentialCode<I::Ports, O::Ports> + 'env,
    {
        let (mut frame, finish) = (self.frame.take(), self.finish.take());
        let mut node =
            self.outputs.declare(self.inputs.declare(Node::sequential(&*self.name), frame.is_some()));
        (*node.blocking_mut(), *node.merge_mut(), *node.starting_mut()) =
            (self.blocking, merge, self.starting);
        let fixed = |port: &OutPort| port.push() != Rate::Dynamic;
        let wrong = [
            (finish.is_some() && node.outputs().iter().any(fixed)).then_some(
                "`finish` pushes items after the last firing, so its outputs need dynamic rates: \
                 leave out `push`",
            ),
            self.unordered.then_some("`unordered`: it is not parallel"),
            self.workers.map(|_| "`workers`: it is not parallel"),
        ];
        let Kernel { shared, inputs, outputs, kept, declared, .. } = self;
        let mut draft = shared.draft();
        let Attached { node, ins, outs, streams } = attach(&shared, &mut draft, node, wrong, inputs, outputs);
        declared.note(&mut draft, node, size_of::<C>());
        draft.add_code(Some(Box::new(move |make: MakeNode<'_>| {
            if let Some(kept) = kept {
                kept.store(make.kept, Ordering::Relaxed);
            }
            if let Some(frame) = &mut frame {
                frame.prepare(make.waker);
            }
            Box::new(Sequential::new(ins(), outs(), code, finish, frame))
        })));
        (node, streams)
    }

    /// Adds a process: sequential code that receives and sends on its own ends of the channels, and waits
    /// ([`Rx`](crate::Rx), [`Tx`](crate::Tx)). `body` is called when the run is prepared. Returns the
    /// streams of the outputs and, if the body returns a [`Value`](super::Value), its
    /// [`Output`](super::Output). See [`Graph::process`](super::Graph::process).
    ///
    /// A process needs no framing or finishing function, and can have neither.
    pub fn process<R, P, F>(mut self, body: F) -> R::Handles<'env, O::Streams<'env>>
    where
        R: IntoEnding,
        R::Slot: 'env,
        P: Future<Output = R> + Send + 'env,
        F: FnOnce(<I::Ports as Inputs>::Receivers, <O::Ports as Outputs>::Senders) -> P + Send + 'env,
    {
        let node = self.process_node::<R>();
        let wrong = self.wrong_for_processes();
        let Kernel { shared, inputs, outputs, declared, .. } = self;
        let mut draft = shared.draft();
        let Attached { node, ins, outs, streams } = attach(&shared, &mut draft, node, wrong, inputs, outputs);
        declared.note(&mut draft, node, size_of::<P>());
        let slot = R::Slot::default();
        let filled = slot.clone();
        draft.add_code(Some(Box::new(move |make| {
            let (ins, outs) = (ins(), outs());
            Box::new(Process::new(body(ins.receivers(make.owner), outs.senders(make.owner)), filled))
        })));
        let number = draft.number();
        drop(draft);
        R::handles(streams, OutputOf { shared, number, node, slot })
    }

    /// The node of a process in the graph. Its inputs and outputs have dynamic rates unless they are declared.
    pub(super) fn process_node<R: IntoEnding>(&mut self) -> Node {
        let node = self.outputs.declare(self.inputs.declare(Node::sequential(&*self.name), true));
        let mut node = node.into_process();
        (*node.blocking_mut(), *node.starting_mut(), *node.returns_mut()) =
            (self.blocking, self.starting, R::RETURNS);
        node
    }

    /// The mistakes for settings that a process cannot have.
    pub(super) fn wrong_for_processes(&mut self) -> [Option<&'static str>; 4] {
        [
            self.frame.take().map(|_| "`framed`: a process pops from its inputs by receiving"),
            self.finish.take().map(|_| "`finish`: a process sends its last items before it ends"),
            self.unordered.then_some("`unordered`: it is not parallel"),
            self.workers.map(|_| "`workers`: it is not parallel"),
        ]
    }

    /// Adds a parallel kernel: any number of firings at a time, without state. Every output is in the order of the
    /// inputs. It needs an input. Returns the streams of the outputs.
    ///
    /// All items that a firing pushes on an output with a dynamic rate are kept until the firing ends: its closure cannot
    /// be interrupted. [`Stream::par_flat_map`](super::Stream::par_flat_map) has no such limit.
    pub fn parallel<R, F>(self, fire: F) -> O::Streams<'env>
    where
        R: IntoResult + 'env,
        F: for<'f> Fn(&mut <I::Ports as Inputs>::Cursors<'f>, &mut <O::Ports as Outputs>::Cursors<'f>) -> R
            + Send
            + Sync
            + 'env,
    {
        let fire = Contained::new(fire);
        let fire = parallel_firing::<I::Ports, O::Ports, R, _>(move |ins, outs| fire(ins, outs));
        self.add_parallel(Whole::new(fire))
    }

    /// [`Kernel::parallel`] for any code.
    pub(super) fn add_parallel<C: Code<I::Ports, O::Ports> + 'env>(mut self, code: C) -> O::Streams<'env> {
        let (frame, finish) = (self.frame.take(), self.finish.take());
        let mut node =
            self.outputs.declare(self.inputs.declare(Node::parallel(&*self.name), frame.is_some()));
        (*node.unordered_mut(), *node.workers_mut(), *node.starting_mut()) =
            (self.unordered, self.workers, self.starting);
        let wrong = [
            self.blocking.then_some("`blocking`: it is parallel, and its firings share the workers"),
            finish.is_some().then_some("`finish`: it is parallel, and has no last firing to finish after"),
            (self.workers == Some(0)).then_some("`workers` 0: at least 1 is needed"),
            node.is_source().then_some("`parallel`: it has no input, whose items the firings follow"),
        ];
        drop(finish);
        let Kernel { shared, inputs, outputs, declared, .. } = self;
        let mut draft = shared.draft();
        let Attached { node, ins, outs, streams } = attach(&shared, &mut draft, node, wrong, inputs, outputs);
        declared.note(&mut draft, node, size_of::<C>());
        draft.add_code(Some(Box::new(move |make: MakeNode<'_>| {
            let MakeNode {
                tickets, retired, weighed, held, owned, unordered, waits, workers, tallies, ..
            } = make;
            let retired = retired.expect("made for a parallel node");
            let limits = NodeLimits { tickets, weighed, held, owned, workers, unordered, waits };
            Box::new(Parallel::new(ins(), outs(), code, frame, retired, limits, tallies))
        })));
        streams
    }
}

/// Gives a closure the signature of a sequential kernel's code.
fn firing<I, O, R, F>(fire: F) -> F
where
    I: Inputs,
    O: Outputs,
    F: for<'f> FnMut(&mut I::Cursors<'f>, &mut O::Cursors<'f>) -> R,
{
    fire
}

/// Gives a closure the signature of a parallel kernel's code.
fn parallel_firing<I, O, R, F>(fire: F) -> F
where
    I: Inputs,
    O: Outputs,
    F: for<'f> Fn(&mut I::Cursors<'f>, &mut O::Cursors<'f>) -> R,
{
    fire
}

/// Adds a node, connects its inputs, and adds channels for its outputs. The texts in `wrong` are kept as mistakes of
/// the node. The caller adds the node's code next, under the same lock.
pub(super) fn attach<'env, I, O, const N: usize>(
    shared: &Shared<'env>,
    draft: &mut Draft<'env>,
    node: Node,
    wrong: [Option<&str>; N],
    inputs: I,
    outputs: O,
) -> Attached<
    impl FnOnce() -> I::Ports + Send + use<'env, I, O, N>,
    impl FnOnce() -> O::Ports + Send + use<'env, I, O, N>,
    O::Streams<'env>,
>
where
    I: InputSpecs<'env> + 'env,
    O: OutputSpecs + 'env,
{
    let node = draft.add(node);
    for why in wrong.into_iter().flatten() {
        draft.mistake(Mistake::Node(node, why.to_owned()));
    }
    let mut site = Site { draft, shared, node };
    let ins = inputs.attach(&mut site, EngineOnly(()));
    let (streams, outs) = outputs.attach(&mut site, EngineOnly(()));
    Attached { node, ins, outs, streams }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::Graph;
    use thalweg_graph::{Footprint, NodeId};

    #[test]
    fn a_large_closure_is_state_unless_state_is_declared() {
        fn table<const N: usize>() -> impl Fn(u64) -> u64 + Send + Sync + 'static {
            let table = [1_u8; N];
            move |n| n + u64::from(table[n as usize % N])
        }
        let graph = Graph::new();
        let source = graph.source(0..10u64).map(table::<1000>()).map(table::<200>());
        let declared = source.par_map(table::<1000>()).state_bytes(7);
        declared.par_map(table::<1000>()).for_each(drop);
        let data = graph.data();
        let known = [1, 2, 3, 4].map(|node| data.footprint(NodeId(node)));
        assert!(matches!(known[0], Footprint::AtLeast(1000..1100)), "{known:?}");
        assert_eq!(known[1..3], [Footprint::AtLeast(0), Footprint::Declared(7)]);
        assert!(matches!(known[3], Footprint::AtLeast(1000..1100)), "{known:?}");
    }
}
