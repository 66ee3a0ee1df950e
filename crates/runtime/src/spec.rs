//! How a kernel's ports are declared: `input("in", stream).pop(2)`, `output("out").push(1)`.

use crate::builder::{Builder, Stream};
use crate::channel::Limits;
use crate::port::{Give, Input, Look, Take};
use crate::ports::{Inputs, Outputs};
use std::marker::PhantomData;
use thalweg_graph::{InPort, Item, Node, NodeId, OutPort, Rate};

/// An input whose firings take items by value. Where nothing is said, one a firing, or, under a
/// framing function, as many as that says.
pub fn input<T>(name: &str, stream: Stream<T>) -> TakeSpec<T> {
    TakeSpec { name: name.to_owned(), stream, pop: None }
}

/// An input whose firings look at items by reference. Where nothing is said, one a firing, or,
/// under a framing function, as many as that says.
pub fn window<T>(name: &str, stream: Stream<T>) -> LookSpec<T> {
    LookSpec { name: name.to_owned(), stream, pop: None, peek: 0 }
}

/// An output that gives any number of items a firing unless said otherwise.
pub fn output<T>(name: &str) -> GiveSpec<T> {
    GiveSpec { name: name.to_owned(), push: Rate::Dynamic, item: PhantomData }
}

/// Declares an input that takes items. See [`input`].
#[derive(Debug)]
pub struct TakeSpec<T> {
    name: String,
    stream: Stream<T>,
    pop: Option<u32>,
}

impl<T> TakeSpec<T> {
    /// Items a firing takes. Under a framing function the port's rate is static all the same, and
    /// the function must keep to it.
    pub fn pop(mut self, items: u32) -> Self {
        self.pop = Some(items);
        self
    }
}

/// Declares an input that looks at items. See [`window`].
#[derive(Debug)]
pub struct LookSpec<T> {
    name: String,
    stream: Stream<T>,
    pop: Option<u32>,
    peek: u32,
}

impl<T> LookSpec<T> {
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
pub trait InputSpec {
    /// The port it becomes.
    type Port: Input;
    #[doc(hidden)]
    fn declare(&self, dynamic: bool) -> InPort;
    #[doc(hidden)]
    fn attach<'env>(
        self,
        builder: &mut Builder<'env>,
        to: (NodeId, usize),
    ) -> impl FnOnce() -> Self::Port + Send + use<'env, Self>
    where
        Self: 'env;
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

impl<T: Send> InputSpec for TakeSpec<T> {
    type Port = Take<T>;

    fn declare(&self, dynamic: bool) -> InPort {
        let pop = pop_rate(self.pop, dynamic);
        InPort::new(&*self.name, Item::of::<T>()).pop(pop).peek(pop.fixed().unwrap_or(1))
    }

    fn attach<'env>(
        self,
        builder: &mut Builder<'env>,
        to: (NodeId, usize),
    ) -> impl FnOnce() -> Take<T> + Send + use<'env, T>
    where
        Self: 'env,
    {
        let limits = limits(&builder.graph().node(to.0).inputs[to.1]);
        let socket = builder.consume(self.stream, to);
        move || Take::new(socket.ring(), socket.id(), limits)
    }
}

impl<T: Send + Sync> InputSpec for LookSpec<T> {
    type Port = Look<T>;

    fn declare(&self, dynamic: bool) -> InPort {
        let pop = pop_rate(self.pop, dynamic);
        let least = pop.fixed().unwrap_or(1);
        let peek = if dynamic { least } else { self.peek.max(least) };
        InPort::new(&*self.name, Item::of::<T>()).pop(pop).peek(peek)
    }

    fn attach<'env>(
        self,
        builder: &mut Builder<'env>,
        to: (NodeId, usize),
    ) -> impl FnOnce() -> Look<T> + Send + use<'env, T>
    where
        Self: 'env,
    {
        let limits = limits(&builder.graph().node(to.0).inputs[to.1]);
        let socket = builder.consume(self.stream, to);
        move || Look::new(socket.ring(), socket.id(), limits)
    }
}

/// One declared output.
pub trait OutputSpec {
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
    builder: &mut Builder<'env>,
    from: (NodeId, usize),
    push: Rate,
) -> (Stream<T>, impl FnOnce() -> Give<T> + Send + use<'env, T>) {
    let stream = builder.produce::<T>(Some(from));
    let socket = stream.socket();
    let push = push.fixed().map(|items| items as usize);
    (stream, move || Give::new(socket.ring(), socket.id(), push))
}

