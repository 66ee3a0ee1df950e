//! Chains: what the user says, and how it is divided among processes.

mod batch;
mod combine;
mod keyed;
mod local;
mod parts;
mod plan;
mod run;
mod shared;
mod spread;

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thalweg::{Output, Stream};

use crate::piece::{Body, Piece};
use batch::{Batch, Cause, Function, Name};
pub use keyed::Keyed;
pub use local::{Local, LocalOutput};
use plan::Plan;
pub(crate) use shared::AnyShared;
pub use shared::Shared;

/// The batches of this process, whose stages have not run.
type Batches<'env, T> = Box<dyn Iterator<Item = Batch<'env, T>> + Send + 'env>;

/// Items that all processes of a [`Cluster`](crate::Cluster) make: stages so far need no state, so any process runs them for any item.
///
/// The items have an order, that of the source; no operator changes it. [`key_by`](Chain::key_by) goes on with a state for each
/// key; all other operators go on in process 0, in order.
pub struct Chain<'env, T> {
    plan: Plan<'env>,
    batches: Batches<'env, T>,
    /// The name of the last stage.
    name: Name,
}

impl<'env, T: Send + 'env> Chain<'env, T> {
    fn new(plan: Plan<'env>, batches: Batches<'env, T>) -> Chain<'env, T> {
        Chain { plan, batches, name: Arc::new(Mutex::new("source".to_owned())) }
    }

    /// Names the last stage, for errors.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name.lock().unwrap_or_else(PoisonError::into_inner));
        self.plan.shape.push_str(&format!(" as {name:?}"));
        self
    }

    /// Replaces each item by the result of a function.
    pub fn par_map<U: Send + 'env>(self, f: impl Fn(T) -> U + Send + Sync + 'env) -> Chain<'env, U> {
        self.stage("par_map", move |items| Ok(items.into_iter().map(&f).collect()))
    }

    /// Replaces each item by the result of a function that may fail: the run fails with its first error.
    pub fn try_par_map<U: Send + 'env, E: Into<Cause>>(
        self,
        f: impl Fn(T) -> Result<U, E> + Send + Sync + 'env,
    ) -> Chain<'env, U> {
        self.stage("try_par_map", move |items| {
            items.into_iter().map(|item| f(item).map_err(Into::into)).collect()
        })
    }

    /// Replaces each item by the result of a function, or drops it.
    pub fn par_filter_map<U: Send + 'env>(
        self,
        f: impl Fn(T) -> Option<U> + Send + Sync + 'env,
    ) -> Chain<'env, U> {
        self.stage("par_filter_map", move |items| Ok(items.into_iter().filter_map(&f).collect()))
    }

    /// Replaces each item by the items of an iterator. Those of a batch are in memory at once.
    pub fn par_flat_map<I: IntoIterator<Item: Send + 'env>>(
        self,
        f: impl Fn(T) -> I + Send + Sync + 'env,
    ) -> Chain<'env, I::Item> {
        self.stage("par_flat_map", move |items| Ok(items.into_iter().flat_map(&f).collect()))
    }

    /// Goes on with a state for each key: see [`Keyed`]. The function must return equal keys for equal items in all processes.
    pub fn key_by<K: Hash + Eq + Send + 'env>(
        self,
        key: impl Fn(&T) -> K + Send + Sync + 'env,
    ) -> Keyed<'env, K, T> {
        Keyed { chain: self, key: Arc::new(key) }
    }

    pub(super) fn stage<U: Send + 'env>(
        mut self,
        name: &str,
        f: impl Fn(Vec<T>) -> Result<Vec<U>, Cause> + Send + Sync + 'env,
    ) -> Chain<'env, U> {
        self.plan.shape.push_str(&format!(" | {name}"));
        let name = Arc::new(Mutex::new(name.to_owned()));
        let (f, of): (Function<'env, T, U>, _) = (Arc::new(f), name.clone());
        let batches = Box::new(self.batches.map(move |batch| batch.then(of.clone(), f.clone())));
        Chain { plan: self.plan, batches, name }
    }
}

impl<'env, T: Serialize + DeserializeOwned + Send + 'static> Chain<'env, T> {
    /// All items, in order, in process 0: goes on there with the operators of one machine.
    pub fn gather(mut self) -> Local<'env, T> {
        let (me, place) = (self.plan.process() as u32, self.plan.places());
        self.plan.shape.push_str(" | gather");
        self.plan.run_stages("gather", self.batches, move |ticket, last, items| {
            let body = Body::new(items, place(0))?;
            Ok(vec![Piece { ticket, last, from: me, to: 0, body }])
        });
        Local::new(self.plan, plan::Makers::One, |pieces| {
            let mut items = Vec::new();
            for piece in pieces {
                items.extend(piece.body.into_items::<Vec<T>>()?);
            }
            Ok(items)
        })
    }

    /// Replaces each item by the result of a function that may keep state, in process 0 and in order.
    pub fn map<U: Send + 'env>(self, f: impl FnMut(T) -> U + Send + 'env) -> Local<'env, U> {
        self.gather().map(f)
    }

    /// Keeps the items for which a function that may keep state returns true, in process 0 and in order.
    pub fn filter(self, f: impl FnMut(&T) -> bool + Send + 'env) -> Local<'env, T> {
        self.gather().filter(f)
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
