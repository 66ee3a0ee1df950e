//! What a policy needs from its host in a run of one graph.

/// Services of the host beyond queues and [`Host::claimable`](crate::Host::claimable). Each costs the host work after
/// every activation, so a policy names those that it uses: [`Policy::needs`](crate::Policy::needs).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// The host reports each node that becomes claimable ([`Policy::ready`](crate::Policy::ready)) and keeps the
    /// protocol of tokens. The policy need not scan.
    pub notifications: bool,
    /// Every node but the parallel ones belongs to one worker ([`Host::affinity`](crate::Host::affinity)), and a
    /// worker takes nodes from its own queue alone. A push then wakes the worker that owns the queue, and a worker
    /// sleeps though the queues of others hold tokens. The host measures time and traffic
    /// ([`Measurements`](crate::Measurements)) whatever the options of the run are. Implies `notifications`.
    pub affinity: bool,
}

impl Needs {
    /// Nothing: the policy scans the graph for claimable nodes.
    pub const SCANS: Needs = Needs { notifications: false, affinity: false };
    /// Notifications; any worker may take a token from any queue.
    pub const NOTIFICATIONS: Needs = Needs { notifications: true, affinity: false };
    /// Notifications, and nodes that belong to workers.
    pub const AFFINITY: Needs = Needs { notifications: true, affinity: true };
}
