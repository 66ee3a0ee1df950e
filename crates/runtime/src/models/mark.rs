//! Marks ([`Marks`]): another thread publishes what a firing node has pushed, while the node fires on.
//!
//! Ports, cursors and marks are the real ones. Items own loom cells, as in the model of the ring, so an item that is lost,
//! delivered twice or read before it is written fails.

use super::check;
use super::ring::{Cells, Consumer, Item, ends};
use crate::channel::{Consumers, Lack, Marks};
use crate::node::claim::Claim;
use crate::port::PushPort;
use crate::sync::{AtomicBool, Ordering};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;
use thalweg_graph::ChannelId;

/// Pops until the stream ends, and checks that items `0..count` arrive in order.
fn assert_receives(consumer: &mut Consumer, count: usize) {
    let mut seen = Vec::new();
    loop {
        match consumer.take(2) {
            Ok(items) => seen.extend(items),
            Err(Lack::Ended { .. }) => break,
            Err(_) => thread::yield_now(),
        }
    }
    assert_eq!(seen, (0..count).collect::<Vec<_>>());
}

/// A sequential node pushes two items in one slice; another thread looks twice.
///
/// Mutations that fail: `Relaxed` in place of `Release` in `Mark::set`, or of `Acquire` in `Mark::marked`, or of
/// `Release` in the exchange; a swap in place of the exchange.
#[test]
fn loom_mark_of_a_sequential_node() {
    check(|| {
        let (cells, marks) = (Cells::new(), Arc::new(Marks::new(1)));
        let (mut give, mut consumer, ring) = ends(0, &cells);
        let looker = thread::spawn({
            let (ring, marks) = (ring.clone(), marks.clone());
            move || (0..2).for_each(|_| _ = ring.meter.publish_marked(marks.at(0)))
        });
        let producer = thread::spawn(move || {
            // SAFETY: this thread has the marks for longer than the cursor.
            let mut cursor = give.sequential_cursor(unsafe { marks.of(0) });
            assert_eq!(give.side().room(2).unwrap(), 2);
            give.open_sequential(&mut cursor);
            for number in 0..2 {
                assert!(cursor.step());
                cursor.push(Item::new(number, &cells));
                cursor.mark();
            }
            give.publish_sequential(&mut cursor);
            give.side().meter.end();
        });
        assert_receives(&mut consumer, 2);
        producer.join().unwrap();
        looker.join().unwrap();
    });
}

/// The thread that fires replaces a buffer and, where the mark says so, frees the old one, while another thread reads the
/// buffer that the mark names. A buffer is an entry of a table, and freeing it a write.
///
/// Mutations that fail: either fence left out; `Relaxed` in place of `Acquire` in `replace_buffer`, or of `Release` at the
/// end of `read`.
#[test]
fn loom_mark_of_a_buffer_that_is_replaced() {
    check(|| {
        let (cells, marks) = (Arc::new([UnsafeCell::new(0), UnsafeCell::new(0)]), Arc::new(Marks::new(1)));
        let place = |cells: &[UnsafeCell<u32>; 2], at: usize| std::ptr::from_ref(&cells[at]).cast_mut();
        marks.at(0).set_buffer(place(&cells, 0));
        let reader = thread::spawn({
            let marks = marks.clone();
            move || {
                // SAFETY: the table outlives the thread, and loom checks the access to the entry.
                let read =
                    |buffer: *mut UnsafeCell<u32>| unsafe { (*buffer).with(|number| assert_eq!(*number, 0)) };
                (0..2).for_each(|_| marks.at(0).read(read));
            }
        });
        if marks.at(0).replace_buffer(place(&cells, 1)) {
            // SAFETY: loom checks the access.
            cells[0].with_mut(|number| unsafe { *number = 1 });
        }
        reader.join().unwrap();
    });
}

/// The worker of a ticket pushes two items into a chunk, whose buffer it replaces; another thread looks twice, as the
/// holder of the retirement. Then the ticket is completed and published.
///
/// Mutation that fails: `Mark::take` left out of `PushPort::publish_marked`. Buffers are raw memory, which loom does not
/// observe.
#[test]
fn loom_mark_of_a_ticket() {
    check(|| {
        let (cells, marks) = (Cells::new(), Arc::new(Marks::new(1)));
        let (_, mut consumer, ring) = ends(0, &cells);
        let mut give = PushPort::new(ring.clone(), ChannelId(0), None);
        let back = Arc::new(Claim::new(give.twin()));
        // SAFETY: the model has the marks for longer than the cursor.
        let mut cursor = give.ticket_cursor(unsafe { marks.of(0) });
        give.open_ticket(&mut cursor, 2);
        let looker = thread::spawn({
            let (back, marks) = (back.clone(), marks.clone());
            move || (0..2).for_each(|_| _ = back.with(false, |back| back.publish_marked(marks.at(0))))
        });
        let worker = thread::spawn(move || {
            for number in 0..2 {
                cursor.push(Item::new(number, &cells));
                cursor.mark();
            }
            looker.join().unwrap();
            cursor.close_chunk();
            assert!(back.with(false, |back| back.publish_ticket(&mut cursor)));
            give.side().meter.end();
        });
        worker.join().unwrap();
        assert_receives(&mut consumer, 2);
    });
}

/// A firing in pieces sets its bound while another thread stops it: afterwards it pushes no further item, and knows why.
///
/// Mutations that fail: `set_bound` without its fence, or without its check.
#[test]
fn loom_a_stop_ends_a_piece() {
    check(|| {
        let (marks, left) = (Arc::new(Marks::new(1)), Arc::new(AtomicBool::new(false)));
        let (stopping, leaving) = (marks.clone(), left.clone());
        let stopper = thread::spawn(move || {
            leaving.store(true, Ordering::Relaxed);
            stopping.stop();
        });
        let mark = marks.at(0);
        mark.set_bound(8);
        if mark.bound() == 0 && mark.stops() {
            assert!(left.load(Ordering::Relaxed), "the reason is not seen");
        }
        stopper.join().unwrap();
        assert_eq!(mark.bound(), 0, "the firing goes on");
    });
}

/// The last of two consumers that leave ends a firing in pieces, and the thread that fires sees that both have left.
///
/// Mutations that fail: the first consumer stops the firing; `Consumers::leave` with `Relaxed`.
#[test]
fn loom_the_last_consumer_ends_a_piece() {
    check(|| {
        let marks = Marks::new(1);
        let consumers = Arc::new(Consumers::new(marks.shared(), 2));
        let gone = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let leave = |at: usize| {
            let (consumers, gone) = (consumers.clone(), gone.clone());
            move || {
                gone[at].store(true, Ordering::Relaxed);
                consumers.leave();
            }
        };
        let threads = [thread::spawn(leave(0)), thread::spawn(leave(1))];
        let mark = marks.at(0);
        mark.set_bound(8);
        if mark.stops() {
            assert!(gone.iter().all(|gone| gone.load(Ordering::Relaxed)), "a consumer is left");
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(mark.bound(), 0, "the firing goes on");
    });
}
