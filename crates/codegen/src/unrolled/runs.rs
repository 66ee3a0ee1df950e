//! Finds sequences of actors that can be groups.

use crate::ir::{Cell, Expr, Kind, walk_exprs};
use crate::lower::NodeCode;
use crate::plan::{Buffer, Plan, Port, Step};
use crate::uniformity::Divergence;
use thalweg_lang::flat::NodeId;

/// Consecutive actors, and the buffers around them.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Run {
    pub(super) actors: Vec<usize>,
    /// Buffers that are written outside and read inside.
    pub(super) entrances: Vec<usize>,
    /// Buffers that are written inside and read outside.
    pub(super) exits: Vec<usize>,
    /// Buffers that are used inside only.
    pub(super) inner: Vec<usize>,
}

impl Run {
    pub(super) fn nodes(&self, plan: &Plan) -> Vec<NodeId> {
        self.actors.iter().map(|actor| plan.actors[*actor].node).collect()
    }
}

/// Reorders actors between feedback loops so that runs become longer: actors that can be done without leaving
/// a run and returning to it come first.
pub(super) fn sort(codes: &[Option<NodeCode>], plan: &mut Plan) {
    let users = users(plan);
    let able: Vec<bool> = (0..plan.actors.len()).map(|actor| can_be_done(codes, plan, actor)).collect();
    // Steps are in data-flow order, so the levels of all writers are known.
    let mut levels = vec![0; plan.actors.len()];
    for step in &plan.steps {
        let Step::All(actor) = step else { continue };
        let mut level = 0;
        for port in plan.actors[*actor].inputs.iter().filter(|port| port.items.window > 0) {
            for writer in
                users[port.buffer].writers.iter().filter(|writer| *writer != actor && **writer != OUTSIDE)
            {
                let on = able[*writer] && able[*actor] && plan.buffers[port.buffer].keep == 0;
                level = level.max(levels[*writer] + usize::from(!on));
            }
        }
        levels[*actor] = level;
    }
    for steps in plan.steps.split_mut(|step| !matches!(step, Step::All(_))) {
        steps.sort_by_key(|step| match step {
            Step::All(actor) => (levels[*actor], able[*actor]),
            _ => (0, false),
        });
    }
}

/// The longest runs that can be groups.
pub(super) fn runs(codes: &[Option<NodeCode>], plan: &Plan) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut actors: Vec<usize> = Vec::new();
    for step in &plan.steps {
        match step {
            Step::All(actor) if can_be_done(codes, plan, *actor) => actors.push(*actor),
            _ => close(plan, &mut actors, &mut runs),
        }
    }
    close(plan, &mut actors, &mut runs);
    runs
}

/// Whether an actor does the same to each block.
fn can_be_done(codes: &[Option<NodeCode>], plan: &Plan, actor: usize) -> bool {
    let actor = &plan.actors[actor];
    let mixed = |port: &Port| port.items.cell == Cell::Mixed;
    if actor.inputs.iter().chain(&actor.outputs).any(mixed)
        || actor.inputs.is_empty()
        || actor.outputs.is_empty()
    {
        return false;
    }
    let Some(code) = &codes[actor.node.0 as usize] else { return true };
    let mut counts = false;
    walk_exprs(&code.work.body, &mut |ex| counts |= matches!(ex, Expr::Iter));
    !counts && Divergence::of(&code.work).is_some()
}

/// The actors that read and write a buffer.
#[derive(Clone, Default)]
struct Users {
    readers: Vec<usize>,
    writers: Vec<usize>,
}

/// Stands for the outside of the region.
const OUTSIDE: usize = usize::MAX;

fn users(plan: &Plan) -> Vec<Users> {
    let mut users = vec![Users::default(); plan.buffers.len()];
    for (at, actor) in plan.actors.iter().enumerate() {
        for port in actor.inputs.iter().filter(|port| port.items.window > 0) {
            users[port.buffer].readers.push(at);
        }
        for port in actor.outputs.iter().filter(|port| port.items.window > 0) {
            users[port.buffer].writers.push(at);
        }
    }
    // The borders of the region.
    for border in &plan.inputs {
        users[border.port.buffer].writers.push(OUTSIDE);
    }
    for border in &plan.outputs {
        users[border.port.buffer].readers.push(OUTSIDE);
    }
    users
}

