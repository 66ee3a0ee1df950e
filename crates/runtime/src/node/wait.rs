//! How the firings of a parallel kernel leave where they wait for their tickets: the protocol is in [`turns`](super::turns).

use super::code::Code;
use super::parallel::{Parallel, Ticket};
use super::publish::{Back, clear_stuck, origins};
use super::turns::{Firing, Turns};
use crate::measure::tickets::Stall;
use crate::net::ActivationContext;
use crate::port::inputs::Inputs;
use crate::port::outputs::Outputs;
use crate::sched::make_ready::{changed_by, changed_outside, share_claim};
use crate::sync::{Ordering, thread};
use thalweg_policy::Event;

/// The answer to a firing whose turn it is.
enum Answer {
    /// Its items are in the channel.
    Published,
    /// The channel is full.
    Full,
    /// The run has stopped.
    Stopped,
}

impl<I, O, C> Parallel<'_, I, O, C>
where
    I: Inputs,
    O: Outputs,
    C: Code<I, O>,
{
    /// Lets a firing that this worker has, or another one that it gets for it, leave all ports. Returns the event with which
    /// the activation ends.
    pub(super) fn leave(&self, turns: &Turns, mut firing: Firing, cx: &mut ActivationContext<'_>) -> Event {
        while !turns.has_left(&firing) {
            if !turns.is_turn(&firing) {
                match stall(turns, firing, cx) {
                    Ok(other) => firing = other,
                    Err(event) => return event,
                }
                // It may have left its port.
                continue;
            }
            match self.publish_firing(turns, &mut firing, cx) {
                Answer::Published => {}
                Answer::Full => return self.suspend_firing(turns, firing, cx),
                Answer::Stopped => return Event::Budget,
            }
        }
        // It counts as an activation that has done something, whichever worker has computed the firing.
        cx.pieces += 1;
        if let Some(waits) = &mut cx.tickets {
            waits.end_firing(firing.waits);
        }
        Event::Budget
    }

    /// Publishes a firing whose turn it is on its port, as far as the channel has room.
    fn publish_firing(&self, turns: &Turns, firing: &mut Firing, cx: &mut ActivationContext<'_>) -> Answer {
        let (moved, is_published) = loop {
            let publish = |back: &mut Back<I, O>| Some(self.publish_at_turn(back, turns, firing, cx));
            if let Some(answer) = self.back.with(None, publish) {
                break answer;
            }
            // Another thread settles, or a search looks at the node: for a moment, unless user code has panicked there.
            if cx.net.stopped() {
                return Answer::Stopped;
            }
            thread::yield_now();
        };
        // A worker that completed its ticket meanwhile was refused: as the window's protocol demands, and to retire this one.
        if self.settle(cx.net, cx.node, false) | moved {
            changed_by(cx);
        }
        if is_published { Answer::Published } else { Answer::Full }
    }

    /// [`Parallel::publish_firing`] under the retirement. Returns whether the channel has changed, and whether all items are
    /// in it.
    fn publish_at_turn(
        &self,
        back: &mut Back<I, O>,
        turns: &Turns,
        firing: &mut Firing,
        cx: &ActivationContext<'_>,
    ) -> (bool, bool) {
        let (state, port) = (cx.state(), firing.port);
        let origins = origins(cx.net, cx.node, port);
        let mut moved = false;
        let mut publish = |firing: &mut Firing| {
            // SAFETY: this thread holds the retirement, and has the firing or the lock of the list in which it is. So the ticket is
            // done; the reference ends with this call.
            let slot: &mut Ticket<I, O, C::Rest> = unsafe { self.window.body(firing.ticket) };
            let (has_moved, is_published) =
                self.publish_ticket(back, (port, firing.ticket), slot, state, origins);
            moved |= has_moved;
            if is_published {
                clear_stuck(state, port);
                turns.pass(firing);
            }
            is_published
        };
        let is_published = publish(firing);
        if is_published && cx.dilation.is_some() {
            turns.follow(port, publish);
        }
        (moved, is_published)
    }

    /// Queues a firing for which the channel has no room.
    fn suspend_firing(&self, turns: &Turns, mut firing: Firing, cx: &mut ActivationContext<'_>) -> Event {
        let channel = cx.net.outputs(cx.node)[firing.port];
        // It waits for something else now: what counts is waits in a row.
        firing.waits = 0;
        let port = firing.port;
        let suspended = suspend(turns, firing, cx);
        if cx.dilation.is_some() {
            // A worker that sleeps gets this firing, finds no room either, and turns to the consumer.
            turns.follow(port, |_| false);
        }
        if let Some(waits) = &mut cx.tickets {
            waits.suspend((cx.net.threads() + suspended) as u64);
        }
        Event::Full(channel)
    }

    /// [`Parallel::leave`] for a firing from the queue.
    pub(super) fn leave_queue(&self, firing: Firing, cx: &mut ActivationContext<'_>) -> Event {
        let turns = self.turns.as_ref().expect("has queued the firing");
        cx.begin_firing();
        // Another worker may take the next one, or issue a ticket if there is none.
        share_claim(cx);
        self.leave(turns, firing, cx)
    }

    /// Takes the oldest queued firing, if there is one. The caller holds the issuing claim.
    pub(super) fn take(&self, cx: &ActivationContext<'_>) -> Option<Firing> {
        let firing = self.turns.as_ref()?.take(cx.state())?;
        if let Some(suspended) = &cx.net.sched.suspended {
            suspended.fetch_sub(1, Ordering::Relaxed);
        }
        // This activation may have taken an alert, and issues no ticket: the next one must see what the node lacks.
        cx.state().wait.ready();
        Some(firing)
    }
}

