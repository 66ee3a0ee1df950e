//! Fused kernels: filters that fire together as one code, with the items between them in
//! registers.
//!
//! Buffers that are empty between steady states, and that only stateless filters read and write, are *inside*:
//! their writers and readers form one kernel. A kernel reads one buffer and writes one. Its firing is the
//! smallest number of firings of each filter after which the buffers inside are empty ([`fuse`]). The
//! windows of its firings overlap; filters that keep nothing at all are left to [`unrolled`](crate::unrolled).

use super::{Actor, Buffer, Facts, Items, Pattern, Port, Step, View, cost};
use crate::fusion::{Inside, Piece, Side, begin, fuse};
use crate::ir::{Cell, Code, Expr, walk_exprs};
use crate::lower::NodeCode;
use crate::uniformity::Divergence;
use thalweg_lang::flat::ChannelId;

/// The most cells of a buffer inside.
const MOST_CELLS: i64 = 256;

/// The most firings of a filter in a firing of the kernel.
const MOST_FIRINGS: i64 = 64;

/// Filters that fire together as one code.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FusedKernel {
    /// In firing order.
    pub(crate) actors: Vec<usize>,
    pub(crate) code: Code,
    pub(crate) input: Port,
    pub(crate) output: Port,
    /// Firings in a steady state.
    pub(crate) firings: u64,
    /// The buffers inside.
    pub(crate) inside: Vec<usize>,
    /// The cost of a steady state; see [`cost`](super::cost).
    pub(crate) cost: f64,
}

/// Actors that may form a kernel, and the buffers around them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    pub(super) actors: Vec<usize>,
    pub(super) entrances: Vec<usize>,
    pub(super) exits: Vec<usize>,
}

/// Finds candidates.
pub(super) fn find(
    facts: &Facts<'_>,
    codes: &[Option<NodeCode>],
    views: &[Option<View>],
    (actors, buffers): (&[Actor], &[Buffer]),
    steps: &[Step],
) -> Vec<Candidate> {
    let able: Vec<bool> = (0..actors.len())
        .map(|at| steps.contains(&Step::All(at)) && can_be_fused(codes, &actors[at]))
        .collect();
    let inside: Vec<bool> =
        (0..buffers.len()).map(|buffer| is_inside(facts, views, (actors, buffers), &able, buffer)).collect();
    // By actor, the least actor of its component.
    let mut least: Vec<usize> = (0..actors.len()).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for buffer in (0..buffers.len()).filter(|buffer| inside[*buffer]) {
            let around: Vec<usize> = (0..actors.len()).filter(|at| uses(&actors[*at], buffer)).collect();
            let lowest = around.iter().map(|at| least[*at]).min().unwrap_or(0);
            for at in around {
                changed |= std::mem::replace(&mut least[at], lowest) != lowest;
            }
        }
    }
    let order: Vec<usize> =
        steps.iter().filter_map(|step| if let Step::All(at) = step { Some(*at) } else { None }).collect();
    let firsts = (0..actors.len()).filter(|at| least[*at] == *at && able[*at]);
    let of = |first: usize| -> Vec<usize> {
        order.iter().copied().filter(|at| able[*at] && least[*at] == first).collect()
    };
    let all = firsts.map(of).filter(|all| all.len() > 1);
    all.map(|all| {
        let gives = |buffer: &usize| all.iter().any(|at| actors[*at].outputs[0].buffer == *buffer);
        let takes = |buffer: &usize| all.iter().any(|at| actors[*at].inputs[0].buffer == *buffer);
        let outside = |buffer: &usize| !inside[*buffer];
        let entrances = (0..buffers.len()).filter(outside).filter(takes).collect();
        let exits = (0..buffers.len()).filter(outside).filter(gives).collect();
        Candidate { actors: all, entrances, exits }
    })
    .collect()
}

fn uses(actor: &Actor, buffer: usize) -> bool {
    actor.inputs.iter().chain(&actor.outputs).any(|port| port.buffer == buffer)
}

/// Whether an actor can be part of a kernel: a stateless filter that reads one buffer and writes one.
fn can_be_fused(codes: &[Option<NodeCode>], actor: &Actor) -> bool {
    let Some(code) = &codes[actor.node.0 as usize] else { return false };
    let ([input], [output]) = (&actor.inputs[..], &actor.outputs[..]) else { return false };
    let plain = |port: &Port| {
        let items = &port.items;
        items.window > 0 && items.cell != Cell::Mixed && !matches!(items.pattern, Pattern::Ring)
    };
    let mut counts = false;
    walk_exprs(&code.work.body, &mut |ex| counts |= matches!(ex, Expr::Iter));
    let hears = !code.handlers.is_empty();
    plain(input) && plain(output) && !hears && !counts && Divergence::of(&code.work).is_some()
}

/// Whether only actors that can be fused use a buffer, and nothing remains in it.
fn is_inside(
    facts: &Facts<'_>,
    views: &[Option<View>],
    (actors, buffers): (&[Actor], &[Buffer]),
    able: &[bool],
    buffer: usize,
) -> bool {
    let takes =
        |actor: &Actor| actor.inputs.iter().any(|port| port.buffer == buffer && port.items.window > 0);
    let gives =
        |actor: &Actor| actor.outputs.iter().any(|port| port.buffer == buffer && port.items.window > 0);
    let all_able = actors.iter().zip(able).all(|(actor, able)| *able || !uses(actor, buffer));
    let flat = &facts.compiled.flat;
    let own = |(at, view): (usize, &Option<View>)| {
        let channel = flat.channel(ChannelId(at as u32));
        let here = view.as_ref().is_some_and(|view| view.buffer == buffers[buffer].channel);
        !here || (facts.has(channel.from().0) && facts.has(channel.to().0))
    };
    buffers[buffer].keep == 0
        && buffers[buffer].advance > 0
        && all_able
        && actors.iter().any(takes)
        && actors.iter().any(gives)
        && views.iter().enumerate().all(own)
}

