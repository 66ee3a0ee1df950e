//! The source whose parts any process can read.

use std::sync::Arc;

use super::batch::{Cause, Failure, Stage, guarded};
use super::items::Items;
use super::onward::At;
use super::plan::{Plan, Start, Step};
use super::weigh::Weighing;
use super::{Batches, Chain};
use crate::cluster::Cluster;
use crate::ticket::Ticket;
use crate::watch::Watch;
use crate::window::Window;

impl Cluster {
    /// Items that come in `parts` parts, each an iterator: first those of part 0, then those of part 1, and so on. Process
    /// `i` of `n` reads parts `i`, `i + n`, `i + 2n` ...
    ///
    /// The items of a part go to the sink in order, and those of the next part wait for it in the [window](Cluster::window). So parts
    /// of about a batch, divided evenly, keep all processes at work; a part that is longer than the window holds up the others.
    ///
    /// # Panics
    /// There are more than 2^32 - 4 parts.
    ///
    /// ```
    /// use thalweg_cluster::Cluster;
    ///
    /// let items = Cluster::alone().from_parts(2, |part| [part, 10 * part]).par_map(|n| n + 1).collect().run()?;
    /// assert_eq!(items, Some(vec![1, 1, 2, 11]));
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    pub fn from_parts<'env, I>(
        &self,
        parts: usize,
        part: impl Fn(usize) -> I + Send + 'env,
    ) -> Chain<'env, I::Item>
    where
        I: IntoIterator<IntoIter: Send + 'env, Item: Send + 'env>,
    {
        self.try_from_parts(parts, move |number| {
            part(number).into_iter().map(Ok::<_, std::convert::Infallible>)
        })
    }

    /// As [`from_parts`](Cluster::from_parts), of items that may be errors: the run fails with the first.
    ///
    /// # Panics
    /// There are more than 2^32 - 4 parts.
    pub fn try_from_parts<'env, I, T, E>(
        &self,
        parts: usize,
        part: impl Fn(usize) -> I + Send + 'env,
    ) -> Chain<'env, T>
    where
        I: IntoIterator<Item = Result<T, E>, IntoIter: Send + 'env>,
        T: Send + 'env,
        E: Into<Cause> + 'env,
    {
        let parts =
            u32::try_from(parts).ok().filter(|parts| *parts <= u32::MAX - 3).expect("at most 2^32 - 4 parts");
        let processes = self.processes() as u32;
        let plan = Plan::new(self, parts, Step::Part(processes), format!("from_parts {parts}"));
        let mine = (self.process() as u32..parts).step_by(self.processes());
        let reader = Reader::new(&plan, |_| size_of::<T>());
        let weighing = reader.weighing.clone();
        let batches = reader.read(mine, move |number| part(number as usize).into_iter());
        let batches: Batches<'env, T> = Box::new(move |plan, onward| {
            plan.read_batches(
                batches,
                onward.after(|| Stage::Fixed("source"), |read| Ok(Items::whole(read?))),
            );
        });
        Chain::new(plan, batches, Some(weighing))
    }
}

/// Divides parts into batches. Where a batch ends follows from the items of its part alone.
pub(super) struct Reader<'env, T> {
    /// Maximum number of items of a batch.
    items: usize,
    /// Maximum number of bytes of a batch of several items.
    bytes: usize,
    pub weighing: Weighing<'env, T>,
    /// The bytes of an item, where the user says nothing.
    usual: fn(&T) -> usize,
    window: Arc<Window>,
    watch: Arc<Watch>,
    start: Start,
}

/// A part that is not at its end.
struct Open<T, I> {
    items: I,
    /// An item that had no room in the last batch, with its bytes.
    held: Option<(T, usize)>,
}

