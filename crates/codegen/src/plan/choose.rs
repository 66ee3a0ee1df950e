//! Chooses the SIMD packs and fused kernels that pay.

use super::fused::{self, FusedKernel, kernel};
use super::packs::{Found, Group, find, interleaved};
use super::{Actor, Buffer, Facts, Items, Pack, Port, Step, View, cost, order};
use crate::ir::Code;
use crate::isomorphic::{Joint, join, parts};
use crate::lower::NodeCode;
use crate::uniformity::Divergence;
use thalweg_lang::flat::NodeId;
use thalweg_lang::tree;
use thalweg_lang::value::Value;

/// A candidate must cost less than this factor of the original.
const BETTER: f64 = 0.85;

/// The plan so far.
#[derive(Clone)]
pub(super) struct Planned {
    pub(super) views: Vec<Option<View>>,
    pub(super) actors: Vec<Actor>,
    pub(super) buffers: Vec<Buffer>,
    pub(super) steps: Vec<Step>,
}

/// A group with its best code, and its costs without and with packing.
#[derive(Clone)]
struct Candidate {
    group: Group,
    joint: Joint,
    same: Vec<u32>,
    width: usize,
    costs: (f64, f64),
}

/// Actors and buffers for given views; or the node that must copy first.
type Made = Result<Result<(Vec<Actor>, Vec<Buffer>), NodeId>, String>;

/// A plan with its packs and kernels.
type Chosen = (Planned, Vec<Pack>, Vec<FusedKernel>);

/// The input of the choice.
struct Choice<'a> {
    facts: &'a Facts<'a>,
    codes: &'a [Option<NodeCode>],
    actors: &'a dyn Fn(&[Option<View>]) -> Made,
    planned: Planned,
    lanes: usize,
}

/// Candidates for packs, and classes of buffers that can be interleaved.
struct Groups {
    candidates: Vec<Candidate>,
    classes: Vec<Vec<usize>>,
}

/// Adds packs to a plan where they pay, and kernels if `fused`.
pub(super) fn choose(
    facts: &Facts<'_>,
    codes: &[Option<NodeCode>],
    actors: &dyn Fn(&[Option<View>]) -> Made,
    planned: Planned,
    (lanes, fused): (usize, bool),
) -> Result<Chosen, String> {
    let choice = Choice { facts, codes, actors, planned, lanes };
    let groups = choice.groups(&[]);
    let mut kernels = Vec::new();
    for kernel in if fused { choice.kernels() } else { Vec::new() } {
        if choice.pays(&groups, &kernel)? {
            kernels.push(kernel);
        }
    }
    loop {
        match choice.with(&choice.groups(&kernels), &kernels)? {
            Ok(chosen) => return Ok(chosen),
            Err(kernel) => _ = kernels.remove(kernel),
        }
    }
}

