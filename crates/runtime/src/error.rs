//! Errors of graphs and of runs.

use std::fmt;
use std::time::Duration;
use thalweg_graph::{Fault, data};

data! {
    /// A graph that cannot be run.
    ///
    /// It prints on one line; [`BuildError::help`] says what to do.
    #[derive(Clone, PartialEq, Eq)]
    pub struct BuildError {
        /// All faults found, in order of nodes.
        view faults: Vec<Fault> => &[Fault];
    }
}

impl BuildError {
    /// What to do about the faults.
    pub fn help(&self) -> Option<String> {
        let helps: Vec<_> = self.faults.iter().filter_map(|fault| Text::of(fault).help).collect();
        (!helps.is_empty()).then(|| helps.join("; "))
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<_> = self.faults.iter().map(|fault| Text::of(fault).what).collect();
        write!(f, "the graph cannot be run: {}", faults.join("; "))
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_help(f, self, self.help())
    }
}

impl std::error::Error for BuildError {}

/// A message that says what is wrong and, from a line on that begins with `help: `, what to do.
struct Text {
    what: String,
    help: Option<String>,
}

impl Text {
    fn of(message: &impl fmt::Display) -> Text {
        let text = message.to_string();
        let help = |(at, _): (usize, _)| Some((at, text[at..].trim_start().strip_prefix("help: ")?));
        match text.match_indices('\n').find_map(help) {
            Some((at, help)) => Text { what: text[..at].to_owned(), help: Some(help.to_owned()) },
            None => Text { what: text, help: None },
        }
    }
}

/// Prints an error as `main` shows it: its message, and its help on a line of its own.
fn with_help(f: &mut fmt::Formatter<'_>, what: &impl fmt::Display, help: Option<String>) -> fmt::Result {
    write!(f, "{what}")?;
    help.map_or(Ok(()), |help| write!(f, "\nhelp: {help}"))
}

/// The reason why a run ended early. It names the node that is at fault, if there is one.
///
/// It prints on one line that says what happened, unless a message of the user's code has several; [`Error::help`] says what to do. `Debug` prints both, so a `main` that
/// returns the error shows them. The error of a user's function comes back by [`downcast`](Error::downcast).
///
/// A run has one error: the first that a thread recorded. If several nodes fail at about the same time, it may be that of any
/// of them, and may differ between two runs. What [`Failed::partial`](crate::Failed::partial) returns is a prefix in any
/// case.
///
/// ```
/// use thalweg_runtime::{Error, Graph};
///
/// let numbers = Graph::new().source(["1", "2", "x"]).par_map(str::parse::<u32>).try_map(|n| n).collect();
/// let error: Error = numbers.run().unwrap_err().into();
/// assert_eq!(error.to_string(), "node `try_map` failed: invalid digit found in string");
/// let cause: std::num::ParseIntError = error.downcast().expect("the error of the function");
/// assert_eq!(cause.kind(), &std::num::IntErrorKind::InvalidDigit);
/// ```
#[non_exhaustive]
pub enum Error {
    /// The graph was refused.
    Build(BuildError),
    /// An option is out of range, names something unknown, excludes another one, or does not fit the graph.
    Options(String),
    /// The plan of the run does not fit the graph: a [`PlanError`](thalweg_plan::PlanError). Or it is the error that a
    /// function of [`Options::plan_with`](crate::Options::plan_with) has returned.
    ///
    /// The plan is that of [`Options::plan`](crate::Options::plan) or of such a function. A plan that the engine has
    /// made itself fits, unless the capacities of the options or the rates of the graph lead to channels that are
    /// [too large](thalweg_plan::Plan::check_sizes).
    ///
    /// ```
    /// use thalweg_plan::{Misfit, PlanError};
    /// use thalweg_runtime::{Error, Graph, Options};
    ///
    /// let graph = Graph::new();
    /// let sum = graph.source(1..=4u64).fold(0, |sum, n| sum + n);
    /// let failed = sum.run_with(&Options::new().capacity(usize::MAX)).unwrap_err();
    /// let Error::Plan(why) = failed.error() else { panic!("2^64 items fit into no memory") };
    /// let error = why.downcast_ref::<PlanError>().expect("a misfit");
    /// assert!(matches!(error.misfit(), Misfit::Bytes { bytes: 8, .. }));
    /// ```
    Plan(Box<dyn std::error::Error + Send + Sync>),
    /// A kernel panicked, or a value in its drop: of the node's code, or an item left in a channel that the node reads.
    Panic {
        /// The node.
        node: String,
        /// The panic's message.
        message: String,
    },
    /// A kernel returned an error. The message includes the chain of causes, so `source` returns none.
    Node {
        /// The node.
        node: String,
        /// The error that it returned.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A firing pushed fewer items than its port's static rate.
    Rate {
        /// The node.
        node: String,
        /// The output.
        port: String,
        /// Items that each firing must push.
        rate: u64,
        /// Items that the firing pushed.
        pushed: u64,
    },
    /// Nodes wait for each other in a cycle that no growth can resolve. The message names the first ten;
    /// [`Deadlock::waits`] has all.
    Deadlock(Deadlock),
    /// [`crate::Handle::cancel`] was called, or an outside end was dropped.
    Cancelled,
    /// The run was started before a `fork`, and this is the child: see [`Outlet`](crate::Outlet).
    Forked,
    /// The run exceeded its deadline.
    Deadline(Duration),
    /// The stacks of the coroutines could not be allocated.
    Stacks {
        /// The number of coroutines.
        count: usize,
        /// Bytes of each stack.
        bytes: usize,
        /// Stacks allocated before the failure.
        made: usize,
        /// The system's error.
        cause: std::io::Error,
        /// Whether each guard page splits a mapping, as on kernels older than Linux 6.13.
        split: bool,
    },
    /// A task graph cannot be computed: its nodes wait for each other, or it has too many. `thalweg_tasks::TaskError` has the
    /// keys of the nodes.
    TaskGraph(String),
    /// The output belongs to another graph: see [`crate::Run::take`].
    ForeignOutput,
    /// The node of the output has ended without a value: see [`crate::Run::take`].
    NoValue {
        /// The node.
        node: String,
    },
    /// A thread could not be started.
    Thread {
        /// The system's error.
        cause: std::io::Error,
        /// Bytes of the thread's stack, if [`Options::thread_stack`](crate::Options::thread_stack) is set.
        stack: Option<usize>,
    },
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Error {
        Error::Build(error)
    }
}

impl Error {
    /// What to do about it, if something can be said.
    pub fn help(&self) -> Option<String> {
        match self {
            Error::Build(error) => error.help(),
            Error::Deadlock(deadlock) => Some(deadlock.help()),
            // Its text is the user's.
            Error::Node { .. } => None,
            _ => Text::of(&Message(self)).help,
        }
    }

