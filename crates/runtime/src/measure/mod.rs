//! What a run measures of itself: the clock it reads, and what each worker did with its time.

pub(crate) mod account;
pub(crate) mod clock;
