//! Runs: from a network to its report.
//!
//! | module | step |
//! |---|---|
//! | [`options`] | the caller's settings |
//! | [`hooks`] | what libraries and compilers ask these settings for |
//! | [`planned`] | the plan: from the wishes, or the caller's own |
//! | [`prepare`] | channels, nodes |
//! | [`execute`] | threads |
//! | [`snapshot`] | the counters while it runs |
//! | [`report`](mod@report) | the counters after the run |
//! | [`result`](mod@result) | the result of the run |
//! | [`outlet`] | a run whose results the caller reads while it runs |

mod execute;
mod hooks;
mod options;
pub(crate) mod outlet;
mod planned;
mod prepare;
mod report;
mod result;
mod snapshot;

pub(crate) use execute::{Caller, run_with};
pub use hooks::EmbedOptions;
pub use options::Options;
pub use prepare::Prepared;
pub(crate) use prepare::Ready;
pub use result::{Failed, Run};
pub(crate) use result::{Outcome, Wanted};

use crate::contain::contain;
use crate::error::Error;
use crate::net::{Net, Signals};
use crate::process::{Cause, apart, drop_all};
use crate::sched::ending::fail_panic;
use crate::sync::Ordering;
use execute::RunUnder;
use report::report;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg_graph::NodeId;
use thalweg_plan::Plan;
use thalweg_policy::Policy;
use thalweg_policy::registry::dispatch;
use thalweg_trace::Snapshot;

/// A handle that observes and stops a run from another thread. It may outlive the run, and has no effect then.
#[derive(Clone, Debug)]
pub struct Handle {
    signals: Arc<Signals>,
}

impl Handle {
    /// Cancels the run: no further firing starts, and the run fails with [`Error::Cancelled`]. Returns at once; firings
    /// under way continue to their end.
    pub fn cancel(&self) {
        self.signals.fail(Error::Cancelled);
    }

    /// Ends the sources at their next activation. Items in the graph are processed to the end and the run succeeds. A
    /// loop that no source feeds does not end by draining: cancel it.
    pub fn drain(&self) {
        self.signals.drain();
    }

    /// Whether no further firing starts: the run has failed, was cancelled, or has ended. Its threads may still be in
    /// their last firing.
    pub fn is_over(&self) -> bool {
        self.signals.stopped()
    }

    /// The state of the run now: what each node does or waits for, and how full each channel is. `None` before the run
    /// begins and after its last thread has left it. From any thread, also that of a node.
    ///
    /// It takes time in proportion to the graph: 0.27 us for a chain of 10 nodes, 14 us for 10^3, and 57 ms for 10^6 (the
    /// benchmark's figures `live.snapshot.*`). The run goes on meanwhile, but does not end before the snapshot is
    /// complete.
    ///
    /// ```
    /// use thalweg_runtime::{Graph, Options};
    ///
    /// let options = Options::new().threads(2).on_start(|run| {
    ///     let run = run.clone();
    ///     std::thread::spawn(move || {
    ///         let mut last = None;
    ///         while let Some(now) = run.snapshot() {
    ///             if let Some(last) = &last {
    ///                 println!("{:.0} firings/s of the source", now.since(last).nodes()[0].firings());
    ///             }
    ///             last = Some(now);
    ///             std::thread::sleep(std::time::Duration::from_millis(250));
    ///         }
    ///     });
    /// });
    /// let graph = Graph::new();
    /// let sum = graph.source(0..1000u64).fold(0, |sum, number| sum + number);
    /// assert_eq!(*sum.run_with(&options)?, 499_500);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.signals.viewed.snapshot()
    }
}

impl<T> Prepared<'_, T> {
    /// A handle that observes and stops the run from another thread.
    pub fn handle(&self) -> Handle {
        self.ready.handle()
    }

    /// The plan that the run will follow.
    pub fn plan(&self) -> &Plan {
        &self.ready.net.topology.plan
    }

    /// Runs to the end on this thread and as many more as the plan says.
    ///
    /// # Errors
    /// [`Failed`] says why the run ended early, and has what it has done until then.
    pub fn run(self) -> Result<Run<T>, Failed<T>> {
        let Prepared { ready, wanted } = self;
        ready.run_as(Caller::Worker).take(wanted)
    }

    /// Runs to the end under a policy of the caller's own, which the report names by its type.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn run_under<P: Policy>(self, policy: &P) -> Result<Run<T>, Failed<T>> {
        let Prepared { ready, wanted } = self;
        ready.run_under(policy).take(wanted)
    }
}

