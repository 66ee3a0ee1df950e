//! Cuts of a sequence into pieces of balanced work.
//!
//! The pieces are the segments of AMPipe's SEGRUNTIME (*Locality-Aware Concurrency Platforms*, chapter 4), which computes
//! them by dynamic programming; we bisect the greatest work, with one pass over the sequence for each probe.

use std::ops::Range;

/// At most `parts` pieces whose greatest work is as small as possible.
pub(crate) fn balanced(weights: &[u128], parts: usize) -> impl Iterator<Item = Range<usize>> {
    cut(weights, least_maximum(weights, parts))
}

/// The least `most` for which [`cut`] makes at most `parts` pieces.
fn least_maximum(weights: &[u128], parts: usize) -> u128 {
    let (mut low, mut high) = (weights.iter().copied().max().unwrap_or(0), weights.iter().sum());
    while low < high {
        let middle = low + (high - low) / 2;
        if cut(weights, middle).count() <= parts {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Cuts the sequence from the front, each piece as long as its work is at most `most`. At least the work of any
/// element.
fn cut(weights: &[u128], most: u128) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from;
        let mut work = 0;
        while from < weights.len() && work + weights[from] <= most {
            work += weights[from];
            from += 1;
        }
        (from > start).then_some(start..from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The least maximum by trying every cut.
    fn by_trial(weights: &[u128], parts: usize) -> u128 {
        let sum = weights.iter().sum();
        if parts <= 1 {
            return sum;
        }
        let first = |at: usize| weights[..at].iter().sum::<u128>().max(by_trial(&weights[at..], parts - 1));
        (0..=weights.len()).map(first).min().unwrap_or(sum)
    }

    proptest! {
        #[test]
        fn cuts_are_optimal_and_cover_all_elements(
            weights in proptest::collection::vec(0u128..20, 0..9),
            parts in 1usize..5,
        ) {
            let most = least_maximum(&weights, parts);
            prop_assert_eq!(most, by_trial(&weights, parts));
            let cuts: Vec<Range<usize>> = balanced(&weights, parts).collect();
            prop_assert!(cuts.len() <= parts);
            let mut ends = cuts.iter().map(|cut| cut.end);
            let starts = cuts.iter().map(|cut| cut.start);
            prop_assert!(starts.eq([0].into_iter().chain(ends.clone()).take(cuts.len())));
            prop_assert_eq!(ends.next_back().unwrap_or(0), weights.len());
        }
    }
}
