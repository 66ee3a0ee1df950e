//! Firings that may wait in their middle, each node's on a stack of its own.

use super::host::Host;
use super::{Flowed, State};
use crate::build::fiber::Fiber;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use thalweg_lang::flat::{ChannelId, NodeId};

/// Firings that may wait in their middle, by node, of a program's state: each node's on a stack of its own, with
/// a state of its own in which only what that node keeps means anything. So they may go from one
/// thread to another, and from one state to another.
#[derive(Default)]
pub(crate) struct Fibers<'a> {
    all: HashMap<u32, Apart<'a>>,
}

/// One node's firings.
struct Apart<'a> {
    fiber: Fiber,
    state: State<'a>,
}

impl<'a> Fibers<'a> {
    /// Those of some nodes, which are not here any more.
    pub(crate) fn of(&mut self, nodes: &[NodeId]) -> Fibers<'a> {
        let all = nodes.iter().filter_map(|node| Some((node.0, self.all.remove(&node.0)?)));
        Fibers { all: all.collect() }
    }

    /// Takes others in.
    pub(crate) fn extend(&mut self, others: Fibers<'a>) {
        self.all.extend(others.all);
    }
}

impl<'a> State<'a> {
    /// [`State::flow`] of a node that may wait in its middle, on a stack of so many bytes, which moves items through those
    /// channels; where it waits, its firing goes on now, and then others, as many as were asked for when it
    /// began.
    pub(crate) fn flow_apart(
        &mut self,
        node: u32,
        n: u64,
        (fibers, stack, channels): (&mut Fibers<'a>, usize, &[ChannelId]),
        host: &mut dyn Host,
    ) -> Result<(Flowed, u64), String> {
        let Apart { fiber, state } = match fibers.all.entry(node) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let fiber = Fiber::new(self.library.fire, node, stack)?;
                entry.insert(Apart { fiber, state: self.fork() })
            }
        };
        for channel in channels {
            state.queues()[channel.0 as usize] = self.queues()[channel.0 as usize];
        }
        if !fiber.waits() {
            state.join(self, node);
        }
        // All nodes' mail is wherever somebody fires.
        std::mem::swap(&mut self.mail, &mut state.mail);
        let mut came = None;
        state.call(host, |state| {
            // SAFETY: as above; the fiber's stack outlives the call, and the state is the one that it has
            // been resumed with before, since it is the fiber's own. Its queues of these channels are this
            // state's, which uses none meanwhile.
            came = Some(unsafe { fiber.resume(state, n as i64) });
            0
        });
        std::mem::swap(&mut self.mail, &mut state.mail);
        for channel in channels {
            self.queues()[channel.0 as usize] = state.queues()[channel.0 as usize];
        }
        if !fiber.waits() {
            self.join(state, node);
        }
        if let Some((Flowed::Failed, _)) = came {
            let (env, theirs) = (self.env(), state.env());
            (env.node, env.which, env.site) = (theirs.node, theirs.which, theirs.site);
            (env.firing, env.args) = (theirs.firing, theirs.args);
        }
        came.ok_or_else(|| "it was not called".into())
    }
}
