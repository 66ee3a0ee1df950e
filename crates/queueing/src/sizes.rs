//! How many items, tokens and threads: section 3.4 of the pipeline model, equations 9 to 11.
//!
//! Equation 11 has no finite solution (errata, F8): the throughput of equation 4 approaches its bound and never reaches
//! it. The functions here take a tolerance, such as [`TOLERANCE`], and return the smallest number that comes that near.

use crate::Error;
use crate::closed::Closed;
use crate::error::{MAX_ITEMS, MAX_THREADS, positive, threads, within};

/// The share of the bound that a size may give away.
pub const TOLERANCE: f64 = 0.01;

/// Equation 9: the highest throughput of a stage of `c` threads, in items per second.
///
/// The bound holds for open stages too, where the last paragraph of section 3.4 prints `c / Tarr` for `c / Tser` (errata, F7).
///
/// # Errors
/// A number out of range.
pub fn upper_bound(service: f64, c: u32) -> Result<f64, Error> {
    Ok(f64::from(threads(c)?) / positive("service time", service)?)
}

/// Equation 10: the highest throughput that serial stages allow, in items per second.
///
/// # Errors
/// A time out of range, or none.
pub fn serial_limit(serial: &[f64]) -> Result<f64, Error> {
    let mut longest = 0.0f64;
    for time in serial {
        longest = longest.max(positive("time of a serial stage", *time)?);
    }
    positive("longest serial time", longest).map(|time| 1.0 / time)
}

/// Equation 11: the fewest items `N` with which a stage of `c` threads reaches `target` items per second within
/// `tolerance`.
///
/// # Errors
/// A number out of range; [`Error::Unreachable`] where no number of items reaches the target.
pub fn optimal_items(service: f64, arrival: f64, c: u32, target: f64, tolerance: f64) -> Result<u64, Error> {
    positive("target", target)?;
    within("tolerance", tolerance, 0.0, 1.0)?;
    let threads = f64::from(threads(c)?);
    let throughput =
        |population| Closed { service, arrival, threads, population }.solve().map(|state| state.throughput);
    smallest("number of items", MAX_ITEMS, target, tolerance, throughput)
}

/// The fewest tokens a thread with which one thread, `Tarr = Tser`, reaches its bound within `tolerance`. The number does
/// not depend on `Tser`.
///
/// # Errors
/// A tolerance out of range, or so small that no number of tokens satisfies it.
pub fn tokens_per_thread(tolerance: f64) -> Result<u64, Error> {
    optimal_items(1.0, 1.0, 1, 1.0, tolerance)
}

/// The fewest threads with which a stage that holds `population` items reaches `target` items per second within
/// `tolerance`: the intersection of the effective throughput with the limit of the serial stages.
///
/// `arrival` is the mean service time of the pipeline's longest stage; where that is this stage, it does not fall as
/// threads are added.
///
/// # Errors
/// A number out of range; [`Error::Unreachable`] where the ceiling `N / (Tarr + Tser)` lies below the target.
pub fn optimal_threads(
    service: f64,
    arrival: f64,
    population: u64,
    target: f64,
    tolerance: f64,
) -> Result<u32, Error> {
    positive("target", target)?;
    within("tolerance", tolerance, 0.0, 1.0)?;
    let throughput = |c: u64| {
        Closed { service, arrival, threads: c as f64, population }.solve().map(|state| state.throughput)
    };
    let found = smallest("number of threads", MAX_THREADS.into(), target, tolerance, throughput)?;
    Ok(u32::try_from(found).unwrap_or(MAX_THREADS))
}

/// The items that the queues of a pipeline of `stages` parallel stages hold: `N (stages + 1)`.
///
/// # Errors
/// A product above [`MAX_ITEMS`].
pub fn storage(population: u64, stages: u64) -> Result<u64, Error> {
    let product = stages.saturating_add(1).saturating_mul(population);
    crate::error::items("storage", product)
}

/// The smallest number from 1 to `max` whose throughput is within `tolerance` of `target`; the throughput must not fall.
fn smallest(
    what: &'static str,
    max: u64,
    target: f64,
    tolerance: f64,
    throughput: impl Fn(u64) -> Result<f64, Error>,
) -> Result<u64, Error> {
    let enough = |n| Ok::<bool, Error>(throughput(n)? >= target * (1.0 - tolerance));
    let mut high = 1;
    while !enough(high)? {
        if high == max {
            return Err(Error::Unreachable { what, target, best: throughput(max)? });
        }
        high = (2 * high).min(max);
    }
    let mut low = high / 2;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        match enough(middle)? {
            true => high = middle,
            false => low = middle,
        }
    }
    Ok(high)
}
