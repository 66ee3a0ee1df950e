//! Who must fire before a node can.

use crate::flat::{ChannelId, Flat, NodeId};

/// Why a node cannot be brought to fire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Blocked<E> {
    /// It waits for itself, round a loop.
    Circle(NodeId),
    /// Somebody's firing failed, or there is nothing more to come.
    Failed(E),
}

/// Things that fire.
pub(super) trait Fires {
    type Error;

    /// A channel that has too few items for the node's next firing.
    fn lacks(&self, node: NodeId) -> Option<ChannelId>;

    /// Fires the node; what it needs is there.
    fn fire(&mut self, node: NodeId) -> Result<(), Self::Error>;
}

/// Fires a node once, and before it whoever must.
pub(super) fn pull<F: Fires>(flat: &Flat, fires: &mut F, target: NodeId) -> Result<(), Blocked<F::Error>> {
    let mut waiting = vec![target];
    let mut is_waiting = vec![false; flat.nodes.len()];
    is_waiting[target.0 as usize] = true;
    while let Some(node) = waiting.last().copied() {
        match fires.lacks(node) {
            None => {
                fires.fire(node).map_err(Blocked::Failed)?;
                is_waiting[node.0 as usize] = false;
                waiting.pop();
            }
            Some(channel) => {
                let from = flat.channels[channel.0 as usize].from;
                if std::mem::replace(&mut is_waiting[from.0 as usize], true) {
                    return Err(Blocked::Circle(node));
                }
                waiting.push(from);
            }
        }
    }
    Ok(())
}
