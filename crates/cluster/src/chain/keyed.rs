//! State for each key, where the key lives.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::batch::{Cause, guarded};
use super::plan::{Makers, Missing, Plan, arriving, failure};
use super::{Chain, Local};
use crate::order::Whole;
use crate::piece::{Body, Damaged, Piece};
use crate::ticket::Ticket;

/// The hash of tables: the same in all processes of one program.
type Fixed = foldhash::fast::FixedState;

/// Items with a key. Each key lives in one process, which gets the items of that key in the order of the source, whatever
/// the number of processes. So the results are the same, of any function.
pub struct Keyed<'env, K, T> {
    pub(super) chain: Chain<'env, T>,
    pub(super) key: Arc<dyn Fn(&T) -> K + Send + Sync + 'env>,
}

/// The items of a batch that one process gets, each with its number in the batch.
type Share<T> = (Vec<u32>, Vec<T>);

/// The place of a key's first item in the order of all: part, batch, number in the batch.
pub(super) type First = (u32, u32, u32);

/// Values by key, with the place of the first item of each.
pub(super) type Values<K, A> = HashMap<K, (First, A), Fixed>;

/// Values as they go to process 0, in the order of first items.
pub(super) type Sorted<K, A> = Vec<(First, K, A)>;

impl<'env, K, T> Keyed<'env, K, T>
where
    K: Hash + Eq + Send + 'env,
    T: Serialize + DeserializeOwned + Send + 'static,
{
    /// Replaces each item by what a function makes of it and the state of its key; the results go on in process 0, in the
    /// order of the items. `state` makes the state of a key that comes for the first time.
    ///
    /// ```
    /// use thalweg_cluster::Cluster;
    ///
    /// let visits = Cluster::alone()
    ///     .from_iter(["ann", "bob", "ann"].map(str::to_owned))
    ///     .key_by(|name| name.clone())
    ///     .scan(|_| 0, |visits, name| {
    ///         *visits += 1;
    ///         format!("{name} {visits}")
    ///     })
    ///     .collect()
    ///     .run()?;
    /// assert_eq!(visits.unwrap(), ["ann 1", "bob 1", "ann 2"]);
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    pub fn scan<S, R>(
        self,
        mut state: impl FnMut(&K) -> S + Send + 'env,
        mut f: impl FnMut(&mut S, T) -> R + Send + 'env,
    ) -> Local<'env, R>
    where
        S: Send + 'env,
        R: Serialize + DeserializeOwned + Send + 'static,
    {
        let key = self.key.clone();
        let mut states: HashMap<K, S, Fixed> = HashMap::default();
        let step = move |_, (numbers, items): Share<T>| -> Option<Share<R>> {
            let results = items.into_iter().map(|item| {
                let key = key(&item);
                let state = match states.get_mut(&key) {
                    Some(state) => state,
                    None => {
                        let first = state(&key);
                        states.entry(key).or_insert(first)
                    }
                };
                f(state, item)
            });
            let results = results.collect();
            Some((numbers, results))
        };
        let plan = self.run_keyed("scan", step, || None);
        Local::new(plan, Makers::All, |pieces| {
            let mut items: Vec<(u32, R)> = Vec::new();
            for piece in pieces {
                let (numbers, results) = piece.body.into_items::<Share<R>>()?;
                items.extend(numbers.into_iter().zip(results));
            }
            // Those of each process are sorted already.
            items.sort_by_key(|(number, _)| *number);
            Ok(items.into_iter().map(|(_, item)| item).collect())
        })
    }

    /// One value for each key: starts with `init` and takes the items of the key in the order of the source. The keys go on
    /// in process 0, in the order of their first items.
    ///
    /// The memory is that of all values, and twice that at the end.
    ///
    /// ```
    /// use thalweg_cluster::Cluster;
    ///
    /// let counts = Cluster::alone()
    ///     .from_parts(2, |part| ["b", "a", "b"].map(|word| format!("{word}{part}")))
    ///     .key_by(|word| word.clone())
    ///     .fold(|| 0, |count, _| *count += 1)
    ///     .map(|(word, count)| format!("{word}: {count}"))
    ///     .collect()
    ///     .run()?;
    /// assert_eq!(counts.unwrap(), ["b0: 2", "a0: 1", "b1: 2", "a1: 1"]);
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    pub fn fold<A>(
        self,
        mut init: impl FnMut() -> A + Send + 'env,
        mut f: impl FnMut(&mut A, T) + Send + 'env,
    ) -> Local<'env, (K, A)>
    where
        K: Serialize + DeserializeOwned + 'static,
        A: Serialize + DeserializeOwned + Send + 'static,
    {
        let key = self.key.clone();
        let values = Arc::new(Mutex::new(Values::<K, A>::default()));
        let at_end = values.clone();
        let step = move |ticket: Ticket, (numbers, items): Share<T>| -> Option<Sorted<K, A>> {
            let mut values = values.lock().unwrap_or_else(PoisonError::into_inner);
            for (number, item) in numbers.into_iter().zip(items) {
                let first = || ((ticket.part, ticket.batch, number), init());
                f(&mut values.entry(key(&item)).or_insert_with(first).1, item);
            }
            None
        };
        let end =
            move || Some(sorted(std::mem::take(&mut *at_end.lock().unwrap_or_else(PoisonError::into_inner))));
        gather(self.run_keyed("fold", step, end))
    }

    /// Sends each item to the process of its key.
    fn distribute(self) -> Plan<'env> {
        let Keyed { chain, key } = self;
        let mut plan = chain.plan;
        plan.shape.push_str(" | key_by");
        let (me, processes, place) = (plan.process() as u32, plan.processes(), plan.places());
        plan.run_stages("key_by", chain.batches, move |ticket, last, items| {
            let shares = divide(items, processes, &*key);
            let piece = |(to, share): (usize, Share<T>)| {
                let to = to as u32;
                Ok(Piece { ticket, last, from: me, to, body: Body::new(share, place(to))? })
            };
            shares.into_iter().enumerate().map(piece).collect()
        });
        plan
    }

    /// Adds the stage that holds the states of this process's keys. `step` returns what goes to process 0 for each batch, and `end` what
    /// goes there at the end: one of the two returns none at all.
    fn run_keyed<R: Serialize + Send + 'static>(
        self,
        name: &'static str,
        mut step: impl FnMut(Ticket, Share<T>) -> Option<R> + Send + 'env,
        mut end: impl FnMut() -> Option<R> + Send + 'env,
    ) -> Plan<'env> {
        let mut plan = self.distribute();
        plan.shape.push_str(&format!(" | {name}"));
        let (me, place) = (plan.process() as u32, plan.places());
        let (parts, watch) = (plan.parts, plan.watch.clone());
        let expected = plan.all(0, Makers::One);
        let inbox = plan.station(name, expected, true);
        let out = plan.out.clone();
        let piece = move |ticket, last, items: R| -> Result<Piece, Damaged> {
            Ok(Piece { ticket, last, from: me, to: 0, body: Body::new(items, place(0))? })
        };
        let mut work = move |whole: Option<Whole>| -> Result<(), Damaged> {
            let _call = watch.call();
            if let Some(Whole { ticket, last, pieces }) = whole {
                let mut made = Vec::new();
                for share in pieces {
                    if let Some(result) = step(ticket, share.body.into_items()?) {
                        made.push(piece(ticket, last, result)?);
                    }
                }
                let next = ticket.next(last);
                out.push(made, next);
                if next.part < parts {
                    return Ok(());
                }
            }
            if let Some(result) = end() {
                let ticket = Ticket::first_of(parts);
                out.push([piece(ticket, true, result)?], ticket.next(true));
            }
            out.close();
            Ok(())
        };
        // Without parts no batch comes, and the stage begins at its end.
        let only_end = (parts == 0).then_some(None);
        let batches = only_end.into_iter().chain(arriving(inbox).map(Some));
        let batches = plan.graph.source(batches).blocking().named("arrive");
        let run = move |arrived: Option<Result<Whole, Missing>>| -> Result<(), Cause> {
            let whole = arrived.transpose()?;
            let ticket = whole.as_ref().map_or(Ticket::first_of(0), |whole| whole.ticket);
            let work = || work(whole).map_err(|damaged| failure(name, ticket, damaged).into());
            Ok(guarded(name, ticket, work)?)
        };
        batches.try_map(run).named(name).discard();
        plan
    }
}

