//! Reductions: the same result at any number of threads, in floating point too.

use super::{Loop, with_room};
use std::ops::Range;
use std::sync::OnceLock;

/// The most chunks of a reduction whose grain is not set.
const CHUNKS: usize = 256;

impl Loop {
    /// Folds each chunk of `range`, beginning with a clone of `identity`, and combines the results in order. The borders of
    /// the chunks depend on the length of `range` and on the grain alone, so the result is a function of the arguments,
    /// also where `combine` is not associative, as for floating-point numbers.
    ///
    /// A chunk has as many numbers as the grain; where it is not set, there are at most 256 chunks.
    ///
    /// ```
    /// let terms = |range: std::ops::Range<usize>, sum| range.fold(sum, |sum, k| sum + 1.0 / (k + 1) as f64);
    /// let sum = |members| thalweg_runtime::Loop::new().members(members).reduce(0..100_000, 0.0, terms, |a, b| a + b);
    /// assert_eq!(sum(1), sum(8));
    /// ```
    ///
    /// # Panics
    /// If a function panics, or the system has no memory for the results of this many chunks.
    pub fn reduce<T: Clone + Send + Sync>(
        self,
        range: Range<usize>,
        identity: T,
        fold: impl Fn(Range<usize>, T) -> T + Sync,
        combine: impl Fn(T, T) -> T,
    ) -> T {
        let size = self.grain.unwrap_or_else(|| range.len().div_ceil(CHUNKS).max(1));
        let count = range.len().div_ceil(size);
        let mut results: Vec<OnceLock<T>> = with_room(count);
        results.resize_with(count, OnceLock::new);
        Loop { grain: None, ..self }.for_each(0..results.len(), |chunk| {
            let from = range.start + chunk * size;
            let result = fold(from..from.saturating_add(size).min(range.end), identity.clone());
            assert!(results[chunk].set(result).is_ok(), "a loop calls its body once with each number");
        });
        let results = results.into_iter().filter_map(OnceLock::into_inner);
        results.reduce(combine).unwrap_or(identity)
    }
}
