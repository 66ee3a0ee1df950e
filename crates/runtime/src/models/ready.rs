//! Tokens ([`ready`](crate::sched::ready)): of the thread that ends an activation and the thread that changes what the
//! node waits for, exactly one acquires the token.

use super::check;
use crate::sched::ready::{Ready, Tokens};
use crate::sync::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;

/// A node with one token, which an activation that is about to end has.
struct Node {
    tokens: Tokens,
    ready: Ready,
    /// The number of items that the node waits for; [`RUNNING`] until the activation has set it.
    wanted: AtomicUsize,
    /// The number of items that have arrived.
    items: AtomicUsize,
    /// Notifications of the policy.
    notified: AtomicUsize,
}

/// More items than arrive: a node that is active is not claimable.
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
    fn notify(&self) {
        let claimable = || self.items.load(Ordering::Acquire) >= self.wanted.load(Ordering::Acquire);
        if self.tokens.has_capacity() && claimable() && self.tokens.acquire(false) {
            self.notified.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// An activation ends while another thread makes the node claimable: the policy is notified once.
///
/// Mutations that fail: no fences (neither thread acquires), and a load and a store in place of the compare-and-swap
/// (both acquire).
#[test]
fn loom_a_claimable_node_is_notified_of_once() {
    check(|| {
        let node = Arc::new(Node::new());
        let changer = {
            let node = node.clone();
            thread::spawn(move || {
                node.items.store(1, Ordering::Release);
                node.ready.fence();
                node.notify();
            })
        };
        node.wanted.store(1, Ordering::Release);
        node.tokens.release(false);
        node.ready.fence();
        node.notify();
        changer.join().unwrap();
        assert_eq!(node.notified.load(Ordering::Relaxed), 1);
    });
}
