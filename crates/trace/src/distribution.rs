//! The distribution of a time: how often, how long, how much it varies, and a histogram.

use std::time::Duration;

/// The buckets of a histogram: 2^40 ns are 18 minutes, and longer times count in the last bucket.
const BUCKETS: usize = 41;

/// The longest time, in nanoseconds: 584 years. Sums of squares of such times stay finite.
const LONGEST: f64 = u64::MAX as f64;

/// The distribution of a time that was measured many times.
///
/// A measurement may stand for several: the runtime measures one of many short activations, and all long ones. So the
/// numbers are estimates for all events, and [`Distribution::samples`] says how many of these were measured.
///
/// The counts stop at `u64::MAX`. The count is the sum of the buckets, and at least the number of samples. Merging two
/// distributions is recording the measurements of both, except for the rounding of mean and variance.
///
/// ```
/// use thalweg_trace::Distribution;
///
/// let mut times = Distribution::default();
/// times.record(100.0, 1);
/// times.record(300.0, 3);
/// assert_eq!((times.samples(), times.count()), (2, 4));
/// assert_eq!(times.mean(), 250.0);
/// assert_eq!(times.variance(), 7500.0);
/// assert_eq!(times.buckets(), [0, 0, 0, 0, 0, 0, 1, 0, 3]);
/// ```
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Distribution {
    samples: u64,
    count: u64,
    /// The sum of the times, in nanoseconds.
    sum: f64,
    /// The sum of the squares of the times.
    squares: f64,
    /// By logarithm, up to the last bucket that is not empty.
    buckets: Vec<u64>,
}

impl Distribution {
    /// The distribution with these numbers, as a file has them. The count is the sum of the buckets.
    ///
    /// # Errors
    /// What the numbers contradict: a distribution has at most 41 buckets, of which the last is not empty; at least one
    /// measurement if it counts anything, and at most as many as it counts; and sums that are finite, not negative, and 0
    /// if nothing was measured.
    ///
    /// ```
    /// use thalweg_trace::Distribution;
    ///
    /// let mut times = Distribution::default();
    /// times.record(100.0, 3);
    /// let (sum, squares) = (times.sum(), times.sum_of_squares());
    /// assert_eq!(Distribution::of_parts(1, sum, squares, times.buckets().to_vec()), Ok(times));
    /// assert!(Distribution::of_parts(4, sum, squares, vec![3]).is_err());
    /// ```
    pub fn of_parts(samples: u64, sum: f64, squares: f64, buckets: Vec<u64>) -> Result<Distribution, String> {
        let count = buckets.iter().fold(0, |sum: u64, bucket| sum.saturating_add(*bucket));
        let least = count.min(1);
        if buckets.len() > BUCKETS {
            return Err(format!("expected at most {BUCKETS} buckets, found {}", buckets.len()));
        }
        if buckets.last() == Some(&0) {
            return Err("expected a last bucket that is not empty, found 0".to_owned());
        }
        if !(least..=count).contains(&samples) {
            return Err(format!(
                "expected from {least} to {count} samples, the sum of the buckets, found {samples}"
            ));
        }
        for sum in [sum, squares] {
            if !sum.is_finite() || sum < 0.0 || count == 0 && sum > 0.0 {
                let expected = if count == 0 { "0, since nothing was measured" } else { "finite, from 0" };
                return Err(format!("expected sums that are {expected}, found {sum}"));
            }
        }
        Ok(Distribution { samples, count, sum, squares, buckets })
    }

