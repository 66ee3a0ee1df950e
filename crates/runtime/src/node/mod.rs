//! Kernels: nodes that fire one firing at a time ([`sequential`]), or several at once ([`parallel`]).
//!
//! | file | has |
//! |---|---|
//! | [`claim`] | the lock of a node, which refuses instead of waiting |
//! | [`sequential`] | sequential kernels |
//! | [`framing`] | framing functions, which decide what the next firing pops |
//! | [`batch`] | the framing function of `batch` |
//! | [`parallel`] | parallel kernels: their state, an activation, the firings of a ticket |
//! | [`issue`] | how many firings the next ticket gets |
//! | [`publish`] | how completed tickets get into the channels |
//! | [`turns`], [`wait`] | how firings that wait for their tickets leave |
//! | [`sleepers`] | the workers that sleep for their turn, in dilated time |
//! | [`window`] | the reorder window of a parallel kernel |
//! | [`deal`] | the code of `deal`, and the order and the framing function of `interleave` |
//! | [`scratch`] | the code of `par_map_init` |
//! | [`timed`] | the framing function of `batch_timeout` |
//! | [`tally`] | counts of the items that each firing of a parallel kernel pushed |
//! | [`flow`] | the results of a kernel's function |
//! | [`pieces`] | how many items an interruptible firing pushes at a time |
//! | [`suspend`] | interrupted tickets of a parallel kernel |
//! | [`code`] | the code of a kernel: whole firings, or interruptible ones |
//!
//! The state that all kinds of nodes have, and the wait word, are in [`net`](crate::net); processes are in
//! [`process`](crate::process) and [`coroutine`](crate::coroutine).

mod batch;
pub(crate) mod claim;
mod code;
mod deal;
mod flow;
mod framing;
mod issue;
mod parallel;
mod pieces;
mod publish;
mod scratch;
mod sequential;
mod sleepers;
mod suspend;
mod tally;
mod timed;
pub(crate) mod turns;
mod wait;
pub(crate) mod window;

pub(crate) use batch::BatchFrame;
pub(crate) use code::{Code, Flat, FlatSteps, SequentialCode, Steps, Whole};
pub(crate) use deal::{DealSteps, Round, RoundFrame};
pub use flow::{Flow, IntoFlow, IntoResult};
pub(crate) use framing::{AnyFrame, FrameFn, TurnFrame};
pub(crate) use parallel::{NodeLimits, Parallel};
pub(crate) use scratch::Scratch;
pub use scratch::ScratchPool;
pub(crate) use sequential::{Finish, Sequential};
pub(crate) use tally::Tally;
pub(crate) use timed::TimedFrame;
