//! The source whose parts any process can read.

use std::sync::Arc;

use super::Chain;
use super::batch::{Batch, Cause, guarded};
use super::plan::{Plan, Step};
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
        let parts = (self.process() as u32..parts).step_by(self.processes());
        let reader = Reader::new(self.settings.batch, &plan);
        let batches = reader.read(parts, move |number| part(number as usize).into_iter());
        Chain::new(plan, Box::new(batches))
    }
}

/// Divides parts into batches.
pub(super) struct Reader {
    size: usize,
    window: Arc<Window>,
    watch: Arc<Watch>,
}

impl Reader {
    pub fn new(size: usize, plan: &Plan<'_>) -> Reader {
        Reader { size, window: plan.flow.window.clone(), watch: plan.watch.clone() }
    }

    /// The batches of parts, each as soon as there is room for it. Ends early if the run does. `open` makes the items of a
    /// part when there is room for its first batch.
    pub fn read<'env, I, T, E>(
        self,
        mut parts: impl Iterator<Item = u32>,
        mut open: impl FnMut(u32) -> I,
    ) -> impl Iterator<Item = Batch<'env, T>>
    where
        I: Iterator<Item = Result<T, E>>,
        T: Send + 'env,
        E: Into<Cause>,
    {
        // Where the part goes on that is not at its end.
        let mut at: Option<(Ticket, I)> = None;
        std::iter::from_fn(move || {
            let (ticket, items) = match at.take() {
                Some((ticket, items)) => (ticket, Some(items)),
                None => (Ticket::first_of(parts.next()?), None),
            };
            if !self.window.enter(ticket) {
                return None;
            }
            let _call = self.watch.call();
            let read = guarded("source", ticket, || {
                if ticket.batch == u32::MAX {
                    return Err("a part has no more than 2^32 - 1 batches".into());
                }
                let mut items = items.unwrap_or_else(|| open(ticket.part));
                // The iterator decides whether this batch is the last: none is held back until another item comes.
                let read: Result<Vec<T>, E> = items.by_ref().take(self.size).collect();
                let read = read.map_err(Into::into)?;
                if read.len() == self.size {
                    at = Some((ticket.next(false), items));
                }
                Ok(read)
            });
            let last = at.is_none();
            Some(Batch::new(ticket, last, move || Ok(read?)))
        })
    }
}
