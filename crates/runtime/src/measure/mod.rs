//! A run's measurement of itself.
//!
//! | module | measures |
//! |---|---|
//! | [`clock`], [`cpu_time`] | time stamps, and a thread's processor time |
//! | [`account`] | each worker's time, in five categories |
//! | [`sampler`] | nothing: it chooses the activations that are measured more closely |
//! | [`service`] | how long a node's activations and firings take |
//! | [`dilation`] | claims that last longer than they compute, by request |
//! | [`tickets`] | how long firings wait for their tickets, by request |
//! | [`waits`] | how long a node waits, and for what |
//! | [`occupancy`] | how many items channels hold, over time |
//! | [`recorder`] | what each thread does, and when, for a timeline |

pub(crate) mod account;
pub(crate) mod clock;
pub(crate) mod cpu_time;
pub(crate) mod dilation;
pub(crate) mod occupancy;
#[cfg(feature = "timeline")]
pub(crate) mod recorder;
#[cfg(not(feature = "timeline"))]
#[path = "absent.rs"]
pub(crate) mod recorder;
pub(crate) mod sampler;
pub(crate) mod service;
pub(crate) mod tickets;
pub(crate) mod waits;