/// Values in the order of first items.
pub(super) fn sorted<K, A>(values: Values<K, A>) -> Sorted<K, A> {
    let mut sorted: Sorted<K, A> =
        values.into_iter().map(|(key, (first, value))| (first, key, value)).collect();
    sorted.sort_by_key(|(first, ..)| *first);
    sorted
}

/// The values of all processes in process 0. They come behind all parts, as the only batch of one more.
pub(super) fn gather<'env, K, A>(mut plan: Plan<'env>) -> Local<'env, (K, A)>
where
    K: Serialize + DeserializeOwned + Send + 'static,
    A: Serialize + DeserializeOwned + Send + 'static,
{
    let first = plan.parts;
    plan.parts += 1;
    Local::from_part(plan, first, Makers::All, |pieces| {
        let mut items: Sorted<K, A> = Vec::new();
        for piece in pieces {
            items.extend(piece.body.into_items::<Sorted<K, A>>()?);
        }
        items.sort_by_key(|(first, ..)| *first);
        Ok(items.into_iter().map(|(_, key, value)| (key, value)).collect())
    })
}

/// The process in which a key lives.
pub(super) fn home<K: Hash>(key: &K, processes: usize) -> usize {
    // The high bits: the low ones place the key in the table of its process.
    let hash = foldhash::quality::FixedState::with_seed(0).hash_one(key);
    ((u128::from(hash) * processes as u128) >> 64) as usize
}

/// Divides items among processes by their keys.
fn divide<T, K: Hash>(items: Vec<T>, processes: usize, key: impl Fn(&T) -> K) -> Vec<Share<T>> {
    let mut shares: Vec<Share<T>> = (0..processes).map(|_| (Vec::new(), Vec::new())).collect();
    for (number, item) in items.into_iter().enumerate() {
        let share = &mut shares[home(&key(&item), processes)];
        share.0.push(number as u32);
        share.1.push(item);
    }
    shares
}