/// Cuts these actors into runs, each as long as possible.
fn close(plan: &Plan, actors: &mut Vec<usize>, runs: &mut Vec<Run>) {
    let mut rest = std::mem::take(actors);
    let users = users(plan);
    while !rest.is_empty() {
        let later = rest.split_off(longest(plan, &users, &rest).max(1));
        runs.extend(around(plan, &users, &rest));
        rest = later;
    }
}

/// The length of the longest prefix of these actors that is a run with buffers [`around`] it.
fn longest(plan: &Plan, users: &[Users], actors: &[usize]) -> usize {
    let (mut reads, mut writes) = (vec![0; plan.buffers.len()], vec![0; plan.buffers.len()]);
    // Buffers of which some writers are missing.
    let (mut missing, mut most) = (0, 0);
    for (at, actor) in actors.iter().enumerate() {
        let actor = &plan.actors[*actor];
        let moves = |port: &&Port| port.items.window > 0;
        actor.inputs.iter().filter(moves).for_each(|port| reads[port.buffer] += 1);
        for port in actor.outputs.iter().filter(moves) {
            let (all, buffer) = (users[port.buffer].writers.len(), port.buffer);
            missing += usize::from(writes[buffer] == 0 && all > 1);
            writes[buffer] += 1;
            missing -= usize::from(writes[buffer] == all && all > 1);
        }
        // Adding actors cannot make this a run.
        let kept = |port: &&Port| {
            plan.buffers[port.buffer].keep > 0 && reads[port.buffer] > 0 && writes[port.buffer] > 0
        };
        if actor.inputs.iter().chain(&actor.outputs).filter(moves).any(|port| kept(&port)) {
            break;
        }
        if missing == 0 {
            most = at + 1;
        }
    }
    most
}

/// The buffers around actors; `None` where a buffer is neither inside nor at a border.
fn around(plan: &Plan, users: &[Users], actors: &[usize]) -> Option<Run> {
    let mut inside = vec![false; plan.actors.len()];
    actors.iter().for_each(|actor| inside[*actor] = true);
    let is_inside = |actor: &&usize| inside.get(**actor).is_some_and(|inside| *inside);
    let mut run =
        Run { actors: actors.to_vec(), entrances: Vec::new(), exits: Vec::new(), inner: Vec::new() };
    for (at, (buffer, users)) in plan.buffers.iter().zip(users).enumerate() {
        let count = |of: &[usize]| of.iter().filter(is_inside).count();
        let (reads, writes) = (count(&users.readers), count(&users.writers));
        match (reads > 0, writes > 0) {
            (false, false) => {}
            (true, false) => run.entrances.push(at),
            _ if writes < users.writers.len() || (reads > 0 && buffer.keep > 0) => return None,
            _ if reads < users.readers.len() || reads == 0 => run.exits.push(at),
            _ => run.inner.push(at),
        }
    }
    Some(run)
}

/// The kind of a buffer's cells.
pub(super) fn kind(buffer: &Buffer) -> Option<Kind> {
    match buffer.cell {
        Cell::Of(kind) => Some(kind),
        Cell::Mixed => None,
    }
}

/// The number of cells of a buffer that a steady state of the run can reach.
pub(super) fn reach(plan: &Plan, run: &Run, buffer: usize) -> Option<usize> {
    let mut end = 0;
    for actor in run.actors.iter().map(|actor| &plan.actors[*actor]) {
        for port in actor.inputs.iter().chain(&actor.outputs).filter(|port| port.buffer == buffer) {
            let last =
                super::trace::places(&port.items, actor.firings as i64 - 1).into_iter().max().unwrap_or(0);
            let group = super::trace::places(&port.items, 0).into_iter().max().unwrap_or(0);
            end = end.max(last.max(group) + 1 + port.items.group * port.items.stride.abs());
        }
    }
    usize::try_from(end).ok().map(|end| end * plan.buffers[buffer].cells).filter(|cells| *cells < 1 << 18)
}
