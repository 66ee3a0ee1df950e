//! A message that is lent out is taken, wherever, while its channel grows.

use super::check;
use crate::channel::{Grow, Layout, Ring, Sizes};
use loom::thread;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// As `Message`: made in the poll of its process, dropped on another thread. What grows the ring holds
/// the claims of both processes, which wait. The cell that says where the slots are is loom's, so a look
/// at it on the other thread fails.
///
/// Mutations that fail: `take_lent` that asks the ring for its bytes, as `release` does; one that leaves
/// `head`, or what is lent, as it was.
#[test]
fn loom_lent_messages_are_taken_while_the_ring_grows() {
    check(|| {
        let items = VecDeque::from([Arc::new(()), Arc::new(())]);
        let (first, second) = (items[0].clone(), items[1].clone());
        let ring = Arc::new(Ring::new(Sizes::fixed(2), Layout::Together, items, Some(Arc::new(|_| 10))));
        let (place, bytes) = (ring.slots().0, ring.bytes_below(1));
        ring.known.lent.store(place, Ordering::Release);
        let guard = (ring.clone(), ring.known.lent.load(Ordering::Relaxed).expose_provenance());
        let elsewhere = thread::spawn(move || {
            let (ring, place) = guard;
            let place = std::ptr::with_exposed_provenance_mut::<Arc<()>>(place);
            // SAFETY: what is lent is the consuming side's, and stays where it is.
            unsafe { place.drop_in_place() };
            ring.take_lent(bytes);
        });
        // SAFETY: the other thread has but the message that is lent out.
        unsafe { ring.grow(4, true) };
        elsewhere.join().unwrap();
        assert!(!ring.is_lent());
        assert_eq!((ring.meter.head(), ring.meter.tail(), ring.meter.bytes()), (1, 2, 10));
        drop(ring);
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
    });
}
