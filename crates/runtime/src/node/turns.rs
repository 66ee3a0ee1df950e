//! The turns of a parallel kernel whose firings wait for their tickets, and the queue of firings that wait.
//!
//! This is the ticket synchronisation of the DANBI paper (sections II and III-A2), for runs with
//! [`Options::wait_for_tickets`](crate::Options::wait_for_tickets). A ticket is one firing. It is computed into its slot of
//! the window, and reserves nothing in a channel. Then it *leaves* by each port in turn: there it waits for its ticket, then
//! for room. Only the worker that has the firing publishes its items. The code is in [`wait`](super::wait).
//!
//! Nodes that are unordered have no tickets. Interruptible code ([`suspend`](super::suspend)) cannot be computed before it
//! is published, since a firing may have any number of items. A node with a thread of its own has one firing at a time. In
//! these three the protocol of [`window`](super::window) is that of other runs.
//!
//! # States of a firing
//!
//! | a firing is | where | entered by | left by |
//! |---|---|---|---|
//! | computing | slot `OPEN` in the window | issue | its worker, by `complete` |
//! | held | slot `DONE`; a worker has its [`Firing`] | `complete`, [`Turns::take`], [`Turns::exchange`] | that worker: `exchange`, [`Turns::suspend`], or it has left the last port |
//! | queued | slot `DONE`; its [`Firing`] is in the queue | `exchange`, `suspend` | `take` by a worker that has the issuing claim and no firing; `exchange` by a worker that has another one |
//! | gone | slot `DONE`; the turns of all ports are past it | the worker that had it | `retire`, by a holder of the retirement |
//!
//! A slot that is `DONE` is accessed under the retirement, as in other runs: what a worker *has* is the right to publish.
//!
//! # What a worker does with a firing that it has
//!
//! | event | the worker | the activation |
//! |---|---|---|
//! | it is the firing's turn, and there is room | publishes; the turn passes to the next ticket | goes on with the next port; after the last one ends with `Budget` |
//! | it is the firing's turn, and the channel is full | stores the head that it waits for in `stuck`, and queues the firing | ends with `Full` |
//! | it is not its turn | exchanges it for the oldest one in the queue; keeps it if there is none (lines 1 to 5 of Algorithm 1) | goes on: it stalls |
//! | the run stops, or its deadline passes | queues the firing, or drops it: its items are dropped with the window | ends |
//!
//! Between two asks a worker pauses. In dilated time it sleeps, and the worker whose firing leaves before its own publishes that too
//! ([`sleepers`](super::sleepers)). No argument below needs that, since a sleep also ends by itself.
//!
//! A worker that begins an activation takes the oldest queued firing. It issues a ticket only if there is none (lines 12 to
//! 15), so it begins no firing while it stalls.
//!
//! # Counters
//!
//! | field | written by | ordering | pairs with, or why |
//! |---|---|---|---|
//! | `turn`, by port | the worker whose firing leaves the port, under the retirement | `Relaxed` | only the worker that has ticket `turn` acts on the equality, and only that worker changes it; the retirement orders the items |
//! | `queue` | see the states | its mutex | |
//! | `NodeState::waiting`, by port: queued firings that leave by the port next | with the queue, under its mutex | `Relaxed` | the fence before a thread examines the node |
//! | `NodeState::stuck` | the worker whose turn it is, under the retirement; `growth::grow` | `Relaxed` | as in [`publish`](super::publish); stored before `waiting` |
//!
//! # When the node is claimable
//!
//! While a firing is queued, no ticket is issued, and the wait word does not count. (An issuer that has seen the queue empty
//! may issue one beside a firing that is being queued: as if it had come a moment earlier.) The node is claimable if, for some port, a
//! queued firing leaves by it next and the port is not stuck, or has room again or no consumer (`NodeState::may_leave`). A port
//! that is stuck and has room does not make it claimable if its firing is not queued: a worker has that, and will queue or publish
//! it. (Others could do nothing. When such a port made the node claimable, 40 workers in dilated time claimed it without end
//! and kept both cores busy, while the worker that had the firing waited for a core: more than half of the time of MergeSort.)
//!
//! *No activation is in vain for ever.* Let firing `t` be queued at port `p`, and let `h` be the ticket whose turn it is
//! there. Firings pass a port in the order of tickets, so `h <= t`, and `h` has left all ports before `p`. So `h` computes
//! (then `p` is the first port), is held by a worker that asks or publishes at `p`, or is queued at `p`. In the first two
//! cases that worker is awake. In the third one a worker that takes firings from the queue gets `h` after finitely many
//! exchanges, since the queue is first in first out, and publishes it or makes the port stuck.
//!
//! *A stall ends.* By the same argument a worker stalls only while another one computes or publishes an earlier firing. If
//! the port becomes stuck, `h` is queued; a worker that stalls gets it, finds the channel full, and ends its activation. One
//! worker alone never stalls: the head is the first firing that it takes. A queued firing holds nothing that another needs:
//! no claim, no slot of a channel, and the bytes of later firings never stop the oldest one.
//!
//! *No queued firing is forgotten.*
//!
//! ```text
//!   worker that queues firing t at port p     thread that makes room at p, or passes the turn of p to t
//!   1. stuck of p := head, if it is full      1. head := .., or turn := t and stuck := UNSTUCK
//!   2. queues t, waiting of p += 1            2. fence(SeqCst)
//!   3. fence(SeqCst)                          3. examines the node: a consumer after each change, the worker that passes
//!   4. examines the node, at the end of its      the turn at the end of its activation
//!      activation
//! ```
//!
//! One of the two sees the other. A firing that is exchanged is no exception: the worker that has put it into the queue
//! examines the node at the end of its activation, which ends as said above.
//!
//! # Deadlocks, ends and limits
//!
//! - A node is quiescent ([`Body::hold`](crate::net::Body::hold)) if all its firings that have not retired are queued. A
//!   worker takes one only under the issuing claim, or if it has another, so none is taken while a search holds the node.
//!   While all threads sleep, or a search holds the node, a node with queued firings that is not claimable waits for room at
//!   each port that one of them leaves by next, and for nothing else: these are its edges ([`waits`](crate::liveness::waits)).
//!   `growth::grow` clears `stuck`, so the node is claimable then.
//! - A worker that stalls is not asleep. No other worker depends on what it could do meanwhile.
//! - A node ends when all its tickets are retired, also if it is cancelled or no consumer is left: its firings leave by
//!   channels without a consumer at once. A loop that drains, or is done, has no queued firings: they wait for room.
//! - The bytes of computed firings count, and limit claims as in other runs. With a queue that is not empty the window
//!   cannot be what the node waits for. A limit on items in flight counts with tallies, which a firing reserves when it is
//!   issued: these slots are in the order of the tickets, and no firing waits for them.

