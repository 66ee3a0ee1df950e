//! Coroutines as nodes: processes written as plain closures ([`coroutine`](crate::coroutine)).

use super::graph::Graph;
use super::kernel::{Attached, Kernel, attach};
use super::output::{IntoEnding, OutputOf};
use super::spec::{InputSpecs, OutputSpecs};
use crate::built::MakeNode;
use crate::coroutine::{Ends, Fiber, LEAST, PinnedProcess};
use crate::port::inputs::Inputs;
use crate::port::outputs::Outputs;

/// The receiving ends of a coroutine with the inputs `I`.
pub type Receivers<'env, I> = <<<I as InputSpecs<'env>>::Ports as Inputs>::Receivers as Ends>::Blocking;
/// The sending ends of a coroutine with the outputs `O`.
pub type Senders<O> = <<<O as OutputSpecs>::Ports as Outputs>::Senders as Ends>::Blocking;

impl<'env> Graph<'env> {
    /// Adds a Kahn process written as a plain closure with a stack of its own. A receive waits for a message, a send
    /// waits for room; while the closure waits its worker runs other nodes. Otherwise it is a process like one of
    /// [`Graph::process`].
    ///
    /// The closure may have any values on its stack while it waits, `Send` or not: once begun, it is pinned to the
    /// worker that began it. If that worker is in a long firing of another node, messages for the closure wait until the
    /// firing ends, though other workers are idle. (A process that may run on any worker is a future: [`Graph::process`].) A
    /// closure that waits for anything but its ends, such as a file, blocks its worker: give it a thread of its own
    /// ([`Kernel::blocking`]).
    ///
    /// A stack has 64 KiB, unless [`Kernel::stack`] sets another size. Only pages that the closure touches take memory.
    /// If a stack overflows, the program aborts with a line that names the process.
    ///
    /// If the run ends before the closure does, the operation in which it waits unwinds it, as a panic would, and drops
    /// everything on its stack. While a closure is unwound its ends are dead: a value that is dropped then receives
    /// `None`, and the messages that it sends are discarded. A value of the closure's own whose drop panics then aborts the
    /// program, as in all unwinding; a message that waits to be sent, or that is lent to the closure, does not.
    ///
    /// ```
    /// use thalweg_runtime::{Graph, output};
    ///
    /// let graph = Graph::new();
    /// let numbers = graph.coroutine("count", (), output("out"), |(), mut out| {
    ///     for i in 0..10u64 {
    ///         out.send(i);
    ///     }
    /// });
    /// let sums = graph.coroutine("sum", numbers, output("out"), |rx, mut tx| {
    ///     let mut sum = 0;
    ///     for i in rx {
    ///         sum += i;
    ///         tx.send(sum);
    ///     }
    /// });
    /// let sums = sums.collect().run()?.into_value();
    /// assert_eq!(sums, [0, 1, 3, 6, 10, 15, 21, 28, 36, 45]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn coroutine<I, O, R, F>(
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
        F: FnOnce(Receivers<'env, I>, Senders<O>) -> R + Send + 'env,
    {
        self.kernel(name, inputs, outputs).coroutine(body)
    }
}

impl<'env, I, O> Kernel<'env, I, O>
where
    I: InputSpecs<'env> + 'env,
    O: OutputSpecs + 'env,
{
    /// Sets the size of a coroutine's stack, in bytes, in place of 64 KiB; at least 16 KiB. Only pages that the closure
    /// touches take memory.
    pub fn stack(mut self, bytes: usize) -> Self {
        self.stack = bytes.max(LEAST);
        self
    }

    /// Adds a process written as a plain closure, on a stack of its own: see [`Graph::coroutine`]. Returns the handles
    /// that [`Kernel::process`] returns.
    pub fn coroutine<R, F>(mut self, body: F) -> R::Handles<'env, O::Streams<'env>>
    where
        R: IntoEnding,
        R::Slot: 'env,
        F: FnOnce(Receivers<'env, I>, Senders<O>) -> R + Send + 'env,
    {
        let node = self.process_node::<R>();
        let wrong = self.wrong_for_processes();
        let Kernel { shared, inputs, outputs, stack, declared, .. } = self;
        let mut draft = shared.draft();
        let Attached { node, ins, outs, streams } = attach(&shared, &mut draft, node, wrong, inputs, outputs);
        declared.note(&mut draft, node, 0);
        let slot = R::Slot::default();
        let filled = slot.clone();
        *draft.stacks.entry(stack).or_default() += 1;
        draft.add_code(Some(Box::new(move |make: MakeNode<'_>| {
            let (rxs, txs) = (ins().receivers(make.owner), outs().senders(make.owner));
            let run = move || body(rxs.blocking(), txs.blocking()).settle(&filled);
            Box::new(PinnedProcess::new(Fiber::new(make.stacks.pool(stack), run)))
        })));
        let number = draft.number();
        drop(draft);
        R::handles(streams, OutputOf { shared, number, node, slot })
    }
}
