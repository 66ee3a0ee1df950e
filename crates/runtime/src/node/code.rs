//! The code of a parallel kernel.
//!
//! | code | a firing | used by |
//! |---|---|---|
//! | [`Whole`] | cannot be interrupted: all that it pushes waits in its ticket | kernels of users, most operators |
//! | [`Flat`] | is interrupted between two items, and continues with the rest of its iterator | `par_flat_map` |

use super::IntoResult;
use crate::channel::{In, Out};
use crate::contain::Contained;
use crate::port::one::One;
use crate::port::tuple::{Inputs, Outputs};
use crate::port::{PopPort, PushPort};
use std::marker::PhantomData;

/// The result of a call of a parallel kernel's code.
pub(crate) enum Fired {
    /// The firing has ended; an error fails the node.
    Ended(Result<(), Box<dyn std::error::Error + Send + Sync>>),
    /// The firing is interrupted. What is left of it is in `rest`, and the next call for the ticket continues it.
    Interrupted,
}

/// The code of a parallel kernel.
pub(crate) trait Code<I: Inputs, O: Outputs>: Send + Sync {
    /// What is left of an interrupted firing.
    type Rest: Send;
    /// Whether firings may be interrupted.
    const IS_INTERRUPTIBLE: bool;

    /// Fires, or continues the firing that `rest` is left of: then it pops no items.
    fn fire(
        &self,
        ins: &mut I::Cursors<'static>,
        outs: &mut O::Cursors<'static>,
        rest: &mut Option<Self::Rest>,
    ) -> Fired;
}

/// A kernel's closure, which is called once for each firing.
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

    #[inline(always)]
    fn fire(
        &self,
        ins: &mut I::Cursors<'static>,
        outs: &mut O::Cursors<'static>,
        _rest: &mut Option<std::convert::Infallible>,
    ) -> Fired {
        Fired::Ended((self.0)(ins, outs).into_result())
    }
}

/// A function from an item to an iterator over its results.
pub(crate) struct Flat<F>(pub(crate) Contained<F>);

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

    #[inline]
    fn fire(
        &self,
        item: &mut In<'static, T>,
        out: &mut Out<'static, J::Item>,
        rest: &mut Option<Contained<J::IntoIter>>,
    ) -> Fired {
        // A local variable, which may live in registers, as the firing seldom is interrupted.
        let mut results = match rest.take() {
            Some(results) => results,
            None => Contained::new((*self.0)(item.pop()).into_iter()),
        };
        if !out.fill(&mut *results) {
            *rest = Some(results);
            return Fired::Interrupted;
        }
        Fired::Ended(Ok(()))
    }
}
