//! Firings that may wait in the middle, each node's on a stack of its own.

use super::host::Host;
use super::{Flowed, State};
use crate::build::fiber::Fiber;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use thalweg_lang::flat::NodeId;

/// The fibers of a program's state, by node. Each has a stack, and a state of its own in which only the data
/// of its node is meaningful. So fibers can move from one thread to another, and from one state to another.
#[derive(Default)]
pub(crate) struct Fibers<'a> {
    all: HashMap<u32, Apart<'a>>,
}

/// One node's fiber.
struct Apart<'a> {
    fiber: Fiber,
    state: State<'a>,
}

impl<'a> Fibers<'a> {
    /// Removes the fibers of some nodes and returns them.
    pub(crate) fn of(&mut self, nodes: &[NodeId]) -> Fibers<'a> {
        let all = nodes.iter().filter_map(|node| Some((node.0, self.all.remove(&node.0)?)));
        Fibers { all: all.collect() }
    }

    /// Adds other fibers.
    pub(crate) fn extend(&mut self, others: Fibers<'a>) {
        self.all.extend(others.all);
    }
}

impl<'a> State<'a> {
    /// Like [`State::flow`], for a node that may wait in the middle of a firing: runs it on a stack of
    /// `stack` bytes. Where a firing waits, the call continues it, and then
    /// goes on with further firings, up to the number requested when the waiting call began.
    pub(crate) fn flow_apart(
        &mut self,
        node: u32,
        n: u64,
        (fibers, stack): (&mut Fibers<'a>, usize),
        host: &mut dyn Host,
    ) -> Result<(Flowed, u64), String> {
        let Apart { fiber, state } = match fibers.all.entry(node) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let fiber = Fiber::new(self.library.fire, node, stack)?;
                entry.insert(Apart { fiber, state: self.fork() })
            }
        };
        // All of them: where the fiber asks for room, the host counts what they hold.
        state.queues().copy_from_slice(self.queues());
        if !fiber.waits() {
            state.join(self, node);
        }
        // The inboxes of all nodes are in the state that fires.
        std::mem::swap(&mut self.mail, &mut state.mail);
        let mut came = None;
        state.call(host, |state| {
            // SAFETY: the fiber's stack outlives the call, and the state is the one that it has been resumed
            // with before, since it is the fiber's own. Its library is that of `fire`, and `call` completes
            // its environment. Its queues are copies of this state's, which uses none
            // meanwhile.
            came = Some(unsafe { fiber.resume(state, n as i64) });
            0
        });
        std::mem::swap(&mut self.mail, &mut state.mail);
        self.queues().copy_from_slice(state.queues());
        if !fiber.waits() {
            self.join(state, node);
        }
        if let Some((Flowed::Failed, _)) = came {
            let (env, theirs) = (self.env(), state.env());
            (env.node, env.which, env.site) = (theirs.node, theirs.which, theirs.site);
            (env.firing, env.args) = (theirs.firing, theirs.args);
        }
        came.ok_or_else(|| "internal error: the fiber was not resumed".into())
    }
}
