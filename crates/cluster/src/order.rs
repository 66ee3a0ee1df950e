//! Puts the pieces that arrive into the order of their tickets.

use std::collections::{BTreeMap, VecDeque};

use crate::piece::Piece;
use crate::ticket::Ticket;

/// Which tickets a process gets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expected {
    /// All from `first` to the end of the part before `parts`, a batch in pieces of this number of processes.
    All { first: Ticket, parts: u32, pieces: usize },
    /// Of a single part, each `stride`-th batch from this one on, in one piece.
    Every { stride: u32, first: u32 },
}

impl Expected {
    /// The first ticket.
    pub fn first(self) -> Ticket {
        match self {
            Expected::All { first, .. } => first,
            Expected::Every { first, .. } => Ticket { part: 0, batch: first },
        }
    }

    /// Those of them that are not before a ticket.
    pub fn from(self, ticket: Ticket) -> Expected {
        match self {
            Expected::All { first, parts, pieces } => {
                Expected::All { first: first.max(ticket), parts, pieces }
            }
            // None is behind the only part.
            Expected::Every { stride, .. } if ticket.part > 0 => Expected::Every { stride, first: u32::MAX },
            Expected::Every { stride, first } => {
                let before = ticket.batch.saturating_sub(first).div_ceil(stride);
                Expected::Every { stride, first: first.saturating_add(before.saturating_mul(stride)) }
            }
        }
    }
}

/// Pieces that wait for those before them.
///
/// The order needs no word from the dataflow about what may still come: tickets are dense, and each process that makes
/// pieces of a batch makes one for every process that gets some, even an empty one.
pub(crate) struct Order {
    expected: Expected,
    /// Batches that arrived whole and in order.
    whole: VecDeque<Whole>,
    /// The ticket behind these.
    next: Ticket,
    /// Pieces from there on.
    waiting: BTreeMap<Ticket, Vec<Piece>>,
}

/// A batch whose pieces have all arrived.
pub(crate) struct Whole {
    pub ticket: Ticket,
    /// The batch is the last of its part.
    pub last: bool,
    /// By the process that made them.
    pub pieces: Vec<Piece>,
}

impl Order {
    pub fn new(expected: Expected) -> Order {
        Order { expected, whole: VecDeque::new(), next: expected.first(), waiting: BTreeMap::new() }
    }

    pub fn expected(&self) -> Expected {
        self.expected
    }

    /// Takes a piece.
    pub fn add(&mut self, piece: Piece) {
        if self.needed() == 1 && !piece.more && piece.ticket == self.next && !self.is_waiting() {
            let (ticket, last) = (piece.ticket, piece.last);
            self.next = self.behind(ticket, last);
            self.whole.push_back(Whole { ticket, last, pieces: vec![piece] });
        } else {
            self.waiting.entry(piece.ticket).or_default().push(piece);
        }
    }

    /// The next ticket, where no batch [is ready](Order::is_ready).
    pub fn next(&self) -> Ticket {
        self.next
    }

    /// Whether no ticket is behind those that were taken.
    pub fn is_complete(&self) -> bool {
        let all = matches!(self.expected, Expected::All { parts, .. } if self.next.part == parts);
        all && self.whole.is_empty()
    }

    /// The ticket that is missing, where no piece comes any more and no batch is ready.
    pub fn missing(&self) -> Option<Ticket> {
        let complete = match self.expected {
            Expected::All { .. } => self.is_complete(),
            Expected::Every { .. } => self.waiting.is_empty(),
        };
        (!complete).then_some(self.next)
    }

    /// The next batch, if it is whole.
    pub fn pop(&mut self) -> Option<Whole> {
        if let Some(whole) = self.whole.pop_front() {
            return Some(whole);
        }
        if !self.is_ready() {
            return None;
        }
        let (ticket, mut pieces) = self.waiting.pop_first()?;
        pieces.sort_by_key(|piece| piece.from);
        let last = pieces.iter().any(|piece| piece.last);
        self.next = self.behind(ticket, last);
        Some(Whole { ticket, last, pieces })
    }

    /// Whether a batch is whole that is next.
    pub fn is_ready(&self) -> bool {
        let first = self.waiting.first_key_value();
        !self.whole.is_empty()
            || first.is_some_and(|(ticket, pieces)| *ticket == self.next && whole(pieces) >= self.needed())
    }

    /// Whether pieces of the next batch wait for others.
    fn is_waiting(&self) -> bool {
        self.waiting.first_key_value().is_some_and(|(ticket, _)| *ticket == self.next)
    }

