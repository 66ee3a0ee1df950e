//! What mappers need to know of a program, without a run.

use std::time::Duration;
use thalweg::embed::graph::{GraphData, Rate};
use thalweg::plan::{ChannelProfile, NodeProfile, Profile};

/// The profile of a chain whose nodes stand in the order of the data, with static rates. Its source fires `firings` times, and
/// `time` is that of one firing, by the number of the node.
///
/// ```
/// use std::time::Duration;
/// use thalweg_pipelines::{chain_profile, dnn};
///
/// let network = dnn::Parameters { layers: 4, perceptrons: 64, ..Default::default() }.network();
/// let profile = chain_profile(&network.graph(10, 1).graph().data(), 10, |_| Duration::from_micros(3));
/// assert_eq!((profile.nodes()[2].firings(), profile.channels()[1].items()), (10, 640));
/// ```
pub fn chain_profile(graph: &GraphData, firings: u64, time: impl Fn(usize) -> Duration) -> Profile {
    let (mut nodes, mut channels, mut firings) = (Vec::new(), Vec::new(), firings);
    let fixed = |rate: Rate| rate.fixed().unwrap_or(1);
    for (at, id) in graph.node_ids().enumerate() {
        let nanoseconds = time(at).as_nanos() as u64 * firings;
        nodes.push(
            NodeProfile::new(firings, Duration::from_nanos(nanoseconds)).with_state(graph.footprint(id)),
        );
        let Some(channel) = graph.channels().get(at) else { break };
        let items = firings * fixed(graph.node(id).outputs()[0].push());
        channels.push(ChannelProfile::new(items, items * channel.item().bytes() as u64));
        firings = items / fixed(graph.node(channel.to().0).inputs()[0].pop()).max(1);
    }
    Profile::new(Duration::ZERO, nodes, channels).of_graph(graph)
}
