//! The end of a stream that the caller holds: an iterator over what a running network gives.

use crate::build::{Finished, Stream};
use crate::channel::In;
use crate::channel::Lack;
use crate::error::Error;
use crate::net::Net;
use crate::port::{Input, Take};
use crate::run::Caller;
use crate::run::{Handle, Options, dismantle};
use crate::sched::dedicated::Rest;
use crate::sched::ending::left;
use crate::sched::make_ready::{changed_outside, make_all_ready};
use crate::sync::Ordering;
use crate::threads::cores::Cores;
use crate::threads::{Panic, Team};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};
use thalweg_graph::NodeId;

/// How long a dropped outlet waits for threads that it need not wait for.
const PATIENCE: Duration = Duration::from_millis(100);

type Outcome = Result<Finished, Error>;

/// The thread the run was started on.
enum Runner<'scope> {
    Pooled(Arc<Ended>),
    Scoped(ScopedJoinHandle<'scope, Outcome>),
}

/// How a run on a thread of the pool has ended, once it has.
#[derive(Default)]
struct Ended {
    how: Mutex<Option<Result<Outcome, Panic>>>,
    bell: Condvar,
}

/// How long a caller that waits for the end looks before it sleeps.
const LOOK: Duration = Duration::from_micros(20);

impl Ended {
    fn tell(&self, how: Result<Outcome, Panic>) {
        *self.how.lock().unwrap_or_else(PoisonError::into_inner) = Some(how);
        self.bell.notify_one();
    }

    /// Waits for the end, until then at most.
    fn wait(&self, until: Option<Instant>) -> Option<Result<Outcome, Panic>> {
        let start = Instant::now();
        let mut how = self.how.lock().unwrap_or_else(PoisonError::into_inner);
        while how.is_none() {
            let now = Instant::now();
            if now.duration_since(start) < LOOK {
                drop(how);
                std::thread::yield_now();
                (0..32).for_each(|_| std::hint::spin_loop());
                how = self.how.lock().unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            how = match until {
                Some(until) if now >= until => return None,
                Some(until) => {
                    let waited = self.bell.wait_timeout(how, until - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.bell.wait(how).unwrap_or_else(PoisonError::into_inner),
            };
        }
        how.take()
    }
}

/// An iterator over the items of a stream whose network runs meanwhile.
///
/// Items that it has not been asked for stay in the channel, so a slow caller slows the network.
/// When the run fails the iterator ends after the items that had come out, and
/// [`Outlet::finish`] says why.
///
/// Dropping it cancels the run and waits for its threads, firings under way included. A source that
/// waits for something outside cannot be stopped, and nor can it by a deadline: where the run has
/// threads of its own ([`Stream::start`]) it is waited for a tenth of a second and then left to
/// end by itself; a scope waits for it.
pub struct Outlet<'scope, T: Send> {
    // The cursor drops its items before the port says what is the ring's to drop.
    cursor: In<'static, T>,
    port: Take<T>,
    /// Until the run has been finished.
    net: Option<Arc<Net<'scope>>>,
    node: NodeId,
    rest: Rest,
    runner: Option<Runner<'scope>>,
    handle: Handle,
    outcome: Option<Outcome>,
}

impl<T: Send> std::fmt::Debug for Outlet<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outlet").field("node", &self.node).finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Stream<'static, T> {
    /// Runs the graph on threads of its own, with the items of this stream as an iterator.
    ///
    /// # Errors
    /// The graph is refused, the options are, or no thread can be started.
    pub fn start(self, options: &Options) -> Result<Outlet<'static, T>, Error> {
        self.start_by(options, |prepared| {
            let ended = Arc::new(Ended::default());
            let (at_end, cores) = (ended.clone(), Cores::here());
            let run = move || {
                cores.take_over();
                at_end.tell(catch_unwind(AssertUnwindSafe(|| prepared.run_as(Caller::Dedicated))));
            };
            Team::process().detach(Box::new(run)).map(|()| Runner::Pooled(ended))
        })
    }
}

