//! Exact positive fractions.

/// A positive fraction in lowest terms, each below 2^64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ratio {
    pub over: u64,
    pub under: u64,
}

impl Ratio {
    pub const ONE: Ratio = Ratio { over: 1, under: 1 };

    /// `self * times / by`, with positive factors; `None` if a term overflows.
    pub fn scale(self, times: u64, by: u64) -> Option<Ratio> {
        let (left, right) = (gcd(times, by), gcd(self.over, self.under));
        let (times, by) = (times / left, by / left);
        let (over, under) = (self.over / right, self.under / right);
        let (up, down) = (gcd(times, under), gcd(over, by));
        let over = (over / down).checked_mul(times / up)?;
        let under = (under / up).checked_mul(by / down)?;
        Some(Ratio { over, under })
    }
}

/// The greatest common divisor.
pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The smallest integers in proportion to some fractions; `None` if one overflows.
pub(super) fn whole(ratios: &[Ratio]) -> Option<Vec<u64>> {
    let mut under = 1_u64;
    for ratio in ratios {
        under = under.checked_mul(ratio.under / gcd(under, ratio.under))?;
    }
    let times = |ratio: &Ratio| ratio.over.checked_mul(under / ratio.under);
    let counts: Vec<u64> = ratios.iter().map(times).collect::<Option<_>>()?;
    let common = counts.iter().copied().fold(0, gcd).max(1);
    Some(counts.into_iter().map(|count| count / common).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_in_lowest_terms() {
        let ratio = Ratio::ONE.scale(6, 4).unwrap();
        assert_eq!(ratio, Ratio { over: 3, under: 2 });
        assert_eq!(ratio.scale(4, 6), Some(Ratio::ONE));
        assert_eq!(Ratio { over: u64::MAX, under: 1 }.scale(2, 1), None);
        assert_eq!(
            Ratio { over: u64::MAX, under: 2 }.scale(2, u64::MAX),
            Some(Ratio::ONE),
            "terms are reduced before they are multiplied"
        );
    }

    #[test]
    fn whole_numbers_are_the_smallest() {
        let ratio = |over, under| Ratio { over, under };
        assert_eq!(whole(&[ratio(1, 2), ratio(2, 3)]), Some(vec![3, 4]));
        assert_eq!(whole(&[ratio(4, 1), ratio(6, 1)]), Some(vec![2, 3]));
        assert_eq!(whole(&[ratio(1, u64::MAX), ratio(1, u64::MAX - 1)]), None);
        assert_eq!(whole(&[]), Some(vec![]));
    }
}