    /// The node that is at fault, if there is one.
    pub fn node(&self) -> Option<&str> {
        match self {
            Error::Panic { node, .. }
            | Error::Node { node, .. }
            | Error::Rate { node, .. }
            | Error::NoValue { node } => Some(node),
            _ => None,
        }
    }

    /// The error that a user's function returned, if it is of this type: that of a node, or of a function of
    /// [`Options::plan_with`](crate::Options::plan_with).
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        match self {
            Error::Node { cause, .. } | Error::Plan(cause) => cause.downcast_ref(),
            _ => None,
        }
    }

    /// [`Error::downcast_ref`] by value.
    ///
    /// # Errors
    /// This error, if it has no cause of this type.
    pub fn downcast<E: std::error::Error + 'static>(self) -> Result<E, Error> {
        match self {
            Error::Node { node, cause } => {
                cause.downcast().map(|cause| *cause).map_err(|cause| Error::Node { node, cause })
            }
            Error::Plan(cause) => cause.downcast().map(|cause| *cause).map_err(Error::Plan),
            other => Err(other),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_help(f, self, self.help())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Node { .. } => Message(self).fmt(f),
            _ => f.write_str(&Text::of(&Message(self)).what),
        }
    }
}

/// The message of an error, with its help.
struct Message<'a>(&'a Error);

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Error::Build(error) => error.fmt(f),
            Error::Options(what) | Error::TaskGraph(what) => f.write_str(what),
            Error::Plan(error) => error.fmt(f),
            Error::Panic { node, message } => write!(f, "node `{node}` panicked: {message}"),
            Error::Node { node, cause } => write!(f, "node `{node}` failed: {}", Chain(&**cause)),
            Error::Rate { node, port, rate, pushed } => write!(
                f,
                "a firing of node `{node}` pushed {pushed} items on output `{port}`, whose declared push rate is {rate}\n\
                 help: push {rate} in each firing, or leave out the push rate"
            ),
            Error::Deadlock(deadlock) => write!(f, "deadlock: {deadlock}"),
            Error::Cancelled => f.write_str("the run was cancelled"),
            Error::Forked => f.write_str(
                "the run was started before a fork, and its threads are the parent's\nhelp: start it in the child",
            ),
            Error::Deadline(time) => write!(
                f,
                "the run did not end within {time:?}\nhelp: if it needs longer, raise `Options::deadline`"
            ),
            Error::Stacks { count, bytes, made, cause, split } => {
                Stacks { count: *count, bytes: *bytes, made: *made, cause, split: *split }.fmt(f)
            }
            Error::ForeignOutput => {
                f.write_str("cannot take an output of another graph: this run has no value for it")
            }
            Error::NoValue { node } => write!(f, "node `{node}` has ended without a value"),
            Error::Thread { cause, stack } => Thread { cause, stack: *stack }.fmt(f),
        }
    }
}

/// The message of [`Error::Thread`].
struct Thread<'a> {
    cause: &'a std::io::Error,
    stack: Option<usize>,
}

