//! Channels: typed FIFOs between one output port and one input port.

use crate::{Item, Port, data};

data! {
    /// The settings of a channel that a user can make.
    #[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
    pub struct Link {
        /// Capacity in items. The plan chooses it where this is `None`.
        copy capacity: Option<usize>;
        /// Items in the channel when the run starts. Feedback channels need some.
        copy initial: usize;
        /// A feedback channel: the run closes it when its cycle can make no more progress.
        copy feedback: bool;
        /// The run counts the bytes of the items by the user's weight function.
        copy weighed: bool;
        /// The user set the capacity as a limit: of the channels of a deadlocked cycle, this one grows last.
        copy limits: bool;
        /// The items own memory or other things: their type has a drop. The plan gives the channel little room at the start,
        /// since the room in items says nothing about the memory that they own.
        copy owns: bool;
    }
}

impl Link {
    /// The settings of a channel for which the user has made none, with items of type `T`.
    pub fn of<T>() -> Link {
        Link { owns: std::mem::needs_drop::<T>(), ..Link::default() }
    }

    /// Sets the capacity in items.
    pub fn with_capacity(self, capacity: impl Into<Option<usize>>) -> Link {
        Link { capacity: capacity.into(), ..self }
    }

    /// Sets the number of items in the channel when the run starts.
    pub fn with_initial(self, initial: usize) -> Link {
        Link { initial, ..self }
    }

    /// Sets whether it is a feedback channel.
    pub fn with_feedback(self, feedback: bool) -> Link {
        Link { feedback, ..self }
    }

    /// Sets whether the run counts the bytes of the items by the user's weight function.
    pub fn with_weighed(self, weighed: bool) -> Link {
        Link { weighed, ..self }
    }

    /// Sets whether the user set the capacity as a limit.
    pub fn with_limits(self, limits: bool) -> Link {
        Link { limits, ..self }
    }

    /// Sets whether the items own memory or other things.
    pub fn with_owns(self, owns: bool) -> Link {
        Link { owns, ..self }
    }
}

data! {
    /// A channel between two ports.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Channel {
        /// The output port that produces the items.
        copy from: Port;
        /// The input port that consumes the items.
        copy to: Port;
        /// Type of the items.
        copy item: Item;
        /// The user's settings.
        view link: Link => &Link, link_mut;
    }
}
