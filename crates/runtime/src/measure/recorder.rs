//! The recorder of a thread's timeline: a ring of its latest events.

use super::clock::{Scale, Ticks};
use thalweg_graph::{ChannelId, NodeId};
use thalweg_policy as policy;
use thalweg_trace::{Ended, Event, Track, What};

/// A ring of events, whose times are in ticks until [`Recorder::track`].
#[derive(Debug)]
pub(crate) struct Recorder {
    events: Vec<Event>,
    /// The most events.
    capacity: usize,
    /// The oldest event, once the ring is full.
    oldest: usize,
    /// Events that were overwritten.
    lost: u64,
}

impl Recorder {
    /// An empty ring for at most `capacity` events; `None` for 0.
    pub(crate) fn new(capacity: usize) -> Option<Recorder> {
        (capacity > 0).then(|| Recorder { events: Vec::new(), capacity, oldest: 0, lost: 0 })
    }

    /// Whether nothing was added.
    #[cfg(not(loom))]
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Adds an event at this time.
    pub(crate) fn add(&mut self, at: Ticks, what: What) {
        let event = Event::new(at, what);
        if self.events.len() < self.capacity {
            self.events.push(event);
            return;
        }
        self.events[self.oldest] = event;
        self.oldest = if self.oldest + 1 == self.capacity { 0 } else { self.oldest + 1 };
        self.lost += 1;
    }

    /// Moves the events that `moves` accepts to another ring, in order. What this one has lost counts there.
    #[cfg(not(loom))]
    pub(crate) fn move_to(&mut self, to: &mut Recorder, moves: impl Fn(&What) -> bool) {
        if self.events.is_empty() {
            return;
        }
        self.events.rotate_left(std::mem::take(&mut self.oldest));
        self.events.retain(|event| {
            let goes = moves(&event.what());
            if goes {
                to.add(event.at(), event.what());
            }
            !goes
        });
        to.lost += std::mem::take(&mut self.lost);
    }

    /// Adds an activation of `node` from `from` to `to`.
    pub(crate) fn activation(
        &mut self,
        node: NodeId,
        fired: usize,
        event: policy::Event,
        (from, to): (Ticks, Ticks),
    ) {
        let firings = u32::try_from(fired).unwrap_or(u32::MAX);
        self.add(from, What::Activation { node, firings, ns: to.saturating_sub(from), ended: ended(event) });
    }

    /// Adds the number of items in a channel.
    pub(crate) fn fill(&mut self, at: Ticks, channel: ChannelId, items: usize) {
        self.add(at, What::Fill { channel, items: u32::try_from(items).unwrap_or(u32::MAX) });
    }

    /// The events as a track, with times in nanoseconds since tick `began`. What ends before something else begins also
    /// does so in nanoseconds.
    pub(crate) fn track(mut self, name: String, began: Ticks, scale: Scale) -> Track {
        self.events.rotate_left(self.oldest);
        let mut track = Track::new(name);
        *track.lost_mut() = self.lost;
        *track.events_mut() = self.events;
        for event in track.events_mut() {
            let since_began = |tick: Ticks| scale.ns(tick.saturating_sub(began)) as u64;
            let from = event.at();
            let at = since_began(from);
            *event.at_mut() = at;
            match event.what_mut() {
                What::Activation { ns, .. }
                | What::Loop { ns, .. }
                | What::TaskGraph { ns, .. }
                | What::Stall { ns, .. }
                | What::Spin { ns }
                | What::Park { ns } => {
                    *ns = since_began(from.saturating_add(*ns)) - at;
                }
                _ => {}
            }
        }
        track
    }
}

/// Why an activation ended, in the words of the timeline.
fn ended(event: policy::Event) -> Ended {
    match event {
        policy::Event::Empty(channel) => Ended::Empty(channel),
        policy::Event::Full(channel) => Ended::Full(channel),
        policy::Event::Waiting => Ended::Waiting,
        policy::Event::Budget => Ended::Budget,
        policy::Event::Done => Ended::Done,
        policy::Event::Refused => Ended::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the documentation of `Options::timeline` says.
    #[test]
    fn an_event_takes_32_bytes() {
        assert_eq!(size_of::<Event>(), 32);
    }

    #[test]
    fn the_ring_keeps_the_latest_events_in_order() {
        let mut recorder = Recorder::new(3).unwrap();
        (0..8).for_each(|at| recorder.fill(at, ChannelId(0), at as usize));
        let track = recorder.track("one".to_owned(), 0, Scale::now());
        let items = |event: &Event| match event.what() {
            What::Fill { items, .. } => items,
            _ => unreachable!("only fills were added"),
        };
        assert_eq!(track.events().iter().map(items).collect::<Vec<_>>(), [5, 6, 7]);
        assert_eq!(track.lost(), 5);
    }

    #[cfg(not(loom))]
    #[test]
    fn events_that_move_stay_in_order_and_lost_ones_count() {
        let (mut from, mut to) = (Recorder::new(4).unwrap(), Recorder::new(9).unwrap());
        (0..6).for_each(|at| from.fill(at, ChannelId(at as u32 % 2), at as usize));
        let is_odd = |what: &What| matches!(what, What::Fill { channel: ChannelId(1), .. });
        from.move_to(&mut to, is_odd);
        from.fill(6, ChannelId(0), 6);
        let times = |recorder: &Recorder| recorder.events.iter().map(|event| event.at()).collect::<Vec<_>>();
        assert_eq!((times(&to), to.lost, times(&from), from.lost), (vec![3, 5], 2, vec![2, 4, 6], 0));
    }

    #[test]
    fn no_events_need_no_recorder() {
        assert!(Recorder::new(0).is_none());
    }
}
