//! Access patterns of firings.

use super::buffers::{Buffer, buffers};
use super::{Facts, Items, Mapping, Pattern, View};
use thalweg_lang::flat::{ChannelId, Firing, NodeId, NodeKind};

/// The most positions of a group of firings that are examined to find a pattern.
const MOST_PLACES: i64 = 1 << 16;

/// The longest table of positions.
const LONGEST: i64 = 4096;

/// A node's access to a buffer on one side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Port {
    /// The index of the buffer in the plan.
    pub(crate) buffer: usize,
    pub(crate) items: Items,
}

/// A node that fires.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Actor {
    pub(crate) node: NodeId,
    pub(crate) inputs: Vec<Port>,
    pub(crate) outputs: Vec<Port>,
    /// Firings in a steady state.
    pub(crate) firings: u64,
}

type Actors = (Vec<Actor>, Vec<Buffer>);

/// The actors of a region. Where an access has no pattern: the node that must copy.
pub(super) fn actors(
    facts: &Facts<'_>,
    kept: &[bool],
    views: &[Option<View>],
    acts: &dyn Fn(NodeId) -> bool,
) -> Result<Result<Actors, NodeId>, String> {
    let buffers = buffers(facts, views)?;
    let flat = &facts.compiled.flat;
    let mut actors = Vec::new();
    for node in &facts.region.nodes {
        let does = match flat.kind(*node) {
            NodeKind::Filter(_) => facts.delay(*node).is_none() || kept[node.0 as usize],
            _ => kept[node.0 as usize],
        };
        let firings = facts.firings[node.0 as usize];
        if !does || firings == 0 || !acts(*node) {
            continue;
        }
        let side = |channel, takes| side(facts, views, &buffers, channel, takes);
        let inputs: Option<Vec<Port>> = flat.inputs(*node).map(|channel| side(channel, true)).collect();
        let outputs: Option<Vec<Port>> = flat.outputs(*node).map(|channel| side(channel, false)).collect();
        match (inputs, outputs) {
            (Some(inputs), Some(outputs)) => actors.push(Actor { node: *node, inputs, outputs, firings }),
            _ => match in_the_way(facts, kept, *node) {
                Some(other) => return Ok(Err(other)),
                None => return Err(format!("no access pattern found for `{}`", flat.node(*node).name())),
            },
        }
    }
    Ok(Ok((actors, buffers)))
}

/// The nearest splitter or joiner that does not copy yet.
pub(super) fn in_the_way(facts: &Facts<'_>, kept: &[bool], node: NodeId) -> Option<NodeId> {
    let flat = &facts.compiled.flat;
    let copies = |node: NodeId| matches!(flat.kind(node), NodeKind::Split(_) | NodeKind::Join(_));
    if copies(node) && !kept[node.0 as usize] {
        return Some(node);
    }
    let mut seen = vec![false; flat.nodes().len()];
    let mut next = vec![node];
    // Breadth first, through filters that forward their input.
    let mut at = 0;
    while let Some(node) = next.get(at).copied() {
        at += 1;
        let before = flat.inputs(node).map(|channel| flat.channel(channel).from().0);
        let after = flat.outputs(node).map(|channel| flat.channel(channel).to().0);
        for other in before.chain(after) {
            if std::mem::replace(&mut seen[other.0 as usize], true) || kept[other.0 as usize] {
                continue;
            }
            match flat.kind(other) {
                NodeKind::Split(_) | NodeKind::Join(_) => return Some(other),
                NodeKind::Filter(_) if facts.delay(other).is_some() => next.push(other),
                NodeKind::Filter(_) => {}
            }
        }
    }
    None
}

fn side(
    facts: &Facts<'_>,
    views: &[Option<View>],
    buffers: &[Buffer],
    channel: ChannelId,
    takes: bool,
) -> Option<Port> {
    let flat = &facts.compiled.flat;
    let (node, port) = if takes { flat.channel(channel).to() } else { flat.channel(channel).from() };
    let later = Firing::Later;
    let begun = facts.begun[node.0 as usize];
    let (moved, window, first) = if takes {
        let (pop, peek) = (flat.pop(node, port, later)?, flat.peek(node, port, later));
        (pop, peek.max(pop), facts.popped(channel, begun))
    } else {
        let push = flat.push(node, port, later)?;
        (push, push, facts.pushed(channel, begun))
    };
    let Some(view) = &views[channel.0 as usize] else {
        // It carries nothing; any buffer will do.
        let items = Items::in_line(crate::ir::Cell::Of(crate::ir::Kind::Int), 1, 0);
        return (moved == 0 && window == 0).then_some(Port { buffer: 0, items });
    };
    let buffer = buffers.iter().position(|buffer| buffer.channel == view.buffer)?;
    let found = items(view, first, (moved as i64, window as i64), facts.firings[node.0 as usize] as i64)?;
    let Buffer { cell, cells, origin, .. } = buffers[buffer];
    let items = Items { cell, cells, base: found.base - origin, ..found };
    Some(Port { buffer, items })
}

/// The access pattern of firings that begin at item `first`, each with this many moved items and this window.
pub(super) fn items(view: &View, first: i64, (moved, window): (i64, i64), firings: i64) -> Option<Items> {
    let (mut group, mut items) = (1, moved);
    for mapping in &view.mappings {
        if let Mapping::RoundRobin { width, all, .. } = mapping {
            let times = width / common(items, *width).max(1);
            let times = if items == 0 { 1 } else { times };
            (group, items) = (group * times, items * times / width * all);
        }
    }
    if group > 1 && (firings % group != 0 || group * window.max(1) > MOST_PLACES) {
        return None;
    }
    let begin = view.of(first);
    let stride = if group > 1 { view.of(first + moved) - begin } else { 0 };
    let at = |item: i64| view.of(first + item) - begin;
    for firing in 1..group {
        let same = |item| at(firing * moved + item) == firing * stride + at(item);
        if !(0..window).all(same) {
            return None;
        }
    }
    let cell = crate::ir::Cell::Of(crate::ir::Kind::Int);
    let pattern = pattern(&at, window)?;
    Some(Items { cell, cells: 1, base: begin, group, group_stride: items, stride, pattern, window })
}

fn pattern(at: &dyn Fn(i64) -> i64, window: i64) -> Option<Pattern> {
    let by = if window > 1 { at(1) } else { 1 };
    if (0..window).all(|item| at(item) == item * by) {
        return Some(Pattern::Every(by));
    }
    let run = (1..window).find(|item| at(*item) != *item)?;
    let by = at(run);
    if (0..window).all(|item| at(item) == item / run * by + item % run) {
        return Some(Pattern::Runs(run, by));
    }
    (window <= LONGEST).then(|| Pattern::Table((0..window).map(at).collect()))
}

fn common(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { common(b, a % b) }
}
