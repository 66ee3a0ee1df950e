//! How a coroutine is declared.

use super::draft::MakeNode;
use super::graph::Graph;
use super::kernel::{Attached, Kernel, attach};
use super::output::{IntoEnding, OutputOf};
use super::spec::{InputSpecs, OutputSpecs};
use crate::coroutine::{Ends, Fiber, LEAST, PinnedProcess};
use crate::port::tuple::{Inputs, Outputs};

/// The receiving ends of a coroutine with inputs `I`.
pub type Receivers<'env, I> = <<<I as InputSpecs<'env>>::Ports as Inputs>::Receivers as Ends>::Blocking;
/// The sending ends of a coroutine with outputs `O`.
pub type Senders<O> = <<<O as OutputSpecs>::Ports as Outputs>::Senders as Ends>::Blocking;

impl<'env> Graph<'env> {
    /// Adds a Kahn process written as a plain closure: its receives and sends wait where there is
    /// nothing to receive or no room to send, on a stack of its own. It is a process like one of
    /// [`Graph::process`], and shares the workers with all other nodes.
    ///
    /// The closure may have anything on its stack while it waits, `Send` or not: once begun it stays
    /// on the worker that began it. (Processes that may go wherever there is time are futures.) What
    /// waits for anything but its ends, such as a file, makes its worker wait: give it a thread of
    /// its own ([`Kernel::blocking`]).
    ///
    /// A stack has 64 KiB, of which only what is touched takes memory; [`Kernel::stack`] says
    /// otherwise. One that overflows aborts the program, with a line that names the process.
    ///
    /// Where the run ends before the closure, the operation that it waits in unwinds it, as a panic
    /// would, and all that it has is dropped. While a closure is unwound its ends are dead: what is
    /// dropped then receives `None`, and what it sends is discarded.
    ///
    /// ```
    /// use thalweg_runtime::{Graph, Options, output};
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
    /// let (sums, _report) = sums.collect().run(&Options::new())?;
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
    /// Bytes of a coroutine's stack, in place of 64 KiB; at least 16 KiB. Only what is touched takes
    /// memory.
    pub fn stack(mut self, bytes: usize) -> Self {
        self.stack = bytes.max(LEAST);
        self
    }

    /// A process written as a plain closure, on a stack of its own. See [`Graph::coroutine`] and, for what
    /// it gives, [`Kernel::process`].
    pub fn coroutine<R, F>(mut self, body: F) -> R::Handles<'env, O::Streams<'env>>
    where
        R: IntoEnding,
        R::Slot: 'env,
        F: FnOnce(Receivers<'env, I>, Senders<O>) -> R + Send + 'env,
    {
        let node = self.process_node::<R>();
        let wrong = self.wrong_for_processes();
        let Kernel { shared, inputs, outputs, stack, .. } = self;
        let mut draft = shared.draft();
        let Attached { node, ins, outs, streams } = attach(&shared, &mut draft, node, wrong, inputs, outputs);
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
