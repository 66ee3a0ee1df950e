//! Channels: typed FIFOs between one output port and one input port.

use crate::{Item, Port};

/// What a user may say of a channel.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Link {
    /// Capacity in items; the plan chooses where there is none.
    pub capacity: Option<usize>,
    /// Items already there when the run starts, as feedback channels need.
    pub initial: usize,
    /// Goes back round a cycle: closed by the run when the cycle can do nothing more.
    pub feedback: bool,
    /// The items' bytes are counted, by a weight the user gave.
    pub weighed: bool,
    /// Its capacity is a limit that the user wants: of the channels of a cycle it grows last.
    pub limits: bool,
}

/// A channel between two ports.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The output port that feeds it.
    pub from: Port,
    /// The input port that drains it.
    pub to: Port,
    /// Type of the items.
    pub item: Item,
    /// What the user said of it.
    pub link: Link,
}
