//! The connections of a run: two for each pair of processes, one for the messages of the dataflow, one for control.

mod connect;
pub(crate) mod control;
mod frame;
mod hello;
mod track;
mod wire;

pub(crate) use connect::{Seats, connect};
pub(crate) use control::{Limits, Mesh, OwnPulse};
pub(crate) use hello::{Identity, key_of};
pub(crate) use wire::Wire;
