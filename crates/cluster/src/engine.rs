//! The run of this process's graph, as its waiting stages see it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use thalweg::Handle;
use thalweg::trace::NodeStatus;

/// How often a stage that waits for other processes looks whether its own graph still runs. A failure of another node of
/// the graph cannot wake it.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// Known to the stages before the run.
#[derive(Clone, Default)]
pub(crate) struct Engine(Arc<OnceLock<Handle>>);

impl Engine {
    /// The run begins.
    pub fn begin(&self, run: Handle) {
        _ = self.0.set(run);
    }

    /// Whether no further firing starts.
    pub fn is_over(&self) -> bool {
        self.0.get().is_some_and(Handle::is_over)
    }

    /// The firings so far of the nodes behind the first, and whether one of these nodes runs.
    pub fn behind_source(&self) -> (u64, bool) {
        let Some(now) = self.0.get().and_then(Handle::snapshot) else { return (0, false) };
        let nodes = now.nodes().iter().skip(1);
        let runs = nodes.clone().any(|node| node.status() == NodeStatus::Running);
        (nodes.map(|node| node.firings()).sum(), runs)
    }
}