use super::sleepers::Sleepers;
use crate::net::NodeState;
use crate::sync::{AtomicUsize, CachePadded, Mutex, Ordering, lock};
use std::collections::VecDeque;
use std::time::Duration;

/// A computed firing that has not left all ports. The worker that has this value has the firing.
#[derive(Debug)]
pub(crate) struct Firing {
    pub(crate) ticket: usize,
    /// The port that it leaves by next.
    pub(crate) port: usize,
    /// How often it was not its turn since it was computed, or was last suspended for room, at all ports together: the paper's `T`.
    pub(crate) waits: u64,
}

impl Firing {
    /// A firing that has just been computed.
    pub(crate) fn new(ticket: usize) -> Firing {
        Firing { ticket, port: 0, waits: 0 }
    }
}

/// The turns of one kernel, and its queue.
#[derive(Debug)]
pub(crate) struct Turns {
    /// By port: the ticket whose turn it is. On a cache line each, since workers that stall read it.
    turn: Box<[CachePadded<AtomicUsize>]>,
    queue: Mutex<VecDeque<Firing>>,
    sleepers: Sleepers,
}

impl Turns {
    /// The turns of a kernel with this number of ports, before the first ticket.
    pub(crate) fn new(ports: usize) -> Turns {
        let turn = (0..ports).map(|_| CachePadded::new(AtomicUsize::new(0))).collect();
        Turns { turn, queue: Mutex::default(), sleepers: Sleepers::default() }
    }

    /// Whether it is the firing's turn at its port. The caller has the firing. True stays true until the caller calls
    /// [`Turns::pass`].
    #[inline]
    pub(crate) fn is_turn(&self, firing: &Firing) -> bool {
        self.turn[firing.port].load(Ordering::Relaxed) == firing.ticket
    }

    /// Passes the turn to the next ticket: the firing has left its port. The caller holds the retirement.
    pub(crate) fn pass(&self, firing: &mut Firing) {
        self.turn[firing.port].store(firing.ticket + 1, Ordering::Relaxed);
        firing.port += 1;
    }

    /// Whether the firing has left all ports.
    pub(crate) fn has_left(&self, firing: &Firing) -> bool {
        firing.port == self.turn.len()
    }

    /// The first ticket that has not left a port.
    pub(crate) fn turn_at(&self, port: usize) -> usize {
        self.turn[port].load(Ordering::Relaxed)
    }

    /// Takes the oldest firing of the queue. The caller has none, and holds the issuing claim.
    pub(crate) fn take(&self, state: &NodeState) -> Option<Firing> {
        if !state.has_waiting() {
            return None;
        }
        let firing = lock(&self.queue).pop_front()?;
        state.count_taken(firing.port);
        Some(firing)
    }

    /// Queues a firing that the caller has. The caller examines the node at the end of its activation.
    pub(crate) fn suspend(&self, firing: Firing, state: &NodeState) {
        let mut queue = lock(&self.queue);
        state.count_waiting(firing.port);
        queue.push_back(firing);
    }

    /// Exchanges a firing whose turn it is not for the oldest one in the queue, if there is one. Returns the firing that the
    /// caller has now, and the number of others that were queued.
    pub(crate) fn exchange(&self, firing: Firing, state: &NodeState) -> (Firing, usize) {
        let mut queue = lock(&self.queue);
        let others = queue.len();
        let Some(oldest) = queue.pop_front() else { return (firing, 0) };
        state.count_taken(oldest.port);
        state.count_waiting(firing.port);
        queue.push_back(firing);
        (oldest, others)
    }

    /// Sleeps with a firing that the caller has, for a time or until it has left its port. For dilated runs: see
    /// [`sleepers`](super::sleepers).
    pub(crate) fn sleep(&self, firing: Firing, time: Duration) -> Firing {
        self.sleepers.sleep(firing, time, |firing| self.is_turn(firing))
    }

    /// Lets the firings of workers that sleep leave a port as far as their turns come and `publish` succeeds. The caller holds the
    /// retirement.
    pub(crate) fn follow(&self, port: usize, publish: impl FnMut(&mut Firing) -> bool) {
        self.sleepers.follow(port, self.turn_at(port), || self.queued() > 0, publish);
    }

    /// The number of queued firings.
    pub(crate) fn queued(&self) -> usize {
        lock(&self.queue).len()
    }
}
