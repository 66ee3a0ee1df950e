//! What a channel's ends say of its rates.

use thalweg_graph::{Channel, ChannelId, GraphData};

/// The rates of a channel both of whose ends are static.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    /// Items in by a firing of the producer.
    pub push: u32,
    /// Items out by a firing of the consumer.
    pub pop: u32,
    /// Items that must be there for a firing of the consumer.
    pub peek: u32,
}

/// The rates of a channel if both are static.
///
/// A merge takes what has arrived: its rates, whatever they say, bind nothing. Nor does a channel
/// that nothing goes in or comes out of by either end's rate.
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
