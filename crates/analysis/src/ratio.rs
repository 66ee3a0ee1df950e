//! Exact positive fractions with checked overflow.

/// A positive fraction in lowest terms, each below 2^64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ratio {
    numer: u64,
    denom: u64,
}

impl Ratio {
    pub(crate) const ONE: Ratio = Ratio { numer: 1, denom: 1 };

    /// `self * times / by`, or `None` if a term of the result overflows. Neither number may be 0.
    pub(crate) fn scale(self, times: u64, by: u64) -> Option<Ratio> {
        if times == by {
            return Some(self);
        }
        // Terms are reduced before they are multiplied, so the products are the terms of the result.
        let common = gcd(times, by);
        let (times, by) = (times / common, by / common);
        let (up, down) = (gcd(times, self.denom), gcd(self.numer, by));
        let numer = (self.numer / down).checked_mul(times / up)?;
        let denom = (self.denom / up).checked_mul(by / down)?;
        Some(Ratio { numer, denom })
    }

    /// The two smallest integers with the proportion of `self` to `other`.
    pub(crate) fn proportion(self, other: Ratio) -> (u128, u128) {
        let (numer, denom) = (gcd(self.numer, other.numer), gcd(self.denom, other.denom));
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        (product(self.numer / numer, other.denom / denom), product(other.numer / numer, self.denom / denom))
    }
}

/// The smallest integers in proportion to some fractions, or `None` if one is 2^64 or more.
pub(crate) fn whole(ratios: impl Iterator<Item = Ratio> + Clone) -> Option<Vec<u64>> {
    let mut denom = 1_u64;
    for ratio in ratios.clone() {
        denom = denom.checked_mul(ratio.denom / gcd(denom, ratio.denom))?;
    }
    let times = |ratio: Ratio| ratio.numer.checked_mul(denom / ratio.denom);
    let counts: Vec<u64> = ratios.map(times).collect::<Option<_>>()?;
    let common = counts.iter().copied().fold(0, gcd).max(1);
    if common == 1 { Some(counts) } else { Some(counts.into_iter().map(|count| count / common).collect()) }
}

/// The greatest common divisor. `gcd(0, n)` is `n`.
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(numer: u64, denom: u64) -> Ratio {
        Ratio { numer, denom }
    }

    #[test]
    fn scales_in_lowest_terms() {
        assert_eq!(Ratio::ONE.scale(6, 4), Some(ratio(3, 2)));
        assert_eq!(ratio(3, 2).scale(4, 6), Some(Ratio::ONE));
        assert_eq!(ratio(u64::MAX, 1).scale(3, 2), None);
        // Terms are reduced before they are multiplied.
        assert_eq!(ratio(u64::MAX, 2).scale(2, u64::MAX), Some(Ratio::ONE));
    }

    #[test]
    fn proportions() {
        assert_eq!(ratio(3, 2).proportion(ratio(3, 4)), (2, 1));
        assert_eq!(ratio(3, 2).proportion(ratio(3, 2)), (1, 1));
    }

    #[test]
    fn whole_numbers_are_the_smallest() {
        let whole = |ratios: &[Ratio]| whole(ratios.iter().copied());
        assert_eq!(whole(&[ratio(1, 2), ratio(2, 3)]), Some(vec![3, 4]));
        assert_eq!(whole(&[ratio(4, 1), ratio(6, 1)]), Some(vec![2, 3]));
        assert_eq!(whole(&[ratio(1, u64::MAX), ratio(1, u64::MAX - 1)]), None);
        assert_eq!(whole(&[]), Some(vec![]));
    }
}
