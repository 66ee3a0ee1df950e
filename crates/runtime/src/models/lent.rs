//! A lent message is dropped on one thread while another thread grows its channel: the protocol of `channel::lent`.

use super::check;
use crate::channel::{Grow, Layout, Ring, Sizes};
use loom::thread;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The guard is made in the poll of its process and dropped on another thread. The thread that grows the ring holds the
/// claims of both processes, which wait. The ring's storage is a loom cell, so an access on the other thread fails.
///
/// Mutations that fail: a `release_lent` that reads the bytes from the ring, as `release` does; one that does not move
/// `head`, or that leaves `lent` at the address.
#[test]
fn loom_lent_messages_are_taken_while_the_ring_grows() {
    check(|| {
        let items = VecDeque::from([Arc::new(()), Arc::new(())]);
        let (first, second) = (items[0].clone(), items[1].clone());
        let ring = Arc::new(ring(items));
        let bytes = ring.bytes_below(1);
        // SAFETY: this thread is the consuming side, and message 0 is published.
        unsafe { ring.lend(0) };
        let guard = ring.clone();
        let other = thread::spawn(move || {
            // SAFETY: this thread has the guard of the lent message.
            unsafe { guard.drop_lent(bytes) };
        });
        // SAFETY: no end of the channel is active on any thread. The other thread accesses only the lent message, which
        // `keep` allows.
        assert!(unsafe { ring.grow(4, true) });
        other.join().unwrap();
        assert!(!ring.is_lent());
        assert_eq!((ring.meter.head(), ring.meter.tail(), ring.meter.bytes()), (1, 2, 10));
        drop(ring);
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
    });
}

/// As above, but the other thread cuts the stream: message 0 was received, so the stream ends before message 1, and the
/// receiver reads no slot beyond.
///
/// Mutation that fails: a `cut` that loads `lent` before `head`.
#[test]
fn loom_a_cut_counts_a_lent_message_once() {
    check(|| {
        let ring = while_dropped(|ring| ring.cut());
        assert_eq!((ring.meter.head(), ring.meter.end_tail()), (1, 1));
        assert_eq!(ring.known.seen.load(Ordering::Relaxed), 1);
    });
}

/// As above, but the other thread counts the messages that were not received: message 1 alone, at any moment.
///
/// Mutations that fail: a `received` that loads `head` and `lent` once each, in either order; one that ignores the mark.
#[test]
fn loom_a_released_message_is_not_counted() {
    check(|| {
        let ring = while_dropped(|ring| assert_eq!(ring.unreceived(), 1));
        assert_eq!(ring.unreceived(), 1);
    });
}

/// A ring of weighed messages with two slots.
fn ring(items: VecDeque<Arc<()>>) -> Ring<Arc<()>> {
    let ring = Ring::new(Sizes::fixed(2), Layout::Together, items, Some(Arc::new(|_| 10)));
    ring.expect("memory for two slots")
}

/// A ring of two messages, of which the first was lent and dropped, while `act` ran on a thread that holds the claims.
///
/// The guard is dropped on the first thread: loom remembers the latest access to an atomic only, so it would not switch
/// from a load by `act` to the stores that follow this thread's own loads.
fn while_dropped(act: impl Fn(&Ring<Arc<()>>) + Send + 'static) -> Arc<Ring<Arc<()>>> {
    let items = VecDeque::from([Arc::new(()), Arc::new(())]);
    let ring = Arc::new(ring(items));
    let bytes = ring.bytes_below(1);
    // SAFETY: this thread is the consuming side, and message 0 is published.
    unsafe { ring.lend(0) };
    let other = thread::spawn({
        let ring = ring.clone();
        move || act(&ring)
    });
    // SAFETY: this thread has the guard of the lent message.
    unsafe { ring.drop_lent(bytes) };
    other.join().unwrap();
    ring
}
