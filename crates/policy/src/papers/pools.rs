//! Pools: each worker serves one node and no other, and a parallel node has several workers.
//!
//! This is the pipeline with a thread pool for each stage that models of pipelines assume (A. Navarro, R. Asenjo, S. Tabik
//! and C. Caşcaval, IBM Research Report, 2009, section 3.1: a closed network with c servers a stage), for comparison
//! with policies under which a worker goes where work is.
//!
//! The plan lists the workers of each node ([`Plan::servers`](thalweg_plan::Plan::servers)). So a decision reads the state of one node, and
//! a worker without a claimable node sleeps though others have work. Workers may be more than cores: then the operating system
//! divides the cores.
//!
//! # Liveness
//!
//! The law of the [crate] binds the workers that serve the node: any of them activates it as soon as it is claimable. A worker
//! returns `Idle` only where its node is not claimable, and so may park; the host wakes one of the node's workers after a change
//! ([`Needs::Pools`]). Fair, since no node waits for another one.

use crate::{Decision, Event, Host, Needs, Policy, WorkerId};
use thalweg_graph::{GraphData, NodeId};

/// The policy `pools`.
#[derive(Clone, Copy, Default, Debug)]
pub struct Pools;

/// State of one worker: the node that it serves, if there is one.
#[derive(Clone, Copy, Debug)]
pub struct Local(Option<NodeId>);

impl Policy for Pools {
    type Local = Local;
    type Shared = ();

    fn needs(&self, _graph: &GraphData) -> Needs {
        Needs::Pools
    }

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Local {
        let plan = host.plan();
        let serves = |node: &NodeId| plan.servers(*node).contains(&(worker as u32));
        Local(host.graph().node_ids().find(serves))
    }

    fn next<H: Host>(&self, me: &mut Local, _last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        me.0.filter(|node| host.claimable(*node)).map_or(Decision::Idle, Decision::Activate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs;
    use crate::mock::Mock;
    use thalweg_plan::{POOLS, Plan, Wishes};

    /// A farm whose parallel node has three workers: 0 is the source's, 4 the sink's.
    fn farm() -> Mock {
        let mut host = Mock::with_workers(graphs::farm(), 6);
        let wishes = Wishes::default().policy(POOLS).pools(3);
        host.plan = Plan::new(&host.graph, &wishes);
        host
    }

    #[test]
    fn the_name_is_that_of_plans() {
        assert_eq!(Pools.to_string(), POOLS);
    }

    #[test]
    fn each_worker_serves_one_node_whatever_else_is_claimable() {
        let mut host = farm();
        for (worker, node) in [(0, 0), (1, 1), (2, 1), (3, 1), (4, 2)] {
            let mut me = Pools.start(worker, &mut host);
            host.only(&[0, 1, 2]);
            assert_eq!(Pools.next(&mut me, None, &mut host), Decision::Activate(NodeId(node)));
            let others: Vec<u32> = (0..3).filter(|other| *other != node).collect();
            host.only(&others);
            assert_eq!(Pools.next(&mut me, None, &mut host), Decision::Idle, "worker {worker}");
        }
    }

    #[test]
    fn a_worker_of_no_node_is_idle() {
        let mut host = farm();
        let mut me = Pools.start(5, &mut host);
        assert_eq!(Pools.next(&mut me, None, &mut host), Decision::Idle);
    }
}
