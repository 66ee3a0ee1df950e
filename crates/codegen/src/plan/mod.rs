//! The plan of a fused region: its buffers, how each node accesses them, and the order of firings.
//!
//! Splitters, joiners, identities and delays ([`delay`]) move items only where they must. A *root* is a
//! channel that has a buffer: the output of a filter, or of a joiner where filters feed the joiner. Every
//! other channel is a view of a root ([`Place`]): a mapping of item numbers to positions in the root. Item
//! `k` of a splitter's output of weight `w`, with a sum of weights `W` of which `o` precede it, is item `(k /
//! w) * W + o + k % w` of the splitter's input; the same holds for a joiner's inputs and its output. Where
//! the mapping gives a filter's firings no regular pattern ([`ports`]), the splitter or joiner stays and
//! copies.
//!
//! **Between calls** the remaining items are at the front of their root. A call of `n` steady states advances
//! each position by `n` times the root's `advance`.
//!
//! **Families.** Parallel isomorphic filters fire together, a lane for each ([`families`]), where that is
//! faster ([`choose`]).
//!
//! **Bundles.** Filters between which no items remain are one code, with registers for the items between them
//! ([`fused`]).
//!
//! **Order.** Outside feedback loops each node fires for all `n` steady states at once. The phases of a loop
//! are repeated `n` times, and so are those that messages keep in order ([`ties`](crate::ties)). Where
//! several nodes print, `n` is 1.

mod border;
mod choose;
mod cost;
mod delay;
mod facts;
mod families;
mod fused;
mod long;
mod merge;
mod order;
mod places;
mod ports;
mod roots;
mod state;

use crate::blocks::Block;
use crate::emit::items::Items;
use crate::lower::NodeCode;
use thalweg_lang::flat::{ChannelId, NodeId, NodeKind};

use choose::Planned;
use places::places;

pub(crate) use border::Border;
pub(crate) use choose::Family;
pub(crate) use cost::loads;
pub(crate) use delay::delays;
pub(crate) use facts::{Facts, count, item};
pub(crate) use fused::Bundle;
pub(crate) use merge::Merged;
pub(crate) use order::{Round, Step};
pub(crate) use roots::{BEYOND, Root, held, sizes};
pub(crate) use state::{has_state, keeps_nothing};

/// Bytes of all buffers together: in the first-level cache, and in the second-level cache where a call would
/// otherwise be too short.
const NEAR: u64 = 20 << 10;
const FAR: u64 = 256 << 10;

/// Steady states in a call for which the second-level cache is used.
const ENOUGH: u64 = 64;

/// The most steady states in a call.
const MOST: u64 = 1 << 14;

/// A step of the mapping from one channel's item numbers to another's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// Adds a constant.
    Shift(i64),
    /// A port of a splitter or joiner: its weight, the sum of all weights, and of those before it.
    Deal { width: i64, all: i64, before: i64 },
}

/// The view of a channel's items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// The channel that has the buffer.
    pub(crate) root: ChannelId,
    levels: Vec<Level>,
}

impl Place {
    /// The position in the root of an item, both counted from the channels' first items.
    pub(crate) fn of(&self, item: i64) -> i64 {
        self.levels.iter().fold(item, |item, level| match level {
            Level::Shift(by) => item + by,
            Level::Deal { width, all, before } => {
                item.div_euclid(*width) * all + before + item.rem_euclid(*width)
            }
        })
    }
}

/// A node's access to a root on one side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Port {
    /// The index of the root in the plan.
    pub(crate) root: usize,
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

/// How a region is run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Plan {
    pub(crate) actors: Vec<Actor>,
    pub(crate) roots: Vec<Root>,
    /// The number of buffers of earlier parts.
    pub(crate) first: usize,
    pub(crate) steps: Vec<Step>,
    pub(crate) families: Vec<Family>,
    pub(crate) bundles: Vec<Bundle>,
    /// Where items enter from other parts, and leave to them.
    pub(crate) inputs: Vec<Border>,
    pub(crate) outputs: Vec<Border>,
    /// The most steady states in a call.
    pub(crate) scale: u64,
    /// By channel: its place; `None` for channels that carry nothing.
    pub(crate) places: Vec<Option<Place>>,
    /// How far each access reaches in its root.
    pub(crate) ends: Vec<roots::End>,
    /// Channels to the region's nodes that may hold items between steady states, in order.
    pub(crate) holding: Vec<ChannelId>,
    /// Groups of actors that run in lanes.
    pub(crate) blocks: Vec<Block>,
    /// Roots without a buffer: those inside blocks and bundles.
    pub(crate) inner: Vec<usize>,
}

impl Plan {
    /// Whether an actor fires on its own.
    pub(crate) fn acts(&self, actor: usize) -> bool {
        fn fires(rounds: &[Round], actor: usize) -> bool {
            rounds.iter().any(|round| match round {
                Round::Fire(other, _) => *other == actor,
                Round::Repeat(_, inner) | Round::AtOnce(_, inner) => fires(inner, actor),
            })
        }
        self.steps.iter().any(|step| match step {
            Step::All(other) => *other == actor,
            Step::Rounds(rounds) => fires(rounds, actor),
            Step::Blocks(_) | Step::Family(_) | Step::Bundle(_) => false,
        })
    }

    /// The vectors of memory that blocks need.
    pub(crate) fn vectors(&self) -> u32 {
        self.blocks.iter().map(|block| block.vectors).max().unwrap_or(0)
    }