    /// Adds a time, in nanoseconds, that stands for `weight` events; nothing where these are none. A time that is
    /// negative or not finite counts as 0, and a time above 584 years as 2^64 ns.
    pub fn record(&mut self, ns: f64, weight: u64) {
        if weight == 0 {
            return;
        }
        let ns = if ns.is_finite() { ns.clamp(0.0, LONGEST) } else { 0.0 };
        let bucket = (ns as u64).checked_ilog2().map_or(0, |log| log as usize).min(BUCKETS - 1);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] = self.buckets[bucket].saturating_add(weight);
        self.samples = self.samples.saturating_add(1);
        self.count = self.count.saturating_add(weight);
        self.add_sums(ns * weight as f64, ns * ns * weight as f64);
    }

    /// Adds all measurements of another distribution.
    pub fn merge(&mut self, other: &Distribution) {
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *bucket = bucket.saturating_add(*more);
        }
        self.samples = self.samples.saturating_add(other.samples);
        self.count = self.count.saturating_add(other.count);
        self.add_sums(other.sum, other.squares);
    }

    /// Adds to the sums, which stay finite: a distribution that is merged with itself doubles them.
    fn add_sums(&mut self, sum: f64, squares: f64) {
        self.sum = (self.sum + sum).min(f64::MAX);
        self.squares = (self.squares + squares).min(f64::MAX);
    }

    /// The number of measurements.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The number of events that the measurements stand for.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.samples == 0
    }

    /// The sum of the times, in nanoseconds, each as often as it counts. At most `f64::MAX`.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// The sum of the squares of the times, in square nanoseconds. At most `f64::MAX`.
    pub fn sum_of_squares(&self) -> f64 {
        self.squares
    }

    /// The mean, as a number of nanoseconds with a fraction; 0 if nothing was measured.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// The variance, in square nanoseconds; 0 if nothing was measured.
    pub fn variance(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        // Rounding may make the difference slightly negative.
        (self.squares / self.count as f64 - self.mean().powi(2)).max(0.0)
    }

    /// The events by the logarithm of their time: bucket `i` has those from 2^i to 2^(i+1) ns, bucket 0 also those
    /// below 1 ns, bucket 40 also all longer ones. Ends with the last bucket that is not empty.
    pub fn buckets(&self) -> &[u64] {
        &self.buckets
    }

    /// The time, in whole nanoseconds as a [`Duration`], below which the fraction `q` of the events lies. It is
    /// interpolated within a bucket, so it is exact to a factor of 2. `None` if nothing was measured, or if `q` is no number.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thalweg_trace::Distribution;
    ///
    /// let mut times = Distribution::default();
    /// times.record(100.0, 99);
    /// times.record(5000.0, 1);
    /// assert!(times.quantile(0.5).unwrap() < Duration::from_nanos(128));
    /// assert!(times.quantile(0.999).unwrap() > Duration::from_nanos(4096));
    /// ```
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        // Added in the order of the loop, so that rounding cannot put the last event behind the last bucket.
        let all: f64 = self.buckets.iter().map(|count| *count as f64).sum();
        let wanted = q.clamp(0.0, 1.0) * all;
        let mut below = 0.0;
        for (bucket, count) in self.buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (least, count) = (if bucket == 0 { 0.0 } else { 2_f64.powi(bucket as i32) }, *count as f64);
            if below + count >= wanted {
                let part = ((wanted - below) / count).clamp(0.0, 1.0);
                let width = 2_f64.powi(bucket as i32 + 1) - least;
                // No time exceeds the root of the sum of squares, which is close to the longest of few times.
                return Some(Duration::from_nanos((least + width * part).min(self.squares.sqrt()) as u64));
            }
            below += count;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[(f64, u64)]) -> Distribution {
        let mut distribution = Distribution::default();
        times.iter().for_each(|(ns, weight)| distribution.record(*ns, *weight));
        distribution
    }

    #[test]
    fn mean_and_variance_weigh_events() {
        let times = of(&[(10.0, 1), (20.0, 2), (50.0, 1)]);
        assert_eq!((times.samples(), times.count()), (3, 4));
        assert_eq!((times.mean(), times.variance()), (25.0, 225.0));
        let empty = Distribution::default();
        assert_eq!((empty.mean(), empty.variance(), empty.quantile(0.5)), (0.0, 0.0, None));
        assert!(empty.is_empty() && !times.is_empty());
    }

    #[test]
    fn merging_is_recording_all() {
        let (few, many) = ([(3.0, 1), (7.0, 2)], [(1000.0, 5), (0.0, 1), (1e6, 3)]);
        let all = of(&[few.as_slice(), many.as_slice()].concat());
        for (first, second) in [(&few[..], &many[..]), (&many[..], &few[..])] {
            let mut merged = of(first);
            merged.merge(&of(second));
            assert_eq!(merged, all);
        }
        let mut same = all.clone();
        same.merge(&Distribution::default());
        assert_eq!(same, all);
    }

    #[test]
    fn no_weight_adds_nothing() {
        assert_eq!(of(&[(100.0, 0)]), Distribution::default());
    }

    #[test]
    fn quantiles_lie_in_the_bucket_of_their_event() {
        let times = of(&[(100.0, 50), (1000.0, 49), (1e6, 1)]);
        let quantile = |q| times.quantile(q).unwrap().as_nanos();
        assert!((64..=128).contains(&quantile(0.5)), "{}", quantile(0.5));
        assert!((512..=1024).contains(&quantile(0.9)), "{}", quantile(0.9));
        assert!((524_288..=1_048_576).contains(&quantile(1.0)), "{}", quantile(1.0));
        assert_eq!((quantile(-1.0), quantile(2.0)), (quantile(0.0), quantile(1.0)));
        assert_eq!(times.quantile(f64::NAN), None);
        assert_eq!(of(&[(0.5, 1)]).quantile(1.0), Some(Duration::ZERO));
        assert_eq!(of(&[(5000.0, 1)]).quantile(0.99), Some(Duration::from_nanos(5000)));
    }

    #[test]
    fn any_number_is_a_time() {
        let mut times = Distribution::default();
        let strange =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -0.0, f64::MIN_POSITIVE, f64::MAX, 1e300];
        for ns in strange {
            for weight in [1, u64::MAX] {
                times.record(ns, weight);
                times.merge(&times.clone());
                let numbers = [times.mean(), times.variance(), times.sum, times.squares];
                assert!(numbers.iter().all(|number| number.is_finite() && *number >= 0.0), "{ns}: {times:?}");
                assert!(times.quantile(1.0).is_some());
            }
        }
        assert_eq!((times.count(), times.buckets().len()), (u64::MAX, BUCKETS));
        for _ in 0..2000 {
            times.merge(&times.clone());
        }
        assert_eq!((times.samples(), times.count(), times.sum), (u64::MAX, u64::MAX, f64::MAX));
        assert!(times.mean().is_finite() && times.variance().is_finite());
    }
}
