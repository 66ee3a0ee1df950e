//! Phase-type distributions by mean and squared coefficient of variation.
//!
//! Above 1, two exponential branches with balanced means (H. C. Tijms, 1986); below, a mixture of Erlang distributions
//! with `k - 1` and `k` phases of one rate (Tijms, 1986), where `1 / k` is the squared coefficient rounded down.

/// A time as a walk over phases.
#[derive(Clone, Debug, PartialEq)]
pub struct Phases {
    /// The probability to begin in each phase.
    pub start: Vec<f64>,
    /// The rate at which each phase ends, per second.
    pub rates: Vec<f64>,
    /// Whether the end of a phase, but for the last one, begins the next; else it ends the walk.
    pub chained: bool,
}

/// Fits a distribution with at most `max` phases; a squared coefficient of variation below `1 / max` is raised to that.
pub fn fit(mean: f64, squared: f64, max: usize) -> Phases {
    match squared > 1.0 {
        true => branches(mean, squared),
        false => erlang_mixture(mean, squared.max(1.0 / max as f64)),
    }
}

fn branches(mean: f64, squared: f64) -> Phases {
    let p = 0.5 * (1.0 + ((squared - 1.0) / (squared + 1.0)).sqrt());
    let start = vec![p, 1.0 - p];
    let rates = start.iter().map(|p| 2.0 * p / mean).collect();
    Phases { start, rates, chained: false }
}

fn erlang_mixture(mean: f64, squared: f64) -> Phases {
    let k = (1.0 / squared).ceil();
    let root = (k * (1.0 + squared) - k * k * squared).max(0.0).sqrt();
    let fewer = ((k * squared - root) / (1.0 + squared)).clamp(0.0, 1.0);
    let count = k as usize;
    let mut start = vec![0.0; count];
    start[0] = 1.0 - fewer;
    start[(count - 1).min(1)] += fewer;
    Phases { start, rates: vec![(k - fewer) / mean; count], chained: true }
}

impl Phases {
    /// The number of phases.
    pub fn count(&self) -> usize {
        self.rates.len()
    }

    /// The phase that begins when phase `i` ends; `None` where the time ends.
    pub fn after(&self, i: usize) -> Option<usize> {
        (self.chained && i + 1 < self.count()).then_some(i + 1)
    }

    /// The mean of the part of the time above `limit`.
    pub fn excess(&self, limit: f64) -> f64 {
        let begin = |(i, p): (usize, &f64)| p * self.excess_from(i, limit);
        self.start.iter().enumerate().map(begin).sum()
    }

    /// The excess of a walk that begins in phase `i`: exponential, or Erlang with equal rates.
    fn excess_from(&self, i: usize, limit: f64) -> f64 {
        let rate = self.rates[i];
        let left = if self.chained { self.count() - i } else { 1 };
        let (mut poisson, mut sum) = ((-rate * limit).exp(), 0.0);
        for done in 0..left {
            sum += poisson * (left - done) as f64 / rate;
            poisson *= rate * limit / (done + 1) as f64;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and squared coefficient of variation, by the backward recursion over the phases.
    fn moments(phases: &Phases) -> (f64, f64) {
        let (mut first, mut second) = (vec![0.0; phases.count()], vec![0.0; phases.count()]);
        for i in (0..phases.count()).rev() {
            let (m, s) = phases.after(i).map_or((0.0, 0.0), |next| (first[next], second[next]));
            let t = 1.0 / phases.rates[i];
            first[i] = t + m;
            second[i] = 2.0 * t * t + 2.0 * t * m + s;
        }
        let mean = |values: &[f64]| phases.start.iter().zip(values).map(|(p, v)| p * v).sum::<f64>();
        let m = mean(&first);
        (m, mean(&second) / m / m - 1.0)
    }

    #[test]
    fn a_fit_has_both_moments() {
        for squared in [0.1, 0.13, 0.25, 0.3, 0.5, 0.7, 1.0, 1.1, 2.0, 9.0] {
            let (mean, found) = moments(&fit(3.0, squared, 16));
            assert!((mean - 3.0).abs() < 1e-9, "{squared}: mean {mean}");
            assert!((found - squared).abs() < 1e-9, "{squared}: squared coefficient {found}");
        }
    }

    #[test]
    fn the_excess_above_zero_is_the_mean_and_above_much_is_nothing() {
        for squared in [0.2, 1.0, 4.0] {
            let phases = fit(3.0, squared, 16);
            assert!((phases.excess(0.0) - 3.0).abs() < 1e-9);
            assert!(phases.excess(300.0) < 1e-6);
        }
        assert!((fit(1.0, 1.0, 16).excess(2.0) - (-2.0f64).exp()).abs() < 1e-12);
    }
}
