//! Workers that sleep while they stall, in dilated runs.
//!
//! On a real machine a worker that stalls sees its turn after some 100 ns. In dilated time it sleeps, and it would see its turn as
//! late as its sleep ends: a much larger part of a firing. Turns pass from ticket to ticket, so these delays would add up: a kernel on
//! which all workers stall would publish one firing in each half sleep, however short its firings are. So a worker that sleeps
//! leaves its firing in a list, and the worker whose firing leaves a port before it publishes it there too, under the retirement.
//!
//! | a firing is | entered by | left by |
//! |---|---|---|
//! | asleep: slot `DONE`; its [`Firing`] is in the list | [`Sleepers::sleep`], by the worker that has it | the same worker, when it wakes |
//!
//! [`Sleepers::follow`] publishes firings in the list, but takes none out: under the lock of the list no worker has them. A worker that
//! holds the lock never waits for the retirement.
//!
//! The protocol of [`turns`](super::turns) does not depend on being woken, since a sleep ends by itself. A worker enters the list, then
//! looks at the turn; the worker that passes the turn stores it, then looks at the list. With a fence between the two steps of each, one
//! of them sees the other.

use super::turns::Firing;
use crate::sync::{AtomicUsize, Mutex, Ordering, fence, lock};
use std::thread::{self, Thread};
use std::time::Duration;

/// The sleeping workers of a kernel.
#[derive(Debug, Default)]
pub(super) struct Sleepers {
    /// The number of workers in the list.
    count: AtomicUsize,
    list: Mutex<Vec<(Firing, Thread)>>,
}

impl Sleepers {
    /// Sleeps with a firing for a time, or until it is woken, unless it is the firing's turn. Returns the firing, which may have
    /// left ports.
    pub(super) fn sleep(&self, firing: Firing, time: Duration, is_turn: impl Fn(&Firing) -> bool) -> Firing {
        let (ticket, port) = (firing.ticket, firing.port);
        lock(&self.list).push((firing, thread::current()));
        self.count.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !is_turn(&Firing { port, ..Firing::new(ticket) }) {
            thread::park_timeout(time);
        }
        self.count.fetch_sub(1, Ordering::Relaxed);
        let mut list = lock(&self.list);
        let at = list.iter().position(|(firing, _)| firing.ticket == ticket);
        list.swap_remove(at.expect("only its worker takes a firing out of the list")).0
    }

    /// Lets the firings in the list leave a port, as long as the next one is there and `publish` has published it and passed its
    /// turn, and wakes their workers. `turn` is the ticket whose turn it is. The caller holds the retirement. If the next one may
    /// be queued, `any` worker is woken in its place, which takes firings from the queue.
    pub(super) fn follow(
        &self,
        port: usize,
        mut turn: usize,
        any: impl Fn() -> bool,
        mut publish: impl FnMut(&mut Firing) -> bool,
    ) {
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut list = lock(&self.list);
        while let Some((firing, thread)) =
            list.iter_mut().find(|(firing, _)| (firing.ticket, firing.port) == (turn, port))
        {
            let is_published = publish(firing);
            thread.unpark();
            if !is_published {
                return;
            }
            turn += 1;
        }
        if any() {
            list.iter().take(1).for_each(|(_, thread)| thread.unpark());
        }
    }
}

#[cfg(all(test, not(miri), not(loom)))]
mod tests {
    use super::*;

    /// Longer than any test.
    const LONG: Duration = Duration::from_secs(600);

    /// The firings with these tickets, whose workers sleep until `wake` has woken them.
    fn woken(tickets: &[usize], wake: impl FnOnce(&Sleepers)) -> Vec<usize> {
        let sleepers = Sleepers::default();
        let ports = thread::scope(|scope| {
            let sleep = |ticket| sleepers.sleep(Firing::new(ticket), LONG, |_| false).port;
            let workers: Vec<_> = tickets.iter().map(|ticket| scope.spawn(move || sleep(*ticket))).collect();
            while sleepers.count.load(Ordering::Relaxed) < tickets.len() {
                thread::yield_now();
            }
            wake(&sleepers);
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        assert!(sleepers.count.load(Ordering::Relaxed) == 0 && lock(&sleepers.list).is_empty());
        ports
    }

    #[test]
    fn firings_follow_in_the_order_of_their_tickets() {
        let mut left = Vec::new();
        let publish = |firing: &mut Firing| {
            left.push(firing.ticket);
            firing.port += 1;
            true
        };
        assert_eq!(woken(&[5, 3, 4], |sleepers| sleepers.follow(0, 3, || false, publish)), [1, 1, 1]);
        assert_eq!(left, [3, 4, 5]);
    }

    #[test]
    fn a_firing_without_room_wakes_its_worker() {
        assert_eq!(woken(&[3], |sleepers| sleepers.follow(0, 3, || false, |_| false)), [0]);
    }

    #[test]
    fn a_queued_firing_wakes_any_worker() {
        let nothing = |_: &mut Firing| panic!("no firing is next");
        assert_eq!(woken(&[7], |sleepers| sleepers.follow(0, 3, || true, nothing)), [0]);
    }

    #[test]
    fn a_worker_whose_turn_it_is_does_not_sleep() {
        let sleepers = Sleepers::default();
        assert_eq!(sleepers.sleep(Firing::new(3), LONG, |firing| firing.ticket == 3).ticket, 3);
    }
}
