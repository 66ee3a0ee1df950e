//! Declarations of a kernel's ports: `input("in", stream).pop(2)`, `output("out").push(1)`.
//!
//! A declaration becomes a port in three steps:
//!
//! | step | when | method | result |
//! |---|---|---|---|
//! | declare | the kernel gets its code | `declare` | the port in the graph's node: name, item type, rates |
//! | attach | then, under the draft's lock | `attach` | the channel in the draft; for an output also its stream |
//! | make | a run is prepared | the closure that `attach` returned | the port on the channel's ring, which is made by then |
//!
//! The traits are sealed, and their methods hidden: only declarations of this module implement them, and only the
//! engine calls them ([`EngineOnly`]).

use super::draft::Site;
use super::output::Streams;
use super::stream::Stream;
use crate::built::Side::{Consumer, Producer};
use crate::channel::InputRates;
use crate::port::inputs::Inputs;
use crate::port::outputs::Outputs;
use crate::port::shapes::One;
use crate::port::{Input, PeekPort, PopPort, PushPort};
use crate::seal::{EngineOnly, Sealed};
use std::collections::VecDeque;
use std::marker::PhantomData;
use thalweg_graph::{InPort, Item, Link, Node, OutPort, Rate};

/// Declares an input whose firings pop items by value: one in each firing, unless [`PopSpec::pop`] or a framing
/// function ([`Kernel::framed`](super::Kernel::framed)) sets another number.
pub fn input<'env, T>(name: &str, stream: Stream<'env, T>) -> PopSpec<'env, T> {
    PopSpec { name: name.to_owned(), stream, pop: None }
}

/// Declares an input whose firings peek at items by reference. Each firing pops one item, unless
/// [`PeekSpec::pop`] or a framing function ([`Kernel::framed`](super::Kernel::framed)) sets another number.
pub fn window<'env, T>(name: &str, stream: Stream<'env, T>) -> PeekSpec<'env, T> {
    PeekSpec { name: name.to_owned(), stream, pop: None, peek: 0 }
}

/// Declares an output on which a firing pushes any number of items, unless [`PushSpec::push`] sets one.
pub fn output<T>(name: &str) -> PushSpec<T> {
    PushSpec { name: name.to_owned(), push: Rate::Dynamic, item: PhantomData }
}

/// An [`output`] without a name of its own. It is `out`, with its index if the node has several outputs. The kernel's function
/// tells the outputs apart by their places.
///
/// ```
/// use thalweg_runtime::{Graph, out};
///
/// let graph = Graph::new();
/// let (low, high) = graph
///     .source(0..8u64)
///     .kernel("split", (out(), out()))
///     .sequential(|numbers, (low, high)| {
///         let number = numbers.pop();
///         if number < 4 { low.push(number) } else { high.push(number) }
///     });
/// let (low, high) = (low.collect(), high.fold(0, |sum, number| sum + number));
/// let run = graph.run()?;
/// assert_eq!(run.take(low)?, [0, 1, 2, 3]);
/// assert_eq!(run.take(high)?, 22);
/// assert_eq!(run.report().graph().nodes()[1].outputs()[1].name(), "out1");
/// # Ok::<(), thalweg_runtime::Error>(())
/// ```
pub fn out<T>() -> PushSpec<T> {
    output("")
}

/// An input that pops items: see [`input`].
#[derive(Debug)]
pub struct PopSpec<'env, T> {
    name: String,
    stream: Stream<'env, T>,
    pop: Option<u32>,
}

impl<T> PopSpec<'_, T> {
    /// Sets the number of items that each firing pops. Under a framing function the rate is static as well, and
    /// the function must return this number.
    pub fn pop(mut self, items: u32) -> Self {
        self.pop = Some(items);
        self
    }
}

/// An input that peeks at items: see [`window`].
#[derive(Debug)]
pub struct PeekSpec<'env, T> {
    name: String,
    stream: Stream<'env, T>,
    pop: Option<u32>,
    peek: u32,
}

impl<T> PeekSpec<'_, T> {
    /// Sets the number of items that leave the window with each firing. See [`PopSpec::pop`].
    pub fn pop(mut self, items: u32) -> Self {
        self.pop = Some(items);
        self
    }

    /// Sets the size of the window, including the items that leave. Under a framing function the window is
    /// the items that the firing pops.
    pub fn peek(mut self, items: u32) -> Self {
        self.peek = items;
        self
    }
}

