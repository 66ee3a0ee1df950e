//! Which siblings fire together, and how.

use super::families::{Found, Group, find, interleaved};
use super::{Actor, Facts, Place, Port, Root, Step, order, worth};
use crate::emit::items::Items;
use crate::emit::lanes::Varies;
use crate::emit::program::NodeCode;
use crate::ir::Code;
use crate::siblings::{Joint, join, parts};
use thalweg_lang::flat::{NodeId, NodeKind};
use thalweg_lang::tree;
use thalweg_lang::value::Value;

/// Together must be better by this factor.
const BETTER: f64 = 0.85;

/// Siblings that fire together.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Family {
    /// By sibling.
    pub(crate) actors: Vec<usize>,
    /// What they do; the lanes of a sibling lie side by side.
    pub(crate) joint: Joint,
    /// Fields that are the same integers in all.
    pub(crate) same: Vec<u32>,
    /// Lanes of a vector.
    pub(crate) width: usize,
    /// The items of the sibling that comes first in the root.
    pub(crate) input: Option<Port>,
    pub(crate) output: Port,
    /// By lane: cells from those to its own.
    pub(crate) from: Vec<i64>,
    pub(crate) to: Vec<i64>,
    pub(crate) firings: u64,
}

/// What has been planned so far.
#[derive(Clone)]
pub(super) struct Planned {
    pub(super) places: Vec<Option<Place>>,
    pub(super) actors: Vec<Actor>,
    pub(super) roots: Vec<Root>,
    pub(super) steps: Vec<Step>,
}

/// A group with the code that suits it best, and what it costs without and with it.
struct Candidate {
    group: Group,
    joint: Joint,
    same: Vec<u32>,
    width: usize,
    costs: (f64, f64),
}

/// Actors and roots for places; the node that stands in the way where there are none.
type Made = Result<Result<(Vec<Actor>, Vec<Root>), NodeId>, String>;

/// Plans with families, where they pay.
pub(super) fn choose(
    facts: &Facts<'_>,
    codes: &[Option<NodeCode>],
    actors: &dyn Fn(&[Option<Place>]) -> Made,
    planned: Planned,
    lanes: usize,
) -> Result<(Planned, Vec<Family>), String> {
    let found = find(facts, codes, (&planned.actors, &planned.roots), &planned.steps);
    let Found { groups, classes } = found;
    let candidates = groups.into_iter().filter_map(|group| candidate(facts, codes, &planned, group, lanes));
    let candidates: Vec<Candidate> = candidates.collect();
    let chosen = worthwhile(candidates, classes.len());
    let used: Vec<&Vec<usize>> = classes
        .iter()
        .enumerate()
        .filter(|(class, _)| chosen.iter().any(|candidate| candidate.group.classes.contains(class)))
        .map(|(_, roots)| roots)
        .collect();
    let mut with = planned.clone();
    if !used.is_empty() {
        with.places = interleaved(&planned.places, &planned.roots, &used);
        match actors(&with.places)? {
            Ok((actors, roots)) => (with.actors, with.roots) = (actors, roots),
            Err(_) => return Ok((planned, Vec::new())),
        }
    }
    let mut families: Vec<Family> = Vec::new();
    for candidate in chosen {
        if let Some(family) = family(codes, &with.actors, candidate) {
            families.push(family);
        }
    }
    with.steps = order::with_families(&with.actors, &with.steps, &mut families);
    Ok((with, families))
}

fn candidate(
    facts: &Facts<'_>,
    codes: &[Option<NodeCode>],
    planned: &Planned,
    group: Group,
    lanes: usize,
) -> Option<Candidate> {
    let works: Vec<&Code> =
        group.actors.iter().map(|actor| work_of(codes, &planned.actors[*actor])).collect::<Option<_>>()?;
    let actor = &planned.actors[group.actors[0]];
    let (input, output) = (actor.inputs.first().map(|port| &port.items), &actor.outputs[0].items);
    let same = same_fields(facts, codes, planned, &group);
    let strides = strides(planned, &group);
    let split: Option<Vec<Vec<Code>>> = works.iter().map(|code| parts(code, output.cells)).collect();
    let split: Option<Vec<Code>> = split.map(|split| split.into_iter().flatten().collect());
    let (whole, split) = (join(&works), split.and_then(|split| join(&split.iter().collect::<Vec<_>>())));
    let better = [whole, split].into_iter().flatten().filter_map(|joint| {
        let varies = Varies::among(&joint, &same)?;
        let items = joint.lanes / group.actors.len();
        // The parts of an item are neighbours, and one of several cells is not one of its neighbour's.
        let next = |stride: i64, cells: usize| {
            if items == 1 && cells > 1 { stride * cells as i64 } else { stride }
        };
        let strides = (next(strides.0, input.map_or(1, |items| items.cells)), next(strides.1, output.cells));
        let (cost, width) = worth::together(&joint, &varies, strides, lanes);
        Some((cost, width, joint))
    });
    let (cost, width, joint) = better.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let alone: f64 = works.iter().map(|code| worth::alone(code, input, output, lanes)).sum();
    let times = actor.firings as f64;
    Some(Candidate { group, joint, same, width, costs: (alone * times, cost * times) })
}

fn work_of<'a>(codes: &'a [Option<NodeCode>], actor: &Actor) -> Option<&'a Code> {
    codes[actor.node.0 as usize].as_ref().map(|codes| &codes.work)
}

