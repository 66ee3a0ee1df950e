//! The kinds of nodes: how kernels fire, one firing at a time or several at once.
//!
//! What all nodes have in common, their state and the word that says what they wait for, is in
//! [`net`](crate::net).

pub(crate) mod claim;
mod flow;
mod parallel;
mod sequential;
mod tally;
pub(crate) mod window;

pub use flow::{Flow, IntoFlow, IntoResult};
pub(crate) use parallel::{NodeLimits, Parallel};
pub(crate) use sequential::{AnyFrame, Finish, FrameFn, Sequential};
pub(crate) use tally::Tally;