    /// The steady states that are done together, with this many lanes.
    pub(crate) fn turn(&self, lanes: usize) -> u64 {
        let turn =
            |block: &Block| if block.across.is_some() { 1 } else { u64::from(block.beside) * lanes as u64 };
        self.blocks.iter().map(turn).max().unwrap_or(lanes as u64)
    }

    /// Sets the length of calls and the sizes of buffers for blocks with this many lanes.
    pub(crate) fn with_blocks(&mut self, facts: &Facts<'_>, lanes: u64) {
        if self.blocks.is_empty() {
            return;
        }
        let beside = self.blocks.iter().map(|block| u64::from(block.beside)).max().unwrap_or(1);
        let kept = |at: &usize| !self.inner.contains(at);
        let each = bytes_of((0..self.roots.len()).filter(kept).map(|at| &self.roots[at]));
        let most = if self.streams(facts) { (FAR / each).clamp(1, MOST) } else { scale(each) };
        self.scale = most.max(lanes * beside);
        self.scale -= self.scale % (lanes * beside);
        roots::measure(self);
    }

    /// Whether everything is one step: input is read once and output is written once, so no cache has to hold
    /// items from one step to the next.
    fn streams(&self, facts: &Facts<'_>) -> bool {
        let is_end =
            |step: &&Step| matches!(step, Step::All(actor) if facts.is_end(self.actors[*actor].node));
        self.steps.iter().filter(|step| !is_end(step)).count() == 1
    }

    /// Whether a channel's items are accessed in the queue outside.
    pub(crate) fn is_direct(&self, channel: ChannelId) -> bool {
        self.inputs.iter().chain(&self.outputs).any(|border| border.channel == channel && border.direct)
    }
}

/// Plans a region, for one or many steady states in a call; without vectors if `lanes` is 1.
pub(crate) fn plan(
    facts: &Facts<'_>,
    merged: &Merged,
    codes: &[Option<NodeCode>],
    (alone, lanes): (bool, usize),
) -> Result<Plan, String> {
    let mut kept = keep_first(facts);
    loop {
        let mut places = places(facts, &kept);
        merged.share(&mut places);
        let actors = |places: &[Option<Place>]| {
            let acts = |node| !merged.is_done(facts, places, node);
            let made = ports::actors(facts, &kept, places, &acts)?;
            Ok::<_, String>(made.map(|(mut actors, roots)| {
                merged.take(&mut actors);
                (actors, roots)
            }))
        };
        let made = match actors(&places)? {
            Ok((made, roots)) => {
                let steps = order::steps(facts, &made, codes);
                let planned = Planned { places, actors: made, roots, steps };
                let (planned, families, bundles) = match lanes {
                    1 => (planned, Vec::new(), Vec::new()),
                    _ => choose::choose(facts, codes, &actors, planned, (lanes, !alone))?,
                };
                border::borders(facts, &kept, &planned.places, &planned.roots)?
                    .map(|borders| (planned, families, bundles, borders))
            }
            Err(node) => Err(node),
        };
        match made {
            Ok((planned, families, bundles, (inputs, outputs))) => {
                let Planned { places, actors, roots, steps } = planned;
                let inner: Vec<usize> =
                    bundles.iter().flat_map(|bundle| bundle.inside.iter().copied()).collect();
                let kept = (0..roots.len()).filter(|at| !inner.contains(at)).map(|at| &roots[at]);
                let scale = if alone { 1 } else { scale(bytes_of(kept)) };
                let (first, blocks) = (0, Vec::new());
                let holding = roots::holding(facts, &places);
                let mut plan = Plan {
                    actors,
                    roots,
                    first,
                    steps,
                    families,
                    bundles,
                    inputs,
                    outputs,
                    scale,
                    places,
                    ends: Vec::new(),
                    holding,
                    blocks,
                    inner,
                };
                roots::measure(&mut plan);
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
        if !facts.has(channel.from.0) || !facts.has(channel.to.0) {
            continue;
        }
        let starts =
            |node: NodeId| matches!(flat.kind(node), NodeKind::Split(_)) || facts.delay(node).is_some();
        if channel.link.initial > 0 && starts(channel.from.0) {
            kept[channel.from.0.index()] = true;
        }
        if !matches!(flat.kind(channel.to.0), NodeKind::Join(_)) {
            continue;
        }
        let mut up = ChannelId(at as u32);
        while facts.delay(flat.channel(up).from.0).is_some() && !kept[flat.channel(up).from.0.index()] {
            up = flat.input(flat.channel(up).from.0).expect("a filter that forwards its input");
        }
        let from = flat.channel(up).from.0;
        if facts.has(from) && matches!(flat.kind(from), NodeKind::Split(_)) {
            let copies = if facts.delay(channel.from.0).is_some() { channel.from.0 } else { channel.to.0 };
            kept[copies.0 as usize] = true;
        }
    }
    kept
}

/// Bytes that move through roots in a steady state.
fn bytes_of<'a>(roots: impl Iterator<Item = &'a Root>) -> u64 {
    roots.map(|root| root.advance as u64 * root.bytes as u64).sum::<u64>().max(1)
}

/// The number of steady states, at this many bytes each, that fit the caches.
fn scale(each: u64) -> u64 {
    rounded((NEAR / each).max((FAR / each).min(ENOUGH)).clamp(1, MOST))
}

/// Rounds down a little to a multiple of a power of two, so that vectors leave no remainder.
fn rounded(scale: u64) -> u64 {
    let step = (scale / 4).max(1);
    let step = 1 << step.ilog2();
    scale / step * step
}
