//! What is done with each batch behind the place where it is read or arrives.

use std::sync::Arc;

use super::batch::{Cause, Stage, guard};
use crate::outbox::Outbox;
use crate::piece::{Body, Piece};
use crate::ticket::Ticket;

/// The place of items in the order of all.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub ticket: Ticket,
    /// The batch is the last of its part.
    pub last: bool,
    /// More items of the batch follow.
    pub more: bool,
}

impl At {
    /// A piece of this place.
    pub fn piece(self, from: u32, to: u32, body: Body) -> Piece {
        Piece { ticket: self.ticket, last: self.last, more: self.more, from, to, body }
    }
}

/// What is done with a batch in the order of batches, by one thread at a time.
pub(super) type Ordered<'env> = Box<dyn FnOnce() -> Result<(), Cause> + Send + 'env>;

/// What is done with a batch on any thread, which returns what is done in order.
type Each<'env, P> = Arc<dyn Fn(&mut Stage, At, P) -> Result<Ordered<'env>, Cause> + Send + Sync + 'env>;

/// The stages behind a place, up to the next exchange. They are composed when the chain is built, so a batch costs one
/// call and no stage a node of the graph.
pub(super) struct Onward<'env, P> {
    pub each: Each<'env, P>,
    /// What is done when all batches are through.
    pub end: Option<Arc<dyn Fn() -> Result<(), Cause> + Send + Sync + 'env>>,
    /// There are functions of the user's, so batches are worth a parallel node.
    pub is_parallel: bool,
    /// Where the pieces go: to be flushed behind a group of batches.
    pub out: Arc<Outbox>,
}

impl<'env, P: 'env> Onward<'env, P> {
    /// Puts a stage before these.
    pub fn after<Q: 'env>(
        self,
        stage: impl Fn() -> Stage + Send + Sync + 'env,
        f: impl Fn(Q) -> Result<P, Cause> + Send + Sync + 'env,
    ) -> Onward<'env, Q> {
        let Onward { each, end, is_parallel, out } = self;
        let each = move |at_stage: &mut Stage, at: At, batch: Q| {
            *at_stage = stage();
            each(at_stage, at, f(batch)?)
        };
        Onward { each: Arc::new(each), end, is_parallel, out }
    }

    /// Runs the stages for a batch, or what is done at the end; the caller counts the call.
    pub fn run(self) -> impl Fn(Option<(At, P)>) -> Result<Ordered<'env>, Cause> + Send + Sync + 'env {
        let Onward { each, end, .. } = self;
        move |batch| {
            Ok(match (batch, &end) {
                (Some((at, batch)), _) => {
                    guard(Stage::Fixed("source"), at.ticket, |stage| each(stage, at, batch))?
                }
                (None, Some(end)) => {
                    let end = end.clone();
                    Box::new(move || end())
                }
                (None, None) => Box::new(|| Ok(())),
            })
        }
    }
}
