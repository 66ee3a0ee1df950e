//! The order of firings.

use super::long;
use super::{Actor, Facts, FusedKernel, Pack, Round, Step, loops};
use crate::lower::NodeCode;
use thalweg_lang::flat::NodeId;
use thalweg_lang::schedule::Phase;

/// The steps of a region.
pub(super) fn steps(facts: &Facts<'_>, actors: &[Actor], codes: &[Option<NodeCode>]) -> Vec<Step> {
    let spans = loops(facts);
    let span_of = |phase: &Phase| {
        let node = first(phase)?;
        spans.iter().position(|(from, to)| (*from..=*to).contains(&node.0))
    };
    let mut steps: Vec<Step> = Vec::new();
    let mut last = None;
    let mut tied = vec![false; facts.spans.len()];
    for phase in &facts.region.steady {
        if let Some(span) = first(phase).and_then(|node| tied_in(facts, node)) {
            if !std::mem::replace(&mut tied[span], true) {
                let phases = facts.spans[span].phases.iter().filter_map(|phase| rounds(phase, actors));
                steps.push(Step::Rounds(phases.collect()));
            }
            last = None;
            continue;
        }
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
    for step in &mut steps {
        if let Step::Rounds(rounds) = step {
            long::at_once(facts, actors, codes, rounds);
        }
    }
    steps
}

/// The span that keeps a node in order because of messages.
fn tied_in(facts: &Facts<'_>, node: NodeId) -> Option<usize> {
    facts.spans.iter().position(|span| (span.first..=span.last).contains(&node.0))
}

/// The steps with each pack and kernel as one. All other actors keep their order, so that failures and
/// prints do. Packs and kernels are removed if their members cannot fire at one time.
pub(super) fn with_packs(
    actors: &[Actor],
    steps: &[Step],
    packs: &mut Vec<Pack>,
    kernels: &mut Vec<FusedKernel>,
) -> Vec<Step> {
    loop {
        if packs.is_empty() && kernels.is_empty() {
            return steps.to_vec();
        }
        let packs_of = packs.iter().enumerate().map(|(at, of)| (Step::Pack(at), &of.actors[..]));
        let kernels_of = kernels.iter().enumerate().map(|(at, of)| (Step::Fused(at), &of.actors[..]));
        match together(actors, steps, &packs_of.chain(kernels_of).collect::<Vec<_>>()) {
            Ok(steps) => return steps,
            Err(Step::Fused(kernel)) => _ = kernels.remove(kernel),
            Err(Step::Pack(pack)) => _ = packs.remove(pack),
            // Removing a single group does not help: go back to the original steps.
            Err(_) => {
                packs.clear();
                kernels.clear();
            }
        }
    }
}

/// Orders the steps so that each comes after all steps that write what it reads; returns the group that
/// blocks such an order, if there is none.
fn together(actors: &[Actor], steps: &[Step], groups: &[(Step, &[usize])]) -> Result<Vec<Step>, Step> {
    let group_of = |actor: usize| groups.iter().find(|(_, group)| group.contains(&actor));
    let mut units: Vec<(Step, Vec<usize>)> = Vec::new();
    for step in steps {
        let mut all = Vec::new();
        members(step, &mut all);
        let group = if let Step::All(actor) = step { group_of(*actor) } else { None };
        match group {
            Some((unit, group)) if !units.iter().any(|(step, _)| step == unit) => {
                units.push((unit.clone(), group.to_vec()));
            }
            Some(_) => {}
            None => units.push((step.clone(), all)),
        }
    }
    let buffers = |of: &[usize], takes: bool| -> Vec<usize> {
        let ports = of.iter().flat_map(|actor| {
            if takes { actors[*actor].inputs.iter() } else { actors[*actor].outputs.iter() }
        });
        ports.map(|port| port.buffer).collect()
    };
    let sides: Vec<(Vec<usize>, Vec<usize>)> =
        units.iter().map(|(_, of)| (buffers(of, true), buffers(of, false))).collect();
    let mut done = vec![false; units.len()];
    let mut order = Vec::new();
    while order.len() < units.len() {
        let is_group = |step: &Step| matches!(step, Step::Pack(_) | Step::Fused(_));
        let is_pack = |unit: usize| is_group(&units[unit].0);
        let ready = |unit: usize| {
            (0..units.len()).all(|other| {
                let gives = sides[other].1.iter().any(|buffer| sides[unit].0.contains(buffer));
                let before = gives || (other < unit && !is_pack(unit) && !is_pack(other));
                other == unit || done[other] || !before
            })
        };
        match (0..units.len()).find(|unit| !done[*unit] && ready(*unit)) {
            Some(unit) => {
                done[unit] = true;
                order.push(units[unit].0.clone());
            }
            None => {
                let stuck = units.iter().zip(&done).find(|((step, _), done)| !**done && is_group(step));
                return Err(stuck.map_or(Step::Rounds(Vec::new()), |((step, _), _)| step.clone()));
            }
        }
    }
    Ok(order)
}

fn members(step: &Step, all: &mut Vec<usize>) {
    fn of_rounds(rounds: &[Round], all: &mut Vec<usize>) {
        for round in rounds {
            match round {
                Round::Fire(actor, _) => all.push(*actor),
                Round::Repeat(_, inner) | Round::AtOnce(_, inner) => of_rounds(inner, all),
            }
        }
    }
    match step {
        Step::All(actor) => all.push(*actor),
        Step::Rounds(rounds) => of_rounds(rounds, all),
        Step::Pack(_) | Step::Fused(_) | Step::Unrolled(_) => {}
    }
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
