//! A stage without a limit of its queue: M/M/c, and M/G/c by its two moments. Equations 5 and 6 of the pipeline model
//! are in [`crate::paper::open`], where a pipeline has several stages.

use crate::Error;
use crate::erlang::erlang_c;
use crate::error::{MAX_VARIATION, positive, threads, within};

/// A stage whose queue has no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Open {
    /// Items that arrive per second.
    pub rate: f64,
    /// The mean service time, in seconds.
    pub service: f64,
    /// The number of threads.
    pub threads: u32,
    /// The coefficient of variation of the time between arrivals; 1 is M.
    pub arrival_cv: f64,
    /// The coefficient of variation of the service time; 1 is M.
    pub service_cv: f64,
}

/// The steady state of an [`Open`] stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenState {
    /// The share of the threads' time that is work, below 1.
    pub utilisation: f64,
    /// The mean time for which an item waits for a thread, in seconds.
    pub waiting: f64,
    /// The mean number of items at the stage, those in service included.
    pub items: f64,
}

impl Open {
    /// M/M/c.
    pub fn exponential(rate: f64, service: f64, threads: u32) -> Self {
        Self { rate, service, threads, arrival_cv: 1.0, service_cv: 1.0 }
    }

    /// Computes the steady state: exact for M/M/c and M/G/1, elsewhere the approximation of Allen and Cunneen (A. O.
    /// Allen, 1990), which is the waiting time of M/M/c times the mean of both squared coefficients of variation.
    ///
    /// # Errors
    /// A number out of range; [`Error::Overloaded`] where more arrives than the threads can do.
    pub fn solve(&self) -> Result<OpenState, Error> {
        let load = positive("rate", self.rate)? * positive("service time", self.service)?;
        let c = f64::from(threads(self.threads)?);
        within("coefficient of variation", self.arrival_cv, 0.0, MAX_VARIATION)?;
        within("coefficient of variation", self.service_cv, 0.0, MAX_VARIATION)?;
        let variation = f64::midpoint(self.arrival_cv.powi(2), self.service_cv.powi(2));
        let waiting = erlang_c(c, load)? * self.service / (c - load) * variation;
        Ok(OpenState { utilisation: load / c, waiting, items: load + self.rate * waiting })
    }
}
