//! The waits of nodes that a timeline shows: from the end of an activation to the beginning of the next.

use super::{Ended, Event, Timeline, Track, What};
use thalweg_graph::NodeId;

/// A time in which no thread activated a node, because of `ended`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wait {
    pub(crate) node: NodeId,
    /// Its beginning and its end since the start of the run, in nanoseconds.
    pub(crate) at: [u64; 2],
    /// Why the activation before it ended.
    pub(crate) ended: Ended,
}

impl Timeline {
    /// The time, in nanoseconds, from which on no event of a thread is lost: the end of the first event that is kept by
    /// the thread that lost events last. 0 if none is lost.
    pub(crate) fn complete_from(&self) -> u64 {
        let losers = self.tracks.iter().filter(|track| track.lost > 0);
        losers.filter_map(|track: &Track| track.events.first().map(Event::end)).max().unwrap_or(0)
    }

    /// The waits of nodes for a channel, or for something other than one channel, by node and time. The waits of a node
    /// do not overlap: it waits while no thread activates it. Those that begin before [`Timeline::complete_from`] are
    /// left out, since an activation that is lost may have ended them earlier.
    pub(crate) fn waits(&self) -> Vec<Wait> {
        let mut activations: Vec<_> =
            self.tracks.iter().flat_map(|track| &track.events).filter_map(activation).collect();
        activations.sort_by_key(|wait| (wait.node, wait.at));
        let complete = self.complete_from();
        let mut last: Option<Wait> = None;
        let mut waits = Vec::new();
        for next in activations {
            match last.filter(|last| last.node == next.node) {
                Some(last) if last.at[1] > next.at[1] => continue,
                Some(last) if last.at[1] < next.at[0] && last.at[1] >= complete && blocks(last.ended) => {
                    waits.push(Wait { at: [last.at[1], next.at[0]], ..last });
                }
                _ => {}
            }
            last = Some(next);
        }
        waits
    }
}

/// The activation that an event is, unless another thread held the node.
fn activation(event: &Event) -> Option<Wait> {
    match event.what {
        What::Activation { node, ended, .. } if ended != Ended::Refused => {
            Some(Wait { node, at: [event.at, event.end()], ended })
        }
        _ => None,
    }
}

/// Whether a node that ends an activation so cannot begin the next one at once.
fn blocks(ended: Ended) -> bool {
    matches!(ended, Ended::Empty(_) | Ended::Full(_) | Ended::Waiting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_graph::ChannelId;

    fn activation(node: u32, at: u64, ns: u64, ended: Ended) -> Event {
        Event { at, what: What::Activation { node: NodeId(node), firings: 1, ns, ended } }
    }

    fn timeline(tracks: &[(&[Event], u64)]) -> Timeline {
        let track = |(events, lost): &(&[Event], u64)| Track {
            name: String::new(),
            events: events.to_vec(),
            lost: *lost,
        };
        Timeline { tracks: tracks.iter().map(track).collect() }
    }

    fn shown(timeline: &Timeline) -> Vec<(u32, [u64; 2])> {
        timeline.waits().iter().map(|wait| (wait.node.0, wait.at)).collect()
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
        assert_eq!(shown(&timeline), [(0, [10, 30]), (1, [20, 60])]);
        assert_eq!(timeline.waits()[1].ended, Ended::Full(ChannelId(0)));
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
        let other = [activation(1, 40, 5, EMPTY)];
        assert_eq!(shown(&timeline(&[(&one, 0), (&other, 7)])), [(0, [60, 80])]);
        assert_eq!(shown(&timeline(&[(&one, 0), (&other, 0)])).len(), 2);
    }
}
