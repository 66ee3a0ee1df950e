//! State for each key, where the key lives.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thalweg::output;

use super::batch::{Cause, guarded};
use super::budget::Tally;
use super::items::{First, Items, Tags};
use super::onward::At;
use super::plan::{Missing, Plan, Step, arrived, failure};
use super::weigh::{SizeOf, Weigh};
use super::{Batches, Chain};
use crate::group::{GROUP_TIME, Group, GroupSize};
use crate::inbox::Inbox;
use crate::order::Whole;
use crate::outbox::Outbox;
use crate::piece::Piece;
use crate::ticket::Ticket;

/// The hash of tables: the same in all processes of one program.
type Fixed = foldhash::fast::FixedState;

/// Items with a key. Each key lives in one process, which gets the items of that key in the order of the source, whatever
/// the number of processes. So the results are the same, of any function.
///
/// The results stay where their keys live, in the order of the items: stages such as [`par_map`](Chain::par_map) run there,
/// and operators of one machine in process 0.
pub struct Keyed<'env, K, T, W = SizeOf> {
    pub(super) chain: Chain<'env, T>,
    pub(super) key: Arc<dyn Fn(&T) -> K + Send + Sync + 'env>,
    pub(super) weigh: Arc<W>,
}

/// Values by key, with the place of the first item of each.
pub(super) type Values<K, A> = HashMap<K, (First, A), Fixed>;

/// Values in the order of first items.
pub(super) type Sorted<K, A> = Vec<(First, K, A)>;

/// What goes on to the next stages; `None`: the end.
type Next<R> = Option<(At, Items<R>)>;

/// What a keyed stage makes of a batch, in order, and whether it was the last.
pub(super) struct Made<R> {
    pub results: Vec<(At, Items<R>)>,
    pub ends: bool,
}

impl<'env, K, T, W> Keyed<'env, K, T, W> {
    /// How many bytes a state has, for the [budget](crate::Cluster::budget) of a process. The function is called when a state is made,
    /// and before and after each change of it, so it should be as cheap as `Vec::len`. Without it, a state counts as its type has it
    /// (`size_of`), without what it owns elsewhere, which is a lower bound. A key always counts so.
    ///
    /// ```
    /// use thalweg_cluster::Cluster;
    ///
    /// let texts = |budget| {
    ///     Cluster::alone()
    ///         .budget(budget)
    ///         .from_parts(100, |part| [part as u64])
    ///         .key_by(|n| n % 2)
    ///         .weigh(|text: &String| text.len())
    ///         .fold(String::new, |text, n| *text += &format!("{n} "))
    ///         .collect()
    ///         .run()
    /// };
    /// assert_eq!(texts(10_000)?.unwrap().len(), 2);
    /// let error = texts(100).unwrap_err().to_string();
    /// assert_eq!(
    ///     error,
    ///     "process 0 (this process), stage fold, batch 0 of part 31: \
    ///      the states of 2 keys have 102 bytes, and the budget is 100"
    /// );
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    pub fn weigh<S, V: Fn(&S) -> usize + Send + Sync + 'env>(self, bytes: V) -> Keyed<'env, K, T, V> {
        Keyed { chain: self.chain, key: self.key, weigh: Arc::new(bytes) }
    }

