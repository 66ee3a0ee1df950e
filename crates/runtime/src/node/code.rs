//! The code of a kernel.
//!
//! | code | of kernels | a firing | used by |
//! |---|---|---|---|
//! | [`Whole`] | parallel | cannot be interrupted: all that it pushes waits in its ticket | kernels of users, most operators |
//! | [`Flat`] | parallel | is interrupted between two items, and continues with the rest of its iterator | `par_flat_map` |
//! | [`Steps`] | sequential | cannot be interrupted: what finds no room waits in the cursor | kernels of users, most operators |
//! | [`FlatSteps`] | sequential | as of [`Flat`] | `flat_map`, `unbatch` |
//! | [`DealSteps`](super::DealSteps) | sequential | moves one item | `deal` |
//! | [`Scratch`](super::Scratch) | parallel | cannot be interrupted | `par_map_init` |

use super::parallel::{self, Failure};
use super::sequential::{self, End};
use super::tally::Count;
use super::{IntoFlow, IntoResult};
use crate::channel::{In, Out};
use crate::contain::Contained;
use crate::port::inputs::Inputs;
use crate::port::loan::Lent;
use crate::port::outputs::Outputs;
use crate::port::shapes::One;
use crate::port::{PopPort, PushPort};
use std::marker::PhantomData;

