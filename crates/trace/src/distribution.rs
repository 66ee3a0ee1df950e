//! The distribution of a time: how often, how long, how much it varies, and a histogram.

use std::time::Duration;

/// The buckets of a histogram: 2^40 ns are 18 minutes, and longer times count in the last bucket.
const BUCKETS: usize = 41;

/// The distribution of a time that was measured many times.
///
/// A measurement may stand for several: the runtime measures one of many short activations, and all long ones. So the
/// numbers are estimates for all events, and [`Distribution::samples`] says how many of these were measured.
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
    pub(crate) samples: u64,
    pub(crate) count: u64,
    /// The sum of the times, in nanoseconds.
    pub(crate) sum: f64,
    /// The sum of the squares of the times.
    pub(crate) squares: f64,
    /// By logarithm, up to the last bucket that is not empty.
    pub(crate) buckets: Vec<u64>,
}

impl Distribution {
    /// Adds a time, in nanoseconds, that stands for `weight` events. A time that is negative or not finite counts as 0.
    pub fn record(&mut self, ns: f64, weight: u64) {
        let ns = if ns.is_finite() { ns.max(0.0) } else { 0.0 };
        let bucket = (ns as u64).checked_ilog2().map_or(0, |log| log as usize).min(BUCKETS - 1);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] = self.buckets[bucket].saturating_add(weight);
        self.samples = self.samples.saturating_add(1);
        self.count = self.count.saturating_add(weight);
        self.sum += ns * weight as f64;
        self.squares += ns * ns * weight as f64;
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
        self.sum += other.sum;
        self.squares += other.squares;
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

    /// The mean, in nanoseconds; 0 if nothing was measured.
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

    /// The time below which the fraction `q` of the events lies, interpolated within a bucket: exact to a factor of 2.
    /// `None` if nothing was measured.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let wanted = q.clamp(0.0, 1.0) * self.count as f64;
        let mut below = 0.0;
        for (bucket, count) in self.buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (least, count) = (if bucket == 0 { 0.0 } else { 2_f64.powi(bucket as i32) }, *count as f64);
            if below + count >= wanted {
                let part = ((wanted - below) / count).clamp(0.0, 1.0);
                let width = 2_f64.powi(bucket as i32 + 1) - least;
                return Some(Duration::from_nanos((least + width * part) as u64));
            }
            below += count;
        }
        None
    }
}
