//! How a kernel's ports are declared: `input("in", stream).pop(2)`, `output("out").push(1)`.

use super::draft::Site;
use super::output::Streams;
use super::stream::Stream;
use crate::channel::Limits;
use crate::port::one::One;
use crate::port::tuple::{Inputs, Outputs};
use crate::port::{Give, Input, Look, Take};
use crate::seal::{EngineOnly, Sealed};
use std::collections::VecDeque;
use std::marker::PhantomData;
use thalweg_graph::{InPort, Item, Link, Node, OutPort, Rate};

/// An input whose firings take items by value: one a firing, unless [`TakeSpec::pop`] or a framing function
/// ([`Kernel::framed`](super::Kernel::framed)) sets another number.
pub fn input<'env, T>(name: &str, stream: Stream<'env, T>) -> TakeSpec<'env, T> {
    TakeSpec { name: name.to_owned(), stream, pop: None }
}

/// An input whose firings look at items by reference. One item leaves it with each firing, unless
/// [`LookSpec::pop`] or a framing function ([`Kernel::framed`](super::Kernel::framed)) sets another number.
pub fn window<'env, T>(name: &str, stream: Stream<'env, T>) -> LookSpec<'env, T> {
    LookSpec { name: name.to_owned(), stream, pop: None, peek: 0 }
}

/// An output that gives any number of items a firing unless said otherwise.
pub fn output<T>(name: &str) -> GiveSpec<T> {
    GiveSpec { name: name.to_owned(), push: Rate::Dynamic, item: PhantomData }
}

/// Declares an input that takes items. See [`input`].
#[derive(Debug)]
pub struct TakeSpec<'env, T> {
    name: String,
    stream: Stream<'env, T>,
    pop: Option<u32>,
}

impl<T> TakeSpec<'_, T> {
    /// Items a firing takes. Under a framing function the port's rate is static all the same, and
    /// the function must keep to it.
    pub fn pop(mut self, items: u32) -> Self {
        self.pop = Some(items);
        self
    }
}

/// Declares an input that looks at items. See [`window`].
#[derive(Debug)]
pub struct LookSpec<'env, T> {
    name: String,
    stream: Stream<'env, T>,
    pop: Option<u32>,
    peek: u32,
}

impl<T> LookSpec<'_, T> {
    /// Items that leave the window with each firing. See [`TakeSpec::pop`].
    pub fn pop(mut self, items: u32) -> Self {
        self.pop = Some(items);
        self
    }

    /// Items a firing sees, those that leave included. Under a framing function a firing sees what
    /// it takes.
    pub fn peek(mut self, items: u32) -> Self {
        self.peek = items;
        self
    }
}

/// Declares an output. See [`output`].
#[derive(Debug)]
pub struct GiveSpec<T> {
    name: String,
    push: Rate,
    item: PhantomData<fn(T)>,
}

impl<T> GiveSpec<T> {
    /// Items every firing gives, exactly. They are written in place, which is the fastest way.
    pub fn push(mut self, items: u32) -> Self {
        self.push = Rate::Static(items);
        self
    }
}

/// One declared input.
pub trait InputSpec<'env>: Sealed {
    /// The port it becomes.
    type Port: Input;
    #[doc(hidden)]
    fn declare(&self, at: Option<usize>, dynamic: bool) -> InPort;
    #[doc(hidden)]
    fn attach(
        self,
        site: &mut Site<'_, 'env>,
        port: usize,
        only: EngineOnly,
    ) -> impl FnOnce() -> Self::Port + Send + use<'env, Self>;
}

/// The rate of an input: what was said of it, or what follows where nothing was.
fn pop_rate(said: Option<u32>, framed: bool) -> Rate {
    match said {
        Some(items) => Rate::Static(items),
        None if framed => Rate::Dynamic,
        None => Rate::Static(1),
    }
}

fn limits(port: &InPort) -> Limits {
    Limits { take: port.pop.fixed().unwrap_or(0) as usize, see: port.peek as usize }
}

impl<T> Sealed for TakeSpec<'_, T> {}
impl<T> Sealed for LookSpec<'_, T> {}
impl<T> Sealed for GiveSpec<T> {}

impl<'env, T: Send> InputSpec<'env> for TakeSpec<'env, T> {
    type Port = Take<T>;

    fn declare(&self, _at: Option<usize>, dynamic: bool) -> InPort {
        let pop = pop_rate(self.pop, dynamic);
        InPort::new(&*self.name, Item::of::<T>()).pop(pop).peek(pop.fixed().unwrap_or(1))
    }

    fn attach(
        self,
        site: &mut Site<'_, 'env>,
        port: usize,
        _: EngineOnly,
    ) -> impl FnOnce() -> Take<T> + Send + use<'env, T> {
        let limits = limits(&site.draft.graph.node(site.node).inputs[port]);
        let socket = site.draft.consume(self.stream, (site.node, port));
        move || Take::new(socket.ring(), socket.id(), limits)
    }
}

impl<'env, T: Send + Sync> InputSpec<'env> for LookSpec<'env, T> {
    type Port = Look<T>;

    fn declare(&self, _at: Option<usize>, dynamic: bool) -> InPort {
        let pop = pop_rate(self.pop, dynamic);
        let least = pop.fixed().unwrap_or(1);
        let peek = if dynamic { least } else { self.peek.max(least) };
        InPort::new(&*self.name, Item::of::<T>()).pop(pop).peek(peek)
    }

    fn attach(
        self,
        site: &mut Site<'_, 'env>,
        port: usize,
        _: EngineOnly,
    ) -> impl FnOnce() -> Look<T> + Send + use<'env, T> {
        let limits = limits(&site.draft.graph.node(site.node).inputs[port]);
        let socket = site.draft.consume(self.stream, (site.node, port));
        move || Look::new(socket.ring(), socket.id(), limits)
    }
}