    /// The number of processes that make pieces of a batch.
    fn needed(&self) -> usize {
        match self.expected {
            Expected::All { pieces, .. } => pieces,
            Expected::Every { .. } => 1,
        }
    }

    /// The ticket behind one of those that are expected.
    fn behind(&self, ticket: Ticket, last: bool) -> Ticket {
        match self.expected {
            Expected::All { .. } => ticket.next(last),
            Expected::Every { stride, .. } => Ticket { batch: ticket.batch.saturating_add(stride), ..ticket },
        }
    }
}

/// The number of processes whose pieces of a batch are all among these.
fn whole(pieces: &[Piece]) -> usize {
    pieces.iter().filter(|piece| !piece.more).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece::Body;
    use proptest::prelude::*;

    fn piece(part: u32, batch: u32, last: bool, from: u32) -> Piece {
        Piece {
            ticket: Ticket { part, batch },
            last,
            more: false,
            from,
            to: 0,
            body: Body::Encoded(Vec::new()),
        }
    }

    /// The tickets of parts with these numbers of batches.
    fn all(parts: &[u32]) -> Vec<(u32, u32, bool)> {
        let of_part = |(part, count): (usize, &u32)| {
            let count = *count;
            (0..count).map(move |batch| (part as u32, batch, batch + 1 == count))
        };
        parts.iter().enumerate().flat_map(of_part).collect()
    }

    proptest! {
        #[test]
        fn batches_come_in_order_when_pieces_arrive_in_any(
            parts in proptest::collection::vec(1..5u32, 1..5),
            pieces in 1..4u32,
            seed in proptest::collection::vec(any::<u64>(), 60),
        ) {
            let tickets = all(&parts);
            let mut arriving: Vec<_> = tickets
                .iter()
                .flat_map(|&(part, batch, last)| (0..pieces).map(move |from| (part, batch, last, from)))
                .collect();
            arriving.sort_by_key(|&(part, batch, _, from)| seed[((part * 5 + batch) * 3 + from) as usize % 60]);
            let mut order = Order::new(Expected::All { first: Ticket::first_of(0), parts: parts.len() as u32, pieces: pieces as usize });
            let mut taken = Vec::new();
            for (part, batch, last, from) in arriving {
                order.add(piece(part, batch, last, from));
                while let Some(whole) = order.pop() {
                    let makers: Vec<u32> = whole.pieces.iter().map(|piece| piece.from).collect();
                    prop_assert_eq!(makers, (0..pieces).collect::<Vec<_>>());
                    taken.push((whole.ticket.part, whole.ticket.batch, whole.last));
                }
            }
            prop_assert_eq!(taken, tickets);
            prop_assert!(order.is_complete() && order.missing().is_none());
        }
    }

    #[test]
    fn a_missing_ticket_is_named() {
        let mut order = Order::new(Expected::All { first: Ticket::first_of(0), parts: 2, pieces: 2 });
        order.add(piece(0, 0, true, 0));
        assert!(order.pop().is_none(), "the piece of one process is missing");
        order.add(piece(0, 0, true, 1));
        order.add(piece(1, 1, true, 0));
        assert!(order.pop().is_some() && order.pop().is_none());
        assert_eq!(order.missing(), Some(Ticket::first_of(1)));
    }

    #[test]
    fn a_process_gets_each_second_batch() {
        let mut order = Order::new(Expected::Every { stride: 2, first: 1 });
        order.add(piece(0, 3, true, 0));
        assert!(!order.is_ready());
        order.add(piece(0, 1, false, 0));
        assert!(order.is_ready());
        let taken: Vec<u32> = std::iter::from_fn(|| order.pop()).map(|whole| whole.ticket.batch).collect();
        assert_eq!((taken, order.missing()), (vec![1, 3], None));
    }

    #[test]
    fn a_process_begins_with_its_first_batch_behind_those_of_an_earlier_run() {
        for (first, behind, begins) in [(1, 0, 1), (1, 1, 1), (1, 2, 4), (0, 6, 6), (2, 6, 8)] {
            let every = Expected::Every { stride: 3, first }.from(Ticket { part: 0, batch: behind });
            assert_eq!(every.first(), Ticket { part: 0, batch: begins });
        }
        let all = Expected::All { first: Ticket::first_of(0), parts: 3, pieces: 1 };
        assert_eq!(all.from(Ticket { part: 2, batch: 5 }).first(), Ticket { part: 2, batch: 5 });
        assert!(Order::new(all.from(Ticket::first_of(3))).is_complete());
        let none = Order::new(Expected::Every { stride: 3, first: 1 }.from(Ticket::first_of(1)));
        assert_eq!(none.missing(), None);
    }
}
