//! Snapshots of a running network: what its counters and wait words say at one moment.
//!
//! A snapshot reads what the run's threads write anyway, without claims and without the locks of sleep and queues. Its
//! cost to the run is cache traffic: each line that a thread has written since the last snapshot is fetched once, and once
//! more by the thread that writes it next. Its own time is linear in nodes and channels, with one allocation for each of the two.

use crate::measure::clock::Scale;
use crate::net::{Need, Net, NodeCell, View};
use crate::sync::{Ordering, lock};
use std::time::Duration;
use thalweg_graph::{ChannelId, NodeId};
use thalweg_trace::{Cause, ChannelSnapshot, NodeSnapshot, NodeStatus, Snapshot};

impl View for Net<'_> {
    /// All loads of counts are `Relaxed`: each count by itself never falls, and no order between them is promised.
    fn snapshot(&self, at: Duration) -> Snapshot {
        let mut snapshot = Snapshot::new(self.topology.graph.clone());
        (*snapshot.at_mut(), *snapshot.workers_mut()) = (at, self.threads());
        *snapshot.asleep_mut() = self.sleep.asleep().min(self.threads());
        for (id, to) in self.topology.graph.node_ids().zip(snapshot.nodes_mut()) {
            *to = node(self, id);
        }
        for (id, to) in self.topology.graph.channel_ids().zip(snapshot.channels_mut()) {
            *to = channel(self, id);
        }
        *snapshot.growths_mut() = lock(&self.liveness.growths).len() as u64;
        *snapshot.searches_mut() = self.liveness.search.searches() as u64;
        snapshot
    }
}

/// A node at this moment.
fn node(net: &Net<'_>, id: NodeId) -> NodeSnapshot {
    let cell = net.node(id);
    let mut node = NodeSnapshot::default();
    *node.firings_mut() = cell.state.firings.load(Ordering::Relaxed);
    *node.activations_mut() = cell.state.activations.load(Ordering::Relaxed);
    *node.busy_mut() = Scale::now().duration(cell.state.busy.load(Ordering::Relaxed));
    *node.status_mut() = status(net, id, cell);
    node
}

/// A channel at this moment.
fn channel(net: &Net<'_>, id: ChannelId) -> ChannelSnapshot {
    let meter = net.meter(id);
    let mut channel = ChannelSnapshot::default();
    *channel.items_mut() = meter.items();
    *channel.pushed_mut() = (meter.tail() - net.topology.graph.channel(id).link().initial()) as u64;
    *channel.capacity_mut() = meter.capacity();
    channel
}

/// What a node does. The answer may be wrong while another thread activates the node; then it was right a moment before,
/// or is a moment later.
fn status(net: &Net<'_>, id: NodeId, cell: &NodeCell<'_>) -> NodeStatus {
    if cell.state.is_done() {
        return NodeStatus::Ended;
    }
    match &cell.body {
        Some(body) if body.is_running() => NodeStatus::Running,
        Some(_) if net.actionable(id) => NodeStatus::Ready,
        Some(_) => cause(net, id, cell).map_or(NodeStatus::Ready, NodeStatus::Waits),
        // An end that code outside of the run holds: its wait word is of its last wait, which may be over.
        None if net.inputs(id).iter().all(|channel| net.meter(*channel).gone()) => NodeStatus::Ended,
        None if cell.state.satisfied(net, id) => NodeStatus::Running,
        None => cell.state.wait.read().cause().map_or(NodeStatus::Running, NodeStatus::Waits),
    }
}

/// What a node lacks that is neither run nor ready, as the search for deadlocks reads it (`liveness::waits::edges`): room
/// for a stuck publication; else the condition of the wait word; else, if that is met, another that keeps the node from
/// firing.
fn cause(net: &Net<'_>, id: NodeId, cell: &NodeCell<'_>) -> Option<Cause> {
    if let Some(channel) = net.stuck_outputs(id).next() {
        return Some(Cause::Room(channel));
    }
    if !cell.state.satisfied(net, id) {
        return cell.state.wait.read().cause();
    }
    Some(match net.missing(id)? {
        Need::Items(channel, _) => Cause::Items(channel),
        Need::Room(channel, _) => Cause::Room(channel),
    })
}

/// Small enough for Miri, which checks the erased lifetime of `net::view`.
#[cfg(all(test, not(loom)))]
mod tests {
    use crate::{Graph, Options};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::channel;

    /// Threads take snapshots while runs of nodes that borrow begin, end and panic at the start.
    #[test]
    fn a_snapshot_reads_a_run_only_while_it_lasts() {
        let (runs, observers) = if cfg!(miri) { (4, 2) } else { (200, 4) };
        std::thread::scope(|scope| {
            let senders: Vec<_> = (0..observers)
                .map(|_| {
                    let (sender, handles) = channel::<crate::Handle>();
                    scope.spawn(move || {
                        for run in handles {
                            while let Some(snapshot) = run.snapshot() {
                                assert_eq!(snapshot.nodes().len(), 3);
                            }
                        }
                    });
                    sender
                })
                .collect();
            for round in 0..runs {
                let data = Vec::from([round; 10]);
                let (senders, fails) = (senders.clone(), round % 4 == 3);
                let options = Options::new().threads(2).on_start(move |run| {
                    senders.iter().for_each(|sender| sender.send(run.clone()).unwrap());
                    assert!(run.snapshot().is_some());
                    assert!(!fails, "injected");
                });
                let run = || {
                    let graph = Graph::new();
                    let sum = graph.source(data.iter()).map(|item| *item).fold(0, |sum, item| sum + item);
                    graph.run_with(&options).unwrap().take(sum).unwrap()
                };
                match catch_unwind(AssertUnwindSafe(run)) {
                    Ok(sum) => assert_eq!(sum, 10 * round),
                    Err(_) => assert!(fails),
                }
            }
        });
    }
}
