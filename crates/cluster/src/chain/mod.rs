//! Chains: what the user says, and how it is divided among processes.

mod batch;
pub(crate) mod budget;
mod combine;
mod file;
mod gaps;
mod handover;
mod items;
mod keyed;
mod local;
mod onward;
mod parts;
mod plan;
mod run;
mod shared;
mod spread;
mod weigh;

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thalweg::{Output, Stream};

use crate::piece::{Damaged, Piece};
pub(crate) use batch::message;
use batch::{Cause, Name, Stage};
use items::Items;
pub use keyed::Keyed;
pub use local::{Local, LocalOutput};
use onward::{At, Onward};
use plan::{Plan, Step};
pub use shared::Shared;
pub(crate) use shared::{AnyShared, SharedValues};
use weigh::Weighing;
pub use weigh::{SizeOf, Weigh};

/// Adds what makes batches to the graph, with what is done with each: known as soon as the stages are, up to the next exchange.
type Batches<'env, T> = Box<dyn FnOnce(&mut Plan<'env>, Onward<'env, Items<T>>) + 'env>;

/// Items that all processes of a [`Cluster`](crate::Cluster) make: stages run where the items are, which is where they were read or,
/// behind a keyed stage, where their keys live.
///
/// The items have an order, that of the source; no operator changes it. [`key_by`](Chain::key_by) goes on with a state for each
/// key; operators that are not of this type go on in process 0, in order.
pub struct Chain<'env, T> {
    plan: Plan<'env>,
    batches: Batches<'env, T>,
    /// The name of the last stage.
    name: Name,
    /// The chain is a source: its items can be weighed.
    weighing: Option<Weighing<'env, T>>,
}

impl<'env, T: Send + 'env> Chain<'env, T> {
    fn new(
        plan: Plan<'env>,
        batches: Batches<'env, T>,
        weighing: Option<Weighing<'env, T>>,
    ) -> Chain<'env, T> {
        Chain { plan, batches, name: Arc::new(Mutex::new("source".to_owned())), weighing }
    }

    /// How many bytes an item of the source has, which decides [where a batch ends](crate::Cluster::batch_bytes). Belongs directly
    /// behind the source: a run of another chain fails before it begins.
    ///
    /// Without it, an item of `from_iter`, which may go to another process, has the bytes of its encoding; one of
    /// `from_parts`, which need not have an encoding, has those of its type (`size_of`), without what it owns elsewhere.
    ///
    /// ```
    /// use thalweg_cluster::Cluster;
    ///
    /// let lines = ["a line".repeat(20_000), "short".to_owned(), "also short".to_owned()];
    /// let lengths = Cluster::alone()
    ///     .from_parts(1, |_| lengths_of(&lines))
    ///     .weigh(|line| line.len())                  // so the long line is a batch by itself
    ///     .par_map(|line| line.len())
    ///     .collect()
    ///     .run()?;
    /// assert_eq!(lengths.unwrap(), [120_000, 5, 10]);
    /// # fn lengths_of(lines: &[String]) -> Vec<&str> { lines.iter().map(String::as_str).collect() }
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    pub fn weigh(mut self, bytes: impl Fn(&T) -> usize + Send + Sync + 'env) -> Self {
        self.plan.shape.push_str(" | weigh");
        if !self.weighing.as_ref().is_some_and(|weighing| weighing.set(bytes)) {
            self.plan.refuse("`weigh` is not directly behind a source", WEIGH_HELP);
        }
        self
    }

    /// Names the last stage, for errors.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name.lock().unwrap_or_else(PoisonError::into_inner));
        self.plan.shape.push_str(&format!(" as {name:?}"));
        self
    }

    /// Replaces each item by the result of a function.
    pub fn par_map<U: Send + 'env>(self, f: impl Fn(T) -> U + Send + Sync + 'env) -> Chain<'env, U> {
        self.stage("par_map", move |items| Ok(items.map(&f)))
    }

    /// Replaces each item by the result of a function that may fail: the run fails with its first error.
    pub fn try_par_map<U: Send + 'env, E: Into<Cause>>(
        self,
        f: impl Fn(T) -> Result<U, E> + Send + Sync + 'env,
    ) -> Chain<'env, U> {
        self.stage("try_par_map", move |items| items.try_map(|item| f(item).map_err(Into::into)))
    }

    /// Replaces each item by the result of a function, or drops it.
    pub fn par_filter_map<U: Send + 'env>(
        self,
        f: impl Fn(T) -> Option<U> + Send + Sync + 'env,
    ) -> Chain<'env, U> {
        self.stage("par_filter_map", move |items| Ok(items.filter_map(&f)))
    }

    /// Replaces each item by the items of an iterator. Those of a batch are in memory at once.
    ///
    /// Between two keyed stages it is refused: the run fails before it begins. Items that are made of one have no order that processes
    /// could restore.
    pub fn par_flat_map<I: IntoIterator<Item: Send + 'env>>(
        mut self,
        f: impl Fn(T) -> I + Send + Sync + 'env,
    ) -> Chain<'env, I::Item> {
        self.plan.has_ties |= matches!(self.plan.step, Step::Every);
        self.stage("par_flat_map", move |items| Ok(items.flat_map(&f)))
    }

    /// Goes on with a state for each key: see [`Keyed`]. The function must return equal keys for equal items in all processes.
    pub fn key_by<K: Hash + Eq + Send + 'env>(
        self,
        key: impl Fn(&T) -> K + Send + Sync + 'env,
    ) -> Keyed<'env, K, T> {
        Keyed { chain: self, key: Arc::new(key), weigh: Arc::new(SizeOf) }
    }

    fn stage<U: Send + 'env>(
        self,
        name: &str,
        f: impl Fn(Items<T>) -> Result<Items<U>, Cause> + Send + Sync + 'env,
    ) -> Chain<'env, U> {
        let Chain { mut plan, batches, .. } = self;
        plan.shape.push_str(&format!(" | {name}"));
        let name = Arc::new(Mutex::new(name.to_owned()));
        let of = name.clone();
        let batches: Batches<'env, U> = Box::new(move |plan, onward| {
            let onward = Onward { is_parallel: true, ..onward };
            batches(plan, onward.after(move || Stage::Named(of.clone()), f));
        });
        Chain { plan, batches, name, weighing: None }
    }

    /// Refuses a keyed stage of this name if the items have no unique order.
    fn refuse_ties(mut self, name: &str) -> Self {
        if self.plan.has_ties {
            let why = format!("`{name}` behind `par_flat_map` behind a keyed stage");
            self.plan
                .refuse(why, "let `par_map` make a `Vec` of each item, and use `par_flat_map` at the end");
        }
        self
    }

    /// Ends the stages: sends the pieces that a function makes of the items. `name`: of the operator.
    fn send(
        self,
        name: &'static str,
        is_parallel: bool,
        pieces: impl Fn(At, Items<T>) -> Result<Vec<Piece>, Damaged> + Send + Sync + 'env,
    ) -> Plan<'env> {
        let Chain { mut plan, batches, .. } = self;
        plan.shape.push_str(&format!(" | {name}"));
        let onward = plan.send(name, is_parallel, pieces);
        batches(&mut plan, onward);
        plan
    }
}

