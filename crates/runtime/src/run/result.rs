//! The results of a run: [`Run`] if it has ended well, [`Failed`] if not.
//!
//! Both have the report. What nodes have returned lies in the slots of their [`Output`]s, which the run has filled before
//! either exists: see [`output`](crate::build).

use crate::build::{Output, Slot};
use crate::contain::{contain, drop_payload, drop_quietly};
use crate::error::Error;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use thalweg_graph::NodeId;
use thalweg_trace::Report;

/// A run that has ended well: its value, to which it derefs, and its report.
///
/// The value is that of the [`Output`] by which the run was started ([`Output::run`]). A run that was started by its graph
/// ([`Graph::run`](crate::Graph::run)) has none; [`Run::take`] returns those of its outputs.
///
/// ```
/// use thalweg_runtime::Graph;
///
/// let squares = Graph::new().source(1..=5u64).par_map(|x| x * x).collect().run()?;
/// assert_eq!(squares.len(), 5);
/// assert_eq!(squares.report().nodes()[1].firings(), 5);
///
/// let squares: Vec<u64> = squares.into_value();
/// assert_eq!(squares, [1, 4, 9, 16, 25]);
/// # Ok::<(), thalweg_runtime::Error>(())
/// ```
pub struct Run<T = ()> {
    value: T,
    /// The number of its graph.
    number: usize,
    report: Report,
}

impl<T> Run<T> {
    /// The counters and times of the run.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The report by value. What the run has returned is dropped.
    pub fn into_report(self) -> Report {
        self.report
    }

    /// The value, without the report.
    pub fn into_value(self) -> T {
        self.value
    }

    /// The value and the report.
    pub fn into_parts(self) -> (T, Report) {
        (self.value, self.report)
    }
}

impl<T> Deref for Run<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Run<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

/// Compares the values.
impl<T: PartialEq<U>, U: ?Sized> PartialEq<U> for Run<T> {
    fn eq(&self, other: &U) -> bool {
        self.value == *other
    }
}

impl<T: fmt::Debug> fmt::Debug for Run<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("value", &self.value).finish_non_exhaustive()
    }
}

impl<T: IntoIterator> IntoIterator for Run<T> {
    type Item = T::Item;
    type IntoIter = T::IntoIter;

    fn into_iter(self) -> T::IntoIter {
        self.value.into_iter()
    }
}

impl Run {
    /// The value that a node of this run has returned.
    ///
    /// # Errors
    /// [`Error::ForeignOutput`] for an output of another graph; [`Error::NoValue`] if the node has ended without a
    /// value, as a process without inputs does when its run is drained ([`Handle::drain`](crate::Handle::drain)).
    pub fn take<T>(&self, output: Output<'_, T>) -> Result<T, Error> {
        if output.number() != self.number {
            return Err(Error::ForeignOutput);
        }
        output.slot().take().ok_or_else(|| no_value(&self.report, Some(output.node())))
    }

    /// The values of several nodes of this run.
    ///
    /// # Errors
    /// As [`Run::take`].
    pub fn take_all<'env, T: 'env>(
        &self,
        outputs: impl IntoIterator<Item = Output<'env, T>>,
    ) -> Result<Vec<T>, Error> {
        outputs.into_iter().map(|output| self.take(output)).collect()
    }
}

/// The error for a node that has ended without a value.
fn no_value(report: &Report, node: Option<NodeId>) -> Error {
    let node = node.and_then(|node| report.graph().nodes().get(node.index()));
    Error::NoValue { node: node.map_or_else(String::new, |node| node.name().to_string()) }
}

/// A run that has ended early, or has not begun: its error, its report, and the part of its value that there is.
///
/// `?` makes an [`Error`] of it, or passes it on as it is where the caller returns `Box<dyn std::error::Error>`. It prints as
/// its error does.
///
/// ```
/// use thalweg_runtime::Graph;
///
/// let halves = Graph::new()
///     .source([8u64, 6, 3, 4])
///     .try_map(|n| if n % 2 == 0 { Ok(n / 2) } else { Err(format!("{n} is odd")) })
///     .collect()
///     .run();
/// let failed = halves.unwrap_err();
/// assert_eq!(failed.error().to_string(), "node `try_map` failed: 3 is odd");
/// // What has arrived before is a prefix of the result.
/// assert!([4, 3].starts_with(failed.partial().unwrap()));
/// // The source had pushed at least the item that failed.
/// assert!(failed.report().unwrap().channels()[0].items() >= 3);
/// ```
pub struct Failed<T = ()>(Box<Parts<T>>);