/// Integer fields that begin as the same in all siblings, and are only changed by what they all do alike.
fn same_fields(facts: &Facts<'_>, codes: &[Option<NodeCode>], planned: &Planned, group: &Group) -> Vec<u32> {
    let mut all = Vec::new();
    for actor in &group.actors {
        let node = planned.actors[*actor].node;
        let NodeKind::Filter(id) = facts.compiled.flat.node(node).kind else { return Vec::new() };
        let tree::Code::Written { fields, .. } = &facts.compiled.tree.filters[id.0 as usize].code else {
            return Vec::new();
        };
        // A first firing that is another may change them in another way.
        if codes[node.0 as usize].as_ref().is_none_or(|codes| codes.prework.is_some()) {
            return Vec::new();
        }
        all.push(fields);
    }
    let equal = |field: usize| {
        let is_int = matches!(all[0][field], Value::Int(_) | Value::Bool(_));
        is_int && all.iter().all(|fields| fields[field] == all[0][field])
    };
    (0..all[0].len()).filter(|field| equal(*field)).map(|field| field as u32).collect()
}

/// Items from one sibling to the next, on both sides; any other number where that is not the same for all.
fn strides(planned: &Planned, group: &Group) -> (i64, i64) {
    let of = |ports: Vec<&Port>| {
        if ports.is_empty() {
            return 0;
        }
        // Roots of their own become one in which they lie side by side.
        if ports.iter().any(|port| port.root != ports[0].root) {
            return 1;
        }
        let mut bases: Vec<i64> = ports.iter().map(|port| port.items.base).collect();
        bases.sort_unstable();
        let step = bases[1] - bases[0];
        if bases.windows(2).all(|pair| pair[1] - pair[0] == step) { step } else { i64::MAX }
    };
    let actors = || group.actors.iter().map(|actor| &planned.actors[*actor]);
    (
        of(actors().filter_map(|actor| actor.inputs.first()).collect()),
        of(actors().filter_map(|actor| actor.outputs.first()).collect()),
    )
}

/// Groups that are joined by classes are chosen together or not at all.
fn worthwhile(mut candidates: Vec<Candidate>, classes: usize) -> Vec<Candidate> {
    // By class, the least of those that it is connected with.
    let mut least: Vec<usize> = (0..classes).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for candidate in &candidates {
            let all = &candidate.group.classes;
            let Some(lowest) = all.iter().map(|class| least[*class]).min() else { continue };
            for class in all {
                changed |= std::mem::replace(&mut least[*class], lowest) != lowest;
            }
        }
    }
    let part = |candidate: &Candidate| candidate.group.classes.first().map(|class| least[*class]);
    let mut sums = vec![(0.0, 0.0); classes];
    for candidate in &candidates {
        if let Some(part) = part(candidate) {
            sums[part].0 += candidate.costs.0;
            sums[part].1 += candidate.costs.1;
        }
    }
    candidates.retain(|candidate| {
        let (alone, together) = part(candidate).map_or(candidate.costs, |part| sums[part]);
        together < alone * BETTER
    });
    candidates
}

/// A family where its siblings really are, if that is in one root on each side.
fn family(codes: &[Option<NodeCode>], actors: &[Actor], candidate: Candidate) -> Option<Family> {
    let Candidate { mut group, joint, same, width, .. } = candidate;
    let place = |actor: usize| {
        let actor = &actors[actor];
        (actor.outputs[0].items.base, actor.inputs.first().map(|port| port.items.base))
    };
    let before = group.actors.clone();
    group.actors.sort_by_key(|actor| place(*actor));
    let parts_each = joint.lanes / group.actors.len();
    let joint = if group.actors == before { joint } else { joined(codes, actors, &group, parts_each)? };
    let input = match side(&group.actors, |actor| actors[actor].inputs.first()) {
        Side::None => None,
        Side::One(port, offsets) => Some((port, offsets)),
        Side::Several => return None,
    };
    let Side::One(output, to) = side(&group.actors, |actor| actors[actor].outputs.first()) else {
        return None;
    };
    let by_lane = |offsets: Vec<i64>| -> Vec<i64> {
        offsets.into_iter().flat_map(|offset| std::iter::repeat_n(offset, parts_each)).collect()
    };
    let siblings = group.actors.len();
    let (input, from) = input.map_or((None, vec![0; siblings]), |(port, offsets)| (Some(port), offsets));
    let firings = actors[group.actors[0]].firings;
    let (from, to) = (by_lane(from), by_lane(to));
    Some(Family { actors: group.actors, joint, same, width, input, output, from, to, firings })
}

fn joined(codes: &[Option<NodeCode>], actors: &[Actor], group: &Group, each: usize) -> Option<Joint> {
    let works: Vec<&Code> =
        group.actors.iter().map(|actor| work_of(codes, &actors[*actor])).collect::<Option<_>>()?;
    if each == 1 {
        return join(&works);
    }
    let split: Option<Vec<Vec<Code>>> = works.iter().map(|code| parts(code, each)).collect();
    join(&split?.iter().flatten().collect::<Vec<_>>())
}

enum Side {
    None,
    /// The first, and how many cells after it each begins.
    One(Port, Vec<i64>),
    Several,
}

fn side<'a>(siblings: &[usize], port: impl Fn(usize) -> Option<&'a Port>) -> Side {
    let ports: Option<Vec<&Port>> = siblings.iter().map(|actor| port(*actor)).collect();
    let Some(ports) = ports else { return Side::None };
    let base = ports.iter().map(|port| port.items.base).min().unwrap_or(0);
    let first = Port { root: ports[0].root, items: Items { base, ..ports[0].items.clone() } };
    let alike = |port: &&Port| port.root == first.root && Items { base, ..port.items.clone() } == first.items;
    if !ports.iter().all(alike) {
        return Side::Several;
    }
    let cells = first.items.cells as i64;
    Side::One(first, ports.iter().map(|port| (port.items.base - base) * cells).collect())
}
