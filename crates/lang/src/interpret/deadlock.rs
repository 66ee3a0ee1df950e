//! Feedback loops of dynamic rates that wait for themselves. (Those of static rates are found before anything runs.)
//!
//! When nothing goes on, a node is *stuck* if it lacks items, and all that could give them are stuck too: whatever
//! comes from outside, it never fires again. Nodes that also wait for somebody who is not stuck are not counted,
//! since what they wait for may come, or be over because the input is. Among stuck nodes there is a circle.

use crate::Compiled;
use crate::diagnostic::Diagnostic;
use crate::flat::{ChannelId, Flat, NodeId};

/// Items that a node lacks on a channel to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lack {
    /// The channel.
    pub channel: ChannelId,
    /// How many items there should be besides those that are there.
    pub more: u64,
}

/// More nodes of a circle are not named.
const NAMED: usize = 8;

/// Whether a program has loops that only a run can tell to be stuck.
pub fn may_be_stuck(compiled: &Compiled) -> bool {
    let region_of = compiled.schedule.region_of();
    compiled
        .flat
        .channels
        .iter()
        .any(|channel| channel.back && region_of[channel.from.0 as usize] != region_of[channel.to.0 as usize])
}

/// A circle of nodes that wait for each other, where no node can fire; `lacking` is what each lacks.
pub fn deadlock(flat: &Flat, lacking: impl FnMut(NodeId) -> Vec<Lack>) -> Option<Diagnostic> {
    let lacks: Vec<Vec<Lack>> = (0..flat.nodes.len() as u32).map(NodeId).map(lacking).collect();
    let mut stuck: Vec<bool> = lacks.iter().map(|lacks| !lacks.is_empty()).collect();
    let mut fewer = true;
    while std::mem::take(&mut fewer) {
        for (node, lacks) in lacks.iter().enumerate() {
            let may_go_on = lacks.iter().any(|lack| !stuck[flat.channel(lack.channel).from.0 as usize]);
            fewer |= stuck[node] && may_go_on;
            stuck[node] &= !may_go_on;
        }
    }
    let first = stuck.iter().position(|stuck| *stuck)?;
    Some(told(flat, &circle(flat, &lacks, first)))
}

/// What each of a circle lacks, beginning with one that waits for a way back.
fn circle(flat: &Flat, lacks: &[Vec<Lack>], from: usize) -> Vec<Lack> {
    let mut way: Vec<(usize, Lack)> = Vec::new();
    let mut node = from;
    let begin = loop {
        if let Some(begin) = way.iter().position(|(seen, _)| *seen == node) {
            break begin;
        }
        let lack = lacks[node][0];
        way.push((node, lack));
        node = flat.channel(lack.channel).from.0 as usize;
    };
    let mut circle: Vec<Lack> = way.into_iter().skip(begin).map(|(_, lack)| lack).collect();
    let back = circle.iter().position(|lack| flat.channel(lack.channel).back);
    circle.rotate_left(back.unwrap_or(0));
    circle
}

fn told(flat: &Flat, circle: &[Lack]) -> Diagnostic {
    let waits = |lack: &Lack| {
        let channel = flat.channel(lack.channel);
        let items = if lack.more == 1 { "item" } else { "items" };
        let (from, to) = (&flat.node(channel.from).name, &flat.node(channel.to).name);
        format!("`{to}` needs {} more {items} from `{from}`", lack.more)
    };
    let mut parts: Vec<String> = circle.iter().take(NAMED).map(waits).collect();
    if circle.len() > NAMED {
        parts.push(format!("and so on, round {} streams", circle.len()));
    }
    let taker = |lack: &Lack| flat.node(flat.channel(lack.channel).to);
    let first = taker(&circle[0]);
    let message = format!("these wait for each other, and none can go on: {}", parts.join(", "));
    let mut error = Diagnostic::new(first.span, message).label(format!("`{}`", first.name));
    let mut seen = vec![first.span];
    for node in circle[1..].iter().take(NAMED).map(taker) {
        if !seen.contains(&node.span) {
            seen.push(node.span);
            error = error.other(node.span, format!("`{}`", node.name));
        }
    }
    error.hint("enqueue more items, or let the loop give back as many as it takes")
}