impl<'env, T: Send + 'env> Reader<'env, T> {
    pub fn new(plan: &Plan<'_>, usual: fn(&T) -> usize) -> Reader<'env, T> {
        let settings = &plan.cluster.settings;
        let (items, bytes) = (settings.batch, settings.batch_bytes);
        let (window, watch) = (plan.flow.window.clone(), plan.watch.clone());
        let start = plan.start.clone();
        Reader { items, bytes, weighing: Weighing::new(), usual, window, watch, start }
    }

    /// The batches of parts, from the start on, each as soon as there is room for it. Ends early if the run does. `open` makes
    /// the items of a part when there is room for its first batch. Parts before the start are not opened.
    pub fn read<I, E>(
        self,
        mut parts: impl Iterator<Item = u32>,
        mut open: impl FnMut(u32) -> I,
    ) -> impl Iterator<Item = (At, Result<Vec<T>, Failure>)>
    where
        I: Iterator<Item = Result<T, E>>,
        E: Into<Cause>,
    {
        // Where the part goes on that is not at its end.
        let mut at: Option<(Ticket, Open<T, I>)> = None;
        std::iter::from_fn(move || {
            let start = self.start.ticket();
            let (first, part) = match at.take() {
                Some((ticket, part)) => (ticket, Some(part)),
                None => (Ticket::first_of(parts.find(|part| *part >= start.part)?), None),
            };
            let ticket = if first.part == start.part { first.max(start) } else { first };
            if !self.window.enter(ticket) {
                return None;
            }
            let _call = self.watch.call();
            let read = guarded("source", ticket, || {
                if ticket.batch == u32::MAX {
                    return Err("a part has no more than 2^32 - 1 batches".into());
                }
                let mut part = part.unwrap_or_else(|| Open { items: open(ticket.part), held: None });
                self.skip(&mut part, first, ticket)?;
                let (batch, ends) = self.batch(&mut part)?;
                if !ends {
                    at = Some((ticket.next(false), part));
                }
                Ok(batch)
            });
            Some((At { ticket, last: at.is_none(), more: false }, read))
        })
    }

    /// Reads the batches of a part again that are before the start, and drops them.
    fn skip<I, E: Into<Cause>>(&self, part: &mut Open<T, I>, from: Ticket, to: Ticket) -> Result<(), Cause>
    where
        I: Iterator<Item = Result<T, E>>,
    {
        for batch in from.batch..to.batch {
            if self.window.is_over() {
                return Err("the run has ended".into());
            }
            if self.batch(part)?.1 {
                let has = format!("the part has {} batches, and the run resumes with {to}", batch + 1);
                return Err(format!("{has}: its input has changed").into());
            }
        }
        Ok(())
    }

    /// The next batch of a part, and whether the part has ended. A batch that is full is not the last, since no item is
    /// awaited to find out.
    fn batch<I, E: Into<Cause>>(&self, part: &mut Open<T, I>) -> Result<(Vec<T>, bool), Cause>
    where
        I: Iterator<Item = Result<T, E>>,
    {
        let weigh = self.weighing.or(&self.usual);
        let (mut batch, mut bytes) = (Vec::new(), 0usize);
        while batch.len() < self.items && (bytes < self.bytes || batch.is_empty()) {
            let (item, more) = match part.held.take() {
                Some(held) => held,
                None => {
                    let Some(item) = part.items.next() else { return Ok((batch, true)) };
                    let item = item.map_err(Into::into)?;
                    let more = weigh(&item);
                    (item, more)
                }
            };
            let all = bytes.saturating_add(more);
            if all > self.bytes && !batch.is_empty() {
                part.held = Some((item, more));
                break;
            }
            batch.push(item);
            bytes = all;
        }
        Ok((batch, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The batches of items with these bytes, by the first item of each.
    fn batches(items: usize, bytes: usize, of: &[usize]) -> Vec<Vec<usize>> {
        let cluster = Cluster::alone().batch(items).batch_bytes(bytes);
        let plan = Plan::new(&cluster, 1, Step::Part(1), String::new());
        let reader = Reader::new(&plan, |n: &usize| *n);
        let open = |_| of.iter().map(|n| Ok::<_, std::convert::Infallible>(*n));
        let read: Vec<_> = reader.read(0..1, open).collect();
        assert!(read.iter().enumerate().all(|(n, (at, _))| at.last == (n + 1 == read.len())));
        read.into_iter().map(|(_, batch)| batch.unwrap()).collect()
    }

    #[test]
    fn a_batch_ends_by_items_or_bytes() {
        assert_eq!(batches(3, 10, &[1, 1, 1, 1]), [vec![1, 1, 1], vec![1]]);
        assert_eq!(batches(3, 10, &[4, 4, 4]), [vec![4, 4], vec![4]]);
        assert_eq!(batches(3, 10, &[5, 5, 1]), [vec![5, 5], vec![1]]);
        // A large item is a batch by itself, also one without bytes behind it.
        assert_eq!(batches(9, 10, &[1, 99, 0, 2]), [vec![1], vec![99], vec![0, 2]]);
        // The end of a full batch is not known to be that of the part.
        assert_eq!(batches(2, 10, &[1, 1]), [vec![1, 1], vec![]]);
        assert_eq!(batches(2, 10, &[10]), [vec![10], vec![]]);
        assert_eq!(batches(2, 0, &[0, 7]), [vec![0], vec![7], vec![]]);
    }
}