/// An output: see [`output`].
#[derive(Debug)]
pub struct PushSpec<T> {
    name: String,
    push: Rate,
    item: PhantomData<fn(T)>,
}

impl<T> PushSpec<T> {
    /// Sets the number of items that every firing pushes, exactly. Items are written in place, which is the fastest
    /// way.
    pub fn push(mut self, items: u32) -> Self {
        self.push = Rate::Static(items.into());
        self
    }
}

/// A declared input.
pub trait InputSpec<'env>: Sealed {
    /// The type of its port.
    type Port: Input;
    /// The port of the graph's node. `at` is its index if the node has several inputs, for the name of a port without
    /// one; `dynamic` if the node has a framing function or is a process.
    #[doc(hidden)]
    fn declare(&self, at: Option<usize>, dynamic: bool) -> InPort;
    /// Connects the stream to input `port` of the site's node. Returns the maker of the port.
    #[doc(hidden)]
    fn attach(
        self,
        site: &mut Site<'_, 'env>,
        port: usize,
        only: EngineOnly,
    ) -> impl FnOnce() -> Self::Port + Send + use<'env, Self>;
}

/// The pop rate of an input: the declared one; without one, dynamic under a framing function, and 1 otherwise.
fn pop_rate(declared: Option<u32>, framed: bool) -> Rate {
    match declared {
        Some(items) => Rate::Static(items.into()),
        None if framed => Rate::Dynamic,
        None => Rate::Static(1),
    }
}

/// A number of items as a length. The specifications take `u32`, so no number is too large.
fn items(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The rates of a port; pop rate 0 stands for dynamic.
fn rates(port: &InPort) -> InputRates {
    InputRates { pop: items(port.pop().fixed().unwrap_or(0)), peek: items(port.peek()) }
}

impl<T> Sealed for PopSpec<'_, T> {}
impl<T> Sealed for PeekSpec<'_, T> {}
impl<T> Sealed for PushSpec<T> {}

impl<'env, T: Send> InputSpec<'env> for PopSpec<'env, T> {
    type Port = PopPort<T>;

    fn declare(&self, _at: Option<usize>, dynamic: bool) -> InPort {
        let pop = pop_rate(self.pop, dynamic);
        InPort::new(&*self.name, Item::of::<T>()).with_pop(pop).with_peek(pop.fixed().unwrap_or(1))
    }

    fn attach(
        self,
        site: &mut Site<'_, 'env>,
        port: usize,
        _: EngineOnly,
    ) -> impl FnOnce() -> PopPort<T> + Send + use<'env, T> {
        let rates = rates(&site.draft.graph.node(site.node).inputs()[port]);
        let cell = site.draft.consume(self.stream, (site.node, port));
        move || PopPort::new(cell.ring(Consumer), cell.id(Consumer), rates)
    }
}

impl<'env, T: Send + Sync> InputSpec<'env> for PeekSpec<'env, T> {
    type Port = PeekPort<T>;

    fn declare(&self, _at: Option<usize>, dynamic: bool) -> InPort {
        let pop = pop_rate(self.pop, dynamic);
        // A window contains the items that leave it. A dynamic window is as wide as the firing pops.
        let least = pop.fixed().unwrap_or(1);
        let peek = if dynamic { least } else { u64::from(self.peek).max(least) };
        InPort::new(&*self.name, Item::of::<T>()).with_pop(pop).with_peek(peek)
    }

    fn attach(
        self,
        site: &mut Site<'_, 'env>,
        port: usize,
        _: EngineOnly,
    ) -> impl FnOnce() -> PeekPort<T> + Send + use<'env, T> {
        let rates = rates(&site.draft.graph.node(site.node).inputs()[port]);
        let cell = site.draft.consume(self.stream, (site.node, port));
        move || PeekPort::new(cell.ring(Consumer), cell.id(Consumer), rates)
    }
}

impl<T> Sealed for Stream<'_, T> {}

/// A stream as an input that pops items ([`input`]). Its name is `in`, with its index if the node has several inputs.
impl<'env, T: Send> InputSpec<'env> for Stream<'env, T> {
    type Port = PopPort<T>;

    fn declare(&self, at: Option<usize>, dynamic: bool) -> InPort {
        let name = at.map_or_else(|| "in".to_owned(), |at| format!("in{at}"));
        let pop = pop_rate(None, dynamic);
        InPort::new(name, Item::of::<T>()).with_pop(pop).with_peek(pop.fixed().unwrap_or(1))
    }

    fn attach(
        self,
        site: &mut Site<'_, 'env>,
        port: usize,
        only: EngineOnly,
    ) -> impl FnOnce() -> PopPort<T> + Send + use<'env, T> {
        InputSpec::attach(input("", self), site, port, only)
    }
}

