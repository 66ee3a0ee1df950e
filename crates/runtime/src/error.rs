//! What can go wrong with a graph, and with a run.

use std::fmt;
use std::time::Duration;
use thalweg_graph::Fault;

/// A graph that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// Everything found wrong, in order of nodes.
    pub faults: Vec<Fault>,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the graph cannot be run")?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl std::error::Error for BuildError {}

/// Why a run ended before its time. The node is named where one is at fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The graph was refused.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The options make no sense together, or name something unknown.
    #[error("{0}")]
    Options(String),
    /// A kernel panicked.
    #[error("node `{node}` panicked: {message}")]
    Panic {
        /// The node.
        node: String,
        /// The panic's message.
        message: String,
    },
    /// A kernel returned an error. The message ends in it, so it is not the message's source again.
    #[error("node `{node}` failed: {}", Chain(&**cause))]
    Node {
        /// The node.
        node: String,
        /// What it returned.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A firing gave fewer items than its port's static rate.
    #[error("node `{node}` gave too few items on output `{port}`: its push rate says {rate} a firing")]
    Rate {
        /// The node.
        node: String,
        /// The output.
        port: String,
        /// Items a firing must give.
        rate: u32,
    },
    /// Nodes wait for each other in a cycle that no growth can open. The message names the first ten;
    /// [`Deadlock::waits`] has all.
    #[error("deadlock: {0}")]
    Deadlock(Deadlock),
    /// [`crate::Handle::cancel`] was called, or an outside end was dropped.
    #[error("the run was cancelled")]
    Cancelled,
    /// The run took longer than it was given.
    #[error("the run did not end within {0:?}")]
    Deadline(Duration),
    /// There is no room for the stacks of coroutines.
    #[error("{}", Stacks { count: *count, bytes: *bytes, made: *made, cause, split: *split })]
    Stacks {
        /// Coroutines.
        count: usize,
        /// Bytes of each one's stack.
        bytes: usize,
        /// Stacks that could be made.
        made: usize,
        /// What the system said.
        cause: std::io::Error,
        /// Each guard page has split a mapping, for want of a better way.
        split: bool,
    },
    /// The value of an output of another graph was asked for: see [`crate::Finished::take`].
    #[error("an output of another graph was asked for: this run has no value of it")]
    ForeignOutput,
    /// A node has ended without the value that was asked for: see [`crate::Finished::take`].
    #[error("node `{node}` has ended without a value")]
    NoValue {
        /// The node.
        node: String,
    },
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// The message of [`Error::Stacks`].
struct Stacks<'a> {
    count: usize,
    bytes: usize,
    made: usize,
    cause: &'a std::io::Error,
    split: bool,
}

impl fmt::Display for Stacks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stacks { count, bytes, made, cause, split } = self;
        write!(f, "cannot make {count} stacks of {bytes} bytes: refused after {made} ({cause}). ")?;
        match split {
            true => write!(
                f,
                "Each takes two mappings, where the kernel is older than Linux 6.13: raise \
                 vm.max_map_count above {}, or write processes as async blocks",
                2 * count + 1000
            ),
            false => write!(
                f,
                "Address space is what is lacking (ulimit -v, vm.overcommit_memory): ask for less stack, \
                 or write processes as async blocks"
            ),
        }
    }
}

/// An error with all that caused it, on one line.
struct Chain<'a>(&'a dyn std::error::Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        std::iter::successors(self.0.source(), |error| error.source())
            .try_for_each(|cause| write!(f, ": {cause}"))
    }
}

/// The text of a panic's payload.
#[doc(hidden)]
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a value that is no text").to_owned()
}

/// A cycle of nodes that wait for each other, or nodes that wait for such a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deadlock {
    /// What each node waits for, in the order of the cycle.
    pub waits: Vec<BlockedNode>,
    /// The byte budget, where a full channel could have grown but for it.
    pub over_budget: Option<usize>,
    /// An input from outside the cycle that holds items while the cycle waits for its own.
    pub unread: Option<UnreadInput>,
}

/// An input that holds items for a node that waits for another input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadInput {
    /// The node's name.
    pub node: String,
    /// The channel, as `a.out -> b.in`.
    pub channel: String,
}

/// Nodes that the message about a cycle names.
const SHOWN: usize = 10;

/// A node and the channel it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedNode {
    /// The node's name.
    pub node: String,
    /// The channel, as `a.out -> b.in`.
    pub channel: String,
    /// It waits for room (true) or for items (false).
    pub full: bool,
    /// Items in the channel.
    pub items: usize,
    /// Items it can hold.
    pub capacity: usize,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, wait) in self.waits.iter().take(SHOWN).enumerate() {
            let what = if wait.full { "room in" } else { "items on" };
            write!(
                f,
                "{}node `{}` waits for {what} `{}` ({} of {} items)",
                if i == 0 { "" } else { "; " },
                wait.node,
                wait.channel,
                wait.items,
                wait.capacity
            )?;
        }
        if let Some(more) = self.waits.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            write!(f, "; and {more} more nodes of the cycle")?;
        }
        if let Some(bytes) = self.over_budget {
            return write!(f, "; more room would exceed the byte budget of {bytes}");
        }
        if let Some(UnreadInput { node, channel }) = &self.unread {
            write!(f, "; meanwhile `{channel}` holds items for node `{node}`")?;
        }
        write!(f, "\nhelp: give the cycle more initial items, or make a firing need less")?;
        match self.unread {
            Some(_) => write!(
                f,
                "; if a node of it drops items on purpose, `Options::close_starved_loops` ends the loop and \
                 discards its input"
            ),
            None => Ok(()),
        }
    }
}