impl Choice<'_> {
    fn kernels(&self) -> Vec<fused::Candidate> {
        let Planned { views, actors, buffers, steps } = &self.planned;
        fused::find(self.facts, self.codes, views, (actors, buffers), steps)
    }

    /// The groups of filters that are in none of these kernels.
    fn groups(&self, kernels: &[fused::Candidate]) -> Groups {
        let Planned { actors, buffers, steps, .. } = &self.planned;
        let Found { groups, classes } = find(self.facts, self.codes, (actors, buffers), steps, kernels);
        let of = |group| candidate(self.facts, self.codes, &self.planned, group, self.lanes);
        Groups { candidates: groups.into_iter().filter_map(of).collect(), classes }
    }

    /// The plan in which each of these classes is one buffer; `None` where an access has no pattern.
    fn interleaved(&self, classes: &[&Vec<usize>]) -> Result<Option<Planned>, String> {
        let mut with = self.planned.clone();
        if !classes.is_empty() {
            with.views = interleaved(&with.views, &with.buffers, classes);
            match (self.actors)(&with.views)? {
                Ok((actors, buffers)) => (with.actors, with.buffers) = (actors, buffers),
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(with))
    }

    /// Whether a kernel is faster than its filters.
    fn pays(&self, groups: &Groups, all: &fused::Candidate) -> Result<bool, String> {
        // The buffers that members write for it, and those that it writes for members, can be interleaved.
        let mut classes: Vec<&Vec<usize>> =
            groups.classes.iter().filter(|class| **class == all.entrances).collect();
        classes.extend(Some(&all.exits).filter(|exits| exits.len() > 1));
        let Some(with) = self.interleaved(&classes)? else { return Ok(false) };
        let Some(kernel) = kernel(self.codes, (&with.actors, &with.buffers), &all.actors, self.lanes) else {
            return Ok(false);
        };
        let now: f64 = all.actors.iter().map(|actor| self.cost(groups, *actor)).sum();
        Ok(kernel.cost < now * BETTER)
    }

    /// The cost of an actor alone or with its members, whichever is less.
    fn cost(&self, groups: &Groups, at: usize) -> f64 {
        let actor = &self.planned.actors[at];
        let Some(code) = work_of(self.codes, actor) else { return 0.0 };
        let (input, output) = (actor.inputs.first().map(|port| &port.items), &actor.outputs[0].items);
        let alone = cost::alone(code, input, output, self.lanes) * actor.firings as f64;
        let group = groups.candidates.iter().find(|candidate| candidate.group.actors.contains(&at));
        group.map_or(alone, |group| alone.min(group.costs.1 / group.group.actors.len() as f64))
    }

    /// The plan with these kernels and the packs of the other filters; or a kernel that cannot be in it.
    fn with(&self, groups: &Groups, all: &[fused::Candidate]) -> Result<Result<Chosen, usize>, String> {
        let Groups { candidates, classes } = groups;
        let needed =
            |class: &Vec<usize>| all.iter().any(|kernel| [&kernel.entrances, &kernel.exits].contains(&class));
        let needed: Vec<bool> = classes.iter().map(needed).collect();
        let chosen = worthwhile(candidates.clone(), &needed);
        let uses = |class: &usize| chosen.iter().any(|candidate| candidate.group.classes.contains(class));
        let used: Vec<&Vec<usize>> = (0..classes.len()).filter(uses).map(|class| &classes[class]).collect();
        let Some(mut with) = self.interleaved(&used)? else {
            let without = (self.planned.clone(), Vec::new(), Vec::new());
            return Ok(if all.is_empty() { Ok(without) } else { Err(0) });
        };
        let mut kernels = Vec::new();
        for (at, candidate) in all.iter().enumerate() {
            match kernel(self.codes, (&with.actors, &with.buffers), &candidate.actors, self.lanes) {
                Some(kernel) => kernels.push(kernel),
                None => return Ok(Err(at)),
            }
        }
        let packs = chosen.into_iter().filter_map(|candidate| pack(self.codes, &with.actors, candidate));
        let mut packs: Vec<Pack> = packs.collect();
        with.steps = order::with_packs(&with.actors, &with.steps, &mut packs, &mut kernels);
        Ok(Ok((with, packs, kernels)))
    }
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
        let divergence = Divergence::among(&joint, &same)?;
        let items = joint.lanes / group.actors.len();
        // The parts of an item are adjacent; items of several cells are further apart than those of one.
        let next = |stride: i64, cells: usize| {
            if items == 1 && cells > 1 { stride.saturating_mul(cells as i64) } else { stride }
        };
        let strides = (next(strides.0, input.map_or(1, |items| items.cells)), next(strides.1, output.cells));
        let (cost, width) = cost::together(&joint, &divergence, strides, lanes);
        Some((cost, width, joint))
    });
    let (cost, width, joint) = better.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let alone: f64 = works.iter().map(|code| cost::alone(code, input, output, lanes)).sum();
    let times = actor.firings as f64;
    Some(Candidate { group, joint, same, width, costs: (alone * times, cost * times) })
}