struct Parts<T> {
    error: Error,
    report: Option<Report>,
    partial: Partial<T>,
    /// The number of the graph, if the run has begun.
    number: Option<usize>,
}

impl<T> Failed<T> {
    /// Why the run has ended early.
    pub fn error(&self) -> &Error {
        &self.0.error
    }

    /// The error by value. What the run has returned is dropped.
    pub fn into_error(self) -> Error {
        self.0.error
    }

    /// The counters and times until the run ended; `None` if it has not begun, because its graph, options or plan were
    /// refused.
    pub fn report(&self) -> Option<&Report> {
        self.0.report.as_ref()
    }

    /// The value of a sink, made of the items that had arrived when the run ended: what the sink would have after a prefix
    /// of its items, if no node before it is [unordered](crate::Stream::unordered) or a merge. `None` if the run has not
    /// begun, if the sink's own function has failed or panicked, and for a process that has not returned.
    pub fn partial(&self) -> Option<&T> {
        self.0.partial.value.as_ref()
    }

    /// [`Failed::partial`] by value.
    pub fn into_partial(mut self) -> Option<T> {
        self.0.partial.value.take()
    }
}

impl Failed {
    /// What the node of an output had when the run ended: see [`Failed::partial`]. `None` also for an output of another
    /// graph.
    pub fn take<T>(&self, output: Output<'_, T>) -> Option<T> {
        (self.0.number == Some(output.number())).then(|| output.slot().take())?
    }
}

/// A run that has not begun.
impl<T> From<Error> for Failed<T> {
    fn from(error: Error) -> Failed<T> {
        Failed(Box::new(Parts { error, report: None, partial: Partial::none(), number: None }))
    }
}

impl<T> From<Failed<T>> for Error {
    fn from(failed: Failed<T>) -> Error {
        failed.into_error()
    }
}

impl<T> fmt::Debug for Failed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.error, f)
    }
}

impl<T> fmt::Display for Failed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.error, f)
    }
}

impl<T> std::error::Error for Failed<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.error.source()
    }
}

/// The value of a run that has failed. Its drop contains panics, since it may happen while the caller handles the error.
struct Partial<T> {
    value: Option<T>,
    discard: fn(T),
}

impl<T> Partial<T> {
    fn none() -> Partial<T> {
        Partial { value: None, discard: drop }
    }
}

impl<T> Drop for Partial<T> {
    fn drop(&mut self) {
        let (value, discard) = (self.value.take(), self.discard);
        if let Some(panic) = contain(|| _ = value.map(discard)) {
            drop_payload(panic);
        }
    }
}

/// How a run has ended, before it is known what value its caller takes.
pub(crate) struct Outcome {
    pub(crate) number: usize,
    pub(crate) report: Report,
    pub(crate) error: Option<Error>,
}

impl Outcome {
    /// The result for a caller that takes a value.
    pub(crate) fn take<T>(self, wanted: Wanted<T>) -> Result<Run<T>, Failed<T>> {
        let Outcome { number, report, error } = self;
        let (value, discard, node) = match wanted {
            Wanted::Output(slot, node) => {
                let value = (slot.take(), slot.discards(), Some(node));
                // A value that is no result may be left in it. The run has its error already.
                drop_quietly(slot);
                value
            }
            Wanted::Nothing(value) => (Some(value), drop as fn(T), None),
        };
        let (error, value) = match (error, value) {
            (None, Some(value)) => return Ok(Run { value, number, report }),
            (None, None) => (no_value(&report, node), None),
            (Some(error), value) => (error, value),
        };
        let partial = Partial { value, discard };
        Err(Failed(Box::new(Parts { error, report: Some(report), partial, number: Some(number) })))
    }
}

/// The value that the caller of a run takes.
pub(crate) enum Wanted<T> {
    /// That of an output.
    Output(Arc<Slot<T>>, NodeId),
    /// No value of a node, but this one.
    Nothing(T),
}
