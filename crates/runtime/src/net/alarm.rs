//! Alarms: a node that waits for items no longer than until a time (`batch_timeout`).
//!
//! One thread of the process waits for the earliest alarm of all runs. It starts with the first alarm, and ends when there
//! has been none for [`IDLE`]. When an alarm goes off the thread wakes the node as a foreign future does ([`NodeWaker`]): it
//! injects an event, which the workers drain.
//!
//! A thread inherits the cores of the thread that starts it, which may be a worker that is pinned to one. So each alarm knows the
//! cores of the thread that has prepared its run, and the thread of alarms adopts those of the alarm that starts it.
//!
//! # States of a node's alarm
//!
//! | the alarm is | meaning | entered by | left by |
//! |---|---|---|---|
//! | off | no entry | creation; `go_off`, before it wakes the node; `Alarm::drop` | `Alarm::set` |
//! | set | an entry in the queue | `Alarm::set`, in an activation that then lacks something ([`Lack::Timed`](crate::channel::Lack)) | `go_off`, at its time; `Alarm::drop` |
//!
//! A node has one entry at most. It need not be removed when the node finds items first: it then goes off for nothing, and the
//! activation sets it again for what it waits for then. So a node sets its alarm at most once for each time that passes, not
//! for each wait.
//!
//! # The race, and why no alarm is lost
//!
//! ```text
//!   node, in an activation (holds the claim)       the thread of alarms
//!   1. the time has not come: sets the alarm       1. at the time: removes the entry
//!   2. sets the wait word to `timed`               2. wakes the node: sets its alert
//!   3. releases the claim
//! ```
//!
//! *The alarm goes off before 2.* The alert stays set until the next activation takes it, and a node with an alert is claimable
//! whatever its wait word says; the thread that ends the activation checks the node afterwards.
//!
//! *The alarm is found set, but goes off at once.* `set` reads the entry under the lock, so the entry is removed later, and the
//! wake-up comes after that.
//!
//! *A search sees the node while its alarm goes off.* The wait word says `timed` until the node's next activation, so no
//! search takes it for a node that waits for others only.

use super::NodeWaker;
use crate::contain::drop_quietly;
use crate::sync::{Condvar, Mutex, MutexGuard, lock};
use crate::threads::cores::Cores;
use crate::threads::name_thread;
use crate::threads::per_process::PerProcess;
use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// The time without an alarm after which the thread ends.
const IDLE: Duration = Duration::from_millis(if cfg!(miri) { 1 } else { 5000 });

/// All alarms that are set.
#[derive(Default)]
struct Queue {
    /// By time and number.
    set: BTreeMap<(Instant, u64), NodeWaker>,
    /// The number of the next alarm that is set.
    next: u64,
    /// Whether there is a thread that waits for them.
    has_thread: bool,
}

/// The alarms of a process.
pub(crate) struct Alarms {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Alarms {
    fn new() -> Alarms {
        Alarms { queue: Mutex::new(Queue::default()), changed: Condvar::new() }
    }
}

static ALARMS: PerProcess<Alarms> = PerProcess::new(Alarms::new);

/// The alarm of one node. Dropping it turns it off.
pub(crate) struct Alarm {
    waker: NodeWaker,
    /// Those of the thread that has prepared the run, for the thread of alarms.
    cores: Cores,
    /// The latest entry, which may have gone off.
    entry: Option<(Instant, u64)>,
}

impl Alarm {
    /// An alarm that is off. Called where a run is prepared, before a worker is pinned.
    pub(crate) fn new(waker: NodeWaker) -> Alarm {
        Alarm { waker, cores: Cores::here(), entry: None }
    }

    /// Wakes the node at `at` or before, once. False if the system starts no thread.
    pub(crate) fn set(&mut self, at: Instant) -> bool {
        let alarms = ALARMS.get();
        let cores = self.cores.clone();
        self.set_in(alarms, at, || start(alarms, cores))
    }

