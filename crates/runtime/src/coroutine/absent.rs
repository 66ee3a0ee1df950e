//! What the other modules need of [`coroutine`](crate::coroutine) where the feature `coroutines` is off: no node has a stack.

use crate::error::Error;
use crate::net::Net;
use thalweg_graph::NodeId;
use thalweg_policy::WorkerId;

/// Whether the calling thread runs a coroutine, on its stack.
#[doc(hidden)]
#[inline]
pub fn in_coroutine() -> bool {
    false
}

/// Ends of a process that a coroutine can have: any.
pub trait Ends {}
impl<T> Ends for T {}

/// The number of stacks that nodes want, by size.
pub(crate) type Wanted = ();

/// The stacks of a run.
#[derive(Debug)]
pub(crate) struct Stacks;

impl Stacks {
    #[expect(clippy::unnecessary_wraps, reason = "the signature of the other one")]
    pub(crate) fn new(_wanted: &Wanted) -> Result<Stacks, Error> {
        Ok(Stacks)
    }
}

pub(crate) fn leave(_net: &Net<'_>, _worker: WorkerId) {}

pub(crate) fn leave_node(_net: &Net<'_>, _node: NodeId) {}
