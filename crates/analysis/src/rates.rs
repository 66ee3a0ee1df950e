//! The rates of a channel, from the ports at its ends.

use thalweg_graph::{Channel, ChannelId, GraphData};

/// The rates of a channel with static rates at both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    /// Items that a firing of the producer pushes.
    pub push: u64,
    /// Items that a firing of the consumer pops.
    pub pop: u64,
    /// Items that the channel must hold for a firing of the consumer.
    pub peek: u64,
}

/// The rates of a channel if both are static and constrain its ends.
///
/// A merge pops whichever items have arrived, so its declared rates constrain nothing. Neither does a channel
/// with a push rate and a pop rate of 0.
pub(crate) fn rates(graph: &GraphData, id: ChannelId) -> Option<Rates> {
    let Channel { from, to, .. } = *graph.channel(id);
    let (producer, consumer) = (graph.node(from.0), graph.node(to.0));
    if producer.merge || consumer.merge {
        return None;
    }
    let input = &consumer.inputs[to.1];
    let push = producer.outputs[from.1].push.fixed()?;
    let pop = input.pop.fixed()?;
    (push > 0 || pop > 0).then(|| Rates { push, pop, peek: input.peek.max(pop) })
}
