//! The events for the script, in few bytes: for each event three numbers, the first as a difference.

use super::Shown;
use crate::page::escape::ScriptString;
use crate::page::put;
use std::cmp::Reverse;
use std::collections::HashMap;
use thalweg_graph::NodeId;
use thalweg_trace::{Ended, Event, What};

/// Events in a page. Where there are more, the longest.
const EVENTS: usize = 100_000;

/// Nodes whose names the page has for the script.
const NAMES: usize = 20_000;

/// The events as JSON, and the number of those left out.
pub(super) fn json(shown: &Shown<'_>) -> (String, usize) {
    let (least, left_out) = shortest(shown);
    let mut names = Names::default();
    let mut tracks = String::new();
    for (i, track) in shown.tracks.iter().enumerate() {
        put!(
            tracks,
            "{}\n{{\"name\":{},\"events\":[",
            if i == 0 { "" } else { "," },
            ScriptString(track.name)
        );
        let mut before = 0_i128;
        let mut events: Vec<&Event> = track.events.iter().filter(|event| counts(event, least)).collect();
        // What contains others comes before them.
        events.sort_by_key(|event| (event.at(), Reverse(event.what().ns())));
        for (i, event) in events.into_iter().enumerate() {
            let Some((kind, id)) = code(event, &mut names) else { continue };
            let comma = if i == 0 { "" } else { "," };
            put!(
                tracks,
                "{comma}{},{},{}",
                i128::from(event.at()) - before,
                event.what().ns(),
                kind + 16 * id
            );
            before = i128::from(event.at());
        }
        tracks.push_str("]}");
    }
    let mut json = format!("{{\"end\":{},\"tracks\":[{tracks}],\n\"nodes\":[", shown.end);
    for (i, node) in names.order.iter().enumerate() {
        put!(json, "{}{}", if i == 0 { "" } else { "," }, ScriptString(&shown.name(*node)));
    }
    json.push_str("],\"colours\":[");
    for (i, node) in names.order.iter().enumerate() {
        put!(json, "{}{}", if i == 0 { "" } else { "," }, shown.colour(*node));
    }
    json.push_str("]}");
    (json, left_out)
}

/// The nodes with names in the page, and the number of each.
#[derive(Default)]
struct Names {
    order: Vec<NodeId>,
    numbers: HashMap<NodeId, u64>,
}

impl Names {
    /// The number of a node. Those beyond the limit share the number behind the last, which has no name.
    fn number(&mut self, node: NodeId) -> u64 {
        if let Some(number) = self.numbers.get(&node) {
            return *number;
        }
        let next = self.order.len() as u64;
        if self.order.len() < NAMES {
            self.order.push(node);
            self.numbers.insert(node, next);
        }
        next
    }
}

/// Events shorter than this are left out: none, if all fit.
fn shortest(shown: &Shown<'_>) -> (u64, usize) {
    let mut lengths: Vec<u64> =
        shown.tracks.iter().flat_map(|track| track.events.iter()).map(|e| e.what().ns()).collect();
    if lengths.len() <= EVENTS {
        return (0, 0);
    }
    let cut = lengths.len() - EVENTS;
    let (_, least, _) = lengths.select_nth_unstable(cut);
    // Longer than the cut, so that many events of one length do not exceed the limit.
    let least = least.saturating_add(1);
    let left_out = lengths.iter().filter(|length| **length < least).count();
    (least, left_out)
}

fn counts(event: &Event, least: u64) -> bool {
    match event.what() {
        What::Fill { .. } => false,
        What::Growth { .. } => true,
        _ => event.what().ns() >= least,
    }
}

/// The kind of an event in the script's numbers, and the number of its node.
fn code(event: &Event, names: &mut Names) -> Option<(u64, u64)> {
    Some(match event.what() {
        What::Activation { node, ended, .. } => {
            let kind = match ended {
                Ended::Empty(_) => 0,
                Ended::Full(_) => 1,
                Ended::Waiting => 2,
                Ended::Budget => 3,
                Ended::Done => 4,
                Ended::Refused => 5,
            };
            (kind, names.number(node))
        }
        What::Steal { node, .. } => (6, names.number(node)),
        What::Spin { .. } => (7, 0),
        What::Park { .. } => (8, 0),
        What::Growth { .. } => (9, 0),
        What::Loop { node, .. } => (10, names.number(node)),
        What::TaskGraph { node, .. } => (11, names.number(node)),
        What::Stall { node, .. } => (12, names.number(node)),
        What::Fill { .. } => return None,
    })
}
