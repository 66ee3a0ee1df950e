//! Errors of a run.

use std::convert::Infallible;
use std::fmt;
use thalweg_runtime::Error;

/// The reason why a graph was not computed to its end.
///
/// `K` is the type of the keys that name nodes, and `E` that of the errors of the graph's own code: both come back as they are. It
/// prints on one line; [`TaskError::help`] says what to do.
///
/// `?` makes an [`Error`] of it, so that a function may run graphs of streams and of tasks. Keys are text then, and
/// [`Error::downcast`] returns the cause.
///
/// ```
/// use std::num::ParseIntError;
/// use thalweg_runtime::Error;
/// use thalweg_tasks::StaticGraph;
///
/// fn parse(texts: &[&str]) -> Result<(), Error> {
///     let mut graph = StaticGraph::from_edges(texts.len() as u32, []);
///     graph.try_run(|node| texts[node as usize].parse::<u32>().map(drop))?;
///     Ok(())
/// }
/// assert!(parse(&["3", "14"]).is_ok());
/// let error = parse(&["x"]).unwrap_err();
/// assert_eq!(error.to_string(), "node `0` failed: invalid digit found in string");
/// assert!(error.downcast_ref::<ParseIntError>().is_some());
/// ```
#[derive(Clone, PartialEq, Eq)]
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

impl<K: fmt::Debug, E> TaskError<K, E> {
    /// What to do about it, if something can be said.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            TaskError::Failed { .. } | TaskError::Panicked { .. } => return None,
            TaskError::Cycle { .. } => "remove one of these dependencies",
            TaskError::TooLarge { .. } => "compute more in each node",
        };
        Some(help.to_owned())
    }

    /// Prints the message, and in it the cause by `print`.
    fn message(
        &self,
        f: &mut fmt::Formatter<'_>,
        print: impl FnOnce(&E, &mut fmt::Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        match self {
            TaskError::Failed { key, cause } => {
                write!(f, "node {key:?} failed: ")?;
                print(cause, f)
            }
            TaskError::Panicked { key, during, message } => {
                write!(f, "{during} of node {key:?} panicked: {message}")
            }
            TaskError::Cycle { keys } => write!(f, "the graph has a cycle: {}", Path(keys)),
            TaskError::TooLarge { what, limit } => write!(f, "the graph has more than {limit} {what}"),
        }
    }
}

impl<K: fmt::Debug, E: fmt::Display> fmt::Display for TaskError<K, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message(f, E::fmt)
    }
}

/// As it is displayed, with the help on a line of its own, and with the `Debug` form of the cause: `main` shows this of an error
/// that it returns.
impl<K: fmt::Debug, E: fmt::Debug> fmt::Debug for TaskError<K, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message(f, E::fmt)?;
        self.help().map_or(Ok(()), |help| write!(f, "\nhelp: {help}"))
    }
}

impl<K, E> From<TaskError<K, E>> for Error
where
    K: fmt::Debug,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    fn from(error: TaskError<K, E>) -> Error {
        match error {
            TaskError::Failed { key, cause } => Error::Node { node: format!("{key:?}"), cause: cause.into() },
            TaskError::Panicked { key, during: During::Compute, message } => {
                Error::Panic { node: format!("{key:?}"), message }
            }
            TaskError::Panicked { key, during, message } => {
                Error::Panic { node: format!("{key:?}"), message: format!("{message} (in {during})") }
            }
            TaskError::Cycle { keys } => refused(TaskError::Cycle { keys }),
            TaskError::TooLarge { what, limit } => refused::<K>(TaskError::TooLarge { what, limit }),
        }
    }
}

/// The error of a run for a graph that cannot be computed: its message and help.
fn refused<K: fmt::Debug>(error: TaskError<K>) -> Error {
    Error::TaskGraph(format!("{error:?}"))
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
