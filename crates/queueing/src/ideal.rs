//! The ideal central queue: M/M/P/PN/PN, section 3.3 of the pipeline model.

use crate::Error;
use crate::closed::{Closed, ClosedState};
use crate::error::threads;

/// The throughput of `p` threads that share one queue of `tokens` items, each item with a mean time of `service` seconds
/// in all stages together. Work stealing cannot do better.
///
/// # Errors
/// A number out of range.
pub fn ideal(service: f64, p: u32, tokens: u64) -> Result<ClosedState, Error> {
    Closed { service, arrival: service, threads: threads(p)?.into(), population: tokens }.solve()
}

/// Equation 8: `throughput`, limited by serial stages with the given times per item, in seconds.
///
/// # Errors
/// A number out of range.
pub fn serial_bound(throughput: f64, serial: &[f64]) -> Result<f64, Error> {
    let mut bound = crate::error::positive("throughput", throughput)?;
    for time in serial {
        bound = bound.min(1.0 / crate::error::positive("time of a serial stage", *time)?);
    }
    Ok(bound)
}
