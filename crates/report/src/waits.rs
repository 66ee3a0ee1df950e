//! The waits of nodes that a timeline shows: from the end of an activation to the beginning of the next.
//!
//! A wait for a channel is divided by the rule of the report. The event that ends it has no time stamp. If the node at
//! the other end of the channel has ended an activation since, then the event was no later than that end, and the node
//! waits for a worker from there on. Otherwise the whole wait is for the channel.

use std::collections::HashMap;
use thalweg_graph::{GraphData, Kind, NodeId};
use thalweg_trace::{Cause, Ended, Event, Timeline, Track, What};

/// A time in which no thread activated a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wait {
    pub(crate) node: NodeId,
    /// Its beginning and its end since the start of the run, in nanoseconds.
    pub(crate) at: [u64; 2],
    pub(crate) cause: Cause,
}

/// An activation that took place.
#[derive(Clone, Copy)]
struct Activation {
    node: NodeId,
    /// Its beginning and its end.
    at: [u64; 2],
    ended: Ended,
}

/// The time, in nanoseconds, from which on no event of a thread is lost: the end of the first event that is kept by
/// the thread that lost events last. 0 if none is lost.
pub(crate) fn complete_from(timeline: &Timeline) -> u64 {
    let losers = timeline.tracks().iter().filter(|track| track.lost() > 0);
    losers.filter_map(|track: &Track| track.events().first().map(Event::end)).max().unwrap_or(0)
}

/// The waits of nodes for a channel, or for something other than one channel, by node and time. The waits of a node
/// do not overlap: it waits while no thread activates it. Those that begin before [`complete_from`] are
/// left out, since an activation that is lost may have ended them earlier.
pub(crate) fn waits(timeline: &Timeline, graph: &GraphData) -> Vec<Wait> {
    let mut activations: Vec<_> =
        timeline.tracks().iter().flat_map(|track| track.events()).filter_map(activation).collect();
    activations.sort_by_key(|activation| (activation.node, activation.at));
    let (complete, ends) = (complete_from(timeline), Ends::of(&activations));
    let mut last: Option<Activation> = None;
    let mut waits = Vec::new();
    for next in activations {
        match last.filter(|last| last.node == next.node) {
            Some(last) if last.at[1] > next.at[1] => continue,
            Some(last) if last.at[1] < next.at[0] && last.at[1] >= complete => {
                if let Some(cause) = cause(&last, graph) {
                    let wait = Wait { node: last.node, at: [last.at[1], next.at[0]], cause };
                    waits.extend(divided(wait, graph, &ends).into_iter().flatten());
                }
            }
            _ => {}
        }
        last = Some(next);
    }
    waits
}

/// The activation that an event is, unless another thread held the node.
fn activation(event: &Event) -> Option<Activation> {
    match event.what() {
        What::Activation { node, ended, .. } if ended != Ended::Refused => {
            Some(Activation { node, at: [event.at(), event.end()], ended })
        }
        _ => None,
    }
}

/// What a node waits for after an activation. `None` if it can begin the next one at once.
fn cause(last: &Activation, graph: &GraphData) -> Option<Cause> {
    match last.ended {
        Ended::Empty(channel) => Some(Cause::Items(channel)),
        Ended::Full(channel) => Some(Cause::Room(channel)),
        Ended::Waiting => Some(match graph.nodes().get(last.node.index()) {
            Some(node) if node.merge() => Cause::AnyInput,
            Some(node) if node.kind() == Kind::Parallel => Cause::Window,
            _ => Cause::Outside,
        }),
        Ended::Budget | Ended::Done | Ended::Refused => None,
    }
}

/// The parts of a wait: for its cause, and then for a worker.
fn divided(wait: Wait, graph: &GraphData, ends: &Ends) -> [Option<Wait>; 2] {
    let [from, to] = wait.at;
    let freed = wait.cause.other_end(graph).and_then(|other| ends.last(other, to));
    match freed.filter(|freed| (from + 1..to).contains(freed)) {
        Some(freed) => [
            Some(Wait { at: [from, freed], ..wait }),
            Some(Wait { at: [freed, to], cause: Cause::Worker, ..wait }),
        ],
        None => [Some(wait), None],
    }
}

/// The ends of the activations of each node, in order.
struct Ends(HashMap<NodeId, Vec<u64>>);

impl Ends {
    fn of(activations: &[Activation]) -> Ends {
        let mut ends: HashMap<NodeId, Vec<u64>> = HashMap::new();
        for activation in activations {
            ends.entry(activation.node).or_default().push(activation.at[1]);
        }
        ends.values_mut().for_each(|ends| ends.sort_unstable());
        Ends(ends)
    }

