//! The plan of a fused region: its buffers, how each node accesses them, and the order of firings.
//!
//! Splitters, joiners, identities and delays ([`delay`]) move items only where they must. A *buffer* is a
//! channel that has a buffer: the output of a filter, or of a joiner where filters feed the joiner. Every
//! other channel is a view of a buffer ([`View`]): a mapping of item numbers to positions in the buffer. Item
//! `k` of a splitter's output of weight `w`, with a sum of weights `W` of which `o` precede it, is item `(k /
//! w) * W + o + k % w` of the splitter's input; the same holds for a joiner's inputs and its output. Where
//! the mapping gives a filter's firings no regular pattern ([`ports`]), the splitter or joiner stays and
//! copies.
//!
//! **Between calls** the remaining items are at the front of their buffer. A call of `n` steady states advances
//! each position by `n` times the buffer's `advance`.
//!
//! **Packs.** Parallel isomorphic filters fire together, a lane for each ([`packs`]), where that is
//! faster ([`choose`]).
//!
//! **Fused kernels.** Filters between which no items remain are one code, with registers for the items between them
//! ([`fused`]).
//!
//! **Order.** Outside feedback loops each node fires for all `n` steady states at once. The phases of a loop
//! are repeated `n` times, and so are those that messages keep in order ([`message_order`](crate::message_order)). Where
//! several nodes print, `n` is 1.

mod border;
mod buffers;
mod choose;
mod copies;
mod cost;
mod delay;
mod ends;
mod facts;
mod fused;
mod items;
mod long;
mod merge;
mod order;
mod packs;
mod ports;
mod region;
mod scale;
mod state;
mod steps;
mod strides;
mod views;

use crate::lower::NodeCode;
use thalweg_lang::flat::{ChannelId, NodeId, NodeKind};

use choose::Planned;
use facts::loops;
use region::measure;
use scale::{bytes_of, scale};
use views::{Mapping, views};

pub(crate) use border::Border;
pub(crate) use buffers::{BEYOND, Buffer, held};
pub(crate) use copies::moves_of;
pub(crate) use cost::{interleaves, loads};
pub(crate) use delay::delays;
pub(crate) use facts::{Facts, Span, count, item};
pub(crate) use fused::FusedKernel;
pub(crate) use items::{Items, Pattern};
pub(crate) use merge::Merged;
pub(crate) use packs::Pack;
pub(crate) use ports::{Actor, Port};
pub(crate) use region::{Plan, sizes};
pub(crate) use state::{has_state, keeps_nothing};
pub(crate) use steps::{Round, Step};
pub(crate) use strides::{NARROW, pays, stride, strides_of};
pub(crate) use views::View;

/// Plans a region, for one or many steady states in a call; without vectors if `lanes` is 1.
pub(crate) fn plan(
    facts: &Facts<'_>,
    merged: &Merged,
    codes: &[Option<NodeCode>],
    (alone, lanes): (bool, usize),
) -> Result<Plan, String> {
    let mut kept = keep_first(facts);
    loop {
        let mut views = views(facts, &kept);
        merged.share(&mut views);
        let actors = |views: &[Option<View>]| {
            let acts = |node| !merged.is_done(facts, views, node);
            let made = ports::actors(facts, &kept, views, &acts)?;
            Ok::<_, String>(made.map(|(mut actors, buffers)| {
                merged.take(&mut actors);
                (actors, buffers)
            }))
        };
        let made = match actors(&views)? {
            Ok((made, buffers)) => {
                let steps = order::steps(facts, &made, codes);
                let planned = Planned { views, actors: made, buffers, steps };
                let (planned, packs, kernels) = match lanes {
                    1 => (planned, Vec::new(), Vec::new()),
                    _ => choose::choose(facts, codes, &actors, planned, (lanes, !alone))?,
                };
                border::borders(facts, &kept, &planned.views, &planned.buffers)?
                    .map(|borders| (planned, packs, kernels, borders))
            }
            Err(node) => Err(node),
        };
        match made {
            Ok((planned, packs, kernels, (inputs, outputs))) => {
                let Planned { views, actors, buffers, steps } = planned;
                let inner: Vec<usize> =
                    kernels.iter().flat_map(|kernel| kernel.inside.iter().copied()).collect();
                let kept = (0..buffers.len()).filter(|at| !inner.contains(at)).map(|at| &buffers[at]);
                let scale = if alone { 1 } else { scale(bytes_of(kept)) };
                let (first, blocks) = (0, Vec::new());
                let holding = buffers::holding(facts, &views);
                let mut plan = Plan {
                    actors,
                    buffers,
                    first,
                    steps,
                    packs,
                    kernels,
                    inputs,
                    outputs,
                    scale,
                    views,
                    ends: Vec::new(),
                    holding,
                    blocks,
                    inner,
                };
                measure(&mut plan);
                return Ok(plan);
            }
            // No regular pattern: this node copies.
            Err(node) => kept[node.0 as usize] = true,
        }
    }
}

/// Nodes that must copy at any rates: a channel from a splitter to a joiner would belong to neither. Nodes
/// outside the region are included, so that no channel is followed through them.
fn keep_first(facts: &Facts<'_>) -> Vec<bool> {
    let flat = &facts.compiled.flat;
    let mut kept: Vec<bool> = facts.inside.iter().map(|inside| !inside).collect();
    for (at, channel) in flat.channels().iter().enumerate() {
        if !facts.has(channel.from().0) || !facts.has(channel.to().0) {
            continue;
        }
        let starts =
            |node: NodeId| matches!(flat.kind(node), NodeKind::Split(_)) || facts.delay(node).is_some();
        if channel.link().initial() > 0 && starts(channel.from().0) {
            kept[channel.from().0.index()] = true;
        }
        if !matches!(flat.kind(channel.to().0), NodeKind::Join(_)) {
            continue;
        }
        let mut up = ChannelId(at as u32);
        while facts.delay(flat.channel(up).from().0).is_some() && !kept[flat.channel(up).from().0.index()] {
            up = flat.input(flat.channel(up).from().0).expect("a filter that forwards its input");
        }
        let from = flat.channel(up).from().0;
        if facts.has(from) && matches!(flat.kind(from), NodeKind::Split(_)) {
            let copies =
                if facts.delay(channel.from().0).is_some() { channel.from().0 } else { channel.to().0 };
            kept[copies.0 as usize] = true;
        }
    }
    kept
}
