//! The views of channels without a buffer: views of the buffers behind splitters and joiners.

use super::Facts;
use thalweg_lang::flat::{ChannelId, NodeId, NodeKind};
use thalweg_lang::tree::Weights;

/// A step of the mapping from one channel's item numbers to another's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mapping {
    /// Adds a constant.
    Shift(i64),
    /// A port of a splitter or joiner: its weight, the sum of all weights, and of those before it.
    RoundRobin { width: i64, all: i64, before: i64 },
}

/// The view of a channel's items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct View {
    /// The channel that has the buffer.
    pub(crate) buffer: ChannelId,
    pub(super) mappings: Vec<Mapping>,
}

impl View {
    /// The position in the buffer of an item, both counted from the channels' first items.
    pub(crate) fn of(&self, item: i64) -> i64 {
        self.mappings.iter().fold(item, |item, mapping| match mapping {
            Mapping::Shift(by) => item + by,
            Mapping::RoundRobin { width, all, before } => {
                item.div_euclid(*width) * all + before + item.rem_euclid(*width)
            }
        })
    }
}

/// The view of each channel near the region; `None` where it has none.
pub(super) fn views(facts: &Facts<'_>, kept: &[bool]) -> Vec<Option<View>> {
    let flat = &facts.compiled.flat;
    let ends = |channel: ChannelId| [flat.channel(channel).from().0, flat.channel(channel).to().0];
    let near = |channel: ChannelId| ends(channel).into_iter().any(|node| facts.has(node));
    let all = flat.graph.channel_ids();
    all.map(|channel| if near(channel) { view(facts, kept, channel) } else { None }).collect()
}

/// Follows a channel to its buffer.
fn view(facts: &Facts<'_>, kept: &[bool], channel: ChannelId) -> Option<View> {
    let flat = &facts.compiled.flat;
    let goes = |node: NodeId| !kept[node.0 as usize];
    let (mut buffer, delay) = before_identities(facts, kept, channel);
    let mut mappings = vec![Mapping::Shift(-delay)];
    loop {
        let (last, delay) = behind_identities(facts, kept, buffer);
        let (from, to) = (flat.channel(buffer).from().0, flat.channel(last).to().0);
        if let (NodeKind::Join(Weights::RoundRobin(weights)), true) = (flat.kind(to), goes(to)) {
            let port = flat.channel(last).to().1;
            mappings.extend([Mapping::Shift(delay), round_robin(weights, port)?]);
            buffer = flat.output(to)?;
            mappings.push(Mapping::Shift(flat.channel(buffer).link().initial() as i64));
        } else if let (NodeKind::Split(weights), true) = (flat.kind(from), goes(from)) {
            let port = flat.channel(buffer).from().1;
            if let Weights::RoundRobin(weights) = weights {
                mappings.push(round_robin(weights, port)?);
            }
            let (before, delay) = before_identities(facts, kept, flat.input(from)?);
            mappings.push(Mapping::Shift(-delay));
            buffer = before;
        } else {
            mappings.retain(|mapping| *mapping != Mapping::Shift(0));
            return Some(View { buffer, mappings });
        }
    }
}

/// The channel that reaches this one through identities and delays, and the total delay.
fn before_identities(facts: &Facts<'_>, kept: &[bool], mut channel: ChannelId) -> (ChannelId, i64) {
    let (flat, mut all) = (&facts.compiled.flat, 0);
    loop {
        let from = flat.channel(channel).from().0;
        let Some(delay) = facts.delay(from).filter(|_| !kept[from.0 as usize]) else { return (channel, all) };
        channel = flat.input(from).expect("a filter that forwards its input");
        all += delay;
    }
}

/// The channel that this one reaches through identities and delays, and the total delay.
fn behind_identities(facts: &Facts<'_>, kept: &[bool], mut channel: ChannelId) -> (ChannelId, i64) {
    let (flat, mut all) = (&facts.compiled.flat, 0);
    loop {
        let to = flat.channel(channel).to().0;
        let Some(delay) = facts.delay(to).filter(|_| !kept[to.0 as usize]) else { return (channel, all) };
        channel = flat.output(to).expect("a filter that forwards its input");
        all += delay;
    }
}

fn round_robin(weights: &[u32], port: usize) -> Option<Mapping> {
    let width = i64::from(*weights.get(port)?);
    let all = weights.iter().copied().map(i64::from).sum();
    let before = weights[..port].iter().copied().map(i64::from).sum();
    (width > 0).then_some(Mapping::RoundRobin { width, all, before })
}