/// The range of a buffer that a kernel's firing accesses.
#[derive(Clone, Copy)]
struct Span {
    buffer: usize,
    low: i64,
    end: i64,
    /// The distance from one firing of the kernel to the next.
    step: i64,
}

/// Fuses actors, which are in firing order.
pub(super) fn kernel(
    codes: &[Option<NodeCode>],
    (actors, buffers): (&[Actor], &[Buffer]),
    all: &[usize],
    lanes: usize,
) -> Option<FusedKernel> {
    let whole = all.iter().flat_map(|at| {
        let actor = &actors[*at];
        [&actor.inputs[0], &actor.outputs[0]].map(|port| actor.firings / port.items.group as u64)
    });
    let firings = whole.fold(0, common);
    let each = |at: usize| (actors[at].firings / firings) as i64;
    if firings == 0 || all.iter().any(|at| each(*at) > MOST_FIRINGS) {
        return None;
    }
    let mut spans: Vec<Span> = Vec::new();
    for at in all {
        for port in [&actors[*at].inputs[0], &actors[*at].outputs[0]] {
            add(&mut spans, port, each(*at))?;
        }
    }
    let gives = |buffer: usize| all.iter().any(|at| actors[*at].outputs[0].buffer == buffer);
    let takes = |buffer: usize| all.iter().any(|at| actors[*at].inputs[0].buffer == buffer);
    let (mut inside, mut entrances, mut exits) = (Vec::new(), Vec::new(), Vec::new());
    for span in &spans {
        match (takes(span.buffer), gives(span.buffer)) {
            (true, true) => inside.push(*span),
            (true, false) => entrances.push(*span),
            _ => exits.push(*span),
        }
    }
    let ([entrance], [exit]) = (&entrances[..], &exits[..]) else { return None };
    // Without overlapping windows nothing is kept, and blocks in lanes are faster.
    if entrance.end - entrance.low <= entrance.step {
        return None;
    }
    let cells = |span: &Span| (span.end - span.low) * buffers[span.buffer].cells as i64;
    if inside.iter().any(|span| span.end - span.low != span.step || cells(span) > MOST_CELLS) {
        return None;
    }
    let side = |port: &Port| {
        let number = inside.iter().position(|span| span.buffer == port.buffer);
        let low = spans.iter().find(|span| span.buffer == port.buffer).map_or(0, |span| span.low);
        (number, low)
    };
    let pieces: Option<Vec<Piece<'_>>> = all
        .iter()
        .map(|at| {
            let (actor, code) = (&actors[*at], codes[actors[*at].node.0 as usize].as_ref()?);
            let ((from, low), (to, least)) = (side(&actor.inputs[0]), side(&actor.outputs[0]));
            let input = Side { items: &actor.inputs[0].items, inside: from, low };
            let output = Side { items: &actor.outputs[0].items, inside: to, low: least };
            Some(Piece { code: &code.work, firings: each(*at), input, output })
        })
        .collect();
    let runs: Vec<Inside> = inside
        .iter()
        .map(|span| Inside { cell: buffers[span.buffer].cell, cells: cells(span) as usize })
        .collect();
    let code = fuse(&pieces?, &runs)?;
    let written: i64 =
        ports_of(all, actors, exit.buffer).map(|(at, port)| each(at) * port.items.window).sum();
    let input = around(buffers, entrance, entrance.end - entrance.low);
    let output = around(buffers, exit, if written == exit.end - exit.low { written } else { 0 });
    let cost = cost::alone(&code, Some(&input.items), &output.items, lanes) * firings as f64;
    let inside = inside.iter().map(|span| span.buffer).collect();
    Some(FusedKernel { actors: all.to_vec(), code, input, output, firings, inside, cost })
}

fn ports_of<'a>(
    all: &'a [usize],
    actors: &'a [Actor],
    buffer: usize,
) -> impl Iterator<Item = (usize, &'a Port)> {
    let outputs = all.iter().map(move |at| (*at, &actors[*at].outputs[0]));
    outputs.filter(move |(_, port)| port.buffer == buffer)
}

/// Adds the range of a port's firings; `None` where it advances by another step than the buffer's other ports.
fn add(spans: &mut Vec<Span>, port: &Port, firings: i64) -> Option<()> {
    let items = &port.items;
    let step = firings / items.group * items.group_stride;
    let views = || (0..firings).flat_map(|firing| offsets(items, firing));
    let (low, end) = (views().min()?, views().max()? + 1);
    match spans.iter_mut().find(|span| span.buffer == port.buffer) {
        Some(span) if span.step != step => return None,
        Some(span) => (span.low, span.end) = (span.low.min(low), span.end.max(end)),
        None => spans.push(Span { buffer: port.buffer, low, end, step }),
    }
    Some(())
}

fn offsets(items: &Items, firing: i64) -> impl Iterator<Item = i64> + '_ {
    (0..items.window).map(move |item| begin(items, firing) + items.offset(item))
}

/// The items of a kernel's firings, consecutive from the first position on.
fn around(buffers: &[Buffer], span: &Span, window: i64) -> Port {
    let Buffer { cell, cells, .. } = buffers[span.buffer];
    let in_line = Items::in_line(cell, cells, span.step);
    Port { buffer: span.buffer, items: Items { base: span.low, window, ..in_line } }
}

fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}
