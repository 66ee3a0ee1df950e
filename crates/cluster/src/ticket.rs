//! The place of a batch in the order of the input.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a part, and that of a batch in it. Tickets are *dense*: behind a batch comes the next of its part, or
/// the first of the next part if it was the last, so the receiver of all batches knows which one comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Ticket {
    pub part: u32,
    pub batch: u32,
}

impl Ticket {
    /// The first batch of a part.
    pub fn first_of(part: u32) -> Ticket {
        Ticket { part, batch: 0 }
    }

    /// The ticket behind this one. `last`: this batch is the last of its part.
    pub fn next(self, last: bool) -> Ticket {
        match last {
            true => Ticket::first_of(self.part + 1),
            false => Ticket { batch: self.batch + 1, ..self },
        }
    }

    /// The time by which the dataflow tracks this batch: that of an *epoch*, which is this number of batches of a part. A
    /// later ticket has no earlier time.
    pub fn time(self, epoch: u32) -> u64 {
        u64::from(self.part) << 32 | u64::from(self.batch / epoch)
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            0 => write!(f, "batch {}", self.batch),
            part => write!(f, "batch {} of part {part}", self.batch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_follow_the_order_of_tickets() {
        let mut ticket = Ticket::first_of(0);
        let mut times = Vec::new();
        for last in [false, false, false, true, true, false] {
            times.push(ticket.time(2));
            ticket = ticket.next(last);
        }
        assert_eq!(times, [0, 0, 1, 1, 1 << 32, 2 << 32]);
        assert_eq!(ticket, Ticket { part: 2, batch: 1 });
    }
}