impl Ready<'_> {
    pub(crate) fn handle(&self) -> Handle {
        Handle { signals: self.net.signals.clone() }
    }

    /// Runs to the end. `caller` is the part that the calling thread takes.
    pub(crate) fn run_as(self, caller: Caller) -> Outcome {
        let policy = self.net.topology.plan.policy().to_owned();
        self.run_by(policy, |net, options| {
            dispatch(net.topology.plan.policy(), RunUnder { net, options, caller })
                .map_err(|unknown| Error::Options(unknown.to_string()))
        })
    }

    fn run_under<P: Policy>(mut self, policy: &P) -> Outcome {
        // No thread has the network yet. What roams does so under the plan's policy.
        if let Some(net) = Arc::get_mut(&mut self.net) {
            net.keep_sources();
        }
        let path = std::any::type_name::<P>().split('<').next().unwrap_or_default();
        let name = path.rsplit("::").next().unwrap_or_default().to_owned();
        self.run_by(name, |net, options| {
            if policy.needs(&net.topology.graph).pools() && !net.topology.plan.has_pools() {
                let why = "the policy has pools, and the plan of the run none\nhelp: set `Options::policy(\"pools\")` too";
                return Err(Error::Options(why.to_owned()));
            }
            run_with(net, options, policy, Caller::Worker);
            Ok(())
        })
    }

    /// Runs the network by `run`, which does not return before all threads have left the run, unless no node is left to
    /// run. Handles see the network meanwhile. `policy` is the name for the report.
    fn run_by(self, policy: String, run: impl FnOnce(&Net<'_>, &Options) -> Result<(), Error>) -> Outcome {
        let net = &*self.net;
        let ran = net.signals.viewed.during(net, || {
            self.options.on_start.call(&self.handle())?;
            let started = Instant::now();
            let has_nodes = net.sched.live.load(Ordering::Relaxed) > 0;
            let ran = if has_nodes { apart(|| run(net, &self.options)) } else { Ok(()) };
            Ok((ran, started.elapsed()))
        });
        match ran {
            Ok((ran, wall)) => outcome(self.number, self.net, policy, wall, ran.err()),
            Err(panic) => {
                // An outlet may wait for items on another thread.
                net.fail(Error::Cancelled);
                _ = dismantle(self.net);
                resume_unwind(panic)
            }
        }
    }
}

/// The result of a run whose threads have ended.
fn outcome(
    number: usize,
    net: Arc<Net<'_>>,
    policy: String,
    wall: Duration,
    refused: Option<Error>,
) -> Outcome {
    let report = report(&net, policy, wall);
    let failure = net.take_failure();
    let dropped = dismantle(net);
    Outcome { number, report, error: refused.or(failure).or(dropped) }
}

/// Drops the nodes and the items in their channels, unless another owner of the network is left. A panic in a drop is
/// returned as a node's failure.
pub(crate) fn dismantle(net: Arc<Net<'_>>) -> Option<Error> {
    let mut net = Arc::into_inner(net)?;
    drop_users_values(&mut net);
    net.take_failure()
}

/// Drops what users have put into a network: the code of all nodes, and then the items in the channels. A panic in a drop
/// fails the run with a node's name, for an item that of the channel's consumer; all else is dropped all the same.
///
/// The rings come last, so that no node's code drops one, whose items are no values of that node.
fn drop_users_values(net: &mut Net<'_>) {
    let bodies: Vec<_> = net.cells.nodes.iter_mut().map(|cell| cell.body.take()).collect();
    let rings = std::mem::take(&mut net.cells.rings);
    // The calling thread may be in a poll of a process of another run, whose state must not be changed.
    apart(|| {
        for (node, body) in net.topology.graph.node_ids().zip(bodies) {
            drop_of_node(net, node, body);
        }
        for (channel, ring) in net.topology.graph.channel_ids().zip(rings) {
            drop_of_node(net, net.ends(channel).1, ring);
        }
    });
}

/// Drops a value; a panic is the node's failure.
fn drop_of_node(net: &Net<'_>, node: NodeId, value: impl Sized) {
    if let Some(panic) = contain(|| drop_all(net.owners.of(node), Cause::Failed, || drop(value))) {
        fail_panic(net, node, panic);
    }
}

/// A network that is dropped without having been run, or by an outlet that does not wait: no caller is left to whom a
/// panic in a drop could be returned as a failure.
impl Drop for Net<'_> {
    fn drop(&mut self) {
        drop_users_values(self);
    }
}
