//! Tokens: of the thread that ends an activation and the thread that changes what the node waits for, exactly one
//! acquires the token.

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
    notified: AtomicUsize,
}

const RUNNING: usize = usize::MAX;

impl Node {
    fn new() -> Node {
        let node = Node {
            tokens: Tokens::new(1),
            ready: Ready::new(2, false),
            wanted: AtomicUsize::new(RUNNING),
            items: AtomicUsize::new(0),
            notified: AtomicUsize::new(0),
        };
        assert!(node.tokens.acquire(false));
        node
    }

    /// As `make_ready::acquire_token`, and the notification that follows it.
    fn tell(&self) {
        let claimable = || self.items.load(Ordering::Acquire) >= self.wanted.load(Ordering::Acquire);
        if self.tokens.has_capacity() && claimable() && self.tokens.acquire(false) {
            self.notified.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Mutations that fail: no fences (neither acquires), and a load and a store in place of the
/// compare-and-swap (both do).
#[test]
fn loom_a_claimable_node_is_notified_of_once() {
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
        assert_eq!(node.notified.load(Ordering::Relaxed), 1);
    });
}