    /// The latest of a node's ends that is not after `at`.
    fn last(&self, node: NodeId, at: u64) -> Option<u64> {
        let ends = self.0.get(&node)?;
        ends.partition_point(|end| *end <= at).checked_sub(1).map(|last| ends[last])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_graph::{ChannelId, InPort, Item, Link, Node, OutPort};

    /// Nodes 0 and 1, from whose channel 0 the former pops.
    fn graph() -> GraphData {
        let mut graph = GraphData::new();
        let pop = graph.add(Node::sequential("pop").input(InPort::new("in", Item::of::<u8>())));
        let push = graph.add(Node::sequential("push").output(OutPort::new("out", Item::of::<u8>())));
        graph.connect((push, 0), (pop, 0), Link::default()).unwrap();
        graph
    }

    fn activation(node: u32, at: u64, ns: u64, ended: Ended) -> Event {
        Event::new(at, What::Activation { node: NodeId(node), firings: 1, ns, ended })
    }

    fn timeline(tracks: &[(&[Event], u64)]) -> Timeline {
        let track = |(events, lost): &(&[Event], u64)| {
            let mut track = Track::new("");
            (*track.events_mut(), *track.lost_mut()) = (events.to_vec(), *lost);
            track
        };
        Timeline::new(tracks.iter().map(track).collect())
    }

    fn shown(timeline: &Timeline) -> Vec<(u32, [u64; 2])> {
        waits(timeline, &graph()).iter().map(|wait| (wait.node.0, wait.at)).collect()
    }

    const EMPTY: Ended = Ended::Empty(ChannelId(0));

    #[test]
    fn a_wait_ends_on_any_thread() {
        let one = [activation(0, 0, 10, EMPTY), activation(1, 10, 10, Ended::Full(ChannelId(0)))];
        let other = [
            activation(0, 30, 5, Ended::Budget),
            activation(0, 50, 5, EMPTY),
            activation(1, 60, 1, Ended::Done),
        ];
        let timeline = timeline(&[(&one, 0), (&other, 0)]);
        assert_eq!(shown(&timeline), [(0, [10, 20]), (0, [20, 30]), (1, [20, 55]), (1, [55, 60])]);
        let causes: Vec<_> = waits(&timeline, &graph()).iter().map(|wait| wait.cause).collect();
        let channel = ChannelId(0);
        assert_eq!(causes, [Cause::Items(channel), Cause::Worker, Cause::Room(channel), Cause::Worker]);
        assert_eq!(
            waits(&timeline, &GraphData::new()).len(),
            2,
            "a graph without the channel divides no wait"
        );
    }

    /// The rule of the report: see the module's documentation.
    #[test]
    fn a_wait_is_for_the_channel_while_the_other_end_is_at_work() {
        let waits = [activation(0, 0, 10, EMPTY), activation(0, 50, 10, EMPTY)];
        let whole = |producer: &[Event]| shown(&timeline(&[(&waits, 0), (producer, 0)])).len() == 1;
        assert!(whole(&[]));
        assert!(whole(&[activation(1, 0, 10, EMPTY)]), "it ended before the wait");
        assert!(whole(&[activation(1, 20, 31, EMPTY)]), "it still lasts");
        assert!(whole(&[activation(1, 20, 30, EMPTY)]), "it ends where the wait ends");
        assert!(whole(&[activation(1, 20, 10, Ended::Refused)]), "it did not take place");
        let divided = timeline(&[(&waits, 0), (&[activation(1, 5, 20, EMPTY)], 0)]);
        assert_eq!(shown(&divided), [(0, [10, 25]), (0, [25, 50])]);
    }

    #[test]
    fn other_waits_have_the_cause_of_their_kind_of_node() {
        let mut graph = graph();
        let two = [activation(0, 0, 10, Ended::Waiting), activation(0, 20, 10, Ended::Done)];
        let timeline = timeline(&[(&two, 0)]);
        assert_eq!(waits(&timeline, &graph)[0].cause, Cause::Outside);
        *graph.node_mut(NodeId(0)).kind_mut() = Kind::Parallel;
        assert_eq!(waits(&timeline, &graph)[0].cause, Cause::Window);
        *graph.node_mut(NodeId(0)).merge_mut() = true;
        assert_eq!(waits(&timeline, &graph)[0].cause, Cause::AnyInput);
    }

    #[test]
    fn a_node_does_not_wait_while_a_thread_activates_it() {
        let one = [activation(0, 0, 10, EMPTY), activation(0, 20, 10, EMPTY)];
        let other =
            [activation(0, 5, 20, EMPTY), activation(0, 26, 1, Ended::Refused), activation(0, 40, 10, EMPTY)];
        assert_eq!(shown(&timeline(&[(&one, 0), (&other, 0)])), [(0, [30, 40])]);
    }

    #[test]
    fn waits_that_a_lost_event_may_end_are_left_out() {
        let one = [activation(0, 0, 10, EMPTY), activation(0, 50, 10, EMPTY), activation(0, 80, 10, EMPTY)];
        let other = [activation(2, 40, 5, EMPTY)];
        assert_eq!(shown(&timeline(&[(&one, 0), (&other, 7)])), [(0, [60, 80])]);
        assert_eq!(shown(&timeline(&[(&one, 0), (&other, 0)])).len(), 2);
    }
}
