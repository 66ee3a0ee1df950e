//! The reorder [`Window`] of a parallel node: issue under one claim, settle under another.
//!
//! [`Node`] mirrors `Parallel`: `issue`, `run`, `settle` and `pass` are its loops with the ports
//! left out; window and claims are the real ones. A ticket's slot is a loom cell, so an issuer and a
//! retirer in one slot at a time fail.

use super::check;
use crate::node::claim::Claim;
use crate::node::window::Window;
use loom::thread;
use std::sync::Arc;

const SIZE: usize = 2;

struct Node {
    window: Window<Option<usize>>,
    next_ticket: Claim<usize>,
    /// The ticket retired next, and those retired so far.
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

    /// As `Parallel::activate`: settle, issue, run, settle. True if it had a ticket.
    fn activate(&self, last: usize) -> bool {
        self.settle();
        let Some(mut next) = self.next_ticket.try_claim() else { return false };
        let ticket = *next;
        if ticket == last || !self.window.has_slot(ticket) {
            return false;
        }
        // SAFETY: under the claim, and the ticket has a place.
        let slot = unsafe { self.window.body(ticket) };
        assert_eq!(*slot, None, "the slot is free");
        *next += 1;
        drop(next);
        // SAFETY: this thread has issued the ticket and not completed it.
        *unsafe { self.window.body(ticket) } = Some(ticket);
        self.window.complete(ticket);
        self.settle();
        true
    }

    fn settle(&self) {
        loop {
            let Some(mut back) = self.back.try_claim() else { return };
            let seen = self.window.completions();
            let (next, order) = &mut *back;
            while self.window.has_slot(*next) && self.window.is_done(*next) {
                // SAFETY: this thread holds the retirement and the ticket is done.
                order.extend(unsafe { self.window.body(*next) }.take());
                *next += 1;
            }
            (self.window.retired()..*next).for_each(|ticket| self.window.retire(ticket));
            drop(back);
            if self.window.completions_after() == seen {
                return;
            }
        }
    }

    /// Checks that all issued tickets are retired, in order. After the other threads have ended.
    fn assert_settled(&self) {
        let issued = *self.next_ticket.try_claim().expect("given back");
        let back = self.back.try_claim().expect("given back");
        assert_eq!(back.1, (0..issued).collect::<Vec<_>>(), "of {issued} tickets");
        assert_eq!(self.window.retired(), issued);
    }
}

/// Two issuers, up to four tickets in a window of two: the one that stops last leaves no completed ticket behind,
/// tickets come out in order, and a slot belongs to one thread at a time.
///
/// Mutations that fail: either fence left out; `settle` without its second look; `Relaxed` in place
/// of `Release` in `complete` (either of them) or `retire`, or of `Acquire` in `is_done`,
/// `completions` or `retired`; `is_done` asked without `has_slot`.
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

/// Two tickets out, completed by one thread each, while a third settles as every activation does: a
/// holder may be overtaken by a completion at any point of its pass, and by two.
///
/// Mutations that fail: those of the fences, the second look and `completed`, as above.
#[test]
fn loom_window_is_settled_by_whoever_comes() {
    check(|| {
        let node = Node::new();
        for ticket in 0..2 {
            *node.next_ticket.try_claim().expect("free") += 1;
            // SAFETY: no other thread has the window yet.
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
