//! Messages in a run: their delivery, and demand-driven scheduling of programs that send them.

use super::{Flow, Run};
use crate::build::{Inbox, Sent};
use crate::ir::Message;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use thalweg_lang::flat::{ChannelId, NodeId};
use thalweg_lang::interpret::{Options, Stop, Surroundings};
use thalweg_lang::messages::{Blocked, Demand, Envelope, Fires, MessageRouter, SentMessage};
use thalweg_lang::{Compiled, Diagnostic};

/// The message router of a run; each message carries its scalars.
pub(super) struct RunMessages {
    router: MessageRouter<Arc<[i32]>>,
    /// For the node that handles messages now: those not handled yet; and the arguments of the current one.
    taken: Option<VecDeque<Envelope<Arc<[i32]>>>>,
    now: Arc<[i32]>,
    refused: Option<String>,
}

impl RunMessages {
    pub(super) fn new(compiled: &Arc<Compiled>) -> RunMessages {
        RunMessages { router: MessageRouter::new(compiled), taken: None, now: Arc::new([]), refused: None }
    }

    /// Sends a message, and updates when its receivers must check their inboxes; returns whether it could be
    /// sent.
    pub(super) fn send(
        &mut self,
        sent: Sent,
        message: &Message,
        args: &dyn Fn(usize) -> Vec<i32>,
        inboxes: &mut [Inbox],
    ) -> bool {
        let envelope = SentMessage {
            from: NodeId(sent.node),
            firing: sent.firing,
            portal: message.portal,
            handler: message.handler,
            latency: message.timed.then_some(sent.latency),
            args: args(message.cells).into(),
        };
        let done = self.router.send(envelope, &|node| inboxes[node.0 as usize].fired as u64);
        for node in self.router.receivers(message.portal) {
            inboxes[node.0 as usize].due = due(&self.router, *node);
        }
        self.refused = done.err();
        self.refused.is_none()
    }

    /// A node's next message before a firing. Messages sent meanwhile wait for the next firing.
    pub(super) fn take(&mut self, node: u32, firing: u64, inboxes: &mut [Inbox]) -> Option<(u32, &[i32])> {
        let router = &mut self.router;
        let taken = self.taken.get_or_insert_with(|| router.arrived(NodeId(node), firing).into());
        match taken.pop_front() {
            Some(envelope) => {
                self.now = envelope.args;
                Some((envelope.handler, &self.now))
            }
            None => {
                self.taken = None;
                inboxes[node as usize].due = due(&self.router, NodeId(node));
                None
            }
        }
    }

    /// Why a message could not be sent.
    pub(super) fn refused(&mut self) -> Option<String> {
        self.refused.take()
    }
}

fn due(router: &MessageRouter<Arc<[i32]>>, node: NodeId) -> i64 {
    router.due(node).map_or(i64::MAX, |firing| firing as i64)
}

impl Run<'_> {
    /// Runs a demand-driven program; returns the iterations. The first iteration runs node by node, and so
    /// does what is left at the end of the input.
    pub(super) fn drive_on_demand(
        &mut self,
        options: Options,
        around: &mut Surroundings<'_>,
    ) -> Result<u64, Stop> {
        let compiled = self.native.compiled.clone();
        let mut demand = Demand::new(&compiled.flat, &compiled.schedule.regions[0], 0);
        let most = options.iterations.unwrap_or(u64::MAX);
        let mut iterations = 0;
        while iterations < most && !(around.interrupted)() {
            if self.on_demand(&mut demand, &*around.interrupted)? == Flow::Over {
                self.flush(&*around.interrupted)?;
                break;
            }
            iterations += 1;
            (around.progress)(iterations);
            if iterations == 1 && self.native.parts[0].plan.is_some() {
                iterations = self.fused(most, around)?;
                demand = Demand::new(&compiled.flat, &compiled.schedule.regions[0], iterations);
            }
        }
        match demand.end(&mut OneByOne(self), &*around.interrupted) {
            Ok(()) => Ok(iterations),
            Err(blocked) => why(&compiled, blocked).map(|_| iterations),
        }
    }

    /// Runs as many fused steady states after the first as there is input for; returns the iterations by
    /// then.
    fn fused(&mut self, most: u64, around: &mut Surroundings<'_>) -> Result<u64, Stop> {
        self.fill_buffers(0, 1);
        let (iterations, _) = self.steady_states(1, (most, None), around)?;
        self.count(0, iterations - 1);
        self.empty_buffers(0, iterations);
        Ok(iterations)
    }

    /// Runs an iteration.
    fn on_demand(&mut self, demand: &mut Demand<'_>, interrupted: &dyn Fn() -> bool) -> Result<Flow, Stop> {
        match demand.iterate(&mut OneByOne(self), interrupted) {
            Ok(ControlFlow::Continue(())) => Ok(Flow::On),
            Ok(ControlFlow::Break(())) => Ok(Flow::Over),
            Err(blocked) => why(&self.native.compiled, blocked),
        }
    }
}

fn why(compiled: &Compiled, blocked: Blocked<Option<Stop>>) -> Result<Flow, Stop> {
    match blocked {
        Blocked::Failed(None) => Ok(Flow::Over),
        Blocked::Failed(Some(stop)) => Err(stop),
        Blocked::Cycle(node) => {
            let message = format!("`{}`: it waits for itself", compiled.flat.node(node).name());
            Err(Stop::Fault(Box::new(Diagnostic::new(compiled.flat.span(node), message))))
        }
    }
}

/// The nodes of a run, fired one by one.
struct OneByOne<'r, 'a>(&'r mut Run<'a>);

impl Fires for OneByOne<'_, '_> {
    /// A failure; `None` where the input has ended.
    type Error = Option<Stop>;

    fn lacks(&mut self, node: NodeId) -> Option<ChannelId> {
        self.0.lacks(node)
    }

    fn fire(&mut self, node: NodeId) -> Result<(), Option<Stop>> {
        match self.0.fire_some(node, 1).map_err(Some)? {
            0 => Err(None),
            _ => Ok(()),
        }
    }

    fn fired(&self, node: NodeId) -> u64 {
        self.0.fired[node.0 as usize]
    }
}
