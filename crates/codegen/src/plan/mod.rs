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
mod families;
mod long;
mod merge;
mod order;
mod ports;
mod roots;
mod state;
mod worth;

use crate::blocks::Block;
use crate::emit::items::Items;
use crate::emit::program::NodeCode;
use crate::ir::Cell;
use crate::lower::{cell_of, cells_of};
use crate::ties::Span;
use thalweg_lang::Compiled;
use thalweg_lang::flat::{ChannelId, Firing, NodeId, NodeKind};
use thalweg_lang::schedule::{Phase, Region};
use thalweg_lang::tree::{Code, Weights};

use choose::Planned;

pub(crate) use border::Border;
pub(crate) use bundles::Bundle;
pub(crate) use choose::Family;
pub(crate) use delay::delays;
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
        self.blocks.iter().map(|block| block.parts.vectors * block.beside).max().unwrap_or(0)
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

/// What is known of a region before it is planned.
pub(crate) struct Facts<'a> {
    pub(crate) compiled: &'a Compiled,
    pub(crate) region: &'a Region,
    /// By node: firings in the initialisation, and in a steady state.
    pub(crate) begun: Vec<u64>,
    pub(crate) firings: Vec<u64>,
    /// Nodes that take turns because of messages.
    pub(crate) spans: Vec<Span>,
    /// By node: whether it is in the region.
    inside: Vec<bool>,
    /// By node: of filters that are delays, and how long ([`delays`]); none of the others, and none where nobody
    /// has looked.
    pub(crate) delays: Vec<Option<i64>>,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(compiled: &'a Compiled, region: &'a Region) -> Facts<'a> {
        let nodes = compiled.flat.nodes.len();
        let (mut begun, mut firings) = (vec![0; nodes], vec![0; nodes]);
        count(&region.init, 1, &mut begun);
        count(&region.steady, 1, &mut firings);
        let mut inside = vec![false; nodes];
        region.nodes.iter().for_each(|node| inside[node.0 as usize] = true);
        Facts { compiled, region, begun, firings, spans: Vec::new(), inside, delays: vec![None; nodes] }
    }

    /// Whether a node is in the region.
    pub(crate) fn has(&self, node: NodeId) -> bool {
        self.inside[node.0 as usize]
    }

    fn total(first: Option<u64>, later: Option<u64>, firings: u64) -> i64 {
        let (first, later) = (first.unwrap_or(0), later.unwrap_or(0));
        if firings == 0 { 0 } else { (first + later * (firings - 1)) as i64 }
    }

    /// Items that have come into a channel when its producer has fired so often, those from the beginning
    /// included.
    pub(crate) fn pushed(&self, channel: ChannelId, port: usize, firings: u64) -> i64 {
        let (flat, tree) = (&self.compiled.flat, &self.compiled.tree);
        let from = flat.channel(channel).from;
        let push = |firing| flat.push(tree, from, port, firing);
        flat.channel(channel).initial.len() as i64
            + Facts::total(push(Firing::First), push(Firing::Later), firings)
    }

    /// Items that have been taken from a channel when its consumer has fired so often.
    pub(crate) fn popped(&self, channel: ChannelId, port: usize, firings: u64) -> i64 {
        let (flat, tree) = (&self.compiled.flat, &self.compiled.tree);
        let to = flat.channel(channel).to;
        let pop = |firing| flat.pop(tree, to, port, firing);
        Facts::total(pop(Firing::First), pop(Firing::Later), firings)
    }

    /// Items that a channel's consumer looks at beyond those that it takes.
    pub(crate) fn ahead(&self, channel: ChannelId, port: usize) -> i64 {
        let (flat, tree) = (&self.compiled.flat, &self.compiled.tree);
        let to = flat.channel(channel).to;
        let (pop, peek) = (flat.pop(tree, to, port, Firing::Later), flat.peek(tree, to, port, Firing::Later));
        peek.saturating_sub(pop.unwrap_or(0)) as i64
    }

    /// What an item of a channel is made of, and of how many cells.
    pub(crate) fn item(&self, channel: ChannelId) -> Result<(Cell, usize), String> {
        item(self.compiled, channel)
    }

    /// Whether a node reads or writes a file.
    pub(crate) fn is_end(&self, node: NodeId) -> bool {
        match self.compiled.flat.node(node).kind {
            NodeKind::Filter(filter) => {
                let code = &self.compiled.tree.filters[filter.0 as usize].code;
                matches!(code, Code::FileReader(_) | Code::FileWriter(_))
            }
            _ => false,
        }
    }

    /// Whether a filter gives what it takes in steady states, and by how many places later.
    fn delay(&self, node: NodeId) -> Option<i64> {
        if self.is_identity(node) { Some(0) } else { self.delays[node.0 as usize] }
    }

    pub(crate) fn is_identity(&self, node: NodeId) -> bool {
        match self.compiled.flat.node(node).kind {
            NodeKind::Filter(filter) => self.compiled.tree.filters[filter.0 as usize].code == Code::Identity,
            _ => false,
        }
    }
}

