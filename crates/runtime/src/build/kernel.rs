//! Nodes with a user's code: kernels, processes and coroutines.

use super::draft::{Draft, MakeNode, Shared, Site};
use super::mistake::Mistake;
use super::output::{IntoEnding, OutputOf};
use super::spec::{InputSpecs, OutputSpecs};
use crate::NotYet;
use crate::coroutine::STACK;
use crate::node::{Finish, FrameFn, IntoFlow, IntoResult, NodeLimits, Parallel, Sequential};
use crate::port::tuple::{Inputs, Outputs};
use crate::process::Process;
use crate::seal::EngineOnly;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use thalweg_graph::{Node, NodeId, OutPort, Rate};

/// A kernel whose ports are declared and whose code is not given yet.
///
/// Settings come first, the code last: [`sequential`](Kernel::sequential), [`parallel`](Kernel::parallel),
/// [`process`](Kernel::process) or [`coroutine`](Kernel::coroutine). Settings that do not go with the code are
/// mistakes, which [`Graph::build`](super::Graph::build) reports.
#[must_use = "a kernel needs its code: `sequential`, `parallel`, `process` or `coroutine`"]
pub struct Kernel<'env, I: InputSpecs<'env>, O: OutputSpecs> {
    pub(super) shared: Shared<'env>,
    pub(super) name: String,
    pub(super) inputs: I,
    pub(super) outputs: O,
    pub(super) blocking: bool,
    pub(super) frame: Option<Box<dyn FrameFn<I::Ports> + 'env>>,
    pub(super) finish: Option<Finish<'env, O::Ports>>,
    /// Bytes of a coroutine's stack.
    pub(super) stack: usize,
    pub(super) starting: bool,
    /// Of a parallel kernel.
    pub(super) unordered: bool,
    pub(super) workers: Option<u32>,
    /// See [`Kernel::ask_budget`].
    kept: Option<Arc<AtomicUsize>>,
}

