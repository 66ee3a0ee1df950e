//! A run's measurement of itself: its clock ([`clock`]), and each worker's account of its time ([`account`]).

pub(crate) mod account;
pub(crate) mod clock;