fn work_of<'a>(codes: &'a [Option<NodeCode>], actor: &Actor) -> Option<&'a Code> {
    codes[actor.node.0 as usize].as_ref().map(|codes| &codes.work)
}

/// Integer fields with equal initial values in all members, which only their common code changes.
fn same_fields(facts: &Facts<'_>, codes: &[Option<NodeCode>], planned: &Planned, group: &Group) -> Vec<u32> {
    let mut all = Vec::new();
    for actor in &group.actors {
        let node = planned.actors[*actor].node;
        let Some(id) = facts.compiled.flat.filter(node) else { return Vec::new() };
        let tree::Code::Written { fields, .. } = &facts.compiled.tree.filters[id.0 as usize].code else {
            return Vec::new();
        };
        // A `prework` may change them in another way.
        if codes[node.0 as usize].as_ref().is_none_or(|codes| codes.prework.is_some()) {
            return Vec::new();
        }
        all.push(fields);
    }
    let equal = |field: usize| {
        let is_int = matches!(all[0][field], Value::Int(_) | Value::Bool(_));
        // Isomorphic filters may have further fields that no code changes.
        is_int && all.iter().all(|fields| fields.get(field) == all[0].get(field))
    };
    (0..all[0].len()).filter(|field| equal(*field)).map(|field| field as u32).collect()
}

/// Items from one member to the next, on both sides; `i64::MAX` where that is not the same for all.
fn strides(planned: &Planned, group: &Group) -> (i64, i64) {
    let of = |ports: Vec<&Port>| {
        if ports.is_empty() {
            return 0;
        }
        // Buffers of their own are interleaved, so that the items are adjacent.
        if ports.iter().any(|port| port.buffer != ports[0].buffer) {
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

/// Groups connected by classes are chosen together or not at all. Groups with classes that a kernel needs are
/// always chosen.
fn worthwhile(mut candidates: Vec<Candidate>, needed: &[bool]) -> Vec<Candidate> {
    let classes = needed.len();
    // By class, the least class of its component.
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
        let is_needed = candidate.group.classes.iter().any(|class| needed[*class]);
        is_needed || together < alone * BETTER
    });
    candidates
}

/// The pack at its members' actual views, if these are in one buffer on each side.
fn pack(codes: &[Option<NodeCode>], actors: &[Actor], candidate: Candidate) -> Option<Pack> {
    let Candidate { mut group, joint, same, width, costs: (_, cost) } = candidate;
    let view = |actor: usize| {
        let actor = &actors[actor];
        (actor.outputs[0].items.base, actor.inputs.first().map(|port| port.items.base))
    };
    let before = group.actors.clone();
    group.actors.sort_by_key(|actor| view(*actor));
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
    let members = group.actors.len();
    let (input, from) = input.map_or((None, vec![0; members]), |(port, offsets)| (Some(port), offsets));
    let firings = actors[group.actors[0]].firings;
    let (from, to) = (by_lane(from), by_lane(to));
    Some(Pack { actors: group.actors, joint, same, width, input, output, from, to, firings, cost })
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
    /// The port of the first member, and the distance in cells of each one's items from it.
    One(Port, Vec<i64>),
    Several,
}

fn side<'a>(members: &[usize], port: impl Fn(usize) -> Option<&'a Port>) -> Side {
    let ports: Option<Vec<&Port>> = members.iter().map(|actor| port(*actor)).collect();
    let Some(ports) = ports else { return Side::None };
    let base = ports.iter().map(|port| port.items.base).min().unwrap_or(0);
    let first = Port { buffer: ports[0].buffer, items: Items { base, ..ports[0].items.clone() } };
    let alike =
        |port: &&Port| port.buffer == first.buffer && Items { base, ..port.items.clone() } == first.items;
    if !ports.iter().all(alike) {
        return Side::Several;
    }
    let cells = first.items.cells as i64;
    Side::One(first, ports.iter().map(|port| (port.items.base - base) * cells).collect())
}
