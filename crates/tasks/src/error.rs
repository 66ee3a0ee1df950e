//! Errors of a run.

use std::convert::Infallible;
use std::fmt;

/// The reason why a graph was not computed to its end.
///
/// `K` is the type of the keys that name nodes, and `E` that of the errors of the graph's own code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskError<K: fmt::Debug, E = Infallible> {
    /// A node returned an error.
    Failed {
        /// The node.
        key: K,
        /// What it returned.
        cause: E,
    },
    /// A function of the graph panicked.
    Panicked {
        /// The node.
        key: K,
        /// The function.
        during: During,
        /// The panic's message.
        message: String,
    },
    /// Nodes wait for each other. All nodes that wait for none of these were computed.
    Cycle {
        /// The nodes of the cycle: each waits for the next one, and the last one for the first.
        keys: Vec<K>,
    },
    /// The graph has more nodes or edges than their numbers can name.
    TooLarge {
        /// Nodes or edges.
        what: &'static str,
        /// The largest number that is possible.
        limit: u64,
    },
}

impl<K: fmt::Debug, E: fmt::Debug + fmt::Display> std::error::Error for TaskError<K, E> {}

impl<K: fmt::Debug, E: fmt::Display> fmt::Display for TaskError<K, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskError::Failed { key, cause } => write!(f, "node {key:?} failed: {cause}"),
            TaskError::Panicked { key, during, message } => {
                write!(f, "{during} of node {key:?} panicked: {message}")
            }
            TaskError::Cycle { keys } => write!(f, "the graph has a cycle: {}", Path(keys)),
            TaskError::TooLarge { what, limit } => {
                write!(f, "the graph has more than {limit} {what}\nhelp: compute more in each node")
            }
        }
    }
}

/// A function of a graph that has panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum During {
    /// It lists the predecessors. Also: a comparison or a hash of their keys.
    Predecessors,
    /// It computes the node. Also: a comparison or a hash of the keys of nodes that it adds.
    Compute,
    /// It returns the colour.
    Colour,
}

impl fmt::Display for During {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            During::Predecessors => "`predecessors`",
            During::Compute => "`compute`",
            During::Colour => "`colour`",
        })
    }
}

/// The most keys of a cycle that a message has.
const SHOWN: usize = 10;

/// A cycle as text.
struct Path<'a, K>(&'a [K]);

impl<K: fmt::Debug> fmt::Display for Path<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for key in self.0.iter().take(SHOWN) {
            write!(f, "{key:?} waits for ")?;
        }
        match self.0 {
            [first, ..] if self.0.len() <= SHOWN => write!(f, "{first:?}"),
            _ => write!(f, "{} others", self.0.len().saturating_sub(SHOWN)),
        }
    }
}
