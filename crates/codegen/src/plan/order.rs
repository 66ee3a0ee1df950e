//! The order of firings.

use super::{Actor, Bundle, Facts, Family, Plan, long};
use crate::lower::NodeCode;
use thalweg_lang::flat::NodeId;
use thalweg_lang::schedule::Phase;

/// A step of a call of `n` steady states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// An actor does the firings of `n` steady states.
    All(usize),
    /// A group of actors, by its index in the plan's blocks, does `n` steady states.
    Blocks(usize),
    /// These rounds, `n` times.
    Rounds(Vec<Round>),
    /// All siblings of a family fire together.
    Family(usize),
    /// All filters of a bundle fire together.
    Bundle(usize),
}

impl Step {
    /// Its units in one steady state: an actor's firings, those of a family or bundle, one round, or one
    /// block.
    pub(crate) fn times(&self, plan: &Plan) -> u64 {
        match self {
            Step::All(actor) => plan.actors[*actor].firings,
            Step::Family(family) => plan.families[*family].firings,
            Step::Bundle(bundle) => plan.bundles[*bundle].firings,
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
                    Round::Repeat(_, inner) | Round::AtOnce(_, inner) => inside(inner, all),
                }
            }
        }
        let mut all = Vec::new();
        match self {
            Step::All(actor) => all.push(*actor),
            Step::Family(family) => all.extend(&plan.families[*family].actors),
            Step::Bundle(bundle) => all.extend(&plan.bundles[*bundle].actors),
            Step::Blocks(block) => all.extend(&plan.blocks[*block].actors),
            Step::Rounds(rounds) => inside(rounds, &mut all),
        }
        all
    }
}

/// A part of a feedback loop's round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Round {
    /// An actor fires this many times.
    Fire(usize, u64),
    /// These, this many times.
    Repeat(u64, Vec<Round>),
    /// A whole round: actors fire for up to this many rounds at once, since the loop holds the items for it.
    AtOnce(u64, Vec<Round>),
}

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
                let turns = facts.spans[span].turns.iter().filter_map(|phase| rounds(phase, actors));
                steps.push(Step::Rounds(turns.collect()));
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

/// The steps with each family and bundle as one. All other actors keep their order, so that failures and
/// prints do. Families and bundles are removed if their members cannot fire at one time.
pub(super) fn with_families(
    actors: &[Actor],
    steps: &[Step],
    families: &mut Vec<Family>,
    bundles: &mut Vec<Bundle>,
) -> Vec<Step> {
    loop {
        if families.is_empty() && bundles.is_empty() {
            return steps.to_vec();
        }
        let families_of = families.iter().enumerate().map(|(at, of)| (Step::Family(at), &of.actors[..]));
        let bundles_of = bundles.iter().enumerate().map(|(at, of)| (Step::Bundle(at), &of.actors[..]));
        match together(actors, steps, &families_of.chain(bundles_of).collect::<Vec<_>>()) {
            Ok(steps) => return steps,
            Err(Step::Bundle(bundle)) => _ = bundles.remove(bundle),
            Err(Step::Family(family)) => _ = families.remove(family),
            // Removing a single group does not help: go back to the original steps.
            Err(_) => {
                families.clear();
                bundles.clear();
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
        match step {
            Step::All(actor) if let Some((unit, group)) = group_of(*actor) => {
                if !units.iter().any(|(step, _)| step == unit) {
                    units.push((unit.clone(), group.to_vec()));
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
        let is_group = |step: &Step| matches!(step, Step::Family(_) | Step::Bundle(_));
        let is_family = |unit: usize| is_group(&units[unit].0);
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
        Step::Family(_) | Step::Bundle(_) | Step::Blocks(_) => {}
    }
}

/// The nodes of each feedback loop, as a range, since nodes are in data-flow order.
pub(super) fn loops(facts: &Facts<'_>) -> Vec<(u32, u32)> {
    let back = facts.compiled.flat.channels().iter().filter(|channel| channel.link.feedback);
    let mut spans: Vec<(u32, u32)> = back.map(|channel| (channel.to.0.0, channel.from.0.0)).collect();
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
