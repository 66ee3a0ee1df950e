//! Passing on: a worker leaves a node that others can run to them, and runs the node that is pinned to it.
//!
//! A node with a stack, once begun, is pinned: one worker alone activates it. If that worker begins a long firing of
//! another node while the pinned one is ready, the pinned node waits for the end of the firing, although other workers
//! are idle and could execute it. The first message of a process with a stack shows this: it makes its consumer ready,
//! the process yields to it after a budget of one operation, and its other messages come a firing later.
//!
//! | condition for passing a node on | because |
//! |---|---|
//! | the policy is notified, and assigns no nodes to workers | otherwise other workers do not take from this one's queue |
//! | a token is in this worker's queue of pinned nodes | that node waits for this worker |
//! | the node is not pinned, and its firings are long, or their length is unknown | the pinned node waits for a whole activation |
//! | another worker is free, or has not got a ticket yet ([`Running`](crate::team::Running)) | a busy one would take the node late |
//!
//! The last condition says what a worker does not do; it is no list of states in which a worker waits for work. One that has
//! found a token is neither asleep nor searching before it fires, and its activation of a parallel node is refused if
//! this worker claims the only firing first. Then it is idle for the whole firing, and the pinned node waits: with a list
//! of states that happened once in 200,000 runs, and more often where the system interrupted the worker in between.
//!
//! The token goes back into this worker's queue, from which others steal, and a worker is woken as for any push. The
//! policy learns that its choice was refused, and pops next; that pop tries the queue of pinned nodes first.
//!
//! **No node starves.** If no worker steals the node, this one pops it when it has no pinned node that is ready, or no
//! other worker is free. A free worker looks at all queues before it sleeps, and steals, as each policy of the engine
//! does that is notified and assigns no nodes. One that begins another activation instead is not free any more.

use crate::net::NodeCell;
use crate::sched::worker::Worker;
use crate::sync::Ordering;
use thalweg_graph::NodeId;
use thalweg_policy::Policy;

/// The word `NodeState::batch` of a node whose budget is two firings. A smaller one is that of a node whose budget is
/// unknown or one firing.
const TWO_FIRINGS: u64 = 2 << 32;

impl<P: Policy> Worker<'_, P> {
    /// Passes the node on, which the policy has chosen and whose token this worker holds, if the conditions hold. After
    /// true the worker must not activate it.
    #[inline(never)]
    pub(super) fn pass_on(&mut self, cell: &NodeCell<'_>, node: NodeId) -> bool {
        let (net, me) = (self.host.net, self.host.worker);
        let is_short = || cell.state.batch.load(Ordering::Relaxed) >= TWO_FIRINGS;
        if cell.pinned || !net.sched.ready.any_pinned(me) || is_short() || !self.any_free() {
            return false;
        }
        net.sched.ready.push(me, node);
        self.host.pinned_first = false; // the next pop negates it
        if net.sleep.wants_waking() {
            net.sleep.wake_one();
        }
        true
    }

    /// Whether another worker executes no code of a node or a job. A hint.
    fn any_free(&self) -> bool {
        let mut others = self.host.net.team.running.iter().enumerate();
        others.any(|(worker, running)| worker != self.host.worker && running.is_free())
    }
}
