//! One value for each key, folded in each process first.

use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Chain;
use super::batch::{Cause, Stage, guarded};
use super::budget::Tally;
use super::items::{First, Items, home};
use super::keyed::{Keyed, Made, Sorted, Values, chunks, keyed, sorted};
use super::onward::{At, Onward, Ordered};
use super::plan::{Step, failure};
use super::weigh::Weigh;
use crate::order::{Expected, Whole};
use crate::piece::{Body, Damaged, Piece};
use crate::ticket::Ticket;

/// The values of the keys that this process has seen.
struct Table<K, A, W> {
    values: Values<K, A>,
    tally: Tally<K, A, W>,
}

impl<'env, K, T, W> Keyed<'env, K, T, W>
where
    K: Hash + Eq + Serialize + DeserializeOwned + Send + 'static,
    T: Send + 'env,
    W: Send + Sync + 'env,
{
    /// One value for each key, as [`fold`](Keyed::fold) makes it, but folded in each process first, so that only values
    /// cross the network: `f` takes items into a value, and `merge` a second value into a first.
    ///
    /// `merge` must be associative and commutative: it gets the values of batches and processes in any order. Sums of
    /// floating-point numbers are not, so they belong to [`fold`](Keyed::fold).
    ///
    /// ```
    /// use thalweg_cluster::Cluster;
    ///
    /// let counts = Cluster::alone()
    ///     .from_parts(2, |_| ["to be", "or not", "to be"])
    ///     .par_flat_map(str::split_whitespace)
    ///     .key_by(|word| word.to_string())
    ///     .combine(|| 0, |count, _| *count += 1, |count, more| *count += more)
    ///     .collect()
    ///     .run()?;
    /// let counts: Vec<String> = counts.unwrap().into_iter().map(|(word, count)| format!("{word} {count}")).collect();
    /// assert_eq!(counts, ["to 4", "be 4", "or 2", "not 2"]);
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    pub fn combine<A>(
        self,
        init: impl Fn() -> A + Send + Sync + 'env,
        f: impl Fn(&mut A, T) + Send + Sync + 'env,
        merge: impl Fn(&mut A, A) + Send + Sync + 'env,
    ) -> Chain<'env, (K, A)>
    where
        W: Weigh<A>,
        A: Serialize + DeserializeOwned + Send + 'static,
    {
        let (here, at_home) = (Table::new(self.tally("combine")), Table::new(self.tally("combine")));
        let Keyed { chain, key, .. } = self;
        let Chain { mut plan, batches, .. } = chain.refuse_ties("combine");
        plan.shape.push_str(" | combine");
        let merge = Arc::new(merge);
        let (me, processes, place) = (plan.process() as u32, plan.processes(), plan.places());
        let (out, next) = (plan.out.clone(), plan.next());
        let flushed = out.clone();
        let (parts, of_homes) = (plan.add_part(), plan.add_part());

        // Batches at once, then those of this process one by one.
        let table = Arc::new(Mutex::new(here));
        let (at_end, to_homes, of_process) = (table.clone(), out.clone(), merge.clone());
        let each = move |stage: &mut Stage, at: At, items: Items<T>| -> Result<Ordered<'env>, Cause> {
            *stage = Stage::Fixed("combine");
            let At { ticket, last, more } = at;
            let Items { tags, items } = items;
            let mut values = Values::<K, A>::default();
            for (index, item) in items.into_iter().enumerate() {
                let first = || (tags.first(ticket, index), init());
                f(&mut values.entry(key(&item)).or_insert_with(first).1, item);
            }
            let (table, merge, out) = (table.clone(), of_process.clone(), out.clone());
            let add = move || {
                let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
                values.into_iter().for_each(|(key, (first, value))| table.add(key, first, value, &*merge));
                table.tally.check(ticket)?;
                // The last one does not go beyond all parts: the values are still to come.
                let next = if more { ticket } else { next(ticket, last) };
                out.push([], next.min(Ticket::first_of(parts)));
                Ok(())
            };
            Ok(Box::new(move || Ok(guarded("combine", ticket, add)?)))
        };
        let end = move || -> Result<(), Cause> {
            let at = At { ticket: Ticket::first_of(parts), last: true, more: false };
            let send = || {
                let values = at_end.lock().unwrap_or_else(PoisonError::into_inner).take();
                let piece = |(to, share): (usize, Sorted<K, A>)| {
                    let to = to as u32;
                    Ok(at.piece(me, to, Body::new(share, place(to))?))
                };
                let shares = divide(values, processes).into_iter().enumerate();
                let pieces: Result<Vec<Piece>, Damaged> = shares.map(piece).collect();
                to_homes.push(
                    pieces.map_err(|damaged| failure("combine", at.ticket, damaged))?,
                    at.ticket.next(true),
                );
                to_homes.close();
                Ok(())
            };
            Ok(guarded("combine", at.ticket, send)?)
        };
        let (each, end) = (Arc::new(each), Some(Arc::new(end) as _));
        batches(&mut plan, Onward { each, end, is_parallel: true, out: flushed });

        // The values of all processes, where their keys live.
        plan.step = Step::Every;
        let expected = Expected::All { first: Ticket::first_of(parts), parts: of_homes, pieces: processes };
        let inbox = plan.station("combine", expected, true);
        let step = merge_all(at_home, merge, of_homes, plan.cluster.settings.batch);
        Chain::new(plan, keyed("combine", inbox, false, step), None)
    }
}

/// Merges the values that arrive, and makes them the only batch of a part, in pieces of this number of items.
fn merge_all<K, A, W>(
    mut table: Table<K, A, W>,
    merge: Arc<impl Fn(&mut A, A)>,
    part: u32,
    size: usize,
) -> impl FnMut(Option<Whole>) -> Result<Made<(K, A)>, Cause>
where
    K: Hash + Eq + DeserializeOwned + 'static,
    A: DeserializeOwned + 'static,
    W: Weigh<A>,
{
    move |whole| {
        for Whole { ticket, pieces, .. } in whole.into_iter() {
            let cannot = |damaged| failure("combine", ticket, damaged);
            for piece in pieces {
                for (first, key, value) in piece.body.into_items::<Sorted<K, A>>().map_err(cannot)? {
                    table.add(key, first, value, &*merge);
                }
            }
            table.tally.check(ticket)?;
        }
        Ok(Made { results: chunks(part, table.take(), size), ends: true })
    }
}

impl<K: Hash + Eq, A, W: Weigh<A>> Table<K, A, W> {
    fn new(tally: Tally<K, A, W>) -> Self {
        Table { values: Values::default(), tally }
    }

    /// All values, in the order of first items, which the table has no more.
    fn take(&mut self) -> Sorted<K, A> {
        self.tally.clear();
        sorted(std::mem::take(&mut self.values))
    }

    /// Merges a value into that of its key.
    fn add(&mut self, key: K, first: First, value: A, merge: &impl Fn(&mut A, A)) {
        match self.values.entry(key) {
            Entry::Vacant(entry) => {
                self.tally.add(&value);
                entry.insert((first, value));
            }
            Entry::Occupied(entry) => {
                let of_key = entry.into_mut();
                of_key.0 = of_key.0.min(first);
                self.tally.change(&mut of_key.1, |of_key| merge(of_key, value));
            }
        }
    }
}

/// Divides values among the processes in which their keys live.
fn divide<K: Hash, A>(values: Sorted<K, A>, processes: usize) -> Vec<Sorted<K, A>> {
    let mut shares: Vec<Sorted<K, A>> = (0..processes).map(|_| Vec::new()).collect();
    for value in values {
        shares[home(&value.1, processes)].push(value);
    }
    shares
}
