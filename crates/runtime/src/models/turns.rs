//! Firings that wait for their tickets: [`Turns`] with the reorder window and the claims of a parallel node.
//!
//! [`Node`] mirrors `Parallel`: `activate` and `leave` are its loops without ports, and tickets are not
//! retired, which `window` models. The claims, the turns and their queue, and the node's state are the real ones. Each channel
//! holds one item, in a loom cell; its counters are its own. A thread is a worker and the consumer of all channels: after each
//! change it examines both nodes, and it stops when neither is claimable. So a firing that no thread is left for remains, which
//! [`Node::assert_left`] finds.

use super::{check, check_within};
use crate::net::{NodeState, UNSTUCK};
use crate::node::claim::Claim;
use crate::node::turns::{Firing, Turns};
use crate::node::window::Window;
use crate::sync::{AtomicUsize, Ordering, UnsafeCell, fence};
use loom::thread;
use std::sync::Arc;

/// A channel of one item.
struct Channel {
    head: AtomicUsize,
    tail: AtomicUsize,
    slot: UnsafeCell<usize>,
    /// Items at first.
    initial: usize,
}

impl Channel {
    /// A channel that may hold an item already: ticket 100's.
    fn new(is_full: bool) -> Channel {
        let initial = usize::from(is_full);
        Channel {
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(initial),
            slot: UnsafeCell::new(100),
            initial,
        }
    }

    fn has_items(&self) -> bool {
        self.head.load(Ordering::Relaxed) < self.tail.load(Ordering::Relaxed)
    }

    /// Receives an item, if there is one. The caller holds the consumer's claim.
    fn receive(&self) -> Option<usize> {
        let head = self.head.load(Ordering::Relaxed);
        if self.tail.load(Ordering::Acquire) == head {
            return None;
        }
        // SAFETY: the slot is full, and only the holder of the consumer's claim receives.
        let item = self.slot.with_mut(|slot| unsafe { *slot });
        self.head.store(head + 1, Ordering::Release);
        Some(item)
    }
}

struct Node {
    /// A slot holds its ticket's number while the ticket is issued or done.
    window: Window<Option<usize>>,
    /// The issuing claim: the ticket that is issued next.
    next_ticket: Claim<usize>,
    /// Tickets issued, for threads without the claim.
    issued: AtomicUsize,
    /// The retirement.
    back: Claim<()>,
    turns: Turns,
    state: NodeState,
    /// By port.
    channels: Vec<Channel>,
    /// The consumer's claim: what it has received, by channel.
    received: Claim<Vec<Vec<usize>>>,
    /// The number of tickets.
    tickets: usize,
}

// SAFETY: a slot belongs to the producing or the consuming side, by the channel's counters, and loom fails the model
// otherwise.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

enum Work {
    Run(usize),
    Leave(Firing),
}

impl Node {
    /// A node of this number of tickets, whose channels are full at first or not.
    fn new(tickets: usize, are_full: &[bool]) -> Arc<Node> {
        let ports = are_full.len();
        let state = NodeState::parallel(ports, 4, 2, false).with_waits();
        let retired = state.retired().expect("of a parallel node").clone();
        Arc::new(Node {
            window: Window::new(4, retired, || None),
            next_ticket: Claim::new(0),
            issued: AtomicUsize::new(0),
            back: Claim::new(()),
            turns: Turns::new(ports),
            state,
            channels: are_full.iter().map(|is_full| Channel::new(*is_full)).collect(),
            received: Claim::new(vec![Vec::new(); ports]),
            tickets,
        })
    }

    /// As `Parallel::activate`: true if it did something.
    fn activate(&self) -> bool {
        match self.next_ticket.with(None, |next| self.claim(next)) {
            None => false,
            Some(Work::Leave(firing)) => self.leave(firing),
            Some(Work::Run(ticket)) => {
                // SAFETY: this thread has issued the ticket and not completed it.
                *unsafe { self.window.body(ticket) } = Some(ticket);
                self.window.complete(ticket);
                self.leave(Firing::new(ticket))
            }
        }
    }

    /// As `Parallel::claim`.
    fn claim(&self, next: &mut usize) -> Option<Work> {
        if let Some(firing) = self.turns.take(&self.state) {
            return Some(Work::Leave(firing));
        }
        (*next < self.tickets).then(|| {
            *next += 1;
            self.issued.store(*next, Ordering::Relaxed);
            Work::Run(*next - 1)
        })
    }

    /// As `Parallel::leave`.
    fn leave(&self, mut firing: Firing) -> bool {
        while !self.turns.has_left(&firing) {
            while !self.turns.is_turn(&firing) {
                firing = self.turns.exchange(firing, &self.state).0;
                if !self.turns.is_turn(&firing) {
                    thread::yield_now();
                }
            }
            let publish = |(): &mut ()| Some(self.publish(&mut firing));
            let published = self.back.with(None, publish);
            if published.is_none() {
                thread::yield_now();
                continue;
            }
            if published == Some(false) {
                self.turns.suspend(firing, &self.state);
                return true;
            }
        }
        true
    }

