//! The framing function of `batch_timeout`: it decides when a batch is complete, by the number of its items and by time.
//!
//! Each firing pops what has arrived, up to the end of the batch, so the items of a batch wait in the node and not in its
//! channel, whose capacity does not matter. A firing that completes a batch for another reason than its last item pops
//! nothing, or the last items of the stream.
//!
//! | the batch is | the node waits for | entered by | left by |
//! |---|---|---|---|
//! | empty | an item | creation; a firing that completes a batch | a firing that pops items, fewer than the size |
//! | begun | an item or the alarm ([`Lack::Timed`]) | that firing, which reads the clock | the last item of `size`; the end of the stream; a call of the function after `due` |
//!
//! A stream that is faster than the node has its batches complete at once, without a look at the clock.

use super::framing::{FrameFn, Framing};
use crate::channel::Lack;
use crate::net::NodeWaker;
use crate::net::alarm::Alarm;
use crate::port::shapes::One;
use crate::port::{Input, PopPort};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Stands for a time that is too long to be added to a time of the clock: 34 years.
const FOREVER: Duration = Duration::from_secs(1 << 30);

pub(crate) struct TimedFrame {
    size: usize,
    time: Duration,
    /// The items of the batch so far, fewer than `size`.
    filled: usize,
    /// When the batch goes on, if it has begun.
    due: Option<Instant>,
    /// Made when a run is prepared.
    alarm: Option<Alarm>,
    /// Whether the next firing completes the batch. Only this function and the firing access it, both under the node's claim,
    /// which orders their accesses.
    completes: Arc<AtomicBool>,
}

impl TimedFrame {
    /// For batches of `size` items, which wait for `time`. Sets `completes` before each firing.
    pub(crate) fn new(size: usize, time: Duration, completes: Arc<AtomicBool>) -> TimedFrame {
        TimedFrame { size, time, filled: 0, due: None, alarm: None, completes }
    }

    /// Whether the batch, which has items, has waited for its time. Its time begins with the first call for it.
    fn is_late(&mut self) -> bool {
        let (now, time) = (Instant::now(), self.time);
        let due = *self.due.get_or_insert_with(|| now.checked_add(time).unwrap_or(now + FOREVER));
        now >= due
    }

    /// Sets the alarm for the batch; false if it cannot be set.
    fn set_alarm(&mut self) -> bool {
        self.due.zip(self.alarm.as_mut()).is_some_and(|(due, alarm)| alarm.set(due))
    }

    /// The next firing pops the items in `takes`, with which the batch has `filled` items.
    fn fire(&mut self, filled: usize, completes: bool) -> Framing {
        self.filled = if completes { 0 } else { filled };
        if completes {
            self.due = None;
        }
        self.completes.store(completes, Ordering::Relaxed);
        Framing::Take
    }
}

impl<T: Send> FrameFn<One<PopPort<T>>> for TimedFrame {
    fn frame(&mut self, ins: &mut One<PopPort<T>>, _wanted: &mut [usize], takes: &mut [usize]) -> Framing {
        let side = ins.0.side();
        side.refresh();
        let arrived = side.seen - side.next;
        takes[0] = arrived.min(self.size - self.filled);
        let filled = self.filled + takes[0];
        let is_last = side.ended && takes[0] == arrived;
        if filled == 0 {
            return if is_last { Framing::End } else { Framing::Lack(side.lack(1)) };
        }
        let completes = filled == self.size || is_last || self.is_late();
        if completes || takes[0] > 0 || !self.set_alarm() {
            return self.fire(filled, completes || takes[0] == 0);
        }
        Framing::Lack(Lack::Timed { channel: side.channel, until: side.next + 1 })
    }

    fn prepare(&mut self, waker: &dyn Fn() -> NodeWaker) {
        self.alarm = Some(Alarm::new(waker()));
    }
}
