//! Blocks in lanes: independent steady states in the lanes of vectors.
//!
//! A *group* is a sequence of stateless actors that keep nothing from one steady state to the next. Whatever
//! its splitters and joiners do to the order of items, each steady state of the group, a *block*, does the
//! same to its own; so as many blocks as vectors have lanes are done at once, with a vector operation for
//! each scalar one. At the entrance the blocks' items, which are `advance` apart in a buffer, are transposed
//! into lanes in registers, and at the exit back ([`emit::unrolled`](crate::emit::unrolled)).
//!
//! Inside, every position is known at compile time: the firings of a block are executed symbolically
//! ([`trace`]) into operations on values ([`dag`]), which become loops over isomorphic components
//! ([`parts`]). Permuting items costs nothing.
//!
//! **Costs.** A group becomes blocks only where they cost less than its actors as planned. This module has a cost
//! model of its own: `plan/cost.rs` estimates a firing from the statements of its code, while here every
//! operation of a steady state is known from the trace. So the operations, loads and stores of the loops are counted
//! ([`cost`]), and for the actors the traced operations with the copies of their items ([`cost_now`]). Members of packs
//! and kernels keep the costs that the plan has computed for them. One unit of both models is one vector operation.
//!
//! **Between calls** nothing remains inside a group; buffers inside it have no memory.

mod block;
pub(crate) mod dag;
pub(crate) mod lanes;
mod linked;
pub(crate) mod outline;
pub(crate) mod parts;
mod passes;
mod runs;
mod trace;

use crate::ir::Kind;
use crate::lower::{NodeCode, may_fail};
use crate::plan::{Actor, Facts, Items, Plan, Port, Step, moves_of, strides_of};
pub(crate) use block::{Block, Border, ROW};
use dag::Op;
use outline::Looks;
use parts::{Parts, Together};
pub(crate) use passes::passes;
use runs::{Run, runs};
use std::collections::HashMap;
use thalweg_lang::flat::NodeId;
use trace::{Cells, Trace};

/// The most vectors (of 64 bytes) in a block's memory: half of the second-level cache.
const MOST_VECTORS: u32 = 8192;

/// Finds groups, and replaces their actors in the plan. Packs and kernels give way to groups that contain
/// all of their actors.
pub(crate) fn find(
    facts: &Facts<'_>,
    codes: &[Option<NodeCode>],
    plan: &mut Plan,
    without_packs: Plan,
    lanes: usize,
    looks: &mut Looks<'_>,
) {
    if !plan.packs.is_empty() || !plan.kernels.is_empty() {
        let mut other = without_packs;
        let known = costs(plan, lanes);
        find_in(facts, codes, &mut other, (lanes, &known), looks);
        let nodes: Vec<NodeId> = other.blocks.iter().flat_map(|block| block.nodes.iter().copied()).collect();
        let packs = plan.packs.iter().flat_map(|pack| &pack.actors);
        let kernels = plan.kernels.iter().flat_map(|kernel| &kernel.actors);
        if packs.chain(kernels).all(|actor| nodes.contains(&plan.actors[*actor].node)) {
            *plan = other;
        }
    }
    if plan.blocks.is_empty() {
        find_in(facts, codes, plan, (lanes, &HashMap::new()), looks);
    }
    plan.with_blocks(facts, lanes as u64);
}

/// The costs of nodes in packs and kernels, for as many steady states as vectors have lanes.
fn costs(plan: &Plan, lanes: usize) -> HashMap<NodeId, f64> {
    let packs = plan.packs.iter().map(|pack| (&pack.actors, pack.cost));
    let kernels = plan.kernels.iter().map(|kernel| (&kernel.actors, kernel.cost));
    let all = packs.chain(kernels).flat_map(|(actors, cost)| {
        let each = cost * lanes as f64 / actors.len() as f64;
        actors.iter().map(move |actor| (plan.actors[*actor].node, each))
    });
    all.collect()
}

fn find_in(
    facts: &Facts<'_>,
    codes: &[Option<NodeCode>],
    plan: &mut Plan,
    (lanes, known): (usize, &HashMap<NodeId, f64>),
    looks: &mut Looks<'_>,
) {
    let before = plan.steps.clone();
    // Sorting changes which of several failures comes first.
    if !may_fail(codes) {
        runs::sort(codes, plan);
    }
    put(facts, codes, plan, (lanes, known), looks);
    if plan.blocks.is_empty() {
        plan.steps = before;
    }
}