/// A declared output.
pub trait OutputSpec: Sealed {
    /// The type of its items.
    type Item: Send;
    /// The port of the graph's node, `at` its index if there are several: the name of one without a name.
    #[doc(hidden)]
    fn declare(&self, at: Option<usize>) -> OutPort;
}

impl<T: Send> OutputSpec for PushSpec<T> {
    type Item = T;

    fn declare(&self, at: Option<usize>) -> OutPort {
        let name = match at {
            _ if !self.name.is_empty() => self.name.clone(),
            Some(at) => format!("out{at}"),
            None => "out".to_owned(),
        };
        OutPort::new(name, Item::of::<T>()).with_push(self.push)
    }
}

/// Adds the channel of output `port` of the site's node. Returns its stream, and the maker of its port.
fn push_port<'env, T: Send + 'env>(
    site: &mut Site<'_, 'env>,
    port: usize,
    push: Rate,
) -> (Stream<'env, T>, impl FnOnce() -> PushPort<T> + Send + use<'env, T>) {
    let link = Link::of::<T>();
    let (edge, cell) = site.draft.produce::<T>(Some((site.node, port)), VecDeque::new(), link);
    let stream = Stream {
        shared: site.shared.clone(),
        number: site.draft.number(),
        edge,
        cell: cell.clone(),
        link,
        node: Some(site.node),
        gate: None,
    };
    let push = push.fixed().map(items);
    (stream, move || PushPort::new(cell.ring(Producer), cell.id(Producer), push))
}

/// All inputs of a kernel: one, a tuple of up to six, or a vector of inputs of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of inputs",
    label = "not inputs",
    note = "a kernel's inputs are a stream, `input(\"a\", stream)`, `window(\"a\", stream)`, a tuple of two to six of \
            these, a `Vec` of equal ones, or `()`",
    note = "items must be `Send`, and those of a `window` `Sync` as well"
)]
pub trait InputSpecs<'env>: Sealed {
    /// The type of their ports.
    type Ports: Inputs;
    /// Adds the inputs to the graph's node: see [`InputSpec::declare`].
    #[doc(hidden)]
    fn declare(&self, node: Node, dynamic: bool) -> Node;
    /// Connects the streams to the site's node. Returns the maker of the ports.
    #[doc(hidden)]
    fn attach(
        self,
        site: &mut Site<'_, 'env>,
        only: EngineOnly,
    ) -> impl FnOnce() -> Self::Ports + Send + use<'env, Self>;
}

/// All outputs of a kernel: one, a tuple of up to six, or a vector of outputs of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of outputs",
    label = "not outputs",
    note = "a kernel's outputs are `output(\"a\")`, a tuple of two to six of these, a `Vec` of equal ones, or `()`"
)]
pub trait OutputSpecs: Sealed {
    /// The type of their ports.
    type Ports: Outputs;
    /// The type of their streams.
    type Streams<'env>: Streams
    where
        Self: 'env;
    /// Adds the outputs to the graph's node.
    #[doc(hidden)]
    fn declare(&self, node: Node) -> Node;
    /// Adds the channels of the site's node. Returns their streams, and the maker of the ports.
    #[doc(hidden)]
    fn attach<'env>(
        self,
        site: &mut Site<'_, 'env>,
        only: EngineOnly,
    ) -> (Self::Streams<'env>, impl FnOnce() -> Self::Ports + Send + use<'env, Self>)
    where
        Self: 'env;
}

