//! Deadlocks of feedback loops with dynamic rates. (Scheduling finds those of static rates before the run.)
//!
//! When no node can fire, a node is *stuck* if it lacks items and all producers of the missing items are stuck
//! too: no further input can make it fire. A node that also waits for a producer that is not stuck does not
//! count, because that producer may receive more input or end. The stuck nodes contain a cycle.

use crate::Compiled;
use crate::diagnostic::Diagnostic;
use crate::flat::{ChannelId, Flat, NodeId};

/// Missing items of a node on a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lack {
    /// The channel.
    pub channel: ChannelId,
    /// The number of missing items.
    pub more: u64,
}

/// The limit of nodes named in an error.
const MAX_NAMED: usize = 8;

/// Whether a program has feedback loops that can deadlock at run time.
pub fn may_deadlock(compiled: &Compiled) -> bool {
    let region_of = compiled.schedule.region_of();
    compiled.flat.channels().iter().any(|channel| {
        channel.link().feedback() && region_of[channel.from().0.index()] != region_of[channel.to().0.index()]
    })
}

/// A cycle of nodes that wait for each other, when no node can fire; `lacking` returns the missing items of a node.
pub fn deadlock(flat: &Flat, lacking: impl FnMut(NodeId) -> Vec<Lack>) -> Option<Diagnostic> {
    let lacks: Vec<Vec<Lack>> = flat.graph.node_ids().map(lacking).collect();
    let mut stuck: Vec<bool> = lacks.iter().map(|lacks| !lacks.is_empty()).collect();
    let mut fewer = true;
    while std::mem::take(&mut fewer) {
        for (node, lacks) in lacks.iter().enumerate() {
            let may_go_on = lacks.iter().any(|lack| !stuck[flat.channel(lack.channel).from().0.index()]);
            fewer |= stuck[node] && may_go_on;
            stuck[node] &= !may_go_on;
        }
    }
    let first = stuck.iter().position(|stuck| *stuck)?;
    Some(diagnostic(flat, &cycle(flat, &lacks, first)))
}

/// The missing items along a cycle, starting at a node that waits for a feedback channel.
fn cycle(flat: &Flat, lacks: &[Vec<Lack>], from: usize) -> Vec<Lack> {
    let mut path: Vec<(usize, Lack)> = Vec::new();
    let mut node = from;
    let begin = loop {
        if let Some(begin) = path.iter().position(|(seen, _)| *seen == node) {
            break begin;
        }
        let lack = lacks[node][0];
        path.push((node, lack));
        node = flat.channel(lack.channel).from().0.index();
    };
    let mut cycle: Vec<Lack> = path.into_iter().skip(begin).map(|(_, lack)| lack).collect();
    let back = cycle.iter().position(|lack| flat.channel(lack.channel).link().feedback());
    cycle.rotate_left(back.unwrap_or(0));
    cycle
}

fn diagnostic(flat: &Flat, cycle: &[Lack]) -> Diagnostic {
    let waits = |lack: &Lack| {
        let channel = flat.channel(lack.channel);
        let items = if lack.more == 1 { "item" } else { "items" };
        let (from, to) = (&flat.node(channel.from().0).name(), &flat.node(channel.to().0).name());
        format!("`{to}` needs {} more {items} from `{from}`", lack.more)
    };
    let mut parts: Vec<String> = cycle.iter().take(MAX_NAMED).map(waits).collect();
    if cycle.len() > MAX_NAMED {
        parts.push(format!("and so on through {} streams", cycle.len()));
    }
    let taker = |lack: &Lack| flat.channel(lack.channel).to().0;
    let first = taker(&cycle[0]);
    let message = format!("deadlock of streams that wait for each other: {}", parts.join(", "));
    let mut error =
        Diagnostic::new(flat.span(first), message).label(format!("`{}`", flat.node(first).name()));
    let mut seen = vec![flat.span(first)];
    for node in cycle[1..].iter().take(MAX_NAMED).map(taker) {
        let span = flat.span(node);
        if !seen.contains(&span) {
            seen.push(span);
            error = error.other(span, format!("`{}`", flat.node(node).name()));
        }
    }
    error.hint("enqueue more items, or make the loop return as many items as it consumes")
}
