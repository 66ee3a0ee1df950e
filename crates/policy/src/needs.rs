//! What a policy needs from its host in a run of one graph.

/// Services of the host beyond queues and [`Host::claimable`](crate::Host::claimable). Each costs the host work after
/// every activation, so a policy names those that it uses: [`Policy::needs`](crate::Policy::needs). Affinity includes
/// notifications.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Needs {
    /// Nothing: the policy scans the graph for claimable nodes.
    #[default]
    Scans,
    /// As `Scans`, of some nodes: each worker runs only those that the plan gives it
    /// ([`Plan::assignment`](thalweg_plan::Plan::assignment)). A change of a node then wakes a worker of this node, and a worker
    /// sleeps though other nodes are claimable. The host claims by the plan's shares
    /// ([`Plan::claim_for`](thalweg_plan::Plan::claim_for)).
    Assigned,
    /// As `Assigned`, without shares, and with one node for each worker, which lists it in the plan
    /// ([`Plan::servers`](thalweg_plan::Plan::servers)). The run has as many workers as the plan, which must have some for each node.
    Pools,
    /// The host reports each node that becomes claimable ([`Policy::ready`](crate::Policy::ready)) and keeps the
    /// protocol of tokens. The policy need not scan. Any worker may take a token from any queue.
    Notifications,
    /// Every node but the parallel ones belongs to one worker ([`Host::affinity`](crate::Host::affinity)), and a
    /// worker takes nodes from its own queue alone. A push then wakes the worker that owns the queue, and a worker
    /// sleeps though the queues of others hold tokens. The host measures time and traffic
    /// ([`Measurements`](crate::Measurements)) whatever the options of the run are.
    Affinity,
}

impl Needs {
    /// Whether the host reports nodes that become claimable.
    pub fn notifications(self) -> bool {
        matches!(self, Needs::Notifications | Needs::Affinity)
    }

    /// Whether nodes belong to workers.
    pub fn affinity(self) -> bool {
        self == Needs::Affinity
    }

    /// Whether each worker runs only the nodes that the plan gives it, one or several.
    pub fn assigned(self) -> bool {
        matches!(self, Needs::Assigned | Needs::Pools)
    }

    /// Whether each worker serves one node.
    pub fn pools(self) -> bool {
        self == Needs::Pools
    }
}
