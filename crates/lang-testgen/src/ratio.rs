//! Ratios of small numbers, for balanced rates.

/// A ratio in lowest terms; neither number is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ratio(pub u32, pub u32);

impl Ratio {
    pub const ONE: Ratio = Ratio(1, 1);

    pub fn new(over: u32, under: u32) -> Ratio {
        let common = gcd(over, under).max(1);
        Ratio(over / common, under / common)
    }

    pub fn times(self, other: Ratio) -> Ratio {
        Ratio::new(self.0 * other.0, self.1 * other.1)
    }

    /// Whether both numbers are small.
    pub fn is_small(self, most: u32) -> bool {
        self.0 <= most && self.1 <= most
    }
}

pub(super) fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The smallest integers in these proportions, and the common factor.
pub(super) fn whole(ratios: &[Ratio]) -> (Vec<u32>, Ratio) {
    let under = ratios.iter().fold(1, |all, ratio| all / gcd(all, ratio.1) * ratio.1);
    let numbers: Vec<u32> = ratios.iter().map(|ratio| under / ratio.1 * ratio.0).collect();
    let common = numbers.iter().fold(0, |all, number| gcd(all, *number)).max(1);
    (numbers.iter().map(|number| number / common).collect(), Ratio::new(under, common))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proportions_become_whole() {
        let (numbers, by) = whole(&[Ratio(1, 2), Ratio(2, 3), Ratio(3, 1)]);
        assert_eq!((numbers, by), (vec![3, 4, 18], Ratio(6, 1)));
        let (numbers, by) = whole(&[Ratio(4, 1), Ratio(2, 1)]);
        assert_eq!((numbers, by), (vec![2, 1], Ratio(1, 2)));
    }
}