impl<'env, I: InputSpecs<'env>, O: OutputSpecs> std::fmt::Debug for Kernel<'env, I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The ports and streams of a node that was added.
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
    pub(super) fn new(shared: Shared<'env>, name: &str, inputs: I, outputs: O) -> Self {
        Kernel {
            shared,
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
            kept: None,
        }
    }

    /// A count that will be, when the node is made, the bytes that it may keep of what it has taken.
    pub(super) fn ask_budget(&mut self) -> Arc<AtomicUsize> {
        self.shared.draft().keepers += 1;
        self.kept.get_or_insert_default().clone()
    }

    /// The kernel waits for the outside world in its firings (files, sockets): it gets a thread of
    /// its own, and publishes after every firing. Not for parallel kernels.
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// Makes consumption depend on the data: before each firing, in order, the function looks at
    /// the inputs and says how many items the firing takes from each, or `None` where the node
    /// ends. It asks with [`Glance::peek`](crate::Glance::peek) and passes [`NotYet`] on with `?`; it is asked again
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

    /// Called once after the last firing of a sequential kernel, to push what it still holds. Its outputs need dynamic
    /// rates, since this is not a firing.
    pub fn finish(
        mut self,
        finish: impl for<'f> FnOnce(&mut <O::Ports as Outputs>::Cursors<'f>) + Send + 'env,
    ) -> Self {
        self.finish = Some(Box::new(finish));
        self
    }

    /// One firing at a time, in order, with state. Gives the streams of the outputs.
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

    pub(super) fn add_sequential<R, F>(mut self, fire: F, merge: bool) -> (NodeId, O::Streams<'env>)
    where
        R: IntoFlow + 'env,
        F: for<'f> FnMut(
                &mut <I::Ports as Inputs>::Cursors<'f>,
                &mut <O::Ports as Outputs>::Cursors<'f>,
            ) -> R
            + Send
            + 'env,
    {
        let (frame, finish) = (self.frame.take(), self.finish.take());
        let mut node =
            self.outputs.declare(self.inputs.declare(Node::sequential(&*self.name), frame.is_some()));
        (node.blocking, node.merge, node.starting) = (self.blocking, merge, self.starting);
        let fixed = |port: &OutPort| port.push != Rate::Dynamic;
        let wrong = [
            (finish.is_some() && node.outputs.iter().any(fixed)).then_some(
                "`finish` gives items after the last firing, so its outputs need dynamic rates: \
                 leave out `push`",
            ),
            self.unordered.then_some("`unordered`: it is not parallel"),
            self.workers.map(|_| "`workers`: it is not parallel"),
        ];
        let Kernel { shared, inputs, outputs, kept, .. } = self;
        let mut draft = shared.draft();
        let Attached { node, ins, outs, streams } = attach(&shared, &mut draft, node, wrong, inputs, outputs);
        draft.add_code(Some(Box::new(move |make: MakeNode<'_>| {
            if let Some(kept) = kept {
                kept.store(make.kept, Ordering::Relaxed);
            }
            Box::new(Sequential::new(ins(), outs(), fire, finish, frame))
        })));
        (node, streams)
    }

    /// A process: sequential code with its own ends of the channels, on which it receives and sends
    /// and waits ([`Rx`](crate::Rx), [`Tx`](crate::Tx)). `body` is called when the run is prepared. Gives the
    /// streams of the outputs, and, where the body returns a [`Value`](super::Value), its
    /// [`Output`](super::Output). See [`Graph::process`](super::Graph::process).
    ///
    /// A process does itself what framing and finishing functions do for kernels: it can have neither.
    pub fn process<R, P, F>(mut self, body: F) -> R::Handles<'env, O::Streams<'env>>
    where
        R: IntoEnding,
        R::Slot: 'env,
        P: Future<Output = R> + Send + 'env,
        F: FnOnce(<I::Ports as Inputs>::Receivers, <O::Ports as Outputs>::Senders) -> P + Send + 'env,
    {
        let node = self.process_node::<R>();
        let wrong = self.wrong_for_processes();
        let Kernel { shared, inputs, outputs, .. } = self;
        let mut draft = shared.draft();
        let Attached { node, ins, outs, streams } = attach(&shared, &mut draft, node, wrong, inputs, outputs);
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

    pub(super) fn process_node<R: IntoEnding>(&mut self) -> Node {
        let node = self.outputs.declare(self.inputs.declare(Node::sequential(&*self.name), true));
        let mut node = node.into_process();
        (node.blocking, node.starting, node.returns) = (self.blocking, self.starting, R::RETURNS);
        node
    }

    /// What a process cannot have, if it has it.
    pub(super) fn wrong_for_processes(&mut self) -> [Option<&'static str>; 4] {
        [
            self.frame.take().map(|_| "`framed`: a process takes from its inputs what it receives"),
            self.finish.take().map(|_| "`finish`: a process sends what is left before it ends"),
            self.unordered.then_some("`unordered`: it is not parallel"),
            self.workers.map(|_| "`workers`: it is not parallel"),
        ]
    }

    /// Any number of firings at a time, without state; every output comes in the order of the
    /// inputs. It needs an input. Gives the streams of the outputs.
    pub fn parallel<R, F>(mut self, fire: F) -> O::Streams<'env>
    where
        R: IntoResult + 'env,
        F: for<'f> Fn(&mut <I::Ports as Inputs>::Cursors<'f>, &mut <O::Ports as Outputs>::Cursors<'f>) -> R
            + Send
            + Sync
            + 'env,
    {
        let (frame, finish) = (self.frame.take(), self.finish.take());
        let mut node =
            self.outputs.declare(self.inputs.declare(Node::parallel(&*self.name), frame.is_some()));
        (node.unordered, node.workers, node.starting) = (self.unordered, self.workers, self.starting);
        let wrong = [
            self.blocking.then_some("`blocking`: it is parallel, and its firings share the workers"),
            finish.is_some().then_some("`finish`: it is parallel, and has no last firing to finish after"),
            (self.workers == Some(0)).then_some("`workers` 0: at least 1 is needed"),
            node.is_source().then_some("`parallel`: it has no input, whose items the firings follow"),
        ];
        drop(finish);
        let Kernel { shared, inputs, outputs, .. } = self;
        let mut draft = shared.draft();
        let Attached { ins, outs, streams, .. } = attach(&shared, &mut draft, node, wrong, inputs, outputs);
        draft.add_code(Some(Box::new(move |make: MakeNode<'_>| {
            let MakeNode { tickets, retired, weighed, held, unordered, workers, tallies, .. } = make;
            let retired = retired.expect("made for a parallel node");
            let limits = NodeLimits { tickets, weighed, held, workers, unordered };
            Box::new(Parallel::new(ins(), outs(), fire, frame, retired, limits, tallies))
        })));
        streams
    }
}

/// Adds a node and joins its inputs; what is wrong with it is kept as mistakes.
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
