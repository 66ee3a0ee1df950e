//! What a fused region looks like: buffers, who reads and writes which places of them, and in what order.
//!
//! Splitters, joiners, identities and delays ([`delay`]) do not move items if they need not. A *root* is the
//! buffer of a channel that is really there: of a filter's output, or of a joiner's where filters write to a joiner.
//! Each other channel is a way to number places of a root ([`Place`]): item `k` of a splitter's output of
//! weight `w` among `W`, behind `o` others, is item `(k / w) * W + o + k % w` of its input, and the same
//! holds for a joiner's inputs and its output. Where that is no regular pattern of a filter's firings
//! ([`ports`]) the splitter or joiner is kept, and copies.
//!
//! **Between calls** the items that are left stand at the front of their root. A call of `n` steady states
//! moves each place by `n` times the root's `advance`.
//!
//! **Families.** Filters side by side that do the same fire together, a lane for each ([`families`]), where
//! that is faster ([`choose`]).
//!
//! **Bundles.** Filters between which nothing is left are one code, with registers in place of what is between
//! them ([`bundles`]).
//!
//! **Order.** Outside of feedback loops each node fires for all `n` steady states in one go; around a loop
//! the phases are done `n` times, and so are those of what messages keep in order ([`ties`](crate::ties)). Where
//! several nodes print, `n` is 1.

mod border;
mod bundles;
mod choose;
mod delay;
mod facts;
mod families;
mod long;
mod merge;
mod order;
mod places;
mod ports;
mod roots;
mod state;
mod worth;

use crate::blocks::Block;
use crate::emit::items::Items;
use crate::emit::program::NodeCode;
use thalweg_lang::flat::{ChannelId, NodeId, NodeKind};

use choose::Planned;
use places::places;

pub(crate) use border::Border;
pub(crate) use bundles::Bundle;
pub(crate) use choose::Family;
pub(crate) use delay::delays;
pub(crate) use facts::{Facts, count, item};
pub(crate) use merge::Merged;
pub(crate) use order::{Round, Step};
pub(crate) use roots::{BEYOND, Root, held, sizes};
pub(crate) use state::{has_state, keeps_nothing};
pub(crate) use worth::loads;

/// Bytes that buffers may take together: of the first cache, and of the second where it is needed to
/// fire often enough in a row.
const NEAR: u64 = 20 << 10;
const FAR: u64 = 256 << 10;

/// Steady states in a row that are worth leaving the first cache for.
const ENOUGH: u64 = 64;

/// The most steady states in a call.
const MOST: u64 = 1 << 14;

/// A step from the numbers of one channel's items to those of another's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// So many more.
    Shift(i64),
    /// One of the ports of a splitter or joiner: its weight, that of all, and of those before.
    Deal { width: i64, all: i64, before: i64 },
}

/// Where the items of a channel stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// The channel whose buffer it is.
    pub(crate) root: ChannelId,
    levels: Vec<Level>,
}

impl Place {
    /// The place in the root of an item, counted from the channel's first of all.
    pub(crate) fn of(&self, item: i64) -> i64 {
        self.levels.iter().fold(item, |item, level| match level {
            Level::Shift(by) => item + by,
            Level::Deal { width, all, before } => {
                item.div_euclid(*width) * all + before + item.rem_euclid(*width)
            }
        })
    }
}

/// A side of a node that does something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Port {
    /// The root, by its place among the plan's.
    pub(crate) root: usize,
    pub(crate) items: Items,
}

/// A node that does something.
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
    /// Buffers of the parts before it.
    pub(crate) first: usize,
    pub(crate) steps: Vec<Step>,
    pub(crate) families: Vec<Family>,
    pub(crate) bundles: Vec<Bundle>,
    /// Where items come in from other parts, and go out to them.
    pub(crate) inputs: Vec<Border>,
    pub(crate) outputs: Vec<Border>,
    /// The most steady states in a call.
    pub(crate) scale: u64,
    /// For each channel, where it stands; none of those that carry nothing.
    pub(crate) places: Vec<Option<Place>>,
    /// How far everybody comes in the roots.
    pub(crate) ends: Vec<roots::End>,
    /// Channels to the region's nodes that may hold items between steady states, in their order.
    pub(crate) holding: Vec<ChannelId>,
    /// Groups of actors that are run in lanes.
    pub(crate) blocks: Vec<Block>,
    /// Roots that have no memory of their own: those inside of blocks and bundles.
    pub(crate) inner: Vec<usize>,
}