fn put(
    facts: &Facts<'_>,
    codes: &[Option<NodeCode>],
    plan: &mut Plan,
    (lanes, known): (usize, &HashMap<NodeId, f64>),
    looks: &mut Looks<'_>,
) {
    for run in runs(codes, plan) {
        let find = || block(facts, codes, plan, &run, (lanes, known));
        if let Some(block) = looks.at(&run, plan, find) {
            let at = plan.blocks.len();
            plan.blocks.push(block);
            let first = plan.steps.iter().position(|step| *step == Step::All(run.actors[0]));
            let Some(first) = first else { continue };
            plan.steps[first] = Step::Unrolled(at);
            plan.steps.retain(|step| !matches!(step, Step::All(actor) if run.actors.contains(actor)));
            plan.inner.extend(&run.inner);
        }
    }
}

fn block(
    facts: &Facts<'_>,
    codes: &[Option<NodeCode>],
    plan: &Plan,
    run: &Run,
    (lanes, known): (usize, &HashMap<NodeId, f64>),
) -> Option<Block> {
    let mut buffers: Vec<Option<Cells>> = vec![None; plan.buffers.len()];
    for buffer in &run.entrances {
        buffers[*buffer] = Some(Cells::Outside(runs::kind(&plan.buffers[*buffer])?));
    }
    for buffer in run.exits.iter().chain(&run.inner) {
        buffers[*buffer] = Some(Cells::Inside(vec![dag::Val::None; runs::reach(plan, run, *buffer)?]));
    }
    let mut trace = Trace::new(buffers, lanes);
    let (mut ends, mut now) = (Vec::new(), 0.0);
    for actor in &run.actors {
        let actor = &plan.actors[*actor];
        let before = trace.dag.nodes.len();
        follow(facts, codes, actor, &mut trace)?;
        let nodes = &trace.dag.nodes[before..];
        now += known.get(&actor.node).copied().unwrap_or_else(|| cost_now(codes, actor, nodes, lanes));
        ends.push(trace.dag.nodes.len() as u32);
    }
    let stores = parts::close(&mut trace, &run.exits, &mut ends);
    let beside = parts::parts(&trace, &run.exits, (stores.clone(), &ends), Together::Beside);
    let found = beside.and_then(|mut parts| lanes::arrange(&mut parts, lanes).map(|width| (parts, width)));
    let (parts, across) = match found {
        Some((parts, width)) => (parts, Some(width)),
        None => (parts::parts(&trace, &run.exits, (stores, &ends), Together::Most)?, None),
    };
    let entrances = run.entrances.iter().filter_map(|buffer| {
        let slot = parts.slots.iter().find(|slot| slot.buffer == *buffer)?;
        let info = &plan.buffers[*buffer];
        let (advance, cells) = (info.advance as u32 * info.cells as u32, slot.cells);
        let border = Border {
            buffer: *buffer,
            kind: Kind::Int,
            first: slot.low,
            advance,
            cells,
            offset: slot.offset,
            before: slot.before,
        };
        Some(Border { kind: runs::kind(info)?, ..border })
    });
    let entrances: Vec<Border> = entrances.collect();
    let mut exits = Vec::new();
    for buffer in &run.exits {
        let slot = parts.slots.iter().find(|slot| slot.buffer == *buffer)?;
        let info = &plan.buffers[*buffer];
        let advance = info.advance as u32 * info.cells as u32;
        // All positions must be written, by this block only.
        let Some(Cells::Inside(cells)) = &trace.buffers[*buffer] else { return None };
        let written = cells.iter().filter(|value| **value != dag::Val::None).count() as u32;
        if slot.cells != advance || written != advance {
            return None;
        }
        let kind = runs::kind(info)?;
        exits.push(Border {
            buffer: *buffer,
            kind,
            first: slot.low,
            advance,
            cells: slot.cells,
            offset: slot.offset,
            before: 0,
        });
    }
    let moved: u32 = entrances.iter().chain(&exits).map(|border| border.cells).sum();
    let cost = cost(&parts) + if across.is_some() { 0.0 } else { 7.0 * f64::from(moved) };
    // The costs of packs and kernels are better known than those of single actors.
    let enough = if known.is_empty() { 0.8 } else { 1.0 };
    if cost > enough * now || parts.vectors > MOST_VECTORS || entrances.is_empty() || exits.is_empty() {
        return None;
    }
    // A load from a table then serves two blocks.
    let looks =
        parts.classes.iter().flat_map(|class| &class.steps).any(|step| matches!(step.op, Op::Look(_)));
    let beside = if looks && across.is_none() && parts.vectors <= MOST_VECTORS / 2 { 2 } else { 1 };
    let rows: u32 = entrances.iter().chain(&exits).map(Border::room).sum();
    Some(Block {
        actors: run.actors.clone(),
        nodes: run.nodes(plan),
        entrances,
        exits,
        vectors: (parts.vectors * beside).max(rows),
        parts,
        tables: trace.dag.tables,
        beside,
        across,
    })
}

