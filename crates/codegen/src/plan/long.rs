//! Feedback loops with enough items on their way back for each node to fire for many rounds at once.

use super::{Actor, Facts, Round, held, loops};
use crate::lower::NodeCode;
use thalweg_lang::flat::{ChannelId, NodeId};

/// The fewest rounds that are worth doing at once.
const LEAST: i64 = 16;

/// Lets the actors of a loop fire for several rounds at once, if the loop holds the items for it. (The order
/// of a node that may fail is visible: the other nodes of its round fire before it, those of the next round
/// must not.)
pub(super) fn at_once(
    facts: &Facts<'_>,
    actors: &[Actor],
    codes: &[Option<NodeCode>],
    rounds: &mut Vec<Round>,
) {
    let mut all = Vec::new();
    inside(rounds, &mut all);
    all.sort_unstable_by_key(|actor| actors[*actor].node);
    all.dedup();
    let seen = |node: NodeId| {
        codes.get(node.0 as usize).and_then(Option::as_ref).is_some_and(|codes| {
            codes
                .all()
                .any(|code| !code.sites.is_empty() || !code.formats.is_empty() || !code.messages.is_empty())
                || !codes.handlers.is_empty()
        })
    };
    let nodes = || all.iter().map(|actor| actors[*actor].node);
    let (Some(first), Some(last)) = (nodes().min(), nodes().max()) else { return };
    if nodes().any(seen) || !facts.spans.is_empty() {
        return;
    }
    let at_once = rounds_at_once(facts, first, last);
    if at_once >= LEAST {
        let fires = all.iter().map(|actor| Round::Fire(*actor, actors[*actor].firings));
        *rounds = vec![Round::AtOnce(at_once as u64, fires.collect())];
    }
}

fn inside(rounds: &[Round], all: &mut Vec<usize>) {
    for round in rounds {
        match round {
            Round::Fire(actor, _) => all.push(*actor),
            Round::Repeat(_, inner) | Round::AtOnce(_, inner) => inside(inner, all),
        }
    }
}

/// The most rounds for which the nodes of a loop can fire one after the other, in data-flow order.
fn rounds_at_once(facts: &Facts<'_>, first: NodeId, last: NodeId) -> i64 {
    let flat = &facts.compiled.flat;
    // The whole loops that contain them: nodes that only forward items are not actors.
    let spans = loops(facts);
    let Some(span) = spans.iter().find(|span| span.0 <= first.0 && last.0 <= span.1) else { return 0 };
    let mut most = i64::MAX;
    for (at, channel) in flat.channels().iter().enumerate() {
        let within = |node: NodeId| (span.0..=span.1).contains(&node.0);
        if !within(channel.from().0) || !within(channel.to().0) {
            continue;
        }
        let id = ChannelId(at as u32);
        let (read, written) = held(facts, id, 0);
        let spare = written - read - facts.ahead(id);
        let each = held(facts, id, 1).0 - read;
        if spare < 0 {
            return 0;
        }
        if channel.link().feedback() && each > 0 {
            most = most.min(spare / each);
        }
    }
    if most == i64::MAX { 0 } else { most }
}
