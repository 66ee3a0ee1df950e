//! The source whose parts any process can read.

use std::sync::Arc;

use super::Chain;
use super::batch::{Batch, Cause};
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
    /// There are more than 2^32 - 2 parts.
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
    /// There are more than 2^32 - 2 parts.
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
            u32::try_from(parts).ok().filter(|parts| *parts < u32::MAX).expect("at most 2^32 - 2 parts");
        let processes = self.processes() as u32;
        let plan = Plan::new(self, parts, Step::Part(processes), format!("from_parts {parts}"));
        let parts = (self.process() as u32..parts).step_by(self.processes());
        let reader = Reader::new(self.settings.batch, &plan);
        let batches = parts
            .map(move |number| (number, part(number as usize)))
            .flat_map(move |(number, items)| reader.clone().read(number, items.into_iter()));
        Chain::new(plan, Box::new(batches))
    }
}

/// Divides a part into batches.
#[derive(Clone)]
pub(super) struct Reader {
    size: usize,
    window: Arc<Window>,
    watch: Arc<Watch>,
}

impl Reader {
    pub fn new(size: usize, plan: &Plan<'_>) -> Reader {
        Reader { size, window: plan.flow.window.clone(), watch: plan.watch.clone() }
    }

    /// The batches of a part, each as soon as there is room for it. Ends early if the run does.
    pub fn read<'env, T: Send + 'env, E: Into<Cause>>(
        self,
        part: u32,
        mut items: impl Iterator<Item = Result<T, E>>,
    ) -> impl Iterator<Item = Batch<'env, T>> {
        let mut next = Some(Ticket::first_of(part));
        std::iter::from_fn(move || {
            let ticket = next?;
            if !self.window.enter(ticket) {
                return None;
            }
            let call = self.watch.call();
            // The iterator decides whether this batch is the last: none is held back until another item comes.
            let read: Result<Vec<T>, E> = items.by_ref().take(self.size).collect();
            let read = read.map_err(Into::into);
            drop(call);
            let last = read.as_ref().map_or(true, |read| read.len() < self.size);
            next = (!last).then(|| ticket.next(false));
            Some(Batch::new(ticket, last, move || read))
        })
    }
}
