//! From a network to its report.
//!
//! | module | step |
//! |---|---|
//! | [`options`] | what the caller sets |
//! | [`prepare`] | plan, channels, nodes |
//! | [`execute`] | threads |
//! | [`report`] | what the counters say afterwards |
//! | [`outlet`] | a run whose results the caller reads meanwhile |

mod execute;
mod options;
pub(crate) mod outlet;
mod prepare;
mod report;

pub(crate) use execute::{Caller, run_with};
pub use options::Options;
pub use prepare::Prepared;

use crate::build::Finished;
use crate::error::Error;
use crate::net::{Net, Signals};
use crate::process::{Cause, apart, drop_all};
use crate::sched::ending::fail_panic;
use crate::sync::Ordering;
use execute::Go;
use report::report;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg_plan::Plan;
use thalweg_policy::Policy;
use thalweg_policy::registry::dispatch;

/// Stops a run from outside.
#[derive(Clone, Debug)]
pub struct Handle {
    signals: Arc<Signals>,
}

impl Handle {
    /// Starts no further firing; the run fails with [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.signals.fail(Error::Cancelled);
    }

    /// Ends the sources; what is under way is finished and the run succeeds. A loop that no source
    /// feeds has no end to be brought to: cancel it.
    pub fn drain(&self) {
        self.signals.drain();
    }

    /// Whether no further firing is started: the run has failed, was cancelled, or is at its end. Threads of its own
    /// may still be in their last firing.
    pub fn is_over(&self) -> bool {
        self.signals.stopped()
    }
}

impl Prepared<'_> {
    /// Stops the run from elsewhere.
    pub fn handle(&self) -> Handle {
        Handle { signals: self.net.signals.clone() }
    }

    /// The plan it will follow.
    pub fn plan(&self) -> &Plan {
        &self.net.topology.plan
    }

    /// Runs to the end on this thread and as many more as the plan says.
    ///
    /// # Errors
    /// [`Error`] says why the run ended before its time.
    pub fn run(self) -> Result<Finished, Error> {
        self.run_as(Caller::Worker)
    }

    pub(crate) fn run_as(self, caller: Caller) -> Result<Finished, Error> {
        let started = Instant::now();
        if self.net.sched.live.load(Ordering::Relaxed) > 0 {
            let go = Go { net: &self.net, options: &self.options, caller };
            apart(|| dispatch(&self.net.topology.plan.policy, go))
                .map_err(|unknown| Error::Options(unknown.to_string()))?;
        }
        let policy = self.net.topology.plan.policy.clone();
        outcome(self.number, self.net, policy, started.elapsed())
    }

    /// The same under a policy of the caller's own. The report names it by its type.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn run_under<P: Policy>(self, policy: &P) -> Result<Finished, Error> {
        let started = Instant::now();
        if self.net.sched.live.load(Ordering::Relaxed) > 0 {
            apart(|| run_with(&self.net, &self.options, policy, Caller::Worker));
        }
        let path = std::any::type_name::<P>().split('<').next().unwrap_or_default();
        let policy = path.rsplit("::").next().unwrap_or_default().to_owned();
        outcome(self.number, self.net, policy, started.elapsed())
    }
}

/// What came of a run whose threads have ended.
fn outcome(number: usize, net: Arc<Net<'_>>, policy: String, wall: Duration) -> Result<Finished, Error> {
    let report = report(&net, policy, wall);
    let failure = net.take_failure();
    let dropped = dismantle(net);
    failure.or(dropped).map_or(Ok(Finished { number, report }), Err)
}

/// Drops the nodes and what their channels hold, unless somebody else still has the network: an
/// item's `drop` may panic, and that is its node's failure.
pub(crate) fn dismantle(net: Arc<Net<'_>>) -> Option<Error> {
    let mut net = Arc::into_inner(net)?;
    // So that a channel goes with the second of its ends.
    net.cells.rings.clear();
    // Whoever drops the network may be in a poll of another.
    apart(|| drop_bodies(&mut net));
    net.take_failure()
}

fn drop_bodies(net: &mut Net<'_>) {
    for node in net.topology.graph.node_ids() {
        let body = net.cells.nodes[node.index()].body.take();
        if let Err(panic) =
            catch_unwind(AssertUnwindSafe(|| drop_all(net.owners.of(node), Cause::Failed, || drop(body))))
        {
            fail_panic(net, node, panic);
        }
    }
}