/// All inputs of a kernel: a tuple of up to six, or a vector of equal ones.
pub trait InputSpecs {
    /// The ports they become.
    type Ports: Inputs;
    #[doc(hidden)]
    fn declare(&self, node: Node, dynamic: bool) -> Node;
    #[doc(hidden)]
    fn attach<'env>(
        self,
        builder: &mut Builder<'env>,
        node: NodeId,
    ) -> impl FnOnce() -> Self::Ports + Send + use<'env, Self>
    where
        Self: 'env;
}

/// All outputs of a kernel: a tuple of up to six, or a vector of equal ones.
pub trait OutputSpecs {
    /// The ports they become.
    type Ports: Outputs;
    /// What the builder hands back.
    type Streams;
    #[doc(hidden)]
    fn declare(&self, node: Node) -> Node;
    #[doc(hidden)]
    fn attach<'env>(
        self,
        builder: &mut Builder<'env>,
        node: NodeId,
    ) -> (Self::Streams, impl FnOnce() -> Self::Ports + Send + use<'env, Self>)
    where
        Self: 'env;
}

macro_rules! tuples {
    ($($S:ident $s:ident $i:tt),*) => {
        #[allow(unused_variables, unused_mut, clippy::unused_unit)]
        impl<$($S: InputSpec),*> InputSpecs for ($($S,)*) {
            type Ports = ($($S::Port,)*);

            fn declare(&self, mut node: Node, dynamic: bool) -> Node {
                $(node = node.input(self.$i.declare(dynamic));)*
                node
            }
            fn attach<'env>(self, builder: &mut Builder<'env>, node: NodeId) -> impl FnOnce() -> Self::Ports + Send + use<'env, $($S),*>
    where
        Self: 'env,
    {
                $(let $s = self.$i.attach(builder, (node, $i));)*
                move || ($($s(),)*)
            }
        }

        #[allow(unused_variables, unused_mut, clippy::unused_unit)]
        impl<$($S: OutputSpec),*> OutputSpecs for ($($S,)*) {
            type Ports = ($(Give<$S::Item>,)*);
            type Streams = ($(Stream<$S::Item>,)*);

            fn declare(&self, mut node: Node) -> Node {
                $(node = node.output(self.$i.declare());)*
                node
            }
            fn attach<'env>(self, builder: &mut Builder<'env>, node: NodeId) -> (Self::Streams, impl FnOnce() -> Self::Ports + Send + use<'env, $($S),*>)
    where
        Self: 'env,
    {
                $(let $s = give::<$S::Item>(builder, (node, $i), self.$i.declare().push);)*
                (($($s.0,)*), move || ($($s.1(),)*))
            }
        }
    };
}

tuples!();
tuples!(A a 0);
tuples!(A a 0, B b 1);
tuples!(A a 0, B b 1, C c 2);
tuples!(A a 0, B b 1, C c 2, D d 3);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4);
tuples!(A a 0, B b 1, C c 2, D d 3, E e 4, F f 5);

impl<S: InputSpec> InputSpecs for Vec<S> {
    type Ports = Vec<S::Port>;

    fn declare(&self, node: Node, dynamic: bool) -> Node {
        self.iter().fold(node, |node, spec| node.input(spec.declare(dynamic)))
    }
    fn attach<'env>(
        self,
        builder: &mut Builder<'env>,
        node: NodeId,
    ) -> impl FnOnce() -> Self::Ports + Send + use<'env, S>
    where
        Self: 'env,
    {
        let made: Vec<_> =
            self.into_iter().enumerate().map(|(i, spec)| spec.attach(builder, (node, i))).collect();
        move || made.into_iter().map(|make| make()).collect()
    }
}

impl<S: OutputSpec> OutputSpecs for Vec<S> {
    type Ports = Vec<Give<S::Item>>;
    type Streams = Vec<Stream<S::Item>>;

    fn declare(&self, node: Node) -> Node {
        self.iter().fold(node, |node, spec| node.output(spec.declare()))
    }
    fn attach<'env>(
        self,
        builder: &mut Builder<'env>,
        node: NodeId,
    ) -> (Self::Streams, impl FnOnce() -> Self::Ports + Send + use<'env, S>)
    where
        Self: 'env,
    {
        let made = self.iter().enumerate().map(|(i, spec)| give(builder, (node, i), spec.declare().push));
        let (streams, makes): (Vec<_>, Vec<_>) = made.unzip();
        (streams, move || makes.into_iter().map(|make| make()).collect())
    }
}