/// The cursors of a ticket, and the counts of its tallies.
pub(crate) type Parts<'a, I, O> =
    (&'a mut <I as Inputs>::Cursors<'static>, &'a mut <O as Outputs>::Cursors<'static>, &'a mut [Count]);

/// The code of a parallel kernel.
pub(crate) trait Code<I: Inputs, O: Outputs>: Send + Sync {
    /// What is left of an interrupted firing.
    type Rest: Send;
    /// Whether firings may be interrupted.
    const IS_INTERRUPTIBLE: bool;

    /// Runs `firings` firings of a ticket with the rates `limits`, or fewer if one is interrupted; then what is left of that
    /// is in `rest`, and the next call for the ticket continues it: that firing pops no items. Returns the number of firings
    /// that have ended. Each of them is counted, and marked when it ends.
    ///
    /// # Errors
    /// A firing has failed.
    fn run(
        &self,
        parts: Parts<'_, I, O>,
        rest: &mut Option<Self::Rest>,
        limits: I::Limits,
        firings: usize,
    ) -> Result<usize, Failure>;
}

/// The code of a sequential kernel.
pub(crate) trait SequentialCode<I: Inputs, O: Outputs>: Send {
    /// Whether firings may be interrupted.
    const IS_INTERRUPTIBLE: bool;

    /// Runs `firings` firings with the rates `limits`, or fewer if a dynamic output has no free slot or the node ends. The
    /// first one continues an interrupted firing, if there is one, and pops no items. Returns the number of firings that
    /// have ended, and why no other follows. The cursors are open for that many firings.
    fn run(
        &mut self,
        ins: &mut I::Cursors<'static>,
        outs: &mut O::Cursors<'static>,
        limits: I::Limits,
        firings: usize,
    ) -> (usize, Option<End>);

    /// Drops what is left of an interrupted firing.
    fn abandon(&mut self) {}
}

/// A sequential kernel's closure, which is called once for each firing.
pub(crate) struct Steps<F, R>(F, PhantomData<fn() -> R>);

impl<F, R> Steps<F, R> {
    pub(crate) fn new(fire: F) -> Steps<F, R> {
        Steps(fire, PhantomData)
    }
}

impl<I, O, F, R> SequentialCode<I, O> for Steps<F, R>
where
    I: Inputs,
    O: Outputs,
    R: IntoFlow,
    F: for<'f> FnMut(&mut I::Cursors<'f>, &mut O::Cursors<'f>) -> R + Send,
{
    const IS_INTERRUPTIBLE: bool = false;

    fn run(
        &mut self,
        ins: &mut I::Cursors<'static>,
        outs: &mut O::Cursors<'static>,
        limits: I::Limits,
        firings: usize,
    ) -> (usize, Option<End>) {
        sequential::fire_run::<I, O, F, R>(ins, outs, &mut self.0, limits, firings)
    }
}

/// A function from an item to an iterator over its results, and the iterator of an interrupted firing.
pub(crate) struct FlatSteps<F, J> {
    make: Contained<F>,
    rest: Option<Contained<J>>,
}

impl<F, J> FlatSteps<F, J> {
    pub(crate) fn new(make: F) -> FlatSteps<F, J> {
        FlatSteps { make: Contained::new(make), rest: None }
    }
}

impl<T, J, F> SequentialCode<One<PopPort<T>>, One<PushPort<J::Item>>> for FlatSteps<F, J::IntoIter>
where
    T: Send,
    J: IntoIterator,
    J::IntoIter: Send,
    J::Item: Send,
    F: FnMut(T) -> J + Send,
{
    const IS_INTERRUPTIBLE: bool = true;

    #[inline(never)] // one instance, as of `sequential::fire_run`
    fn run(
        &mut self,
        item: &mut In<'static, T>,
        out: &mut Out<'static, J::Item>,
        limits: [(usize, usize); 1],
        firings: usize,
    ) -> (usize, Option<End>) {
        debug_assert_eq!(limits[0].0, 1, "`flat_map` pops one item");
        // SAFETY: as in `sequential::fire_run`.
        let (mut item, mut out) = unsafe { (Lent::new(item), Lent::new(out)) };
        for fired in 0..firings {
            if !out.here.has_slot() {
                return (fired, None);
            }
            // A local variable, which may live in registers. And `rest` is only looked at: to take its value would be a copy
            // and a store in each firing, few of which continue one.
            let mut results = match &self.rest {
                None => {
                    item.here.step(1);
                    Contained::new((*self.make)(item.here.pop()).into_iter())
                }
                Some(_) => self.rest.take().expect("it has just been seen"),
            };
            if !out.here.fill(&mut *results) {
                self.rest = Some(results);
                return (fired, Some(End::Interrupted));
            }
            drop(results.into_inner()); // no thread unwinds here
        }
        (firings, None)
    }

    fn abandon(&mut self) {
        self.rest = None;
    }
}

/// A parallel kernel's closure, which is called once for each firing.
pub(crate) struct Whole<F, R>(F, PhantomData<fn() -> R>);

impl<F, R> Whole<F, R> {
    pub(crate) fn new(fire: F) -> Whole<F, R> {
        Whole(fire, PhantomData)
    }
}

impl<I, O, F, R> Code<I, O> for Whole<F, R>
where
    I: Inputs,
    O: Outputs,
    R: IntoResult,
    F: for<'f> Fn(&mut I::Cursors<'f>, &mut O::Cursors<'f>) -> R + Send + Sync,
{
    type Rest = std::convert::Infallible;
    const IS_INTERRUPTIBLE: bool = false;

    fn run(
        &self,
        parts: Parts<'_, I, O>,
        _rest: &mut Option<std::convert::Infallible>,
        limits: I::Limits,
        firings: usize,
    ) -> Result<usize, Failure> {
        parallel::fire_run::<I, O, R>(parts, &self.0, limits, firings)
    }
}

/// A function from an item to an iterator over its results.
pub(crate) struct Flat<F>(pub(crate) Contained<F>);

impl<F> Flat<F> {
    /// The inner loop. With `PLAIN` there is no interrupted firing, the node has no tallies, and items are not weighed: the
    /// case of nearly all firings, whose state then fits into registers. The function and the iterator do not get the
    /// cursors, so these stay in registers although there are two instances.
    fn run_as<const PLAIN: bool, T, J>(
        &self,
        (item, out, counts): (&mut In<'static, T>, &mut Out<'static, J::Item>, &mut [Count]),
        rest: &mut Option<Contained<J::IntoIter>>,
        firings: usize,
    ) -> usize
    where
        T: Send,
        J: IntoIterator,
        J::Item: Send,
        F: Fn(T) -> J,
    {
        // SAFETY: as in `parallel::fire_run`.
        let (mut item, mut out) = unsafe { (Lent::new(item), Lent::new(out)) };
        for fired in 0..firings {
            let mut results = match rest.take_if(|_| !PLAIN) {
                None => {
                    item.here.step(1);
                    Contained::new((*self.0)(item.here.pop()).into_iter())
                }
                Some(results) => results,
            };
            if !out.here.fill_chunk::<PLAIN>(&mut *results) {
                *rest = Some(results);
                return fired;
            }
            drop(results.into_inner()); // no thread unwinds here
            if !PLAIN {
                counts.iter_mut().for_each(|count| count.record::<One<PushPort<J::Item>>>(&out.here));
            }
        }
        firings
    }
}

impl<T, J, F> Code<One<PopPort<T>>, One<PushPort<J::Item>>> for Flat<F>
where
    T: Send,
    J: IntoIterator,
    J::IntoIter: Send,
    J::Item: Send,
    F: Fn(T) -> J + Send + Sync,
{
    type Rest = Contained<J::IntoIter>;
    const IS_INTERRUPTIBLE: bool = true;

    fn run(
        &self,
        (item, out, counts): Parts<'_, One<PopPort<T>>, One<PushPort<J::Item>>>,
        rest: &mut Option<Contained<J::IntoIter>>,
        limits: [(usize, usize); 1],
        firings: usize,
    ) -> Result<usize, Failure> {
        debug_assert_eq!(limits[0].0, 1, "`par_flat_map` pops one item");
        let is_plain = counts.is_empty() && !out.is_weighed();
        let first = match is_plain {
            true => usize::from(rest.is_some()),
            false => firings,
        };
        let mut fired = self.run_as::<false, T, J>((item, out, counts), rest, first);
        if fired == first {
            fired += self.run_as::<true, T, J>((item, out, counts), rest, firings - first);
        }
        Ok(fired)
    }
}
