//! Streams that the caller reads while their graph runs.

use super::stream::Stream;
use crate::built::Side::Consumer;
use crate::channel::InputRates;
use crate::error::Error;
use crate::port::PopPort;
use crate::run::outlet::Outlet;
use crate::run::{Options, Ready};
use thalweg_graph::NodeId;

impl<T: Send + 'static> Stream<'static, T> {
    /// Starts the graph with default options on threads of its own; returns the items of this stream as an iterator.
    ///
    /// # Errors
    /// The graph is refused, or no thread can be started.
    pub fn start(self) -> Result<Outlet<'static, T>, Error> {
        self.start_with(&Options::new())
    }

    /// Starts the graph on threads of its own; returns the items of this stream as an iterator.
    ///
    /// # Errors
    /// The graph or the options are refused, or no thread can be started.
    pub fn start_with(self, options: &Options) -> Result<Outlet<'static, T>, Error> {
        let (ready, node, port) = self.prepare_outlet(options)?;
        Outlet::start(ready, node, port)
    }
}

impl<'scope, T: Send + 'scope> Stream<'scope, T> {
    /// Starts the graph on threads of a scope; returns the items of this stream as an iterator. The graph may
    /// borrow data that outlives the scope.
    ///
    /// # Errors
    /// As [`Stream::start`].
    pub fn start_in(
        self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        options: &Options,
    ) -> Result<Outlet<'scope, T>, Error> {
        let (ready, node, port) = self.prepare_outlet(options)?;
        Outlet::start_in(scope, ready, node, port)
    }

    /// Makes the run, with this stream's consumer outside it.
    fn prepare_outlet(self, options: &Options) -> Result<(Ready<'scope>, NodeId, PopPort<T>), Error> {
        let graph = self.graph();
        let (node, cell) = graph.external("outlet", self);
        let ready = graph.build()?.ready(options)?;
        let rates = InputRates { pop: 1, peek: 1 };
        Ok((ready, node, PopPort::new(cell.ring(Consumer), cell.id(Consumer), rates)))
    }
}
