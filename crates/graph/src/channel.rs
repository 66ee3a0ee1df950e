//! Channels: typed FIFOs between one output port and one input port.

use crate::{Item, Port};

/// The settings of a channel that a user can make.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Link {
    /// Capacity in items. The plan chooses it where this is `None`.
    pub capacity: Option<usize>,
    /// Items in the channel when the run starts. Feedback channels need some.
    pub initial: usize,
    /// A feedback channel: the run closes it when its cycle can make no more progress.
    pub feedback: bool,
    /// The run counts the bytes of the items by the user's weight function.
    pub weighed: bool,
    /// The user set the capacity as a limit: of the channels of a deadlocked cycle, this one grows last.
    pub limits: bool,
    /// The items own memory or other things: their type has a drop. The plan gives the channel little room at the start,
    /// since the room in items says nothing about the memory that they own.
    pub owns: bool,
}

impl Link {
    /// The settings of a channel for which the user has made none, with items of type `T`.
    pub fn of<T>() -> Link {
        Link { owns: std::mem::needs_drop::<T>(), ..Link::default() }
    }
}

/// A channel between two ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The output port that produces the items.
    pub from: Port,
    /// The input port that consumes the items.
    pub to: Port,
    /// Type of the items.
    pub item: Item,
    /// The user's settings.
    pub link: Link,
}
