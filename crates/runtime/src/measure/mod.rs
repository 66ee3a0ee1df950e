//! A run's measurement of itself: its clock, and each worker's account of its time.

pub(crate) mod account;
pub(crate) mod clock;
