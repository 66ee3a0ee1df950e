//! One value for each key, folded in each process first.

use std::hash::Hash;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::batch::{Cause, guarded};
use super::keyed::{First, Keyed, Sorted, Values, gather, home, sorted};
use super::plan::{arriving, failure};
use super::{Batch, Local};
use crate::order::Expected;
use crate::piece::{Body, Damaged, Piece};
use crate::ticket::Ticket;

/// A batch, and its values by key.
type Folded<K, A> = (Ticket, bool, Vec<(K, (First, A))>);

impl<'env, K, T> Keyed<'env, K, T>
where
    K: Hash + Eq + Serialize + DeserializeOwned + Send + 'static,
    T: Send + 'env,
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
    ) -> Local<'env, (K, A)>
    where
        A: Serialize + DeserializeOwned + Send + 'static,
    {
        let Keyed { chain, key } = self;
        // Batches at once, then those of this process one by one.
        let of_batch = chain.stage("combine", move |items| {
            let mut values = Values::<K, A>::default();
            for (number, item) in items.into_iter().enumerate() {
                let first = || ((0, 0, number as u32), init());
                f(&mut values.entry(key(&item)).or_insert_with(first).1, item);
            }
            Ok(values.into_iter().collect())
        });
        let mut plan = of_batch.plan;
        let merge = Arc::new(merge);
        let (out, parts, next) = (plan.out.clone(), plan.parts, plan.next());
        let (me, processes, place) = (plan.process() as u32, plan.processes(), plan.places());

        let watch = plan.watch.clone();
        let run = move |batch: Option<Batch<'env, _>>| -> Result<_, Cause> {
            let _call = watch.call();
            let run = |batch: Batch<'env, _>| Ok::<_, Cause>((batch.ticket, batch.last, batch.run()?));
            batch.map(run).transpose()
        };
        let (mut values, own) = (Values::<K, A>::default(), merge.clone());
        let watch = plan.watch.clone();
        let mut fold = move |batch: Option<Folded<K, A>>| -> Result<(), Cause> {
            let Some((ticket, last, of_batch)) = batch else {
                let shares = divide(sorted(std::mem::take(&mut values)), processes);
                let ticket = Ticket::first_of(parts);
                let piece = |(to, share): (usize, Sorted<K, A>)| {
                    let to = to as u32;
                    Ok(Piece { ticket, last: true, from: me, to, body: Body::new(share, place(to))? })
                };
                let pieces: Result<Vec<Piece>, Damaged> = shares.into_iter().enumerate().map(piece).collect();
                out.push(pieces.map_err(|damaged| failure("combine", ticket, damaged))?, ticket.next(true));
                out.close();
                return Ok(());
            };
            for (key, ((.., number), value)) in of_batch {
                add(&mut values, key, (ticket.part, ticket.batch, number), value, &*own);
            }
            // The last one does not go beyond all parts: the values are still to come.
            out.push([], next(ticket, last).min(Ticket::first_of(parts)));
            Ok(())
        };
        let fold = move |batch: Option<Folded<K, A>>| -> Result<(), Cause> {
            let _call = watch.call();
            let ticket = batch.as_ref().map_or(Ticket::first_of(parts), |(ticket, ..)| *ticket);
            Ok(guarded("combine", ticket, || fold(batch))?)
        };
        let batches = of_batch.batches.map(Some).chain(std::iter::once_with(|| None));
        plan.graph
            .source(batches)
            .blocking()
            .named("source")
            .try_par_map(run)
            .named("stages")
            .try_map(fold)
            .discard();

        // The values of all processes, where their keys live.
        let inbox = plan.station(
            "combine",
            Expected::All { first: parts, parts: parts + 1, pieces: processes },
            true,
        );
        let (out, watch) = (plan.out.clone(), plan.watch.clone());
        let run = move |whole: crate::order::Whole| -> Result<(), Cause> {
            let cannot = |damaged| failure("combine", whole.ticket, damaged);
            let mut values = Values::<K, A>::default();
            for piece in whole.pieces {
                for (first, key, value) in piece.body.into_items::<Sorted<K, A>>().map_err(cannot)? {
                    add(&mut values, key, first, value, &*merge);
                }
            }
            let ticket = Ticket::first_of(parts + 1);
            let body = Body::new(sorted(values), place(0)).map_err(cannot)?;
            out.push([Piece { ticket, last: true, from: me, to: 0, body }], ticket.next(true));
            out.close();
            Ok(())
        };
        let run = move |arrived: Result<crate::order::Whole, super::plan::Missing>| -> Result<(), Cause> {
            let _call = watch.call();
            let whole = arrived?;
            Ok(guarded("combine", whole.ticket, || run(whole))?)
        };
        plan.graph.source(arriving(inbox)).blocking().named("arrive").try_map(run).named("combine").discard();
        plan.parts += 1;
        gather(plan)
    }
}

/// Merges a value into that of its key.
fn add<K: Hash + Eq, A>(
    values: &mut Values<K, A>,
    key: K,
    first: First,
    value: A,
    merge: &impl Fn(&mut A, A),
) {
    match values.entry(key) {
        std::collections::hash_map::Entry::Vacant(entry) => _ = entry.insert((first, value)),
        std::collections::hash_map::Entry::Occupied(entry) => {
            let of_key = entry.into_mut();
            of_key.0 = of_key.0.min(first);
            merge(&mut of_key.1, value);
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