impl fmt::Display for Thread<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = self.cause;
        match self.stack {
            None => write!(
                f,
                "cannot start a thread: {cause}\n\
                 help: use fewer threads, or raise the system's limit (ulimit -u)"
            ),
            Some(bytes) => write!(
                f,
                "cannot start a thread with a stack of {bytes} bytes: {cause}\n\
                 help: lower `Options::thread_stack`, use fewer threads, or raise the system's limits (ulimit -v, ulimit -u)"
            ),
        }
    }
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
        write!(f, "cannot allocate {count} stacks of {bytes} bytes: failed after {made} ({cause})\nhelp: ")?;
        match split {
            true => write!(
                f,
                "each stack takes two mappings on kernels older than Linux 6.13: raise \
                 vm.max_map_count above {}, or write processes as async blocks",
                2 * count + 1000
            ),
            false => write!(
                f,
                "the address space is exhausted (ulimit -v, vm.overcommit_memory): use smaller stacks, or write \
                 processes as async blocks"
            ),
        }
    }
}

/// An error with its chain of causes, on one line.
struct Chain<'a>(&'a dyn std::error::Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        std::iter::successors(self.0.source(), |error| error.source())
            .try_for_each(|cause| write!(f, ": {cause}"))
    }
}

/// The message of a panic's payload.
#[doc(hidden)]
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a value that is no text").to_owned()
}

data! {
    /// A cycle of nodes that wait for each other, or nodes that wait for such a cycle.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Deadlock {
        /// The nodes and the channels that they wait for, in the order of the cycle.
        view waits: Vec<BlockedNode> => &[BlockedNode];
        /// The byte budget, if it kept a full channel from growing.
        copy over_budget: Option<usize>;
        /// The channels that take most of the byte budget, the largest first, if it kept a full channel from growing.
        view largest: Vec<ChannelRoom> => &[ChannelRoom];
        /// An input from outside the cycle that holds items, while its node waits for another input.
        option unread: Option<Box<UnreadInput>> => Option<&UnreadInput>;
        /// What keeps the loop of the cycle from ending, if the loop has no input from outside: without a waiting process and
        /// without items it would end.
        option remains: Option<Box<Remains>> => Option<&Remains>;
    }
}

/// What keeps a loop without an input from outside from ending, although all its nodes wait for items.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remains {
    /// A process waits in it. It may still do anything with the next message.
    Process {
        /// The process's name.
        process: String,
    },
    /// Items are left in it.
    Items {
        /// The channel that holds them, as `a.out -> b.in`.
        channel: String,
        /// Their number.
        items: usize,
    },
}

data! {
    /// An input that holds items for a node that waits for another input.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct UnreadInput {
        /// The node's name.
        view node: String => &str;
        /// The channel, as `a.out -> b.in`.
        view channel: String => &str;
    }
}

data! {
    /// A channel's share of the byte budget.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ChannelRoom {
        /// The channel, as `a.out -> b.in`.
        view channel: String => &str;
        /// The bytes of its slots and, where items are weighed, those that its items may weigh.
        copy bytes: usize;
        /// Items in the channel.
        copy items: usize;
    }
}

/// The most nodes that the message names.
const SHOWN: usize = 10;

data! {
    /// A node and the channel it waits for.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct BlockedNode {
        /// The node's name.
        view node: String => &str;
        /// The channel, as `a.out -> b.in`.
        view channel: String => &str;
        /// Whether it waits for room (true) or for items (false).
        copy full: bool;
        /// Items in the channel.
        copy items: usize;
        /// Items it can hold.
        copy capacity: usize;
    }
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
            write!(f, "; more room would exceed the limit of {bytes} bytes")?;
            for (i, ChannelRoom { channel, bytes, items }) in self.largest.iter().enumerate() {
                let before = if i == 0 { ", of which" } else { "," };
                write!(f, "{before} `{channel}` has {bytes} ({items} items)")?;
            }
            return Ok(());
        }
        if let Some(UnreadInput { node, channel }) = self.unread.as_deref() {
            write!(f, "; meanwhile `{channel}` holds items for node `{node}`")?;
        }
        match self.remains.as_deref() {
            Some(Remains::Process { process }) => {
                write!(f, "; their loop has no input from outside, and process `{process}` waits in it")?;
            }
            Some(Remains::Items { channel, items }) => {
                write!(
                    f,
                    "; their loop has no input from outside, and `{channel}` still holds {items} item{}",
                    if *items == 1 { "" } else { "s" }
                )?;
            }
            None => {}
        }
        Ok(())
    }
}

impl Deadlock {
    /// What to do about it.
    pub fn help(&self) -> String {
        if self.over_budget.is_some() {
            return "raise the limit with `Options::budget`, or lower the rates of the nodes".to_owned();
        }
        let more = match (&self.unread, &self.remains) {
            (Some(_), _) => {
                "; if a node of the cycle drops items on purpose, `Options::close_starved_loops` ends the loop and \
                 discards its input"
            }
            (None, Some(_)) => {
                "; to end the loop there, push its first items from a `Graph::source`, whose end ends it, or set \
                 `Options::close_starved_loops`"
            }
            (None, None) => "",
        };
        format!("add initial items to the cycle, or lower the rates of its nodes{more}")
    }
}
