//! Threads of their own: nodes that wait for the outside world in their firings.

use crate::clock::ticks;
use crate::net::Net;
use crate::node::{By, Cx};
use crate::process::Touched;
use crate::sleep::{Sleeper, Woken};
use crate::sync::{Ordering, fence};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use thalweg_graph::NodeId;
use thalweg_policy::Event;

/// Runs one node until it ends or the run does. Publishes after every firing: what comes from
/// outside must not wait for more to come.
pub(crate) fn run(net: &Net<'_>, node: NodeId, sleeper: Sleeper, deadline: Option<(Instant, Duration)>) {
    let cell = &net.nodes[node.index()];
    let Some(body) = &cell.body else { return };
    while !net.stopped() && !cell.state.is_done() {
        let alerted = cell.state.alert.swap(false, Ordering::AcqRel);
        let mut cx = Cx {
            net,
            node,
            budget: usize::MAX,
            slice: 1,
            fired: 0,
            laps: None,
            by: By::Outsider,
            alerted,
            touched: Touched::default(),
            touched_all: false,
        };
        let from = ticks();
        let event = catch_unwind(AssertUnwindSafe(|| body.activate(&mut cx)));
        cell.state.firings.fetch_add(cx.fired as u64, Ordering::Relaxed);
        cell.state.activations.fetch_add(1, Ordering::Relaxed);
        cell.state.busy.fetch_add(ticks().saturating_sub(from), Ordering::Relaxed);
        if net.ready.is_told() {
            net.changed_outside(node);
        }
        match event {
            Ok(Event::Empty(_) | Event::Full(_) | Event::Waiting) => doze(net, node, sleeper, deadline),
            Ok(_) => {}
            Err(panic) => net.fail_panic(node, panic),
        }
    }
    if net.sleep.retire(|| crate::quiesce::examine(net)) {
        net.resume();
    }
}

/// Sleeps until the node's wait is over.
pub(crate) fn doze(net: &Net<'_>, node: NodeId, sleeper: Sleeper, deadline: Option<(Instant, Duration)>) {
    let state = &net.nodes[node.index()].state;
    state.dozing.store(true, Ordering::Relaxed);
    fence(Ordering::SeqCst); // pairs with the changers' fence in `Net::changed`
    if !state.satisfied(net, node) && !net.stopped() {
        let timeout = deadline.map(|(at, _)| at.saturating_duration_since(Instant::now()));
        let woken = net.sleep.wait_dedicated(sleeper, timeout, || crate::quiesce::examine(net));
        if woken == Woken::TimedOut {
            net.resume();
            if let Some((at, given)) = deadline
                && Instant::now() >= at
            {
                net.fail(crate::Error::Deadline(given));
            }
        }
    }
    state.dozing.store(false, Ordering::Relaxed);
}
