//! The timeline of a run: what each thread did, and when.

use std::time::Duration;
use thalweg_graph::{ChannelId, NodeId, data};

data! {
    /// What the threads of a run did, and when. Recorded where the run's options ask for it.
    ///
    /// A track keeps its latest events only, so memory is bounded however long the run is.
    #[derive(Clone, Default, Debug, PartialEq)]
    pub struct Timeline {
        /// The threads: the workers by index, then the threads of single nodes, the threads of the pool that helped these with
        /// loops and task graphs, and last the growths of channels.
        view tracks: Vec<Track> => &[Track], tracks_mut;
    }
}

data! {
    /// The events of one thread.
    #[derive(Clone, Default, Debug, PartialEq)]
    pub struct Track {
        /// Name of the thread.
        view name: String => &str, name_mut;
        /// The events in chronological order of their ends.
        view events: Vec<Event> => &[Event], events_mut;
        /// Earlier events that were overwritten.
        copy lost: u64, lost_mut;
    }
}

impl Timeline {
    /// A timeline of these tracks.
    pub fn new(tracks: Vec<Track>) -> Timeline {
        Timeline { tracks }
    }
}

impl Track {
    /// A track without events.
    pub fn new(name: impl Into<String>) -> Track {
        Track { name: name.into(), ..Track::default() }
    }
}

data! {
    /// Something that a thread did or saw.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Event {
        /// The time of the event, or of its beginning, since the start of the run, in nanoseconds.
        copy at: u64, at_mut;
        /// What happened.
        copy what: What, what_mut;
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// The thread activated a node.
    Activation {
        /// The node.
        node: NodeId,
        /// Firings done.
        firings: u32,
        /// Its length, in nanoseconds.
        ns: u64,
        /// Why it ended.
        ended: Ended,
    },
    /// The worker stole a node from another worker's queue.
    Steal {
        /// The node.
        node: NodeId,
        /// The worker that had it.
        from: u32,
    },
    /// The thread took part in a parallel loop of a node's firing.
    Loop {
        /// The node.
        node: NodeId,
        /// Times that the thread stole iterations.
        steals: u32,
        /// Its length, in nanoseconds.
        ns: u64,
    },
    /// The thread took part in a task graph of a node's firing.
    TaskGraph {
        /// The node of the stream graph.
        node: NodeId,
        /// Times that the thread stole tasks.
        steals: u32,
        /// Its length, in nanoseconds.
        ns: u64,
    },
    /// The worker had a firing that waited for its ticket, and nothing else that it could do: a part of the node's activation
    /// ([`WorkerReport::stall`](crate::WorkerReport::stall)).
    Stall {
        /// The node.
        node: NodeId,
        /// Its length, in nanoseconds.
        ns: u64,
    },
    /// The worker had no work, and spun until it found some or parked.
    Spin {
        /// Its length, in nanoseconds.
        ns: u64,
    },
    /// The thread slept.
    Park {
        /// Its length, in nanoseconds.
        ns: u64,
    },
    /// The thread raised a channel's limit, because nodes waited for each other.
    Growth {
        /// The channel.
        channel: ChannelId,
        /// The new limit, in its unit.
        to: usize,
    },
    /// The items in a channel.
    Fill {
        /// The channel.
        channel: ChannelId,
        /// The number of items.
        items: u32,
    },
}

/// Why an activation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// An input had too few items.
    Empty(ChannelId),
    /// An output had too little room.
    Full(ChannelId),
    /// The node waits for something other than one channel.
    Waiting,
    /// The budget of the activation was spent.
    Budget,
    /// The node has ended.
    Done,
    /// Another thread held the node.
    Refused,
}

impl Event {
    /// An event that happened or began this many nanoseconds after the start of the run.
    #[inline]
    pub fn new(at: u64, what: What) -> Event {
        Event { at, what }
    }

    /// The end, in nanoseconds since the start of the run, or the time of what has no length.
    pub fn end(&self) -> u64 {
        self.at.saturating_add(self.what.ns())
    }
}

impl What {
    /// The length of what happened; zero for what has no length.
    pub fn length(&self) -> Duration {
        Duration::from_nanos(self.ns())
    }

    /// [`What::length`] in nanoseconds.
    pub fn ns(&self) -> u64 {
        match *self {
            What::Activation { ns, .. }
            | What::Loop { ns, .. }
            | What::TaskGraph { ns, .. }
            | What::Stall { ns, .. }
            | What::Spin { ns }
            | What::Park { ns } => ns,
            What::Steal { .. } | What::Growth { .. } | What::Fill { .. } => 0,
        }
    }
}
