//! Exact positive fractions with checked overflow.

/// A positive fraction in lowest terms. Both terms are below 2^64, so the product of two terms, or of a term and a
/// rate, fits into `u128`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ratio {
    pub numer: u64,
    pub denom: u64,
}

impl Ratio {
    pub(crate) const ONE: Ratio = Ratio { numer: 1, denom: 1 };

    /// `self * times / by`, or `None` if a term overflows. Neither number may be 0.
    pub(crate) fn scale(self, times: u64, by: u64) -> Option<Ratio> {
        let numer = u128::from(self.numer) * u128::from(times);
        let denom = u128::from(self.denom) * u128::from(by);
        let common = gcd(numer, denom);
        Some(Ratio { numer: u64::try_from(numer / common).ok()?, denom: u64::try_from(denom / common).ok()? })
    }

    /// The two smallest integers with the proportion of `self` to `other`.
    pub(crate) fn proportion(self, other: Ratio) -> (u128, u128) {
        let left = u128::from(self.numer) * u128::from(other.denom);
        let right = u128::from(other.numer) * u128::from(self.denom);
        let common = gcd(left, right);
        (left / common, right / common)
    }
}

/// The greatest common divisor. `gcd(0, n)` is `n`.
pub(crate) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least common multiple of two positive numbers, if it is below 2^64.
pub(crate) fn lcm(a: u64, b: u64) -> Option<u64> {
    let (a, b) = (u128::from(a), u128::from(b));
    u64::try_from(a / gcd(a, b) * b).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_in_lowest_terms() {
        let ratio = Ratio::ONE.scale(6, 4).unwrap();
        assert_eq!(ratio, Ratio { numer: 3, denom: 2 });
        assert_eq!(ratio.scale(4, 6), Some(Ratio::ONE));
    }

    #[test]
    fn too_large_is_none() {
        let large = Ratio::ONE.scale(u64::MAX, 1).unwrap();
        assert_eq!(large.scale(3, 2), None);
        assert_eq!(large.scale(1, u64::MAX), Some(Ratio::ONE));
        assert_eq!(lcm(u64::MAX, u64::MAX - 1), None);
        assert_eq!(lcm(6, 4), Some(12));
    }

    #[test]
    fn proportions() {
        let (a, b) = (Ratio { numer: 3, denom: 2 }, Ratio { numer: 3, denom: 4 });
        assert_eq!(a.proportion(b), (2, 1));
        assert_eq!(a.proportion(a), (1, 1));
    }
}