/// Implements both traits for the tuple of these specs. `$s` are variables for what `attach` returns.
macro_rules! tuples {
    ($($S:ident $s:ident $i:tt),*) => {
        #[allow(unused_variables, unused_mut, clippy::unused_unit)]
        impl<'env, $($S: InputSpec<'env>),*> InputSpecs<'env> for ($($S,)*) {
            type Ports = ($($S::Port,)*);

            fn declare(&self, mut node: Node, dynamic: bool) -> Node {
                $(node = node.input(self.$i.declare(Some($i), dynamic));)*
                node
            }
            fn attach(
                self,
                site: &mut Site<'_, 'env>,
                only: EngineOnly,
            ) -> impl FnOnce() -> Self::Ports + Send + use<'env, $($S),*> {
                $(let $s = self.$i.attach(site, $i, only);)*
                move || ($($s(),)*)
            }
        }

        #[allow(unused_variables, unused_mut, clippy::unused_unit)]
        impl<$($S: OutputSpec),*> OutputSpecs for ($($S,)*) {
            type Ports = ($(PushPort<$S::Item>,)*);
            type Streams<'env>
                = ($(Stream<'env, $S::Item>,)*)
            where
                Self: 'env;

            fn declare(&self, mut node: Node) -> Node {
                $(node = node.output(self.$i.declare(Some($i)));)*
                node
            }
            fn attach<'env>(
                self,
                site: &mut Site<'_, 'env>,
                only: EngineOnly,
            ) -> (Self::Streams<'env>, impl FnOnce() -> Self::Ports + Send + use<'env, $($S),*>)
            where
                Self: 'env,
            {
                $(let $s = push_port::<$S::Item>(site, $i, self.$i.declare(None).push());)*
                (($($s.0,)*), move || ($($s.1(),)*))
            }
        }
    };
}

tuples!();
tuples!(A a 0, B b 1);
tuples!(A a 0, B b 1, C c 2);
tuples!(A a 0, B b 1, C c 2, D d 3);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4, F f 5);

/// Implements [`InputSpecs`] for a node's only input, declared as a `$Spec`.
macro_rules! one_input {
    ($Spec:ident, $($bound:tt)*) => {
        impl<'env, T: $($bound)*> InputSpecs<'env> for $Spec<'env, T> {
            type Ports = One<<Self as InputSpec<'env>>::Port>;

            fn declare(&self, node: Node, dynamic: bool) -> Node {
                node.input(InputSpec::declare(self, None, dynamic))
            }
            fn attach(
                self,
                site: &mut Site<'_, 'env>,
                only: EngineOnly,
            ) -> impl FnOnce() -> Self::Ports + Send + use<'env, T> {
                let make = InputSpec::attach(self, site, 0, only);
                move || One(make())
            }
        }
    };
}

one_input!(Stream, Send);
one_input!(PopSpec, Send);
one_input!(PeekSpec, Send + Sync);

impl<T: Send> OutputSpecs for PushSpec<T> {
    type Ports = One<PushPort<T>>;
    type Streams<'env>
        = Stream<'env, T>
    where
        Self: 'env;

    fn declare(&self, node: Node) -> Node {
        node.output(OutputSpec::declare(self, None))
    }
    fn attach<'env>(
        self,
        site: &mut Site<'_, 'env>,
        _: EngineOnly,
    ) -> (Stream<'env, T>, impl FnOnce() -> Self::Ports + Send + use<'env, T>)
    where
        Self: 'env,
    {
        let (stream, make) = push_port::<T>(site, 0, self.push);
        (stream, move || One(make()))
    }
}

impl<'env, S: InputSpec<'env>> InputSpecs<'env> for Vec<S> {
    type Ports = Vec<S::Port>;

    fn declare(&self, node: Node, dynamic: bool) -> Node {
        let ports = self.iter().enumerate();
        ports.fold(node, |node, (i, spec)| node.input(spec.declare(Some(i), dynamic)))
    }
    fn attach(
        self,
        site: &mut Site<'_, 'env>,
        only: EngineOnly,
    ) -> impl FnOnce() -> Self::Ports + Send + use<'env, S> {
        let made: Vec<_> = self.into_iter().enumerate().map(|(i, spec)| spec.attach(site, i, only)).collect();
        move || made.into_iter().map(|make| make()).collect()
    }
}

impl<S: OutputSpec> OutputSpecs for Vec<S> {
    type Ports = Vec<PushPort<S::Item>>;
    type Streams<'env>
        = Vec<Stream<'env, S::Item>>
    where
        Self: 'env;

    fn declare(&self, node: Node) -> Node {
        self.iter().enumerate().fold(node, |node, (at, spec)| node.output(spec.declare(Some(at))))
    }
    fn attach<'env>(
        self,
        site: &mut Site<'_, 'env>,
        _: EngineOnly,
    ) -> (Self::Streams<'env>, impl FnOnce() -> Self::Ports + Send + use<'env, S>)
    where
        Self: 'env,
    {
        let made = self.iter().enumerate().map(|(i, spec)| push_port(site, i, spec.declare(None).push()));
        let (streams, makes): (Vec<_>, Vec<_>) = made.unzip();
        (streams, move || makes.into_iter().map(|make| make()).collect())
    }
}
