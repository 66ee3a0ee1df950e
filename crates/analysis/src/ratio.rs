//! Exact positive fractions, and what happens at their limits.

/// A positive fraction in lowest terms. Both terms stay below 2^64, so that any product of a term
/// and a rate fits into `u128`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ratio {
    pub over: u64,
    pub under: u64,
}

impl Ratio {
    pub(crate) const ONE: Ratio = Ratio { over: 1, under: 1 };

    /// `self * times / by`; none if a term gets too large. Neither number may be 0.
    pub(crate) fn scale(self, times: u32, by: u32) -> Option<Ratio> {
        let over = u128::from(self.over) * u128::from(times);
        let under = u128::from(self.under) * u128::from(by);
        let common = gcd(over, under);
        Some(Ratio { over: u64::try_from(over / common).ok()?, under: u64::try_from(under / common).ok()? })
    }

    /// The two smallest whole numbers in the proportion of `self` to `other`.
    pub(crate) fn proportion(self, other: Ratio) -> (u128, u128) {
        let left = u128::from(self.over) * u128::from(other.under);
        let right = u128::from(other.over) * u128::from(self.under);
        let common = gcd(left, right);
        (left / common, right / common)
    }
}

/// The greatest common divisor; that of 0 and a number is the number.
pub(crate) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least common multiple of two numbers above 0, if it is below 2^64.
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
        assert_eq!(ratio, Ratio { over: 3, under: 2 });
        assert_eq!(ratio.scale(4, 6), Some(Ratio::ONE));
    }

    #[test]
    fn too_large_is_none() {
        let large = Ratio::ONE.scale(u32::MAX, 1).and_then(|r| r.scale(u32::MAX, 1)).unwrap();
        assert_eq!(large.scale(u32::MAX, 1), None);
        assert_eq!(large.scale(1, u32::MAX), Ratio::ONE.scale(u32::MAX, 1));
        assert_eq!(lcm(u64::MAX, u64::MAX - 1), None);
        assert_eq!(lcm(6, 4), Some(12));
    }

    #[test]
    fn proportions() {
        let (a, b) = (Ratio { over: 3, under: 2 }, Ratio { over: 3, under: 4 });
        assert_eq!(a.proportion(b), (2, 1));
        assert_eq!(a.proportion(a), (1, 1));
    }
}