/// What an item of a channel is made of, and of how many cells.
pub(crate) fn item(compiled: &Compiled, channel: ChannelId) -> Result<(Cell, usize), String> {
    let (shape, structs) = (&compiled.flat.channel(channel).item, &compiled.tree.structs);
    Ok((cell_of(shape, structs)?, cells_of(shape, structs)))
}

/// Adds up how often nodes fire.
pub(crate) fn count(phases: &[Phase], times: u64, firings: &mut [u64]) {
    for phase in phases {
        match phase {
            Phase::Fire(node, each) => firings[node.0 as usize] += times * each,
            Phase::Repeat(again, inner) => count(inner, times * again, firings),
        }
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

fn places(facts: &Facts<'_>, kept: &[bool]) -> Vec<Option<Place>> {
    let flat = &facts.compiled.flat;
    let ends = |channel: ChannelId| [flat.channel(channel).from, flat.channel(channel).to];
    let near = |channel: ChannelId| ends(channel).into_iter().any(|node| facts.has(node));
    let all = (0..flat.channels.len() as u32).map(ChannelId);
    all.map(|channel| if near(channel) { place(facts, kept, channel) } else { None }).collect()
}

/// Follows a channel to its root.
fn place(facts: &Facts<'_>, kept: &[bool], channel: ChannelId) -> Option<Place> {
    let flat = &facts.compiled.flat;
    let goes = |node: NodeId| !kept[node.0 as usize];
    let (mut root, delay) = before_identities(facts, kept, channel);
    let mut levels = vec![Level::Shift(-delay)];
    loop {
        let (last, delay) = behind_identities(facts, kept, root);
        let (from, to) = (flat.channel(root).from, flat.channel(last).to);
        if let (NodeKind::Join(Weights::RoundRobin(weights)), true) = (&flat.node(to).kind, goes(to)) {
            let port = flat.node(to).inputs.iter().position(|input| *input == last)?;
            levels.extend([Level::Shift(delay), deal(weights, port)?]);
            root = *flat.node(to).outputs.first()?;
            levels.push(Level::Shift(flat.channel(root).initial.len() as i64));
        } else if let (NodeKind::Split(weights), true) = (&flat.node(from).kind, goes(from)) {
            let port = flat.node(from).outputs.iter().position(|output| *output == root)?;
            if let Weights::RoundRobin(weights) = weights {
                levels.push(deal(weights, port)?);
            }
            let (before, delay) = before_identities(facts, kept, *flat.node(from).inputs.first()?);
            levels.push(Level::Shift(-delay));
            root = before;
        } else {
            levels.retain(|level| *level != Level::Shift(0));
            return Some(Place { root, levels });
        }
    }
}

/// The channel that comes through identities and delays as this one, and how many places later.
fn before_identities(facts: &Facts<'_>, kept: &[bool], mut channel: ChannelId) -> (ChannelId, i64) {
    let (flat, mut all) = (&facts.compiled.flat, 0);
    loop {
        let from = flat.channel(channel).from;
        let Some(delay) = facts.delay(from).filter(|_| !kept[from.0 as usize]) else { return (channel, all) };
        channel = flat.node(from).inputs[0];
        all += delay;
    }
}

/// The channel that this one goes through identities and delays as, and how many places later.
fn behind_identities(facts: &Facts<'_>, kept: &[bool], mut channel: ChannelId) -> (ChannelId, i64) {
    let (flat, mut all) = (&facts.compiled.flat, 0);
    loop {
        let to = flat.channel(channel).to;
        let Some(delay) = facts.delay(to).filter(|_| !kept[to.0 as usize]) else { return (channel, all) };
        channel = flat.node(to).outputs[0];
        all += delay;
    }
}

fn deal(weights: &[u32], port: usize) -> Option<Level> {
    let width = i64::from(*weights.get(port)?);
    let all = weights.iter().copied().map(i64::from).sum();
    let before = weights[..port].iter().copied().map(i64::from).sum();
    (width > 0).then_some(Level::Deal { width, all, before })
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
