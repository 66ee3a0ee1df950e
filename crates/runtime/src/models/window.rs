//! The reorder [`Window`] of a parallel node: tickets are issued under one claim and retired under another.
//!
//! [`Node`] mirrors `Parallel`: `activate` and `settle` are its loops without ports. Window and claims are the real
//! ones. A ticket's slot is a loom cell, so an issuer and a retirement holder that access one slot at a time fail the
//! model.

use super::check;
use crate::net::NodeState;
use crate::node::claim::Claim;
use crate::node::window::Window;
use crate::sync::{Ordering, UnsafeCell, fence};
use loom::thread;
use std::sync::Arc;

const SIZE: usize = 2;

struct Node {
    /// A slot holds its ticket's number while the ticket is issued or done.
    window: Window<Option<usize>>,
    /// The issuing claim: the ticket that is issued next.
    next_ticket: Claim<usize>,
    /// The retirement: the ticket that is retired next, and the tickets retired so far.
    back: Claim<(usize, Vec<usize>)>,
}

impl Node {
    fn new() -> Arc<Node> {
        Arc::new(Node {
            window: Window::new(SIZE, Arc::default(), || None),
            next_ticket: Claim::new(0),
            back: Claim::new((0, Vec::new())),
        })
    }

    /// As `Parallel::activate`: settle, issue, run, settle. Issues no ticket from `last` on. True if it issued one.
    fn activate(&self, last: usize) -> bool {
        self.settle();
        let issued = self.issue(last);
        issued.inspect(|ticket| self.run(*ticket)).is_some()
    }

    /// The next ticket, if it is below `last` and the window has a slot for it.
    fn issue(&self, last: usize) -> Option<usize> {
        self.next_ticket.with(None, |next| {
            let ticket = *next;
            if ticket == last || !self.window.has_slot(ticket) {
                return None;
            }
            // SAFETY: this thread holds the issuing claim, `ticket` is the next one, and the window has a slot for it.
            let slot = unsafe { self.window.body(ticket) };
            assert_eq!(*slot, None, "the slot is free");
            *next += 1;
            Some(ticket)
        })
    }

    /// Runs and settles a ticket that the caller has issued.
    fn run(&self, ticket: usize) {
        // SAFETY: the caller has issued the ticket and not completed it; no other reference to its slot is used any more.
        *unsafe { self.window.body(ticket) } = Some(ticket);
        self.window.complete(ticket);
        self.settle();
    }

    /// As `Parallel::settle` and `Parallel::pass`.
    fn settle(&self) {
        loop {
            let pass = self.back.with(None, |(next, order)| {
                let seen = self.window.completions();
                while self.window.has_slot(*next) && self.window.is_done(*next) {
                    // SAFETY: this thread holds the retirement and the ticket is done.
                    order.extend(unsafe { self.window.body(*next) }.take());
                    *next += 1;
                }
                (self.window.retired()..*next).for_each(|ticket| self.window.retire(ticket));
                Some(seen)
            });
            let Some(seen) = pass else { return };
            if self.window.completions_after() == seen {
                return;
            }
        }
    }

    /// As `Parallel::hold`, which it releases at once: true if a ticket may be left unsettled.
    fn is_unsettled(&self) -> bool {
        let Some(front) = self.next_ticket.try_claim() else { return false };
        let Some(back) = self.back.try_claim() else { return false };
        self.window.at_rest(self.window.retired()..*front) != Some(back.0)
    }

    /// Checks that all issued tickets are retired, in order. The other threads have ended.
    fn assert_settled(&self) {
        let issued = *self.next_ticket.try_claim().expect("released");
        let back = self.back.try_claim().expect("released");
        assert_eq!(back.1, (0..issued).collect::<Vec<_>>(), "of {issued} tickets");
        assert_eq!(self.window.retired(), issued);
    }
}

/// Two issuers, up to four tickets in a window of two: the one that stops last leaves no completed ticket behind,
/// tickets come out in order, and a slot belongs to one thread at a time.
///
/// Mutations that fail: either fence left out; `settle` without its second read; `Relaxed` in place of `Release` in
/// `complete` (either of them) or `retire`, or of `Acquire` in `is_done`, `completions` or `retired`; `is_done` called
/// without `has_slot`.
#[test]
fn loom_window_leaves_no_ticket_behind() {
    check(|| {
        let node = Node::new();
        let other = thread::spawn({
            let node = node.clone();
            move || (node.activate(4), node.activate(4))
        });
        node.activate(4);
        node.activate(4);
        other.join().unwrap();
        node.assert_settled();
    });
}

/// A search holds both claims while a worker completes a ticket and is refused the retirement. Either the worker settles
/// the ticket, or the search sees that a ticket is not settled.
///
/// Mutation that fails: the passes of `Window::at_rest` in the other order.
#[test]
fn loom_window_is_held_by_a_search() {
    check(|| {
        let node = Node::new();
        let ticket = node.issue(1).expect("a free window");
        let worker = thread::spawn({
            let node = node.clone();
            move || node.run(ticket)
        });
        let is_unsettled = node.is_unsettled();
        worker.join().unwrap();
        if is_unsettled {
            node.settle();
        }
        node.assert_settled();
    });
}

