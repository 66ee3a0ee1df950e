//! What goes on in process 0, with the operators of one machine.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use thalweg::{Graph, Options, Output, Stream, output};

use super::batch::Cause;
use super::keyed::merge;
use super::plan::{Plan, arrived};
use crate::engine::Engine;
use crate::error::Error;
use crate::order::Whole;
use crate::watch::Watch;

/// Items in process 0, in order. The other processes build the same and run nothing of it, so functions here are called in
/// process 0 alone.
pub struct Local<'env, T> {
    pub(super) plan: Plan<'env>,
    pub(super) stream: Stream<'env, T>,
}

/// Counts what is behind the sink as a call of a user's function, from the time when it gets items until it wants more.
struct Behind {
    watch: Arc<Watch>,
    runs: bool,
}

impl Behind {
    fn wants(&mut self) {
        if std::mem::take(&mut self.runs) {
            self.watch.end();
        }
    }

    fn gets(&mut self) {
        self.runs = true;
        self.watch.begin();
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.wants();
    }
}

/// Maximum number of batches that the sink takes together, beyond the window.
const MAX_TAKEN: usize = 8;

/// How often it does so before the operators behind it have begun with the first.
const TAKEN_ROOM: usize = 2;

/// What a function makes of each batch that arrives in process 0.
pub(super) fn sink<'env, X: Send + 'env>(
    mut plan: Plan<'env>,
    make: impl Fn(Whole, &mut Vec<X>) -> Result<(), Cause> + Send + 'env,
) -> (Plan<'env>, Stream<'env, X>) {
    let is_here = plan.process() == 0;
    let expected = plan.all();
    plan.engine = Engine::default();
    let inbox = plan.station("sink", expected, is_here);
    plan.sink = Some((inbox.clone(), plan.engine.clone()));
    let out = Arc::clone(&plan.out);
    let mut behind = Behind { watch: plan.watch.clone(), runs: false };
    // A graph of its own: it may end before the stages do. Other processes drop it.
    let taken = Graph::new().process("gather", (), output("out"), |(), mut taken| async move {
        while let Some(group) = arrived(&inbox, MAX_TAKEN).await {
            behind.gets();
            let (mut group, mut made) = (group?, Vec::new());
            while let Some(whole) = group.pop() {
                let next = whole.ticket.next(whole.last);
                make(whole, &mut made)?;
                out.push([], next);
            }
            taken.send(made).await;
            out.flush();
            behind.wants();
        }
        Ok::<(), Cause>(())
    });
    (plan, taken.capacity(TAKEN_ROOM).unbatch())
}

impl<'env, T: Send + 'env> Local<'env, T> {
    /// All items that arrive in process 0.
    pub(super) fn new(plan: Plan<'env>) -> Local<'env, T>
    where
        T: DeserializeOwned + 'static,
    {
        let (plan, stream) = sink(plan, |whole, made| {
            let mut items = merge::<T>("sink", whole.ticket, whole.pieces)?.items;
            if made.is_empty() {
                *made = items
            } else {
                made.append(&mut items)
            }
            Ok(())
        });
        Local { plan, stream }
    }

    /// Replaces each item by the result of a function that may keep state.
    pub fn map<U: Send + 'env>(self, f: impl FnMut(T) -> U + Send + 'env) -> Local<'env, U> {
        self.then(|stream| stream.map(f))
    }

    /// Keeps the items for which a function that may keep state returns true.
    pub fn filter(self, f: impl FnMut(&T) -> bool + Send + 'env) -> Local<'env, T> {
        self.then(|stream| stream.filter(f))
    }

    /// Goes on with any operators.
    pub fn then<U>(self, f: impl FnOnce(Stream<'env, T>) -> Stream<'env, U>) -> Local<'env, U> {
        Local { plan: self.plan, stream: f(self.stream) }
    }

    /// Calls a function with each item.
    pub fn for_each(self, f: impl FnMut(T) + Send + 'env) -> LocalOutput<'env, ()> {
        self.end(|stream| stream.for_each(f))
    }

    /// Calls a function that may fail with each item: the run fails with its first error.
    pub fn try_for_each<E: Into<Cause> + Send + 'static>(
        self,
        mut f: impl FnMut(T) -> Result<(), E> + Send + 'env,
    ) -> LocalOutput<'env, ()> {
        self.end(|stream| stream.for_each(move |item| f(item).map_err(Into::into)))
    }

    /// All items as a vector.
    pub fn collect(self) -> LocalOutput<'env, Vec<T>> {
        self.end(Stream::collect)
    }

    /// Goes on with any operators, to the end.
    pub fn end<R>(self, f: impl FnOnce(Stream<'env, T>) -> Output<'env, R>) -> LocalOutput<'env, R> {
        LocalOutput { plan: self.plan, output: f(self.stream) }
    }
}

/// The result of a chain, before its run.
pub struct LocalOutput<'env, R> {
    pub(super) plan: Plan<'env>,
    pub(super) output: Output<'env, R>,
}

impl<'env, R> LocalOutput<'env, R> {
    /// Runs this process's share of the chain to the end of the whole run, with default options. Returns the result in process 0 and
    /// `None` in the others.
    ///
    /// # Errors
    /// A process failed, in any of its stages, or could not be reached: all return the same error.
    pub fn run(self) -> Result<Option<R>, Error> {
        self.run_with(&Options::new())
    }

    /// As [`run`](LocalOutput::run), with options for this process: its threads, its policy, its budget.
    ///
    /// # Errors
    /// As [`run`](LocalOutput::run).
    pub fn run_with(self, options: &Options) -> Result<Option<R>, Error> {
        super::run::run(self.plan, self.output, options)
    }
}