/// Traces an actor's firings in a steady state.
fn follow(facts: &Facts<'_>, codes: &[Option<NodeCode>], actor: &Actor, trace: &mut Trace) -> Option<()> {
    let firings = actor.firings as i64;
    let side = |port: &Port| (port.items.window > 0).then_some(port.buffer);
    match &codes[actor.node.0 as usize] {
        Some(code) => {
            let of =
                |ports: &'_ [Port]| ports.first().and_then(|port| Some((side(port)?, port.items.clone())));
            let (input, output) = (of(&actor.inputs), of(&actor.outputs));
            let side = |of: &'_ Option<(usize, Items)>| of.as_ref().map(|(buffer, _)| *buffer);
            let (from, to) = (side(&input), side(&output));
            trace.fire(
                &code.work,
                from.zip(input.as_ref().map(|(_, items)| items)),
                to.zip(output.as_ref().map(|(_, items)| items)),
                firings,
            )
        }
        None => {
            let sides = |ports: &'_ [Port]| -> Vec<usize> { ports.iter().map(|port| port.buffer).collect() };
            let (ins, outs) = (sides(&actor.inputs), sides(&actor.outputs));
            let zip = |buffers: Vec<usize>, ports: &'_ [Port]| -> Vec<(usize, Items)> {
                buffers.into_iter().zip(ports.iter().map(|port| port.items.clone())).collect()
            };
            let (ins, outs) = (zip(ins, &actor.inputs), zip(outs, &actor.outputs));
            let ins: Vec<_> = ins.iter().map(|(buffer, items)| (*buffer, items)).collect();
            let outs: Vec<_> = outs.iter().map(|(buffer, items)| (*buffer, items)).collect();
            trace.copy(&moves_of(&facts.compiled.flat, actor.node), &ins, &outs, firings)
        }
    }
}

/// The cost of an operation, in vector instructions.
fn weight(op: Op) -> f64 {
    match op {
        Op::In { .. } => 0.0,
        Op::Look(_) => 4.0,
        Op::Math(function) if function.is_cheap() => 2.0,
        Op::Math(_) => 100.0,
        _ => 1.0,
    }
}

/// The cost of a steady state of as many blocks as vectors have lanes, without copying items in and out.
fn cost(parts: &Parts) -> f64 {
    let of = |class: &parts::Class| {
        let work: f64 = class.steps.iter().map(|step| weight(step.op)).sum();
        class.instances as f64 * (work + class.loads.len() as f64 + 2.0 * class.stores.len() as f64)
    };
    parts.classes.iter().map(of).sum()
}

/// The cost of the same for an actor on its own.
fn cost_now(codes: &[Option<NodeCode>], actor: &Actor, nodes: &[dag::Node], lanes: usize) -> f64 {
    // Cells of tables are loaded one by one.
    let looks = nodes.iter().filter(|node| matches!(node.op, Op::Look(_))).count() as f64;
    let all = nodes.iter().map(|node| weight(node.op)).sum::<f64>() + 28.0 * looks;
    let cells = |ports: &[Port]| -> f64 {
        ports.iter().map(|port| (port.items.window * port.items.cells as i64) as f64).sum::<f64>()
            * actor.firings as f64
    };
    let (read, written) = (cells(&actor.inputs), cells(&actor.outputs));
    let lanes = lanes as f64;
    let Some(code) = &codes[actor.node.0 as usize] else { return 0.6 * lanes * written };
    let none = Items::in_line(crate::ir::Cell::Of(Kind::Int), 1, 0);
    let (input, output) = (actor.inputs.first(), actor.outputs.first());
    let (input, output) = (input.map_or(&none, |port| &port.items), output.map_or(&none, |port| &port.items));
    match strides_of(&code.work, input, output, lanes as usize) {
        Some((input, output)) => {
            let each = |stride: i64| if stride <= 8 { stride.max(1) as f64 } else { 24.0 };
            all + read * each(input) + written * each(output)
        }
        None => 0.6 * lanes * (all + 0.5 * (read + written)),
    }
}
