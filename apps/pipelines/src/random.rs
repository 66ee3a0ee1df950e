//! The random numbers of inputs and pipelines.

/// SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, *Fast Splittable Pseudorandom Number Generators*, 2014). It is written here,
/// and not taken from a library, so that a seed means the same pipeline in every version of this crate.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The `part`th of the independent sequences of a seed.
    pub(crate) fn part(seed: u64, part: u64) -> Random {
        let mut parts = Random(seed);
        parts.0 = parts.number() ^ part;
        Random(parts.number())
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 to 1, without 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Values from 1 on, each drawn with a probability proportional to its weight.
#[derive(Clone, Debug)]
pub(crate) struct Weighted {
    /// The sums of the weights up to each value.
    sums: Vec<f64>,
}

impl Weighted {
    /// Zipf's distribution with p = 1.5, without the values above `most`: weights `1/x^1.5`.
    pub(crate) fn zipf(most: u32) -> Weighted {
        // Square roots are rounded alike everywhere; `powf` is not.
        Weighted::new(most, |x| 1.0 / (x * x.sqrt()))
    }

    /// # Panics
    /// If `most` is 0.
    pub(crate) fn new(most: u32, weight: impl Fn(f64) -> f64) -> Weighted {
        assert!(most > 0, "a distribution has at least one value");
        let sums = (1..=most).scan(0.0, |sum, x| {
            *sum += weight(x.into());
            Some(*sum)
        });
        Weighted { sums: sums.collect() }
    }

    pub(crate) fn draw(&self, random: &mut Random) -> u32 {
        let point = random.unit() * self.sums[self.sums.len() - 1];
        self.sums.partition_point(|sum| *sum <= point).min(self.sums.len() - 1) as u32 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the authors' program.
    #[test]
    fn numbers_are_those_of_the_published_generator() {
        let mut random = Random::new(1_234_567);
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(published.map(|_| random.number()), published);
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all_values() {
        let mut random = Random::new(1);
        let mut seen = [0; 7];
        (0..7000).for_each(|_| seen[random.below(7) as usize] += 1);
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
    }

    #[test]
    fn zipf_draws_values_by_their_weights() {
        let (zipf, mut random) = (Weighted::zipf(100), Random::new(2));
        let mut seen = [0; 101];
        (0..100_000).for_each(|_| seen[zipf.draw(&mut random) as usize] += 1);
        let total: f64 = (1..=100).map(|x| f64::from(x).powf(-1.5)).sum();
        for x in [1, 2, 3, 10] {
            let expected = 100_000.0 * f64::from(x).powf(-1.5) / total;
            let error = (f64::from(seen[x as usize]) - expected).abs() / expected.sqrt();
            assert!(error < 5.0, "{x}: {} instead of {expected}", seen[x as usize]);
        }
        assert_eq!((seen[0], Weighted::zipf(1).draw(&mut random)), (0, 1));
    }
}