    /// As `Parallel::publish_at_turn`: false if the channel is full. The caller holds the retirement.
    fn publish(&self, firing: &mut Firing) -> bool {
        let (channel, stuck) = (&self.channels[firing.port], &self.state.stuck()[firing.port]);
        let tail = channel.tail.load(Ordering::Relaxed);
        if channel.head.load(Ordering::Acquire) < tail {
            stuck.store(tail, Ordering::Relaxed);
            return false;
        }
        // SAFETY: this thread holds the retirement and the ticket is done.
        let ticket = unsafe { self.window.body(firing.ticket) };
        let ticket = if firing.port + 1 == self.channels.len() { ticket.take() } else { *ticket };
        // SAFETY: the slot is free, and only the worker whose turn it is publishes.
        channel.slot.with_mut(|slot| unsafe { *slot = ticket.expect("a computed firing") });
        channel.tail.store(tail + 1, Ordering::Release);
        if stuck.load(Ordering::Relaxed) != UNSTUCK {
            stuck.store(UNSTUCK, Ordering::Relaxed);
        }
        self.turns.pass(firing);
        true
    }

    /// Receives an item of each channel that has one.
    fn receive(&self) -> bool {
        self.received.with(false, |received| {
            let items = self.channels.iter().map(Channel::receive);
            let received = received.iter_mut().zip(items);
            received.fold(false, |any, (received, item)| (received.extend(item), any | item.is_some()).1)
        })
    }

    /// As `Net::claimable`.
    fn is_claimable(&self) -> bool {
        let may_issue = || {
            !self.state.has_waiting()
                && !self.next_ticket.is_held()
                && self.issued.load(Ordering::Relaxed) < self.tickets
        };
        let has_room = |port: usize, until| self.channels[port].head.load(Ordering::Relaxed) >= until;
        self.state.may_leave(has_room) || may_issue()
    }

    fn has_items(&self) -> bool {
        self.channels.iter().any(Channel::has_items)
    }

    /// As a worker and the consumer: goes on until neither node is claimable.
    fn work(&self) {
        loop {
            fence(Ordering::SeqCst); // as in `Ready::fence`, `make_ready::changed` and `Sleep::announce`
            let (is_claimable, has_items) = (self.is_claimable(), self.has_items());
            if !is_claimable && !has_items {
                return;
            }
            if !((is_claimable && self.activate()) | (has_items && self.receive())) {
                thread::yield_now(); // the other thread holds a claim
            }
        }
    }

    /// As a search: holds the node as `Parallel::hold` does, and replaces its only channel's storage. False if it is not
    /// quiescent.
    fn search(&self) -> bool {
        let Some(front) = self.next_ticket.try_claim() else { return false };
        let Some(_back) = self.back.try_claim() else { return false };
        // The tickets that would be retired have passed their turn.
        let issued = self.turns.turn_at(0)..*front;
        let is_quiescent =
            self.window.at_rest(issued.clone()) == Some(*front) && self.turns.queued() == issued.len();
        if is_quiescent {
            let [channel] = &self.channels[..] else { unreachable!("a model with one channel") };
            let published = channel.tail.load(Ordering::Relaxed) - channel.initial;
            assert_eq!(published + self.turns.queued(), *front, "a worker has a firing");
            // SAFETY: no thread publishes, and the model that searches has no consumer.
            channel.slot.with_mut(|slot| unsafe { *slot += 100 });
        }
        is_quiescent
    }

    /// Checks that all firings have left, in order. The other threads have ended.
    fn assert_left(&self) {
        let received = self.received.try_claim().expect("released");
        for (port, (channel, received)) in self.channels.iter().zip(&*received).enumerate() {
            let published = received.iter().copied().filter(|ticket| *ticket < 100);
            assert_eq!(published.collect::<Vec<_>>(), (0..self.tickets).collect::<Vec<_>>());
            assert_eq!(received.len(), channel.tail.load(Ordering::Relaxed));
            assert_eq!(self.turns.turn_at(port), self.tickets);
        }
        assert_eq!(self.turns.queued(), 0);
        assert!(!self.state.has_waiting());
    }
}

/// Threads that work at a node until none has anything to do, within a number of preemptions.
fn all_leave(preemptions: usize, threads: usize, are_full: &'static [bool]) {
    check_within(preemptions, move || {
        let node = Node::new(2, are_full);
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let node = node.clone();
                thread::spawn(move || node.work())
            })
            .collect();
        node.work();
        others.into_iter().for_each(|other| other.join().unwrap());
        node.assert_left();
    });
}

/// Two threads, two firings, a channel of one item, empty or full: the firings leave in order, and the thread that stops last
/// leaves none behind. The full one within one preemption: with two it takes 70 s.
///
/// Mutations that fail: `publish` that also publishes the next firing if it is computed; a worker that queues its
/// firing after it has examined the node for the last time; no wait for the turn; no fence in `work`; `stuck` not stored.
#[test]
fn loom_turns_leave_no_firing_behind() {
    all_leave(2, 2, &[false]);
    all_leave(1, 2, &[true]);
}

/// The same by two ports: a firing that has left by the first one waits at the second one.
///
/// Mutation that fails: `stuck` of the second port not stored.
#[test]
fn loom_turns_of_two_ports() {
    all_leave(1, 2, &[false, true]);
}

/// The same with three threads: one of them stalls while the other two compute, publish or receive.
#[test]
fn loom_turns_of_three_threads() {
    all_leave(1, 3, &[true]);
}

/// A search holds the node while a worker computes a firing, and publishes or queues it: only while the worker has none.
///
/// Mutation that fails: `search` without a look at the number of queued firings.
#[test]
fn loom_turns_are_held_by_a_search() {
    for is_full in [false, true] {
        check(move || {
            let node = Node::new(1, &[is_full]);
            let worker = thread::spawn({
                let node = node.clone();
                move || (node.activate(), node.activate())
            });
            node.search();
            worker.join().unwrap();
            // The worker may have been refused.
            node.activate();
            assert!(node.search(), "the firing is published or queued");
        });
    }
}
