//! Outlets: the consuming end of a stream, held by the caller as an iterator while the network runs.
//!
//! Invariant: the outlet is the consuming side of its channel, so it counts as a dedicated node: it has a sleeper's
//! number, and the run is not at rest while the caller computes between two items.
//!
//! | the outlet is | counted active | entered by | left by |
//! |---|---|---|---|
//! | reading | yes | its creation; the end of a wait | `refill` without an item (waiting); `leave` |
//! | waiting | no, but while it spins or naps | `refill`, by [`WaitStrategy::wait`] | a change that wakes it; the end of the run |
//! | gone | no | `leave`, by `Sleep::retire` | never |
//!
//! The outlet waits as [`dedicated`](crate::sched::dedicated) describes: it writes the node's wait word, clears the
//! alert, reads the channel once more, and only then waits. In this order, since the wait checks the word and the alert
//! after its fence: a change after the read is seen there.
//!
//! Two `Arc`s of the network exist, the outlet's and the runner's. The last owner drops the nodes ([`dismantle`]): the
//! runner, if the outlet was dropped before the run's threads had ended.
//!
//! In a child of `fork` the run has no threads, so the outlet waits for nothing and takes no lock that one of them may have
//! held. It returns the items in its channel, and then ends. The runner's `Arc` is never dropped there, unless the run had
//! ended before.

use crate::channel::In;
use crate::channel::Lack;
use crate::contain::{contain, drop_each, drop_payload, drop_quietly};
use crate::error::Error;
use crate::measure::clock::{Ticks, ticks};
use crate::measure::occupancy::Occupancies;
use crate::net::Net;
use crate::port::{Input, InputCursor, PopPort};
use crate::process::apart;
use crate::run::{Caller, Failed, Handle, Outcome, Ready, Run, Wanted, dismantle};
use crate::sched::dedicated::WaitStrategy;
use crate::sched::ending::{fail_panic, left};
use crate::sched::make_ready::{changed_outside, make_all_ready};
use crate::sched::widen;
use crate::sync::Ordering;
use crate::threads::cores::Cores;
use crate::threads::per_process::generation;
use crate::threads::{Panic, StackSize, ThreadPool};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};
use thalweg_graph::NodeId;

/// The time for which a dropped outlet waits for threads that borrow nothing from the caller.
const DROP_WAIT: Duration = Duration::from_millis(100);

/// The thread on which the run was started.
enum Runner<'scope> {
    /// A thread of the pool. It borrows nothing from the caller, so the outlet need not join it.
    Pooled(Arc<Ended>),
    /// A thread of the caller's scope, which joins it in any case.
    Scoped(ScopedJoinHandle<'scope, Outcome>),
}

impl Runner<'_> {
    /// Waits for the end of the run; the error is its panic. `None` if a run on a thread of the pool has not ended by
    /// `until`.
    fn wait(self, until: Option<Instant>) -> Option<Result<Outcome, Panic>> {
        match self {
            Runner::Pooled(ended) => ended.wait(until),
            Runner::Scoped(thread) => Some(thread.join()),
        }
    }

    /// In a child of `fork`: whether the outcome was there before. A thread that is the parent's has no handle here, so the
    /// outcome of a scope's thread is lost.
    fn has_ended(&self) -> bool {
        match self {
            Runner::Pooled(ended) => ended.outcome.try_lock().is_ok_and(|outcome| outcome.is_some()),
            Runner::Scoped(_) => false,
        }
    }
}

/// The outcome of a run on a thread of the pool, once it has ended. Written once by the runner, taken once by the
/// outlet.
#[derive(Default)]
struct Ended {
    outcome: Mutex<Option<Result<Outcome, Panic>>>,
    /// Notified when `outcome` is written.
    set: Condvar,
}

