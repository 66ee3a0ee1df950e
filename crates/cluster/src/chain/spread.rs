//! The source that one process reads, for all.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thalweg::output;

use super::batch::{Cause, Failure, Stage};
use super::items::Items;
use super::keyed::merge;
use super::onward::At;
use super::parts::Reader;
use super::plan::{Missing, Plan, Step, arrived, failure};
use super::{Batches, Chain};
use crate::cluster::Cluster;
use crate::group::{Group, GroupSize};
use crate::order::{Expected, Whole};
use crate::piece::{Piece, encoded_len};
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
        let (processes, me) = (self.processes() as u32, self.process() as u32);
        let mut plan = Plan::new(self, 1, Step::Batch(processes), "from_iter".to_owned());
        let (out, place, count) = (plan.out.clone(), plan.places(), plan.count());
        // An item that cannot be encoded is found when its batch is.
        let reader = Reader::new(&plan, |item: &T| encoded_len(item).unwrap_or(0));
        let weighing = reader.weighing.clone();
        if me == 0 {
            let send = move |read: Option<(At, Result<Vec<T>, Failure>)>| -> Result<(), Cause> {
                let Some((at, read)) = read else { return Ok(()) };
                let to = at.ticket.batch % processes;
                let body = Items::whole(read?)
                    .into_body(place(to))
                    .map_err(|damaged| failure("source", at.ticket, damaged))?;
                let piece = [at.piece(0, to, body)];
                count(&piece);
                out.push(piece, at.ticket.next(at.last));
                if at.last {
                    out.close()
                } else {
                    out.flush()
                }
                Ok(())
            };
            let mut items = Some(items.into_iter());
            let open = move |_| items.take().into_iter().flatten();
            plan.read(reader.read(0..1, open), send);
        } else {
            out.close();
        }
        let inbox = plan.station("source", Expected::Every { stride: processes, first: me }, true);
        let batch =
            |Whole { ticket, last, pieces }| Some((At { ticket, last, more: false }, Ok((ticket, pieces))));
        let decode = |arrived: Result<(Ticket, Vec<Piece>), Missing>| -> Result<Items<T>, Cause> {
            let (ticket, pieces) = arrived?;
            merge("source", ticket, pieces)
        };
        let batches: Batches<'env, T> = Box::new(move |plan, onward| {
            let size = Arc::new(GroupSize::new());
            let (of, end) = (size.clone(), onward.end.is_some());
            let groups = plan.graph.process("source", (), output("out"), move |(), mut groups| async move {
                while let Some(group) = arrived(&inbox, of.most()).await {
                    let missing =
                        |missing| (At { ticket: Ticket::first_of(0), last: true, more: false }, Err(missing));
                    let group = group.map(|group| group.map(batch));
                    groups.send(group.unwrap_or_else(|error| Group::of(Some(missing(error))))).await;
                }
                if end {
                    groups.send(Group::of(None)).await;
                }
            });
            plan.in_parallel(groups, size, onward.after(|| Stage::Fixed("source"), decode));
        });
        Chain::new(plan, batches, Some(weighing))
    }
}