    /// Counts the states of a stage.
    pub(super) fn tally<S>(&self, name: &'static str) -> Tally<K, S, W>
    where
        W: Weigh<S>,
    {
        Tally::new(self.chain.plan.budget.clone(), name, self.weigh.clone())
    }
}

impl<'env, K, T, W> Keyed<'env, K, T, W>
where
    K: Hash + Eq + Send + 'env,
    T: Serialize + DeserializeOwned + Send + 'static,
    W: Send + Sync + 'env,
{
    /// Replaces each item by what a function makes of it and the state of its key, in the order of the items. `state` makes the
    /// state of a key that comes for the first time.
    ///
    /// ```
    /// use thalweg_cluster::Cluster;
    ///
    /// let visits = Cluster::alone()
    ///     .from_iter(["ann", "bob", "ann"].map(str::to_owned))
    ///     .key_by(|name| name.clone())
    ///     .scan(|_| 0, |visits, name| {
    ///         *visits += 1;
    ///         (name, *visits)
    ///     })
    ///     .par_map(|(name, visits)| format!("{name} {visits}"))   // where the key lives
    ///     .collect()
    ///     .run()?;
    /// assert_eq!(visits.unwrap(), ["ann 1", "bob 1", "ann 2"]);
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    pub fn scan<S, R>(
        self,
        mut state: impl FnMut(&K) -> S + Send + 'env,
        mut f: impl FnMut(&mut S, T) -> R + Send + 'env,
    ) -> Chain<'env, R>
    where
        W: Weigh<S>,
        S: Send + 'env,
        R: Send + 'env,
    {
        let (key, mut tally) = (self.key.clone(), self.tally("scan"));
        let mut states: HashMap<K, S, Fixed> = HashMap::default();
        let mut plan = self.distribute();
        let range = plan.range();
        let step = move |whole: Option<Whole>| -> Result<Made<R>, Cause> {
            // Without parts no batch comes.
            let Some(Whole { ticket, last, pieces }) = whole else {
                return Ok(Made { results: Vec::new(), ends: true });
            };
            let Items { tags, items } = merge("scan", ticket, pieces)?;
            let result = |item: T| {
                let key = key(&item);
                let state = match states.get_mut(&key) {
                    Some(state) => state,
                    None => {
                        let first = state(&key);
                        tally.add(&first);
                        states.entry(key).or_insert(first)
                    }
                };
                tally.change(state, |state| f(state, item))
            };
            let items = items.into_iter().map(result).collect();
            tally.check(ticket)?;
            let at = At { ticket, last, more: false };
            Ok(Made { results: vec![(at, Items { tags, items })], ends: ticket.next(last).part >= range.end })
        };
        let inbox = plan.keyed_station("scan");
        Chain::new(plan, keyed("scan", inbox, range.is_empty(), step), None)
    }

    /// One value for each key: starts with `init` and takes the items of the key in the order of the source. The keys come in the
    /// order of their first items, behind all items.
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
    ///     .par_map(|(word, count)| format!("{word}: {count}"))
    ///     .collect()
    ///     .run()?;
    /// assert_eq!(counts.unwrap(), ["b0: 2", "a0: 1", "b1: 2", "a1: 1"]);
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    pub fn fold<A>(
        self,
        mut init: impl FnMut() -> A + Send + 'env,
        mut f: impl FnMut(&mut A, T) + Send + 'env,
    ) -> Chain<'env, (K, A)>
    where
        W: Weigh<A>,
        A: Send + 'env,
    {
        let (key, mut tally) = (self.key.clone(), self.tally("fold"));
        let mut values = Values::<K, A>::default();
        let mut plan = self.distribute();
        let (range, chunk) = (plan.range(), plan.cluster.settings.batch);
        let inbox = plan.keyed_station("fold");
        let out = plan.out.clone();
        let end = plan.add_part();
        let step = move |whole: Option<Whole>| -> Result<Made<(K, A)>, Cause> {
            if let Some(Whole { ticket, last, pieces }) = whole {
                let Items { tags, items } = merge("fold", ticket, pieces)?;
                for (index, item) in items.into_iter().enumerate() {
                    let first = tags.first(ticket, index);
                    let value = values.entry(key(&item)).or_insert_with(|| {
                        let value = init();
                        tally.add(&value);
                        (first, value)
                    });
                    tally.change(&mut value.1, |value| f(value, item));
                }
                tally.check(ticket)?;
                let next = ticket.next(last);
                out.push([], next);
                if next.part < range.end {
                    return Ok(Made { results: Vec::new(), ends: false });
                }
            }
            tally.clear();
            Ok(Made { results: chunks(end, sorted(std::mem::take(&mut values)), chunk), ends: true })
        };
        Chain::new(plan, keyed("fold", inbox, range.is_empty(), step), None)
    }

    /// Sends each item to the process of its key.
    fn distribute(self) -> Plan<'env> {
        let Keyed { chain, key, .. } = self;
        let (me, processes, place) =
            (chain.plan.process() as u32, chain.plan.processes(), chain.plan.places());
        chain.refuse_ties("key_by").send("key_by", true, move |at, items| {
            let piece = |(to, share): (usize, Items<T>)| {
                let to = to as u32;
                Ok(at.piece(me, to, share.into_body(place(to))?))
            };
            items.divide(processes, &*key).into_iter().enumerate().map(piece).collect()
        })
    }
}

impl Plan<'_> {
    /// Adds the place where pieces arrive for a keyed stage.
    fn keyed_station(&mut self, name: &'static str) -> Arc<Inbox> {
        self.shape.push_str(&format!(" | {name}"));
        let expected = self.all();
        self.step = Step::Every;
        self.station(name, expected, true)
    }
}

