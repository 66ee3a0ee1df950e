//! How a coroutine is declared.

use super::fiber::Fiber;
use super::stack::LEAST;
use super::{Ends, Staying};
use crate::builder::{Builder, Kernel, MakeNode};
use crate::node::IntoFlow;
use crate::ports::{Inputs, Outputs};
use crate::seal::EngineOnly;
use crate::spec::{InputSpecs, OutputSpecs};

/// The receiving ends of a coroutine with inputs `I`.
pub type Receivers<I> = <<<I as InputSpecs>::Ports as Inputs>::Receivers as Ends>::Blocking;
/// The sending ends of a coroutine with outputs `O`.
pub type Senders<O> = <<<O as OutputSpecs>::Ports as Outputs>::Senders as Ends>::Blocking;

impl<'env> Builder<'env> {
    /// Adds a Kahn process written as a plain closure: its receives and sends wait where there is
    /// nothing to receive or no room to send, on a stack of its own. It is a process like one of
    /// [`Builder::process`], and shares the workers with all other nodes.
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
    /// use thalweg_runtime::{Builder, Options, input, output};
    ///
    /// let mut seen = Vec::new();
    /// let mut graph = Builder::new();
    /// let numbers = graph.coroutine("count", (), output("out"), |(), mut out| {
    ///     for i in 0..10u64 {
    ///         out.send(i);
    ///     }
    /// });
    /// let sums = graph.coroutine("sum", input("in", numbers), output("out"), |rx, mut tx| {
    ///     let mut sum = 0;
    ///     for i in rx {
    ///         sum += i;
    ///         tx.send(sum);
    ///     }
    /// });
    /// graph.sink("collect", sums, |sum| seen.push(sum));
    /// graph.build()?.run(&Options::new())?;
    /// assert_eq!(seen, [0, 1, 3, 6, 10, 15, 21, 28, 36, 45]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn coroutine<I, O, R, F>(&mut self, name: &str, inputs: I, outputs: O, body: F) -> O::Streams
    where
        I: InputSpecs + 'env,
        O: OutputSpecs + 'env,
        R: IntoFlow + 'env,
        F: FnOnce(Receivers<I>, Senders<O>) -> R + Send + 'env,
    {
        self.kernel(name, inputs, outputs).coroutine(body)
    }
}

impl<'env, I, O> Kernel<'_, 'env, I, O>
where
    I: InputSpecs + 'env,
    O: OutputSpecs + 'env,
{
    /// Bytes of a coroutine's stack, in place of 64 KiB; at least 16 KiB. Only what is touched takes
    /// memory.
    pub fn stack(mut self, bytes: usize) -> Self {
        self.stack = bytes.max(LEAST);
        self
    }

    /// A process written as a plain closure, on a stack of its own. See [`Builder::coroutine`].
    ///
    /// # Panics
    /// With a framing or a finishing function: a process is its own.
    pub fn coroutine<R, F>(self, body: F) -> O::Streams
    where
        R: IntoFlow + 'env,
        F: FnOnce(Receivers<I>, Senders<O>) -> R + Send + 'env,
    {
        let Kernel { builder, name, inputs, outputs, blocking, frame, finish, stack, .. } = self;
        let itself = frame.is_none() && finish.is_none();
        let id = builder.add_process(name, &inputs, &outputs, blocking, itself);
        let ins = inputs.attach(builder, id, EngineOnly(()));
        let (streams, outs) = outputs.attach(builder, id, EngineOnly(()));
        *builder.stacks.entry(stack).or_default() += 1;
        builder.nodes.push(Some(Box::new(move |make: MakeNode<'_>| {
            let (rxs, txs) = (ins().receivers(make.owner), outs().senders(make.owner));
            let run = move || body(rxs.blocking(), txs.blocking()).into_flow();
            Box::new(Staying::new(Fiber::new(make.stacks.pool(stack), run)))
        })));
        streams
    }
}
