//! Tokens: of whoever ends an activation and whoever changes what the node waits for, one tells, and
//! never both.

use super::check;
use crate::sched::ready::{Ready, Tokens};
use crate::sync::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

/// A node with one token, with an activation that is about to end.
struct Node {
    tokens: Tokens,
    ready: Ready,
    /// The items it waits for; none yet while it runs.
    wanted: AtomicUsize,
    items: AtomicUsize,
    told: AtomicUsize,
}

const RUNNING: usize = usize::MAX;

impl Node {
    fn new() -> Node {
        let node = Node {
            tokens: Tokens::new(1),
            ready: Ready::new(2, false),
            wanted: AtomicUsize::new(RUNNING),
            items: AtomicUsize::new(0),
            told: AtomicUsize::new(0),
        };
        assert!(node.tokens.acquire(false));
        node
    }

    /// As `Net::take_token`, and what follows it.
    fn tell(&self) {
        let claimable = || self.items.load(Ordering::Acquire) >= self.wanted.load(Ordering::Acquire);
        if self.tokens.has_capacity() && claimable() && self.tokens.acquire(false) {
            self.told.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Mutations that fail: no fences (nobody tells), and a load and a store in place of the
/// compare-and-swap (both do).
#[test]
fn loom_a_claimable_node_is_told_of_once() {
    check(|| {
        let node = Arc::new(Node::new());
        let changer = {
            let node = node.clone();
            thread::spawn(move || {
                node.items.store(1, Ordering::Release);
                node.ready.fence();
                node.tell();
            })
        };
        node.wanted.store(1, Ordering::Release);
        node.tokens.release(false);
        node.ready.fence();
        node.tell();
        changer.join().unwrap();
        assert_eq!(node.told.load(Ordering::Relaxed), 1);
    });
}