/// The items of a batch that arrived for a stage.
pub(super) fn merge<T: DeserializeOwned + 'static>(
    name: &str,
    ticket: Ticket,
    pieces: Vec<Piece>,
) -> Result<Items<T>, Cause> {
    Items::merge(pieces).map_err(|damaged| failure(name, ticket, damaged).into())
}

/// What a keyed stage makes of the batches that arrive, and the stages behind it. `step` gets the batches in order; `None` if
/// `only_end`, where none arrives.
pub(super) fn keyed<'env, R: Send + 'env>(
    name: &'static str,
    inbox: Arc<Inbox>,
    only_end: bool,
    mut step: impl FnMut(Option<Whole>) -> Result<Made<R>, Cause> + Send + 'env,
) -> Batches<'env, R> {
    Box::new(move |plan, onward| {
        let (size, watch, out) = (Arc::new(GroupSize::new()), plan.watch.clone(), onward.out.clone());
        let of = size.clone();
        let groups = plan.graph.process("arrive", (), output("out"), move |(), mut groups| async move {
            if only_end {
                groups.send(Ok(Group::new())).await;
            }
            while let Some(group) = arrived(&inbox, of.most()).await {
                groups.send(group).await;
            }
        });
        let mut work = move |whole: Option<Whole>| -> Result<_, Cause> {
            let ticket = whole.as_ref().map_or(Ticket::first_of(0), |whole| whole.ticket);
            let Made { results, ends } = guarded(name, ticket, || step(whole))?;
            Ok(results.into_iter().map(Some).chain(ends.then_some(None)))
        };
        if onward.is_parallel {
            let behind = Arc::new(GroupSize::new());
            let of = behind.clone();
            let all = move |group| {
                let _call = watch.call();
                let mut made = Group::new();
                for_group(group, &size, &out, &mut work, |next| {
                    made.push(next);
                    Ok(())
                })?;
                let groups = std::iter::from_fn(|| (!made.is_empty()).then(|| made.split(of.most())));
                Ok::<Vec<Group<Next<R>>>, Cause>(groups.collect())
            };
            plan.in_parallel(groups.try_map(all).named(name).unbatch(), behind, onward);
            return;
        }
        let run = onward.run();
        let all = move |group| {
            let _call = watch.call();
            for_group(group, &size, &out, &mut work, |next| run(next)?())
        };
        groups.try_map(all).named(name).discard();
    })
}

/// Does a stage's work for the batches of a group, and what is done with each result. Flushes behind the group, and before
/// that if it takes long.
fn for_group<X, I: Iterator<Item = X>>(
    group: Result<Group<Whole>, Missing>,
    size: &GroupSize,
    out: &Outbox,
    mut work: impl FnMut(Option<Whole>) -> Result<I, Cause>,
    mut each: impl FnMut(X) -> Result<(), Cause>,
) -> Result<(), Cause> {
    let mut group = group?;
    let (began, batches) = (Instant::now(), group.len());
    if batches == 0 {
        work(None)?.try_for_each(&mut each)?;
    }
    let mut flushed = began;
    while let Some(whole) = group.pop() {
        work(Some(whole))?.try_for_each(&mut each)?;
        if flushed.elapsed() > GROUP_TIME {
            out.flush();
            flushed = Instant::now();
        }
    }
    out.flush();
    size.note(batches, began.elapsed());
    Ok(())
}

/// Values in the order of first items.
pub(super) fn sorted<K, A>(values: Values<K, A>) -> Sorted<K, A> {
    let mut sorted: Sorted<K, A> =
        values.into_iter().map(|(key, (first, value))| (first, key, value)).collect();
    sorted.sort_unstable_by_key(|(first, ..)| *first);
    sorted
}

/// The values as the only batch of a part, in pieces of this number of items, so that stages run for several at a time.
pub(super) fn chunks<K, A>(part: u32, sorted: Sorted<K, A>, size: usize) -> Vec<(At, Items<(K, A)>)> {
    let count = sorted.len().div_ceil(size).max(1);
    let mut sorted = sorted.into_iter();
    let chunk = |number| {
        let some = sorted.by_ref().take(size);
        let (firsts, items) = some.map(|(first, key, value)| (first, (key, value))).unzip();
        let at = At { ticket: Ticket::first_of(part), last: true, more: number + 1 < count };
        (at, Items { tags: Tags::Firsts(firsts), items })
    };
    (0..count).map(chunk).collect()
}
