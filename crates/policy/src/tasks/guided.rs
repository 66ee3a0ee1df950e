//! How many iterations a worker of a guided loop takes.

/// The number of iterations that one of `workers` workers takes of those that are `left`: half of its even share, but at
/// least `least`, or all if fewer are left. So the first parts together leave half of the iterations to even out the work.
///
/// OpenMP leaves the share to its implementations: LLVM's takes the same half, and GCC's, with which chapter 5 of
/// *Locality-Aware Concurrency Platforms* compares, the whole share.
///
/// ```
/// use thalweg_policy::tasks::guided;
///
/// assert_eq!([100, 75, 10, 2].map(|left| guided(left, 2, 3)), [25, 18, 3, 2]);
/// ```
pub fn guided(left: u64, workers: usize, least: u64) -> u64 {
    let parts = (workers.max(1) as u64).saturating_mul(2);
    (left / parts).max(least).max(1).min(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_become_shorter_until_nothing_is_left() {
        for (length, workers, least) in
            [(1000, 4, 1), (1000, 4, 30), (5, 8, 0), (u64::MAX, 2, 1 << 40), (1, 0, 9)]
        {
            let (mut left, mut before) = (length, u64::MAX);
            while left > 0 {
                let part = guided(left, workers, least);
                assert!(part >= least.clamp(1, left) && part <= before.min(left));
                (left, before) = (left - part, part);
            }
            assert_eq!(guided(left, workers, least), 0);
        }
    }
}
