//! Utilisation, effective throughput and time: equations 1 to 3 of the pipeline model.

use crate::Error;
use crate::error::{MAX_ITEMS, positive, threads, within};

/// Equation 1: the share of their time, from 0 up, that a stage's threads work; 1 and above means overload.
///
/// `rate` in items per second, `mean` service time in seconds.
///
/// # Errors
/// A number out of range.
pub fn utilisation(rate: f64, mean: f64, c: u32) -> Result<f64, Error> {
    Ok(positive("rate", rate)? * positive("service time", mean)? / f64::from(threads(c)?))
}

/// Equation 2, cases 1 and 2: the throughput of stages that each item passes, in items of the source per second.
///
/// Each stage is its highest rate, in firings per second, and its firings per item of the source. The paper takes the
/// minimum of the rates, which mixes units where a stage makes several items of one (errata, F7); this function divides
/// by the firings first. A stage that never fires limits nothing.
///
/// # Errors
/// A number out of range; no stage that fires.
pub fn slowest(stages: impl IntoIterator<Item = (f64, f64)>) -> Result<f64, Error> {
    let mut slowest = f64::INFINITY;
    for (rate, firings) in stages {
        positive("rate", rate)?;
        if within("firings per item", firings, 0.0, MAX_ITEMS as f64)? > 0.0 {
            slowest = slowest.min(rate / firings);
        }
    }
    positive("throughput of the slowest stage", slowest)
}

/// Equation 2, case 3: the throughput of threads that each pass items through all stages, in items per second.
///
/// # Errors
/// A rate out of range, or none.
pub fn aggregate(rates: impl IntoIterator<Item = f64>) -> Result<f64, Error> {
    let mut sum = 0.0;
    for rate in rates {
        sum += positive("rate", rate)?;
    }
    positive("sum of the rates", sum)
}

/// Equation 3: the seconds that `count` items take at `rate` items per second.
///
/// # Errors
/// A number out of range.
pub fn time(count: u64, rate: f64) -> Result<f64, Error> {
    within("number of items", count as f64, 0.0, MAX_ITEMS as f64)?;
    Ok(count as f64 / positive("rate", rate)?)
}