impl Drop for Ended {
    /// The outlet has not waited for the end: no caller is left that a panic or an error could be returned to.
    fn drop(&mut self) {
        drop_quietly(self.outcome.get_mut().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// The time for which a caller that waits for the end spins before it sleeps.
const SPIN: Duration = Duration::from_micros(20);

impl Ended {
    /// Writes the outcome and wakes the outlet, if it waits.
    fn set(&self, outcome: Result<Outcome, Panic>) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        self.set.notify_one();
    }

    /// Waits for the end of the run; `None` if it has not ended by `until`.
    fn wait(&self, until: Option<Instant>) -> Option<Result<Outcome, Panic>> {
        let start = Instant::now();
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        while outcome.is_none() {
            let now = Instant::now();
            if now.duration_since(start) < SPIN {
                drop(outcome);
                std::thread::yield_now();
                (0..32).for_each(|_| std::hint::spin_loop());
                outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            outcome = match until {
                Some(until) if now >= until => return None,
                Some(until) => {
                    let waited = self.set.wait_timeout(outcome, until - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.set.wait(outcome).unwrap_or_else(PoisonError::into_inner),
            };
        }
        outcome.take()
    }
}

/// An iterator over the items of a stream, while its network runs.
///
/// Items stay in the channel until the caller calls `next`, so a slow caller slows the network.
/// When the run fails, the iterator ends after the items that had arrived, and
/// [`Outlet::finish`] returns the error. So it does in a child of `fork`, where the error is [`Error::Forked`], unless the run
/// had ended before.
///
/// Dropping it cancels the run and waits for its threads, including firings under way. A source that blocks on the
/// outside world cannot be interrupted, not by a deadline either. If the run has threads of its own
/// ([`Stream::start`](crate::Stream::start)), the drop waits a tenth of a second for it and then leaves the threads to
/// end by themselves; a scope ([`Stream::start_in`](crate::Stream::start_in)) waits for them.
pub struct Outlet<'scope, T: Send> {
    /// It has no items when it is dropped ([`Outlet::drop_unread`]).
    cursor: In<'static, T>,
    /// `None` once the outlet is about to give the network up: the ring is then dropped with the network, which contains
    /// the panics of items.
    port: Option<PopPort<T>>,
    /// `None` once the run has been finished.
    net: Option<Arc<Net<'scope>>>,
    /// The end of the graph that the outlet stands for. It has no body.
    node: NodeId,
    /// That of the process whose threads execute the run.
    generation: usize,
    wait_strategy: WaitStrategy,
    /// When the caller got its latest items, in ticks; 0 before the first ones.
    since: Ticks,
    /// The time that the caller has taken for its items, in ticks.
    busy: Ticks,
    /// `None` once the run has been finished.
    runner: Option<Runner<'scope>>,
    handle: Handle,
}

impl<T: Send> std::fmt::Debug for Outlet<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outlet").field("node", &self.node).finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Outlet<'static, T> {
    /// Starts a run on a thread of the pool.
    pub(crate) fn start(ready: Ready<'static>, node: NodeId, port: PopPort<T>) -> Result<Self, Error> {
        Outlet::start_by(ready, node, port, |ready, stack| {
            let ended = Arc::new(Ended::default());
            let (at_end, cores) = (ended.clone(), Cores::here());
            let run = move || {
                cores.adopt();
                at_end.set(catch_unwind(AssertUnwindSafe(|| ready.run_as(Caller::Dedicated))));
            };
            ThreadPool::process().detach(stack, Box::new(run)).map(|()| Runner::Pooled(ended))
        })
    }
}

impl<'scope, T: Send + 'scope> Outlet<'scope, T> {
    /// Starts a run on a thread of a scope.
    pub(crate) fn start_in(
        scope: &'scope std::thread::Scope<'scope, '_>,
        ready: Ready<'scope>,
        node: NodeId,
        port: PopPort<T>,
    ) -> Result<Self, Error> {
        Outlet::start_by(ready, node, port, |ready, stack| {
            stack
                .set(std::thread::Builder::new().name("thalweg-0".to_owned()))
                .spawn_scoped(scope, move || ready.run_as(Caller::Dedicated))
                .map(Runner::Scoped)
        })
    }

    /// Starts a run on a thread that `spawn` makes. If that fails, the network is dropped with its [`Ready`].
    fn start_by(
        ready: Ready<'scope>,
        node: NodeId,
        port: PopPort<T>,
        spawn: impl FnOnce(Ready<'scope>, StackSize) -> std::io::Result<Runner<'scope>>,
    ) -> Result<Self, Error> {
        let (net, handle, stack) = (ready.net.clone(), ready.handle(), ready.options.stack_size());
        let generation = generation();
        let cursor = port.cursor();
        let runner = match spawn(ready, stack) {
            Ok(runner) => runner,
            Err(cause) => {
                drop((cursor, port)); // before the network, which then is the last owner of the ring
                return Err(Error::Thread { cause, stack: stack.bytes() });
            }
        };
        Ok(Outlet {
            cursor,
            port: Some(port),
            net: Some(net),
            node,
            generation,
            wait_strategy: WaitStrategy::spinning(),
            since: 0,
            busy: 0,
            runner: Some(runner),
            handle,
        })
    }
}

impl<T: Send> Outlet<'_, T> {
    /// A handle that stops the run from another thread.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Cancels the run, if its threads are this process's.
    #[doc(hidden)]
    pub fn cancel(&self) {
        if self.generation == generation() {
            self.handle.cancel();
        }
    }

    /// Claims items that have arrived, and waits for the first one; false if no more will arrive.
    fn refill(&mut self) -> bool {
        let Some(port) = &mut self.port else { return false };
        let channel = port.side().channel;
        if self.since > 0 {
            self.busy += ticks().saturating_sub(self.since).max(1);
            widen::note_consumer(shared(&self.net), channel, self.busy);
        }
        // A quarter of the channel at a time: claimed slots are released together, and the producer needs the others.
        let most = (shared(&self.net).meter(channel).capacity() / 4).max(1);
        loop {
            match port.side().firings(most) {
                Ok(items) => {
                    self.since = ticks();
                    port.open(&mut self.cursor, items);
                    self.cursor.begin((items, items));
                    return true;
                }
                Err(Lack::Ended { .. }) => return false,
                Err(_) if shared(&self.net).stopped() => {
                    // Items that arrived before the end are still delivered.
                    if port.side().firings(1).is_err() {
                        return false;
                    }
                }
                Err(_) if self.generation != generation() => return false,
                Err(lack) => {
                    // The order of these steps is argued in the documentation of the module.
                    let cell = &shared(&self.net).node(self.node);
                    cell.state.wait.lack(lack);
                    cell.state.alert.store(false, Ordering::Relaxed);
                    port.side().refresh();
                    let sleeper = cell.dedicated.expect("an outlet has a sleeper's number") as usize;
                    let from = ticks();
                    self.wait_strategy.wait(shared(&self.net), self.node, sleeper, None);
                    let waited = ticks().saturating_sub(from);
                    let meter = shared(&self.net).meter(channel);
                    meter.consumer_waited().fetch_add(waited, Ordering::Relaxed);
                }
            }
        }
    }

    /// The failure of the run, if there is one so far. It does not wait for the run's threads, one of which may wait
    /// for the caller. [`Outlet::finish`] does not return the same failure again, but for [`Error::Forked`].
    pub fn take_failure(&mut self) -> Option<Error> {
        if self.is_of_parent() {
            return Some(Error::Forked);
        }
        shared(&self.net).take_failure()
    }

    /// Whether this is a child of `fork`, and the run had not ended before.
    fn is_of_parent(&self) -> bool {
        self.generation != generation() && !self.runner.as_ref().is_some_and(Runner::has_ended)
    }

    /// Waits for the end of the run. Items that were not read are dropped.
    ///
    /// # Errors
    /// [`Failed`] says why the run ended early; the panic of an item's drop is one of the outlet, which is the node `outlet`.
    pub fn finish(mut self) -> Result<Run, Failed> {
        if self.is_of_parent() {
            return Err(Error::Forked.into());
        }
        self.leave();
        let runner = self.runner.take().expect("the run is finished once");
        let ended = runner.wait(None).expect("a wait without a limit returns an outcome");
        let mut outcome = ended.unwrap_or_else(|panic| resume_unwind(panic));
        self.port = None;
        let dropped = self.net.take().and_then(dismantle);
        outcome.error = outcome.error.or(dropped);
        outcome.take(Wanted::Nothing(()))
    }

    /// Leaves the channel: later items are discarded, and nodes whose outputs all lead here end.
    fn leave(&mut self) {
        self.drop_unread();
        let Some(port) = &mut self.port else { return };
        if !port.side().meter.gone() {
            port.side().meter.leave();
            let net = shared(&self.net);
            let producer = net.ends(port.side().channel).0;
            net.cells.nodes[producer.index()].state.alert.store(true, Ordering::Release);
            left(net, self.node);
            // From now on the graph may come to rest without this end.
            if net.sleep.retire(|| crate::liveness::quiesce::examine(net)) {
                make_all_ready(net);
            }
        }
    }
}

impl<T: Send> Outlet<'_, T> {
    /// Drops the items that were claimed and not read, and releases their slots. A panic of a drop fails the run.
    fn drop_unread(&mut self) {
        let (Some(port), Some(net)) = (&self.port, &self.net) else { return };
        let cursor = &mut self.cursor;
        // The calling thread may be in a poll of a process of another run, whose state must not be changed.
        apart(|| {
            if let Some(panic) = contain(|| drop_each(std::iter::from_fn(|| cursor.try_pop()))) {
                fail_panic(net, self.node, panic);
            }
        });
        // Once the outlet has left, the head is the producer's.
        if !net.meter(net.inputs(self.node)[0]).gone() {
            port.release(&self.cursor);
        }
    }
}

/// The network of an outlet that was not finished.
fn shared<'a, 'env>(net: &'a Option<Arc<Net<'env>>>) -> &'a Net<'env> {
    net.as_deref().expect("a run that was not finished")
}

impl<T: Send> Iterator for Outlet<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if let Some(item) = self.cursor.try_pop() {
            return Some(item);
        }
        if let Some(port) = &self.port {
            port.release(&self.cursor);
        }
        if self.generation == generation() {
            changed_outside(shared(&self.net), self.node);
            Occupancies::begin_outside(shared(&self.net), self.node, self.cursor.at());
        }
        if self.refill() { self.cursor.try_pop() } else { None }
    }
}

impl<T: Send> Drop for Outlet<'_, T> {
    fn drop(&mut self) {
        let is_of_parent = self.is_of_parent();
        let Some(runner) = self.runner.take() else { return };
        if is_of_parent {
            // No run is left to fail.
            let cursor = &mut self.cursor;
            if let Some(panic) = contain(|| drop_each(std::iter::from_fn(|| cursor.try_pop()))) {
                drop_payload(panic);
            }
            return std::mem::forget(runner); // the handle of a thread that this process does not have
        }
        self.handle.cancel();
        self.drop_unread();
        self.port = None;
        // After that time the threads of a pooled run, which own all that they use, end by themselves.
        let ended = runner.wait(Some(Instant::now() + DROP_WAIT));
        // The run was cancelled, so a panic in the drop of a value changes nothing.
        drop_quietly(self.net.take().and_then(dismantle));
        match ended {
            Some(Err(panic)) if std::thread::panicking() => drop_payload(panic),
            Some(Err(panic)) => resume_unwind(panic),
            // The error of a node is a user's value.
            ended => drop_quietly(ended),
        }
    }
}