const WEIGH_HELP: &str = "call it on what `from_iter` or `from_parts` returns, once";

impl<'env, T: Serialize + DeserializeOwned + Send + 'static> Chain<'env, T> {
    /// All items, in order, in process 0: goes on there with the operators of one machine.
    pub fn gather(self) -> Local<'env, T> {
        Local::new(self.send_home("gather"))
    }

    /// Sends all items to process 0.
    fn send_home(self, name: &'static str) -> Plan<'env> {
        let (me, place) = (self.plan.process() as u32, self.plan.places());
        self.send(name, false, move |at, items| Ok(vec![at.piece(me, 0, items.into_body(place(0))?)]))
    }

    /// Replaces each item by the result of a function that may keep state, in process 0 and in order.
    pub fn map<U: Send + 'env>(self, f: impl FnMut(T) -> U + Send + 'env) -> Local<'env, U> {
        self.gather().map(f)
    }

    /// Keeps the items for which a function that may keep state returns true, in process 0 and in order.
    pub fn filter(self, f: impl FnMut(&T) -> bool + Send + 'env) -> Local<'env, T> {
        self.gather().filter(f)
    }

    /// Goes on with any operators of one machine, in process 0 and in order.
    pub fn then<U>(self, f: impl FnOnce(Stream<'env, T>) -> Stream<'env, U>) -> Local<'env, U> {
        self.gather().then(f)
    }

    /// Calls a function that may fail with each item, in process 0 and in order: the run fails with its first error.
    pub fn try_for_each<E: Into<Cause> + Send + 'static>(
        self,
        f: impl FnMut(T) -> Result<(), E> + Send + 'env,
    ) -> LocalOutput<'env, ()> {
        self.gather().try_for_each(f)
    }

    /// Calls a function with each item, in process 0 and in order.
    pub fn for_each(self, f: impl FnMut(T) + Send + 'env) -> LocalOutput<'env, ()> {
        self.gather().for_each(f)
    }

    /// All items, in order, as a vector in process 0.
    pub fn collect(self) -> LocalOutput<'env, Vec<T>> {
        self.gather().collect()
    }

    /// Goes on in process 0 with any operators of one machine, to the end.
    ///
    /// ```
    /// use thalweg_cluster::Cluster;
    ///
    /// let sum = Cluster::alone()
    ///     .from_parts(3, |part| part * 10..part * 10 + 2)
    ///     .par_map(|n| n as u64)
    ///     .end(|stream| stream.fold(0, |sum, n| sum + n))
    ///     .run()?;
    /// assert_eq!(sum, Some(63));
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    pub fn end<R>(self, f: impl FnOnce(Stream<'env, T>) -> Output<'env, R>) -> LocalOutput<'env, R> {
        self.gather().end(f)
    }
}
