//! Graphs on demand: nodes are named by keys, and come to be when a node that is needed mentions them.
//!
//! | file | what |
//! |---|---|
//! | [`run`] | the two kinds of tasks, to explore a node and to compute it; the run |
//! | [`store`] | nodes and edges, and the protocol by which a node waits for others |
//! | [`table`], [`hash`] | from keys to nodes |
//! | [`slab`] | storage that grows while it is shared |
//! | [`cycle`] | the cycle in a graph that cannot go on |

mod closures;
mod context;
mod cycle;
mod finished;
mod hash;
mod run;
mod slab;
mod store;
mod table;

pub use closures::OnDemand;
pub use context::Context;
pub use finished::TaskResults;

use crate::{TaskError, TaskOptions};
use std::fmt::Debug;
use std::hash::Hash;
use thalweg_policy::tasks::Colour;

/// What a run of a graph returns.
pub type Outcome<G> = Result<
    TaskResults<<G as TaskGraph>::Key, <G as TaskGraph>::Output>,
    TaskError<<G as TaskGraph>::Key, <G as TaskGraph>::Error>,
>;

/// A graph whose nodes are computed on demand, from a sink. [`OnDemand`] makes one of closures.
///
/// A run calls [`predecessors`](TaskGraph::predecessors) and [`compute`](TaskGraph::compute) once for each node that it needs,
/// on any thread. What they return must depend on the key and the inputs alone; then the results are the same at any
/// number of members.
///
/// ```
/// use std::convert::Infallible;
/// use thalweg_tasks::{Colour, Context, TaskGraph};
///
/// /// The number of paths through a grid from its corner to each cell.
/// struct Paths;
///
/// impl TaskGraph for Paths {
///     type Key = (u32, u32);
///     type Output = u64;
///     type Error = Infallible;
///
///     fn predecessors(&self, &(x, y): &(u32, u32), needs: &mut Vec<(u32, u32)>) {
///         needs.extend((x > 0).then(|| (x - 1, y)));
///         needs.extend((y > 0).then(|| (x, y - 1)));
///     }
///
///     fn compute(&self, _: &(u32, u32), context: &mut Context<(u32, u32), u64>) -> Result<u64, Infallible> {
///         Ok(context.inputs().sum::<u64>().max(1))
///     }
///
///     /// Rows in stripes: member 0 prefers the first ten, and so on.
///     fn colour(&self, &(_, y): &(u32, u32)) -> Option<Colour> {
///         Some(Colour(y / 10))
///     }
/// }
///
/// let finished = Paths.run((16, 16))?;
/// assert_eq!(finished.sink(), &601_080_390);
/// assert_eq!(finished[&(2, 2)], 6);
/// assert_eq!(finished.len(), 17 * 17);
/// # Ok::<(), thalweg_tasks::TaskError<(u32, u32)>>(())
/// ```
pub trait TaskGraph: Sync {
    /// The name of a node.
    type Key: Eq + Hash + Debug + Send + Sync;
    /// The result of a node.
    type Output: Send + Sync;
    /// The error of a node that fails; [`Infallible`](std::convert::Infallible) if none does.
    type Error: Send;

    /// Appends to `needs`, which is empty, the keys of the nodes that this node is computed from. A key may come
    /// twice.
    fn predecessors(&self, key: &Self::Key, needs: &mut Vec<Self::Key>);

    /// Computes a node from the results of its predecessors.
    ///
    /// # Errors
    /// Any: the run ends with [`TaskError::Failed`].
    fn compute(
        &self,
        key: &Self::Key,
        context: &mut Context<'_, Self::Key, Self::Output>,
    ) -> Result<Self::Output, Self::Error>;

    /// A hint at the member near which the data of the node is; without one, any member may as well compute it. Called
    /// more than once for each node.
    fn colour(&self, key: &Self::Key) -> Option<Colour> {
        let _ = key;
        None
    }

    /// Computes the sink, all nodes that it needs, and all that these [add](Context::also), with default options.
    ///
    /// # Errors
    /// A node failed, a function of the graph panicked, or the graph has a cycle. If several nodes fail at once, the
    /// error is that of one of them.
    fn run(&self, sink: Self::Key) -> Outcome<Self>
    where
        Self: Sized,
    {
        self.run_with(sink, &TaskOptions::new())
    }

    /// As [`TaskGraph::run`], with options.
    ///
    /// # Errors
    /// As [`TaskGraph::run`].
    fn run_with(&self, sink: Self::Key, options: &TaskOptions) -> Outcome<Self>
    where
        Self: Sized,
    {
        run::run(self, sink, options)
    }
}
