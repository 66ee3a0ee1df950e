//! Tallies: for each firing of a parallel node, the number of items that it pushed on a dynamic output.
//!
//! A limit on items in flight ([`Stream::in_flight`](crate::Stream::in_flight)) counts descendants through such a
//! node. It adds an output to the node, a *tally*, after those that the node's code sees: one number for each firing.
//! The reorder window treats a tally as a static output of push rate 1: the issuing worker reserves its slots at the
//! claim, its cursor belongs to the ticket, and the retirement holder publishes it in ticket order.
//!
//! Invariant: the sum of a tally's first `n` numbers is the number of items that the node's first `n` firings pushed on
//! the output, in whichever order the firings ran.
//!
//! A node has its [`Tallies`] twice, under the issuing claim (`room`, `open`, `end`) and under the retirement
//! (`publish`). A [`Count`] lies in the slot of its ticket, and passes between threads as the slot does
//! ([`window`](crate::node::window)).

use crate::channel::{Lack, Mark, Marks, Out};
use crate::port::PushPort;
use crate::port::outputs::Outputs;

/// One tally of a node.
#[derive(Debug)]
pub(crate) struct Tally {
    /// The index of the output whose items it counts.
    output: usize,
    /// The port on which the numbers leave.
    port: PushPort<u64>,
}

impl Tally {
    /// A tally of the node's output number `output`. The port's push rate is 1.
    pub(crate) fn new(output: usize, port: PushPort<u64>) -> Tally {
        Tally { output, port }
    }

    fn twin(&self) -> Tally {
        Tally { output: self.output, port: self.port.twin() }
    }
}

/// The numbers of one ticket for one tally.
#[derive(Debug)]
pub(crate) struct Count {
    /// The index of the output whose items it counts.
    output: usize,
    /// Items that the ticket's earlier firings pushed on that output.
    pushed_before: i64,
    /// The reserved slots, one for each firing of the ticket.
    numbers: Out<'static, u64>,
}

impl Count {
    /// Writes the number of items that the latest firing pushed. The ticket's issuer calls this after each firing, so
    /// that the ticket fills all slots that it has reserved.
    #[inline]
    pub(super) fn record<O: Outputs>(&mut self, outs: &O::Cursors<'static>) {
        let pushed = O::pushed(outs, self.output) as i64;
        self.numbers.step();
        // A firing that exchanged its cursors may leave a lower number. Publication refuses such cursors; until then
        // the number must not be negative.
        self.numbers.push((pushed - self.pushed_before).max(0) as u64);
        self.pushed_before = pushed;
        self.numbers.mark();
    }

    /// Rewinds the cursors of a ticket that is interrupted, as `rewind` does, and keeps the count.
    pub(super) fn rewind<O: Outputs>(counts: &mut [Count], outs: &mut O::Cursors<'static>) -> usize {
        for count in &mut *counts {
            count.pushed_before -= O::pushed(outs, count.output) as i64;
        }
        let left = O::rewind(outs);
        for count in counts {
            count.pushed_before += O::pushed(outs, count.output) as i64;
        }
        left
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

    /// Second handles of the ports, for the retirement holder.
    pub(super) fn twin(&self) -> Tallies {
        Tallies(self.0.iter().map(Tally::twin).collect())
    }

    /// A count for each tally, for the slot of a ticket whose marks for tallies begin at position `first`.
    ///
    /// # Safety
    /// The counts are not used after the drop of `marks`.
    pub(super) unsafe fn counts(&self, marks: &Marks, first: usize) -> Box<[Count]> {
        let count = |(tally, mark): (&Tally, usize)| {
            // SAFETY: the contract is the caller's.
            let numbers = tally.port.ticket_cursor(unsafe { marks.of(mark) });
            Count { output: tally.output, pushed_before: 0, numbers }
        };
        self.0.iter().zip(first..).map(count).collect()
    }

    /// Firings for which every tally has free slots, at most `limit`. The caller holds the issuing claim.
    ///
    /// # Errors
    /// A tally has no free slot.
    pub(super) fn room(&mut self, limit: usize) -> Result<usize, Lack> {
        self.0.iter_mut().try_fold(limit, |firings, tally| tally.port.side().room(firings))
    }

    /// Reserves a slot of each tally for each firing of a ticket. The caller holds the issuing claim, and `room` has
    /// granted the firings.
    pub(super) fn open(&mut self, counts: &mut [Count], firings: usize) {
        for (tally, count) in self.0.iter_mut().zip(counts) {
            count.pushed_before = 0;
            tally.port.open_ticket(&mut count.numbers, firings);
        }
    }

    /// Publishes the numbers of a completed ticket on tally `at`. The caller holds the retirement and calls in ticket
    /// order. Returns true, as the slots were reserved.
    pub(super) fn publish(&self, at: usize, counts: &mut [Count]) -> bool {
        self.0[at].port.publish_ticket(&mut counts[at].numbers)
    }

    /// Points the cursors of an interrupted ticket at the slots again: see [`Inputs::reopen`](crate::port::inputs::Inputs).
    pub(super) fn reopen(&self, counts: &mut [Count]) {
        self.0.iter().zip(counts).for_each(|(tally, count)| tally.port.reopen(&mut count.numbers));
    }

    /// Publishes the numbers of a ticket on tally `at` that are below its mark. True if there were some. The caller
    /// holds the retirement.
    pub(super) fn publish_marked(&self, at: usize, mark: &Mark) -> bool {
        self.0[at].port.publish_marked(mark)
    }

    /// The tail of tally `at`: the index of its next number.
    pub(super) fn tail(&self, at: usize) -> usize {
        self.0[at].port.meter().tail()
    }

    /// The capacity of tally `at`, in numbers.
    pub(super) fn capacity(&self, at: usize) -> usize {
        self.0[at].port.meter().capacity()
    }

    /// Drops the numbers of tallies whose consumer has left. The caller holds the retirement.
    pub(super) fn purge_if_gone(&self) {
        self.0.iter().for_each(|tally| tally.port.purge_if_gone());
    }

    /// Whether the consumers of all tallies have left; true for a node without tallies.
    pub(super) fn all_gone(&self) -> bool {
        self.0.iter().all(|tally| tally.port.meter().gone())
    }

    /// Ends the streams of all tallies. All tickets are retired, and no ticket follows.
    pub(super) fn end(&self) {
        self.0.iter().for_each(|tally| tally.port.meter().end());
    }
}