impl Plan {
    /// Whether an actor is run by itself.
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

    /// Vectors of memory that blocks need.
    pub(crate) fn vectors(&self) -> u32 {
        self.blocks.iter().map(|block| block.vectors).max().unwrap_or(0)
    }

    /// Steady states that are done together, with so many lanes.
    pub(crate) fn turn(&self, lanes: usize) -> u64 {
        let turn =
            |block: &Block| if block.across.is_some() { 1 } else { u64::from(block.beside) * lanes as u64 };
        self.blocks.iter().map(turn).max().unwrap_or(lanes as u64)
    }

    /// Sees to it that calls are worth their while, and buffers large enough, for as many lanes.
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

    /// Whether all is one step: what comes in is read once and what goes out is written once, so no cache need
    /// hold it from one step to the next.
    fn streams(&self, facts: &Facts<'_>) -> bool {
        let is_end =
            |step: &&Step| matches!(step, Step::All(actor) if facts.is_end(self.actors[*actor].node));
        self.steps.iter().filter(|step| !is_end(step)).count() == 1
    }

    /// Whether a channel's items are used where they stand outside.
    pub(crate) fn is_direct(&self, channel: ChannelId) -> bool {
        self.inputs.iter().chain(&self.outputs).any(|border| border.channel == channel && border.direct)
    }
}

/// Plans a region, alone or for many steady states in a row; there are no vectors where `lanes` is 1.
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
            // No regular pattern: this one copies.
            Err(node) => kept[node.0 as usize] = true,
        }
    }
}

/// Nodes that must copy, whatever the rates: a channel from a splitter to a joiner belongs to neither. Those
/// outside of the region count as such: no channel is followed through them.
fn keep_first(facts: &Facts<'_>) -> Vec<bool> {
    let flat = &facts.compiled.flat;
    let mut kept: Vec<bool> = facts.inside.iter().map(|inside| !inside).collect();
    for (at, channel) in flat.channels.iter().enumerate() {
        if !facts.has(channel.from) || !facts.has(channel.to) {
            continue;
        }
        let starts =
            |node: NodeId| matches!(flat.node(node).kind, NodeKind::Split(_)) || facts.delay(node).is_some();
        if !channel.initial.is_empty() && starts(channel.from) {
            kept[channel.from.0 as usize] = true;
        }
        if !matches!(flat.node(channel.to).kind, NodeKind::Join(_)) {
            continue;
        }
        let mut up = ChannelId(at as u32);
        while facts.delay(flat.channel(up).from).is_some() && !kept[flat.channel(up).from.0 as usize] {
            up = flat.node(flat.channel(up).from).inputs[0];
        }
        let from = flat.channel(up).from;
        if facts.has(from) && matches!(flat.node(from).kind, NodeKind::Split(_)) {
            let copies = if facts.delay(channel.from).is_some() { channel.from } else { channel.to };
            kept[copies.0 as usize] = true;
        }
    }
    kept
}

/// Bytes that go through roots in a steady state.
fn bytes_of<'a>(roots: impl Iterator<Item = &'a Root>) -> u64 {
    roots.map(|root| root.advance as u64 * root.bytes as u64).sum::<u64>().max(1)
}

/// As many steady states of so many bytes as the cache holds.
fn scale(each: u64) -> u64 {
    rounded((NEAR / each).max((FAR / each).min(ENOUGH)).clamp(1, MOST))
}

/// Not much less, and a number that leaves nothing over when several are done at once.
fn rounded(scale: u64) -> u64 {
    let step = (scale / 4).max(1);
    let step = 1 << step.ilog2();
    scale / step * step
}
