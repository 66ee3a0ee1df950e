//! In what order nodes fire.

use super::{Actor, Facts};
use thalweg_lang::flat::NodeId;
use thalweg_lang::schedule::Phase;

/// A part of a call of `n` steady states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// An actor fires `n` times as often as in a steady state.
    All(usize),
    /// A group of actors, by its place among the plan's blocks, fires for `n` steady states.
    Blocks(usize),
    /// These, `n` times one after the other.
    Rounds(Vec<Round>),
}

/// A part of a turn round feedback loops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Round {
    /// An actor fires so many times.
    Fire(usize, u64),
    /// These, so many times.
    Repeat(u64, Vec<Round>),
}

/// The steps of a region.
pub(super) fn steps(facts: &Facts<'_>, actors: &[Actor]) -> Vec<Step> {
    let spans = loops(facts);
    let span_of = |phase: &Phase| {
        let node = first(phase)?;
        spans.iter().position(|(from, to)| (*from..=*to).contains(&node.0))
    };
    let mut steps: Vec<Step> = Vec::new();
    let mut last = None;
    for phase in &facts.region.steady {
        let span = span_of(phase);
        match (span, rounds(phase, actors)) {
            (_, None) => {}
            (None, Some(Round::Fire(actor, _))) => steps.push(Step::All(actor)),
            (_, Some(round)) => match steps.last_mut() {
                Some(Step::Rounds(rounds)) if span.is_some() && span == last => rounds.push(round),
                _ => steps.push(Step::Rounds(vec![round])),
            },
        }
        last = span;
    }
    steps
}

/// The nodes of each feedback loop: from the first to the last, since nodes stand in data-flow order.
fn loops(facts: &Facts<'_>) -> Vec<(u32, u32)> {
    let back = facts.compiled.flat.channels.iter().filter(|channel| channel.back);
    let mut spans: Vec<(u32, u32)> = back.map(|channel| (channel.to.0, channel.from.0)).collect();
    spans.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.0 <= last.1 => last.1 = last.1.max(span.1),
            _ => merged.push(span),
        }
    }
    merged
}

fn first(phase: &Phase) -> Option<NodeId> {
    match phase {
        Phase::Fire(node, _) => Some(*node),
        Phase::Repeat(_, inner) => inner.iter().find_map(first),
    }
}

fn rounds(phase: &Phase, actors: &[Actor]) -> Option<Round> {
    match phase {
        Phase::Fire(node, count) => {
            let actor = actors.iter().position(|actor| actor.node == *node)?;
            (*count > 0).then_some(Round::Fire(actor, *count))
        }
        Phase::Repeat(times, inner) => {
            let inner: Vec<Round> = inner.iter().filter_map(|phase| rounds(phase, actors)).collect();
            (!inner.is_empty()).then_some(Round::Repeat(*times, inner))
        }
    }
}