    /// As [`Alarm::set`], in this queue, whose thread is started by `start`.
    pub(crate) fn set_in(&mut self, alarms: &Alarms, at: Instant, start: impl FnOnce() -> bool) -> bool {
        let mut queue = lock(&alarms.queue);
        if self.entry.is_some_and(|entry| entry.0 <= at && queue.set.contains_key(&entry)) {
            return true;
        }
        if !queue.has_thread {
            if !start() {
                return false;
            }
            queue.has_thread = true;
        }
        let before = self.entry.take().and_then(|entry| queue.set.remove(&entry));
        let entry = (at, queue.next);
        queue.next += 1;
        queue.set.insert(entry, self.waker.clone());
        self.entry = Some(entry);
        let is_first = queue.set.keys().next() == Some(&entry);
        drop(queue);
        drop(before);
        if is_first {
            alarms.changed.notify_one();
        }
        true
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some(entry) = self.entry {
            // The waker is dropped after the unlock: it may be the last reference to the run.
            let waker = lock(&ALARMS.get().queue).set.remove(&entry);
            drop_quietly(waker);
        }
    }
}

/// Starts the thread; false if the system starts none.
fn start(alarms: &'static Alarms, cores: Cores) -> bool {
    let thread = std::thread::Builder::new().name("thalweg-alarms".to_owned());
    let work = move || {
        cores.adopt();
        wait(alarms);
    };
    thread.spawn(work).is_ok()
}

/// The thread's work.
fn wait(alarms: &Alarms) {
    name_thread("thalweg-alarms");
    let mut queue = lock(&alarms.queue);
    loop {
        let now = Instant::now();
        let first = queue.set.first_entry().map(|entry| entry.key().0);
        let pause = match first {
            Some(at) if at <= now => {
                queue = go_off(alarms, queue);
                continue;
            }
            Some(at) => at - now,
            None => IDLE,
        };
        let waited = alarms.changed.wait_timeout(queue, pause);
        let (after, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        queue = after;
        if first.is_none() && waited.timed_out() && queue.set.is_empty() {
            queue.has_thread = false;
            return;
        }
    }
}

/// Removes the first entry and wakes its node, without the lock.
fn go_off<'a>(alarms: &'a Alarms, mut queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
    let first = queue.set.pop_first();
    drop(queue);
    if let Some((_, waker)) = first {
        waker.wake_node();
        // It may be the last reference to the run, and then drops an error of the user.
        drop_quietly(waker);
    }
    lock(&alarms.queue)
}

/// For models, which have no clock.
#[cfg(loom)]
impl Alarms {
    /// Alarms whose thread is one of the model.
    pub(crate) fn with_thread() -> Alarms {
        let alarms = Alarms::new();
        lock(&alarms.queue).has_thread = true;
        alarms
    }

    /// The thread's work for one alarm: waits until one is set, whose time has come.
    pub(crate) fn go_off_next(&self) {
        let mut queue = lock(&self.queue);
        while queue.set.is_empty() {
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        drop(go_off(self, queue));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::net::Signals;
    use std::sync::Arc;
    use thalweg_graph::NodeId;

    /// Waits at its drop, after that of a test's alarm, until the thread has ended: Miri must find no thread alive at exit.
    struct ThreadEnds;

    impl Drop for ThreadEnds {
        fn drop(&mut self) {
            if cfg!(miri) {
                // It may wait for the time of an alarm that is off.
                ALARMS.get().changed.notify_one();
                while lock(&ALARMS.get().queue).has_thread {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }

    fn is_set(alarm: &Alarm) -> bool {
        alarm.entry.is_some_and(|entry| lock(&ALARMS.get().queue).set.contains_key(&entry))
    }

    fn alarm() -> (Arc<Signals>, Alarm) {
        let signals = Arc::new(Signals::new((1, 1), 1));
        (signals.clone(), Alarm::new(NodeWaker::new(signals, NodeId(0), None)))
    }

    #[test]
    fn an_alarm_goes_off_at_its_time_and_once() {
        let _thread_ends = ThreadEnds;
        let (signals, mut alarm) = alarm();
        let at = Instant::now() + Duration::from_millis(20);
        assert!(alarm.set(at) && is_set(&alarm) && !signals.injector.any());
        while is_set(&alarm) || !signals.injector.any() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(Instant::now() >= at);
        assert_eq!(signals.injector.take().len(), 1);
    }

    #[test]
    fn an_earlier_alarm_stays_and_a_later_one_is_replaced() {
        let _thread_ends = ThreadEnds;
        let (_signals, mut alarm) = alarm();
        let hour = Instant::now() + Duration::from_secs(3600);
        assert!(alarm.set(hour));
        let first = alarm.entry;
        assert!(alarm.set(hour + Duration::from_secs(1)) && alarm.entry == first);
        let before = hour - Duration::from_secs(1);
        assert!(alarm.set(before) && alarm.entry.is_some_and(|entry| entry.0 == before));
        assert!(!lock(&ALARMS.get().queue).set.contains_key(&first.expect("set")));
    }

    /// The run does not outlive its nodes until the time has come.
    #[test]
    fn a_dropped_alarm_is_off() {
        let _thread_ends = ThreadEnds;
        let (signals, mut alarm) = alarm();
        assert!(alarm.set(Instant::now() + Duration::from_secs(3600)));
        let entry = alarm.entry.expect("set");
        drop(alarm);
        assert!(!lock(&ALARMS.get().queue).set.contains_key(&entry));
        assert_eq!(Arc::strong_count(&signals), 1);
    }
}