/// Queues a firing that its worker leaves. Returns the number of suspended firings of all kernels.
fn suspend(turns: &Turns, firing: Firing, cx: &ActivationContext<'_>) -> usize {
    // Before the firing is queued, since another worker may take it at once.
    let suspended = &cx.net.sched.suspended;
    let count = suspended.as_ref().map_or(0, |suspended| suspended.fetch_add(1, Ordering::Relaxed) + 1);
    turns.suspend(firing, cx.state());
    count
}

/// Exchanges a firing whose turn it is not until the worker has one whose turn it is.
///
/// # Errors
/// The run has stopped, or its deadline has passed: the event with which the activation ends.
fn stall(turns: &Turns, firing: Firing, cx: &mut ActivationContext<'_>) -> Result<Firing, Event> {
    if cx.net.sched.ready.notifies() {
        // What the activation has changed so far: the policy learns of it only when the activation ends.
        changed_outside(cx.net, cx.node);
    }
    let mut stall = cx.tickets.as_ref().expect("made where firings wait for their tickets").stall();
    let result = stall_until_turn(turns, firing, cx, &mut stall);
    if let Some(waits) = &mut cx.tickets {
        let time = waits.end_stall(&stall);
        if let Some(laps) = &mut cx.laps {
            laps.leave_out_stall(time);
        }
    }
    result
}

fn stall_until_turn(
    turns: &Turns,
    mut firing: Firing,
    cx: &ActivationContext<'_>,
    stall: &mut Stall,
) -> Result<Firing, Event> {
    loop {
        let stopped = cx.net.stopped();
        if stopped || stall.is_late() {
            suspend(turns, firing, cx);
            // The worker's loop sees the stop, or fails the run for the deadline.
            return Err(if stopped { Event::Budget } else { Event::Waiting });
        }
        firing.waits += stall.ask();
        let (next, others) = turns.exchange(firing, cx.state());
        firing = next;
        if turns.is_turn(&firing) {
            return Ok(firing);
        }
        let mut held = Some(firing);
        let waits = stall.pause(others, |time| held = held.take().map(|firing| turns.sleep(firing, time)));
        firing = held.expect("a sleep returns the firing");
        firing.waits += waits;
        if turns.has_left(&firing) || turns.is_turn(&firing) {
            return Ok(firing);
        }
    }
}
