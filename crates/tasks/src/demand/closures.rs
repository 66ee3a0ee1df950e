//! Graphs on demand of closures.

use super::{Context, TaskGraph};
use std::convert::Infallible;
use std::fmt;
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use thalweg_policy::tasks::Colour;

/// A [`TaskGraph`] of closures.
///
/// ```
/// use thalweg_tasks::{OnDemand, TaskGraph};
///
/// let fibonacci = OnDemand::new(
///     |&n: &u64, needs: &mut Vec<u64>| needs.extend((n > 1).then(|| [n - 1, n - 2]).into_iter().flatten()),
///     |&n, context| if n < 2 { n } else { context.inputs().sum() },
/// );
/// assert_eq!(fibonacci.run(90)?.sink(), &2_880_067_194_370_816_120);
/// # Ok::<(), thalweg_tasks::TaskError<u64>>(())
/// ```
pub struct OnDemand<K, R, E, P, C, H = fn(&K) -> Option<Colour>> {
    predecessors: P,
    compute: C,
    colour: H,
    types: PhantomData<fn(K) -> Result<R, E>>,
}

impl<K, R, E, P, C, H> Debug for OnDemand<K, R, E, P, C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnDemand").finish_non_exhaustive()
    }
}

impl<K, R, P, C> OnDemand<K, R, Infallible, P, C>
where
    P: Fn(&K, &mut Vec<K>) + Sync,
    C: Fn(&K, &mut Context<'_, K, R>) -> R + Sync,
{
    /// A graph whose nodes cannot fail. `predecessors` appends a node's predecessors to an empty list.
    #[expect(clippy::type_complexity, reason = "it names the closure's signature")]
    pub fn new(
        predecessors: P,
        compute: C,
    ) -> OnDemand<K, R, Infallible, P, impl Fn(&K, &mut Context<'_, K, R>) -> Result<R, Infallible> + Sync>
    {
        OnDemand::fallible(predecessors, move |key: &K, context: &mut Context<'_, K, R>| {
            Ok(compute(key, context))
        })
    }
}

impl<K, R, E, P, C> OnDemand<K, R, E, P, C>
where
    P: Fn(&K, &mut Vec<K>) + Sync,
    C: Fn(&K, &mut Context<'_, K, R>) -> Result<R, E> + Sync,
{
    /// A graph whose nodes may fail.
    ///
    /// ```
    /// use thalweg_tasks::{TaskError, OnDemand, TaskGraph};
    ///
    /// let graph = OnDemand::fallible(
    ///     |&n: &u32, needs: &mut Vec<u32>| needs.extend(n.checked_sub(1)),
    ///     |&n, _| if n == 3 { Err("no threes") } else { Ok(n) },
    /// );
    /// let error = graph.run(5).unwrap_err();
    /// assert_eq!(error, TaskError::Failed { key: 3, cause: "no threes" });
    /// assert_eq!(error.to_string(), "node 3 failed: no threes");
    /// ```
    pub fn fallible(predecessors: P, compute: C) -> OnDemand<K, R, E, P, C> {
        OnDemand { predecessors, compute, colour: |_| None, types: PhantomData }
    }
}

impl<K, R, E, P, C, H> OnDemand<K, R, E, P, C, H> {
    /// Adds a function that returns the colours of nodes: see [`TaskGraph::colour`].
    pub fn colour<N>(self, colour: N) -> OnDemand<K, R, E, P, C, N>
    where
        N: Fn(&K) -> Option<Colour> + Sync,
    {
        let OnDemand { predecessors, compute, types, .. } = self;
        OnDemand { predecessors, compute, colour, types }
    }
}

impl<K, R, E, P, C, H> TaskGraph for OnDemand<K, R, E, P, C, H>
where
    K: Eq + Hash + Debug + Send + Sync,
    R: Send + Sync,
    E: Send,
    P: Fn(&K, &mut Vec<K>) + Sync,
    C: Fn(&K, &mut Context<'_, K, R>) -> Result<R, E> + Sync,
    H: Fn(&K) -> Option<Colour> + Sync,
{
    type Key = K;
    type Output = R;
    type Error = E;

    #[inline]
    fn predecessors(&self, key: &K, needs: &mut Vec<K>) {
        (self.predecessors)(key, needs);
    }

    #[inline]
    fn compute(&self, key: &K, context: &mut Context<'_, K, R>) -> Result<R, E> {
        (self.compute)(key, context)
    }

    #[inline]
    fn colour(&self, key: &K) -> Option<Colour> {
        (self.colour)(key)
    }
}