impl<T> Sealed for Stream<'_, T> {}

/// An input without a name of its own, whose firings take items: see [`input`].
impl<'env, T: Send> InputSpec<'env> for Stream<'env, T> {
    type Port = Take<T>;

    fn declare(&self, at: Option<usize>, dynamic: bool) -> InPort {
        let name = at.map_or_else(|| "in".to_owned(), |at| format!("in{at}"));
        let pop = pop_rate(None, dynamic);
        InPort::new(name, Item::of::<T>()).pop(pop).peek(pop.fixed().unwrap_or(1))
    }

    fn attach(
        self,
        site: &mut Site<'_, 'env>,
        port: usize,
        only: EngineOnly,
    ) -> impl FnOnce() -> Take<T> + Send + use<'env, T> {
        InputSpec::attach(input("", self), site, port, only)
    }
}

/// One declared output.
pub trait OutputSpec: Sealed {
    /// The items.
    type Item: Send;
    #[doc(hidden)]
    fn declare(&self) -> OutPort;
}

impl<T: Send> OutputSpec for GiveSpec<T> {
    type Item = T;

    fn declare(&self) -> OutPort {
        OutPort::new(&*self.name, Item::of::<T>()).push(self.push)
    }
}

fn give<'env, T: Send + 'env>(
    site: &mut Site<'_, 'env>,
    port: usize,
    push: Rate,
) -> (Stream<'env, T>, impl FnOnce() -> Give<T> + Send + use<'env, T>) {
    let link = Link::default();
    let (edge, socket) = site.draft.produce::<T>(Some((site.node, port)), VecDeque::new(), link);
    let stream = Stream {
        shared: site.shared.clone(),
        number: site.draft.number(),
        edge,
        socket: socket.clone(),
        link,
        node: Some(site.node),
        gate: None,
    };
    let push = push.fixed().map(|items| items as usize);
    (stream, move || Give::new(socket.ring(), socket.id(), push))
}

/// All inputs of a kernel: one, a tuple of up to six, or a vector of equal ones.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of inputs",
    label = "not inputs",
    note = "a kernel's inputs are a stream, `input(\"a\", stream)`, `window(\"a\", stream)`, a tuple of two to six of \
            these, a `Vec` of equal ones, or `()`",
    note = "items must be `Send`, and those of a `window` `Sync` as well"
)]
pub trait InputSpecs<'env>: Sealed {
    /// The ports they become.
    type Ports: Inputs;
    #[doc(hidden)]
    fn declare(&self, node: Node, dynamic: bool) -> Node;
    #[doc(hidden)]
    fn attach(
        self,
        site: &mut Site<'_, 'env>,
        only: EngineOnly,
    ) -> impl FnOnce() -> Self::Ports + Send + use<'env, Self>;
}

/// All outputs of a kernel: one, a tuple of up to six, or a vector of equal ones.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of outputs",
    label = "not outputs",
    note = "a kernel's outputs are `output(\"a\")`, a tuple of two to six of these, a `Vec` of equal ones, or `()`"
)]
pub trait OutputSpecs: Sealed {
    /// The ports they become.
    type Ports: Outputs;
    /// Their streams.
    type Streams<'env>: Streams
    where
        Self: 'env;
    #[doc(hidden)]
    fn declare(&self, node: Node) -> Node;
    #[doc(hidden)]
    fn attach<'env>(
        self,
        site: &mut Site<'_, 'env>,
        only: EngineOnly,
    ) -> (Self::Streams<'env>, impl FnOnce() -> Self::Ports + Send + use<'env, Self>)
    where
        Self: 'env;
}

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
            type Ports = ($(Give<$S::Item>,)*);
            type Streams<'env>
                = ($(Stream<'env, $S::Item>,)*)
            where
                Self: 'env;

            fn declare(&self, mut node: Node) -> Node {
                $(node = node.output(self.$i.declare());)*
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
                $(let $s = give::<$S::Item>(site, $i, self.$i.declare().push);)*
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
one_input!(TakeSpec, Send);
one_input!(LookSpec, Send + Sync);

impl<T: Send> OutputSpecs for GiveSpec<T> {
    type Ports = One<Give<T>>;
    type Streams<'env>
        = Stream<'env, T>
    where
        Self: 'env;

    fn declare(&self, node: Node) -> Node {
        node.output(OutputSpec::declare(self))
    }
    fn attach<'env>(
        self,
        site: &mut Site<'_, 'env>,
        _: EngineOnly,
    ) -> (Stream<'env, T>, impl FnOnce() -> Self::Ports + Send + use<'env, T>)
    where
        Self: 'env,
    {
        let (stream, make) = give::<T>(site, 0, self.push);
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
    type Ports = Vec<Give<S::Item>>;
    type Streams<'env>
        = Vec<Stream<'env, S::Item>>
    where
        Self: 'env;

    fn declare(&self, node: Node) -> Node {
        self.iter().fold(node, |node, spec| node.output(spec.declare()))
    }
    fn attach<'env>(
        self,
        site: &mut Site<'_, 'env>,
        _: EngineOnly,
    ) -> (Self::Streams<'env>, impl FnOnce() -> Self::Ports + Send + use<'env, S>)
    where
        Self: 'env,
    {
        let made = self.iter().enumerate().map(|(i, spec)| give(site, i, spec.declare().push));
        let (streams, makes): (Vec<_>, Vec<_>) = made.unzip();
        (streams, move || makes.into_iter().map(|make| make()).collect())
    }
}
