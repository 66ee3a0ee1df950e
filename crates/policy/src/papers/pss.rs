//! QES with probabilistic speculative scheduling (DANBI, section III-A3).
//!
//! When a run of firings of a parallel kernel ends, the worker may move to a neighbour before the channel between
//! them is completely empty or full. With `F` the fill of the emptiest input and `G` that of the fullest output,
//! the balanced probabilities are
//!
//! ```text
//! back    max((1 - F) - F, 0)        forward    max(G - (1 - G), 0)
//! ```
//!
//! One direction is drawn, each with probability 1/2, and taken with its balanced probability. So each move happens
//! with half of its balanced probability, and the worker stays with probability `1 - (back + forward) / 2`. (The
//! paper's formula for staying omits the factor 1/2, so its three probabilities do not add up to one.) Channels
//! tend to be half full: double buffering.
//!
//! Not fair, as [`qes`].

use super::walk::chance;
use super::{Qes, qes};
use crate::pick::{below, consumer, inputs, outputs, producer};
use crate::{Decision, Event, Host, Policy, WorkerId};
use thalweg_graph::{ChannelId, Kind, NodeId};

/// The policy `pss`.
#[derive(Clone, Copy, Default, Debug)]
pub struct Pss;

impl Policy for Pss {
    type Local = qes::Local;
    type Shared = ();

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> qes::Local {
        Qes.start(worker, host)
    }

    fn next<H: Host>(&self, me: &mut qes::Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        match last.and_then(|last| speculate(last, host)) {
            Some(neighbour) => me.claim(Some(neighbour), host),
            None => Qes.next(me, last, host),
        }
    }
}

/// Whether an activation ended in the way in which the thread of a parallel kernel ends in the paper.
pub(crate) fn ran_parallel<H: Host>((node, event): (NodeId, Event), host: &H) -> bool {
    event == Event::Budget && host.graph().node(node).kind() == Kind::Parallel
}

/// The neighbour to move to, if the worker moves.
pub(crate) fn speculate<H: Host>(last: (NodeId, Event), host: &mut H) -> Option<NodeId> {
    if !ran_parallel(last, host) {
        return None;
    }
    let forward = below(host, 2) == 1;
    let (p, neighbour) =
        if forward { towards_consumer(last.0, host) } else { towards_producer(last.0, host) }?;
    chance(host, p).then_some(neighbour)
}

/// The balanced probability of the move over the emptiest input, and its target.
fn towards_producer<H: Host>(node: NodeId, host: &H) -> Option<(f64, NodeId)> {
    let (fill, channel) = fills(inputs(host.graph(), node), host).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let (out, back_in) = (1.0 - fill, fill);
    Some(((out - back_in).max(0.0), producer(host.graph(), channel)))
}

/// The balanced probability of the move over the fullest output, and its target.
fn towards_consumer<H: Host>(node: NodeId, host: &H) -> Option<(f64, NodeId)> {
    let (fill, channel) = fills(outputs(host.graph(), node), host).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (out, back_in) = (fill, 1.0 - fill);
    Some(((out - back_in).max(0.0), consumer(host.graph(), channel)))
}

fn fills<H: Host>(
    channels: impl Iterator<Item = ChannelId>,
    host: &H,
) -> impl Iterator<Item = (f64, ChannelId)> {
    channels.map(|channel| (host.occupancy(channel).fill(), channel))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs;
    use crate::mock::Mock;

    const DRAWS: usize = 20_000;

    /// Frequencies of (back, stay, forward) at the parallel middle of three nodes.
    fn frequencies(input: usize, output: usize) -> [f64; 3] {
        let mut host = Mock::new(graphs::farm());
        host.items = vec![input, output];
        let mut me = Pss.start(0, &mut host);
        let mut counts = [0usize; 3];
        for _ in 0..DRAWS {
            match Pss.next(&mut me, Some((NodeId(1), Event::Budget)), &mut host) {
                Decision::Activate(node) => counts[node.index()] += 1,
                Decision::Idle => panic!("all nodes are claimable"),
            }
        }
        counts.map(|n| n as f64 / DRAWS as f64)
    }

    #[test]
    fn moves_follow_the_balanced_probabilities() {
        for (input, output) in
            [(50, 50), (0, 0), (100, 100), (0, 100), (100, 0), (20, 70), (35, 90), (60, 40)]
        {
            let (f, g) = (input as f64 / 100.0, output as f64 / 100.0);
            let back = 0.5 * (1.0 - 2.0 * f).max(0.0);
            let forward = 0.5 * (2.0 * g - 1.0).max(0.0);
            let seen = frequencies(input, output);
            for (seen, expected) in seen.into_iter().zip([back, 1.0 - back - forward, forward]) {
                // Four standard deviations of a frequency of 1/2 over the draws.
                assert!((seen - expected).abs() < 0.0142, "fill {f} and {g}: {seen} for {expected}");
            }
        }
    }

    #[test]
    fn half_full_channels_keep_the_kernel() {
        assert_eq!(frequencies(50, 50), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_emptiest_input_and_the_fullest_output_count() {
        // Two sources into a parallel node, which has two consumers.
        let mut host = Mock::new(graphs::two_sources());
        let hub = graphs::HUB;
        let ins: Vec<ChannelId> = inputs(host.graph(), hub).collect();
        let outs: Vec<ChannelId> = outputs(host.graph(), hub).collect();
        (host.items[ins[0].index()], host.items[ins[1].index()]) = (40, 10);
        (host.items[outs[0].index()], host.items[outs[1].index()]) = (95, 60);
        let (back, from) = towards_producer(hub, &host).unwrap();
        assert!((back - 0.8).abs() < 1e-9);
        assert_eq!(from, producer(host.graph(), ins[1]));
        let (forward, to) = towards_consumer(hub, &host).unwrap();
        assert!((forward - 0.9).abs() < 1e-9);
        assert_eq!(to, consumer(host.graph(), outs[0]));
    }

    #[test]
    fn sequential_kernels_and_queue_events_follow_qes() {
        let mut host = Mock::new(graphs::chain(3));
        host.items = vec![0, 100];
        let mut me = Pss.start(0, &mut host);
        for _ in 0..200 {
            let stay = Pss.next(&mut me, Some((NodeId(1), Event::Budget)), &mut host);
            assert_eq!(stay, Decision::Activate(NodeId(1)));
        }
        let mut farm = Mock::new(graphs::farm());
        for _ in 0..200 {
            let back = Pss.next(&mut me, Some((NodeId(1), Event::Empty(ChannelId(0)))), &mut farm);
            assert_eq!(back, Decision::Activate(NodeId(0)));
        }
    }

    #[test]
    fn a_neighbour_that_is_not_claimable_is_replaced() {
        let mut host = Mock::new(graphs::farm());
        host.items = vec![0, 100];
        host.only(&[1]);
        let mut me = Pss.start(0, &mut host);
        for _ in 0..200 {
            let pick = Pss.next(&mut me, Some((NodeId(1), Event::Budget)), &mut host);
            assert_eq!(pick, Decision::Activate(NodeId(1)));
        }
    }
}
