//! A stage with a limited population: M/M/c/N/K with K = N, equation 4 of the pipeline model.
//!
//! `N` items circulate. Each of the items that are not at the stage calls for service after a time of mean `Tarr`; the
//! stage serves at most `c` at once, in `Tser` each. The number of items at the stage is a birth-death chain with
//! births at `(N - n) / Tarr` and deaths at `min(n, c) / Tser`. (A. O. Allen, Probability, Statistics, and Queueing
//! Theory, 1990: the machine repair model.)
//!
//! What the equation says of a pipeline, and what not: with `Tarr = Tser` one thread reaches 0.50, 0.80, 0.9375, 0.985 and
//! 0.997 of `1 / Tser` for `N` from 1 to 5 at any `Tser` (errata, F8), where two exponential stages with room for as many
//! items reach 0.75, 0.80, 0.833, 0.857 and 0.875 ([`crate::tandem`]). Its ceiling is `N / (Tarr + Tser)`.

use crate::Error;
use crate::error::{MAX_THREADS, items, positive, within};

/// A stage with a limited population.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closed {
    /// The mean service time, `Tser`, in seconds.
    pub service: f64,
    /// The mean time, `Tarr`, after which an item that is not at the stage calls for service, in seconds.
    pub arrival: f64,
    /// The number of threads, `c`: real, as step 3 of work stealing adds a part of a thread. At least 1.
    pub threads: f64,
    /// The items that circulate, `N`.
    pub population: u64,
}

/// The steady state of a [`Closed`] stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedState {
    /// Equation 4: items per second.
    pub throughput: f64,
    /// The mean number of threads that work.
    pub busy: f64,
    /// The share of the threads' time that is work, from 0 to 1.
    pub utilisation: f64,
    /// The mean number of items at the stage, those in service included.
    pub items: f64,
    /// The mean time for which an item waits for a thread, in seconds.
    pub waiting: f64,
}

impl Closed {
    /// Computes the steady state.
    ///
    /// # Errors
    /// A number out of range.
    pub fn solve(&self) -> Result<ClosedState, Error> {
        self.check()?;
        let sums = self.sums();
        let throughput = sums.away / sums.mass / self.arrival;
        let (at_stage, busy) = (sums.present / sums.mass, sums.busy / sums.mass);
        let waiting = (at_stage - busy).max(0.0) / throughput;
        Ok(ClosedState {
            throughput,
            busy,
            utilisation: (busy / self.threads).min(1.0),
            items: at_stage,
            waiting,
        })
    }

    fn check(&self) -> Result<(), Error> {
        positive("service time", self.service)?;
        positive("arrival time", self.arrival)?;
        within("number of threads", self.threads, 1.0, 2.0 * f64::from(MAX_THREADS))?;
        items("population", self.population)?;
        Ok(())
    }

    /// Sums over the distribution, outward from its mode: the weights fall on both sides, so the sums stop where a
    /// weight is negligible, and neither overflow nor take time in proportion to the population.
    fn sums(&self) -> Sums {
        let mode = self.mode();
        let mut sums = Sums::default();
        sums.add(self, mode, 1.0);
        let (mut n, mut weight) = (mode, 1.0);
        while n < self.population && sums.matters(weight) {
            weight *= self.ratio(n);
            n += 1;
            sums.add(self, n, weight);
        }
        let (mut n, mut weight) = (mode, 1.0);
        while n > 0 && sums.matters(weight) {
            n -= 1;
            weight /= self.ratio(n);
            sums.add(self, n, weight);
        }
        sums
    }

    /// The probability of `n + 1` items over that of `n`; falls as `n` grows.
    fn ratio(&self, n: u64) -> f64 {
        let births = (self.population - n) as f64 / self.arrival;
        births * self.service / ((n + 1) as f64).min(self.threads)
    }

    /// The most probable number of items.
    fn mode(&self) -> u64 {
        let (mut low, mut high) = (0, self.population);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.ratio(middle) >= 1.0 {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}

/// Weighted sums over the number of items.
#[derive(Default)]
struct Sums {
    mass: f64,
    away: f64,
    present: f64,
    busy: f64,
}

impl Sums {
    fn add(&mut self, stage: &Closed, n: u64, weight: f64) {
        self.mass += weight;
        self.away += weight * (stage.population - n) as f64;
        self.present += weight * n as f64;
        self.busy += weight * (n as f64).min(stage.threads);
    }

    fn matters(&self, weight: f64) -> bool {
        weight > 1e-20 * self.mass
    }
}
