//! In what order nodes fire.

use super::{Actor, Facts, Family, Plan};
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
    /// All siblings of a family do, together.
    Family(usize),
}

impl Step {
    /// What a call of one steady state makes of it: an actor's firings, one turn, or one block.
    pub(crate) fn times(&self, plan: &Plan) -> u64 {
        match self {
            Step::All(actor) => plan.actors[*actor].firings,
            Step::Family(family) => plan.families[*family].firings,
            Step::Rounds(_) | Step::Blocks(_) => 1,
        }
    }

    /// Its actors.
    pub(crate) fn actors(&self, plan: &Plan) -> Vec<usize> {
        fn inside(rounds: &[Round], all: &mut Vec<usize>) {
            for round in rounds {
                match round {
                    Round::Fire(actor, _) if all.contains(actor) => {}
                    Round::Fire(actor, _) => all.push(*actor),
                    Round::Repeat(_, inner) => inside(inner, all),
                }
            }
        }
        let mut all = Vec::new();
        match self {
            Step::All(actor) => all.push(*actor),
            Step::Family(family) => all.extend(&plan.families[*family].actors),
            Step::Blocks(block) => all.extend(&plan.blocks[*block].actors),
            Step::Rounds(rounds) => inside(rounds, &mut all),
        }
        all
    }
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

/// The same steps with families as one each. What is in none of them keeps its order, so that failures and
/// prints do. Families that cannot be done at one time are taken away.
pub(super) fn with_families(actors: &[Actor], steps: &[Step], families: &mut Vec<Family>) -> Vec<Step> {
    loop {
        if families.is_empty() {
            return steps.to_vec();
        }
        match together(actors, steps, families) {
            Ok(steps) => return steps,
            Err(family) => _ = families.remove(family),
        }
    }
}

/// The steps in an order in which each comes after all whose items it takes; a family in the way where
/// there is none.
fn together(actors: &[Actor], steps: &[Step], families: &[Family]) -> Result<Vec<Step>, usize> {
    let family_of = |actor: usize| families.iter().position(|family| family.actors.contains(&actor));
    let mut units: Vec<(Step, Vec<usize>)> = Vec::new();
    for step in steps {
        let mut all = Vec::new();
        members(step, &mut all);
        match step {
            Step::All(actor) if let Some(family) = family_of(*actor) => {
                let unit = Step::Family(family);
                if !units.iter().any(|(step, _)| *step == unit) {
                    units.push((unit, families[family].actors.clone()));
                }
            }
            _ => units.push((step.clone(), all)),
        }
    }
    let roots = |of: &[usize], takes: bool| -> Vec<usize> {
        let ports = of.iter().flat_map(|actor| {
            if takes { actors[*actor].inputs.iter() } else { actors[*actor].outputs.iter() }
        });
        ports.map(|port| port.root).collect()
    };
    let sides: Vec<(Vec<usize>, Vec<usize>)> =
        units.iter().map(|(_, of)| (roots(of, true), roots(of, false))).collect();
    let mut done = vec![false; units.len()];
    let mut order = Vec::new();
    while order.len() < units.len() {
        let is_family = |unit: usize| matches!(units[unit].0, Step::Family(_));
        let ready = |unit: usize| {
            (0..units.len()).all(|other| {
                let gives = sides[other].1.iter().any(|root| sides[unit].0.contains(root));
                let before = gives || (other < unit && !is_family(unit) && !is_family(other));
                other == unit || done[other] || !before
            })
        };
        match (0..units.len()).find(|unit| !done[*unit] && ready(*unit)) {
            Some(unit) => {
                done[unit] = true;
                order.push(units[unit].0.clone());
            }
            None => {
                let stuck = units.iter().zip(&done).find_map(|((step, _), done)| match step {
                    Step::Family(family) if !done => Some(*family),
                    _ => None,
                });
                return Err(stuck.unwrap_or(0));
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
                Round::Repeat(_, inner) => of_rounds(inner, all),
            }
        }
    }
    match step {
        Step::All(actor) => all.push(*actor),
        Step::Rounds(rounds) => of_rounds(rounds, all),
        Step::Family(_) | Step::Blocks(_) => {}
    }
}

/// The nodes of each feedback loop: from the first to the last, since nodes stand in data-flow order.
pub(super) fn loops(facts: &Facts<'_>) -> Vec<(u32, u32)> {
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
