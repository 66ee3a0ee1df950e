//! Tallies: for each firing of a parallel node, how many items it pushed on a dynamic output.
//!
//! A limit on items in flight ([`Stream::in_flight`](crate::Stream::in_flight)) counts descendants through such a
//! node. It adds an output to the node, a *tally*, after those that the node's code sees: one number for each firing.
//! The reorder window treats a tally as a static output of push rate 1: its room is reserved at the claim, its cursor
//! belongs to the ticket, and it is published in ticket order. So the sum of a tally's first numbers is a position in
//! the stream that it counts, whatever the order of the firings was.

use crate::channel::Lack;
use crate::channel::Out;
use crate::port::Give;
use crate::port::tuple::Outputs;

/// One tally of a node.
#[derive(Debug)]
pub(crate) struct Tally {
    /// The output whose items it counts.
    of: usize,
    give: Give<u64>,
}

impl Tally {
    pub(crate) fn new(of: usize, give: Give<u64>) -> Tally {
        Tally { of, give }
    }

    fn twin(&self) -> Tally {
        Tally { of: self.of, give: self.give.twin() }
    }
}

/// The numbers of one ticket for one tally.
#[derive(Debug)]
pub(super) struct Count {
    of: usize,
    /// Items that the ticket's earlier firings pushed on that output.
    seen: usize,
    out: Out<'static, u64>,
}

impl Count {
    /// Counts what the latest firing pushed.
    #[inline]
    pub(super) fn note<O: Outputs>(&mut self, outs: &O::Cursors<'static>) {
        let pushed = O::pushed(outs, self.of);
        self.out.step();
        // After a firing that exchanged its cursors the number may be lower; publication refuses such cursors.
        self.out.push(pushed.saturating_sub(self.seen) as u64);
        self.seen = pushed;
    }
}

/// All tallies of a node; none for most nodes.
#[derive(Debug)]
pub(super) struct Tallies(Vec<Tally>);

impl Tallies {
    pub(super) fn new(tallies: Vec<Tally>) -> Tallies {
        Tallies(tallies)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn twin(&self) -> Tallies {
        Tallies(self.0.iter().map(Tally::twin).collect())
    }

    /// The counts of one ticket.
    pub(super) fn counts(&self) -> Box<[Count]> {
        self.0.iter().map(|tally| Count { of: tally.of, seen: 0, out: tally.give.ticket_cursor() }).collect()
    }

    /// Firings that the room suffices for, at most `limit`.
    pub(super) fn room(&mut self, limit: usize) -> Result<usize, Lack> {
        self.0.iter_mut().try_fold(limit, |firings, tally| tally.give.side().room(firings))
    }

    /// Reserves the room of a ticket's firings.
    pub(super) fn open(&mut self, counts: &mut [Count], firings: usize) {
        for (tally, count) in self.0.iter_mut().zip(counts) {
            count.seen = 0;
            tally.give.open_ticket(&mut count.out, firings);
        }
    }

    /// Publishes what a finished ticket counted, in ticket order.
    pub(super) fn publish(&self, at: usize, counts: &mut [Count]) -> bool {
        self.0[at].give.publish_ticket(&mut counts[at].out)
    }

    pub(super) fn tail(&self, at: usize) -> usize {
        self.0[at].give.meter().tail()
    }

    pub(super) fn capacity(&self, at: usize) -> usize {
        self.0[at].give.meter().capacity()
    }

    pub(super) fn purge_if_gone(&self) {
        self.0.iter().for_each(|tally| tally.give.purge_if_gone());
    }

    /// No tally has a consumer any more.
    pub(super) fn all_gone(&self) -> bool {
        self.0.iter().all(|tally| tally.give.meter().gone())
    }

    pub(super) fn end(&self) {
        self.0.iter().for_each(|tally| tally.give.meter().end());
    }
}