/// Two threads complete one ticket each, while a third one settles as every activation does: one or two completions may
/// come at any point of a holder's pass.
///
/// Mutations that fail: those of the fences, the second read and `completed`, as above.
#[test]
fn loom_window_is_settled_by_any_thread() {
    check(|| {
        let node = Node::new();
        for ticket in 0..2 {
            assert!(node.next_ticket.with(false, |next| (*next += 1, true).1));
            // SAFETY: as in `activate`; no other thread has the window yet.
            *unsafe { node.window.body(ticket) } = Some(ticket);
        }
        let completers = [0, 1].map(|ticket| {
            let node = node.clone();
            thread::spawn(move || {
                node.window.complete(ticket);
                node.settle();
            })
        });
        node.settle();
        completers.into_iter().for_each(|thread| thread.join().unwrap());
        node.assert_settled();
    });
}

/// A node whose tickets have two pieces, and may be suspended between them.
struct Interrupted {
    node: Arc<Node>,
    state: NodeState,
    /// Tickets of which a first piece has been run. A cell of its own for each: it belongs to the ticket's worker.
    begun: [UnsafeCell<bool>; 3],
}

// SAFETY: a ticket's cell is accessed by the ticket's worker alone, and loom fails the model otherwise.
unsafe impl Send for Interrupted {}
// SAFETY: as above.
unsafe impl Sync for Interrupted {}

impl Interrupted {
    fn new() -> Arc<Interrupted> {
        let state = NodeState::parallel(1, 4, 2, false);
        let retired = state.retired().expect("of a parallel node").clone();
        let window = Window::new(4, retired, || None);
        let node = Node { window, next_ticket: Claim::new(0), back: Claim::new((0, Vec::new())) };
        let begun = [UnsafeCell::new(false), UnsafeCell::new(false), UnsafeCell::new(false)];
        Arc::new(Interrupted { node: Arc::new(node), state, begun })
    }

    /// As `Parallel::resume`, then `Parallel::issue`: the ticket that the caller runs.
    fn claim(&self, last: usize) -> Option<usize> {
        self.node.next_ticket.with(None, |next| {
            let window = &self.node.window;
            let suspended = || (window.retired()..*next).filter_map(|t| Some((t, window.suspended(t)?)));
            let first = window.retired();
            if self.state.suspended() > 0
                && let Some((ticket, ready)) = suspended().find(|(t, ready)| *ready || *t == first)
            {
                window.resume(ticket);
                self.state.count_resumed(ticket, ready);
                return Some(ticket);
            }
            (*next < last).then(|| {
                *next += 1;
                *next - 1
            })
        })
    }

    /// As an activation: true if it ran a piece. A later ticket is suspended after its first piece.
    fn activate(&self, last: usize, ready: bool) -> bool {
        self.node.settle();
        let Some(ticket) = self.claim(last) else { return false };
        // SAFETY: this thread has issued or resumed the ticket.
        let begun = self.begun[ticket].with_mut(|begun| std::mem::replace(unsafe { &mut *begun }, true));
        if !begun && self.node.window.retired() != ticket {
            self.state.count_suspended(ticket, ready);
            self.node.window.suspend(ticket, ready);
            return true;
        }
        // SAFETY: as above, and the ticket is neither completed nor suspended.
        *unsafe { self.node.window.body(ticket) } = Some(ticket);
        self.node.window.complete(ticket);
        self.node.settle();
        true
    }

    /// As a worker: activates the node while it is claimable, and examines it after each activation.
    fn work(&self, last: usize, ready: bool) {
        loop {
            if !self.activate(last, ready) {
                thread::yield_now();
            }
            fence(Ordering::SeqCst); // as in `Ready::fence`
            let may_resume = self.state.suspended() > 0
                && (self.state.has_ready_ticket() || self.state.has_first_ticket());
            let is_held = self.node.next_ticket.is_held();
            let may_issue = !is_held && self.node.next_ticket.try_claim().is_some_and(|next| *next < last);
            if !may_resume && !may_issue {
                return;
            }
        }
    }
}

/// Two workers, two or three tickets of two pieces: whichever event makes a suspended ticket the oldest, one of the workers resumes
/// it before it stops.
///
/// Mutations that fail: `Relaxed` in place of `Release` in `suspend`, or of `Acquire` in `suspended`; `held` not stored in
/// `count_suspended`.
#[test]
fn loom_window_resumes_suspended_tickets() {
    for (tickets, ready) in [(2, false), (2, true), (3, false)] {
        check(move || {
            let node = Interrupted::new();
            let other = thread::spawn({
                let node = node.clone();
                move || node.work(tickets, ready)
            });
            node.work(tickets, ready);
            other.join().unwrap();
            node.node.assert_settled();
            assert_eq!(node.state.suspended(), 0);
        });
    }
}
