//! [`alarm`](crate::net::alarm): a node that sets its alarm and sleeps is woken, each time.
//!
//! | part | in the model |
//! |---|---|
//! | the queue of alarms, `Alarm::set`, `go_off`, `Signals::inject`, `Sleep` | the real ones |
//! | the timed wait of the thread of alarms | an untimed wait for an entry, whose time has come at once |
//! | the worker | announces, drains the events, and commits to sleep |
//! | the last active thread | none, as in `engine`: `Sleep` counts one thread more than there are, so loom reports a lost wake-up as a deadlock |

use super::check;
use crate::net::alarm::{Alarm, Alarms};
use crate::net::{NodeWaker, Signals};
use crate::sched::sleep::{NextLook, ParkOutcome};
use loom::thread;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg_graph::NodeId;

/// The number of times that the node waits for its alarm.
const TIMES: usize = 2;

/// Sleeps until there is an event, and takes it.
fn sleep_until_woken(signals: &Signals) {
    loop {
        signals.sleep.announce(0, false);
        if !signals.injector.take().is_empty() {
            if signals.sleep.withdraw(0) {
                signals.sleep.found(0);
            }
            return;
        }
        let look = || NextLook { pause: Duration::ZERO, waiting: None };
        let woken = signals.sleep.commit(0, None, || unreachable!("one more thread is active"), look);
        assert_eq!(woken, ParkOutcome::Rung);
        signals.sleep.found(0);
        if !signals.injector.take().is_empty() {
            return;
        }
    }
}

/// The node waits for the same time twice, so it may find its entry set while the alarm goes off.
///
/// It fails where `set` does not notify, and where `go_off` wakes the node before it removes the entry.
#[test]
fn loom_alarms_are_not_lost() {
    check(|| {
        let signals = Arc::new(Signals::new((1, 2), 1));
        let alarms = Arc::new(Alarms::with_thread());
        let thread = thread::spawn({
            let alarms = alarms.clone();
            move || (0..TIMES).for_each(|_| alarms.go_off_next())
        });
        let mut alarm = Alarm::new(NodeWaker::new(signals.clone(), NodeId(0), None));
        let at = Instant::now();
        for _ in 0..TIMES {
            assert!(alarm.set_in(&alarms, at, || unreachable!("there is a thread")));
            sleep_until_woken(&signals);
        }
        thread.join().unwrap();
        assert!(!signals.injector.any(), "woken once for each time");
        // Its entry has gone off, and the drop would look for it in the alarms of the process.
        std::mem::forget(alarm);
    });
}
