//! When a region lets others go on though it could do more.

use crate::Compiled;
use crate::flat::ChannelId;
use crate::schedule::Region;
use std::collections::HashSet;

/// Words of items in a queue from which on it is long.
const LONG: u64 = 1 << 16;

/// The queues that lead out of a region, with how many items make each long. Then those who take from it go on before
/// it does another steady state: a filter that gives without taking would fill its queue, and nobody else would come
/// to anything.
pub fn leaving(compiled: &Compiled, region: &Region) -> Vec<(ChannelId, u64)> {
    let inside: HashSet<_> = region.nodes.iter().copied().collect();
    let outputs = region.nodes.iter().flat_map(|node| &compiled.flat.node(*node).outputs);
    let crossing = outputs.filter(|output| !inside.contains(&compiled.flat.channel(**output).to));
    let long = |output: &ChannelId| {
        let words = compiled.flat.channel(*output).item.words(&compiled.tree.structs, LONG);
        (*output, LONG / words.unwrap_or(LONG).clamp(1, LONG))
    };
    crossing.map(long).collect()
}