impl<'scope, T: Send + 'scope> Stream<'scope, T> {
    /// Runs the graph on threads of a scope, with the items of this stream as an iterator; the graph may
    /// borrow what outlives the scope.
    ///
    /// # Errors
    /// As [`Stream::start`].
    pub fn start_in(
        self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        options: &Options,
    ) -> Result<Outlet<'scope, T>, Error> {
        self.start_by(options, |prepared| {
            std::thread::Builder::new()
                .name("thalweg-0".to_owned())
                .spawn_scoped(scope, move || prepared.run_as(Caller::Dedicated))
                .map(Runner::Scoped)
        })
    }

    fn start_by(
        self,
        options: &Options,
        spawn: impl FnOnce(crate::run::Prepared<'scope>) -> std::io::Result<Runner<'scope>>,
    ) -> Result<Outlet<'scope, T>, Error> {
        let graph = self.graph();
        let (node, socket) = graph.external("outlet", self);
        let prepared = graph.build()?.prepare(options)?;
        let limits = crate::channel::Limits { take: 1, see: 1 };
        let port = Take::new(socket.ring(), socket.id(), limits);
        let (net, handle) = (prepared.net.clone(), prepared.handle());
        let cursor = port.cursor();
        let runner = spawn(prepared).map_err(Error::Thread)?;
        Ok(Outlet {
            cursor,
            port,
            net: Some(net),
            node,
            rest: Rest::looking(),
            runner: Some(runner),
            handle,
            outcome: None,
        })
    }
}

impl<T: Send> Outlet<'_, T> {
    /// Stops the run from elsewhere.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Claims what has arrived; false where nothing has and nothing will.
    fn refill(&mut self) -> bool {
        let channel = self.port.side().channel;
        // A share of the channel at a time, so that its producer is not kept from filling it.
        let most = (shared(&self.net).meter(channel).capacity() / 4).max(1);
        loop {
            match self.port.side().firings(most) {
                Ok(items) => {
                    self.port.open(&mut self.cursor, items);
                    Take::<T>::step(&mut self.cursor, (items, items));
                    return true;
                }
                Err(Lack::Ended { .. }) => return false,
                Err(_) if shared(&self.net).stopped() => {
                    // What came out before the end is still to be had.
                    if self.port.side().firings(1).is_err() {
                        return false;
                    }
                }
                Err(lack) => {
                    let cell = &shared(&self.net).node(self.node);
                    cell.state.wait.lack(lack);
                    cell.state.alert.store(false, Ordering::Relaxed);
                    self.port.side().refresh();
                    let sleeper = cell.dedicated.expect("an outside end has a place to sleep") as usize;
                    self.rest.take(shared(&self.net), self.node, sleeper, None);
                }
            }
        }
    }

    /// Why the run has failed, if it has: without waiting for its threads, one of which may wait for the caller.
    /// [`Outlet::finish`] does not give the same failure again.
    pub fn take_failure(&mut self) -> Option<Error> {
        shared(&self.net).take_failure()
    }

    fn join(&mut self) {
        if let Some(runner) = self.runner.take() {
            let ended = match runner {
                Runner::Pooled(ended) => ended.wait(None).expect("it waits until the end"),
                Runner::Scoped(thread) => thread.join(),
            };
            self.outcome = Some(ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
    }

    /// Waits for the end of the run; items not asked for are dropped with the channel.
    ///
    /// # Errors
    /// Why the run ended before its time.
    pub fn finish(mut self) -> Result<Finished, Error> {
        self.leave();
        self.join();
        let dropped = self.net.take().and_then(dismantle);
        let outcome = self.outcome.take().unwrap_or(Err(Error::Cancelled));
        outcome.and_then(|finished| dropped.map_or(Ok(finished), Err))
    }

    /// Reads nothing more: what comes from now on is discarded, and who gives nothing else ends.
    fn leave(&mut self) {
        if !self.port.side().meter.gone() {
            while let Some(item) = self.cursor.try_pop() {
                drop(item);
            }
            self.port.release(&self.cursor);
            self.port.side().meter.leave();
            let net = shared(&self.net);
            let producer = net.ends(self.port.side().channel).0;
            net.cells.nodes[producer.index()].state.alert.store(true, Ordering::Release);
            left(net, self.node);
            // From now on the graph may come to rest without this end.
            if net.sleep.retire(|| crate::liveness::quiesce::examine(net)) {
                make_all_ready(net);
            }
        }
    }
}

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
        self.port.release(&self.cursor);
        changed_outside(shared(&self.net), self.node);
        if self.refill() { self.cursor.try_pop() } else { None }
    }
}

impl<T: Send> Drop for Outlet<'_, T> {
    fn drop(&mut self) {
        if self.runner.is_none() {
            return;
        }
        self.handle.cancel();
        if let Some(Runner::Pooled(ended)) = &self.runner {
            match ended.wait(Some(Instant::now() + PATIENCE)) {
                Some(Err(panic)) if !std::thread::panicking() => std::panic::resume_unwind(panic),
                Some(_) => {}
                None => return, // what has not ended ends by itself, and nothing of it is borrowed
            }
        } else {
            self.join();
        }
        // A value whose drop panics fails a run that has failed already.
        _ = self.net.take().and_then(dismantle);
    }
}
