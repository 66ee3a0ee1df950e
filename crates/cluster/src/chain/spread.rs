//! The source that one process reads, for all.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Chain;
use super::batch::{Batch, Cause};
use super::parts::Reader;
use super::plan::{Plan, Step, arriving, failure};
use crate::cluster::Cluster;
use crate::order::Expected;
use crate::piece::{Body, Piece};
use crate::ticket::Ticket;

impl Cluster {
    /// Items of an iterator that process 0 reads; the other processes drop it. The processes get the batches in turn.
    ///
    /// ```
    /// use thalweg_cluster::Cluster;
    ///
    /// let squares = Cluster::alone().from_iter(1..4u64).par_map(|n| n * n).collect().run()?;
    /// assert_eq!(squares, Some(vec![1, 4, 9]));
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    pub fn from_iter<'env, I>(&self, items: I) -> Chain<'env, I::Item>
    where
        I: IntoIterator<IntoIter: Send + 'env, Item: Serialize + DeserializeOwned + Send + 'static>,
    {
        self.try_from_iter(items.into_iter().map(Ok::<_, std::convert::Infallible>))
    }

    /// As [`from_iter`](Cluster::from_iter), of items that may be errors: the run fails with the first.
    pub fn try_from_iter<'env, I, T, E>(&self, items: I) -> Chain<'env, T>
    where
        I: IntoIterator<Item = Result<T, E>, IntoIter: Send + 'env>,
        T: Serialize + DeserializeOwned + Send + 'static,
        E: Into<Cause> + 'env,
    {
        let processes = self.processes() as u32;
        let me = self.process() as u32;
        let mut plan = Plan::new(self, 1, Step::Batch(processes), "from_iter".to_owned());
        let (reader, place) = (plan.out.clone(), plan.places());
        let of = Reader::new(self.settings.batch, &plan);
        if me == 0 {
            let send = move |batch: Batch<'env, T>| -> Result<(), Cause> {
                let (ticket, last) = (batch.ticket, batch.last);
                let to = ticket.batch % processes;
                let body = Body::new(batch.run()?, place(to))
                    .map_err(|damaged| failure("source", ticket, damaged))?;
                reader.push([Piece { ticket, last, from: 0, to, body }], ticket.next(last));
                if last {
                    reader.close();
                }
                Ok(())
            };
            let mut items = Some(items.into_iter());
            let open = move |_| items.take().into_iter().flatten();
            plan.graph.source(of.read(0..1, open)).blocking().named("read").try_map(send).discard();
        } else {
            reader.close();
        }
        let inbox = plan.station("source", Expected::Every { stride: processes, first: me }, true);
        let batches = arriving(inbox).map(move |arrived| match arrived {
            Ok(whole) => Batch::new(whole.ticket, whole.last, move || {
                let mut items = Vec::new();
                for piece in whole.pieces {
                    let more = piece.body.into_items::<Vec<T>>();
                    items.extend(more.map_err(|damaged| failure("source", whole.ticket, damaged))?);
                }
                Ok(items)
            }),
            Err(missing) => Batch::new(Ticket::first_of(0), true, move || Err(missing.into())),
        });
        Chain::new(plan, Box::new(batches))
    }
}
