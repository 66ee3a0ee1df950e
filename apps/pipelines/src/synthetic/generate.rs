//! The generator of section 3.3.1.

use super::pipeline::Pipeline;
use crate::random::{Random, Weighted};

/// How a quantity is distributed between its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// All values are equally probable.
    Uniform,
    /// Zipf's distribution with p = 1.5 of the multiples of the smallest value: `x` times that value has a probability
    /// proportional to `1/x^1.5`.
    Zipf,
}

/// The times for which modules compute in a firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// From 0.5 to 50 microseconds (Figure 3.2).
    Drawn(Distribution),
    /// 50 microseconds times the module's share of the largest state (Figure 3.3).
    Correlated,
    /// None (Figure 3.1).
    Off,
}

/// State and times that all modules share (Figure 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// M/1024, and 1 microsecond.
    Small,
    /// M/16, and 10 microseconds.
    Medium,
    /// M/2, and 50 microseconds. More than M/6, so the bounds of the thesis do not hold for it.
    Large,
}

/// The state of modules, and the times for which they compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// Each module has its own: state from M/256 to M/8, and a time.
    Drawn(Distribution, Times),
    /// All modules have the same.
    Fixed(Fixed),
}

/// What a pipeline is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The modules.
    pub modules: u32,
    /// M, the bytes of a private cache, at least [`SMALLEST_CACHE`].
    pub cache: u32,
    /// The gains of edges, from 1 to M/16.
    pub gains: Distribution,
    /// State and times.
    pub loads: Loads,
    /// The seed.
    pub seed: u64,
}

/// The fewest bytes of a cache: all sizes of state are then multiples of 4 bytes.
pub const SMALLEST_CACHE: u32 = 4096;

/// The items that the thesis' source sends.
pub const ITEMS: u64 = 1 << 24;

/// The bounds of drawn times, in nanoseconds.
const SHORTEST: u32 = 500;
const LONGEST: u32 = 50_000;

impl Default for Parameters {
    /// 140 modules for a cache of 256 KiB. Gains and times are those of Zipf's distribution, state is uniform (Figure 3.2d).
    fn default() -> Self {
        Parameters {
            modules: 140,
            cache: 256 << 10,
            gains: Distribution::Zipf,
            loads: Loads::Drawn(Distribution::Uniform, Times::Drawn(Distribution::Zipf)),
            seed: 1,
        }
    }
}

impl Parameters {
    /// The pipeline. The same parameters give the same one in every version. Gains, states and times are drawn independently:
    /// another distribution of one of them leaves the others as they are.
    ///
    /// # Panics
    /// If there are no modules, or the cache is smaller than [`SMALLEST_CACHE`].
    pub fn pipeline(&self) -> Pipeline {
        let Parameters { modules, cache, .. } = *self;
        assert!(modules > 0, "a pipeline without modules");
        assert!(cache >= SMALLEST_CACHE, "a cache of {cache} bytes, expected at least {SMALLEST_CACHE}");
        let mut edges = self.drawn(0, self.gains, 1, cache / 16);
        let gains = (0..=modules).map(|_| edges()).collect();
        let mut load = self.load();
        let loads: Vec<_> = (0..modules).map(|_| load()).collect();
        Pipeline::new(gains, &loads)
    }

    /// Draws bytes of state and nanoseconds.
    fn load(&self) -> Box<dyn FnMut() -> (u64, u64)> {
        let cache = self.cache;
        let fixed = |share, nanoseconds| Box::new(move || (words(cache / share), nanoseconds));
        let (states, times) = match self.loads {
            Loads::Drawn(states, times) => (states, times),
            Loads::Fixed(Fixed::Small) => return fixed(1024, 1000),
            Loads::Fixed(Fixed::Medium) => return fixed(16, 10_000),
            Loads::Fixed(Fixed::Large) => return fixed(2, 50_000),
        };
        let largest = cache / 8;
        let mut states = self.drawn(1, states, cache / 256, largest);
        let mut drawn = match times {
            Times::Drawn(distribution) => Some(self.drawn(2, distribution, SHORTEST, LONGEST)),
            Times::Correlated | Times::Off => None,
        };
        Box::new(move || {
            let state = words(states());
            let correlated = || u64::from(LONGEST) * state / u64::from(largest);
            let nanoseconds = match &mut drawn {
                Some(drawn) => u64::from(drawn()),
                None if times == Times::Off => 0,
                None => correlated(),
            };
            (state, nanoseconds)
        })
    }

    /// Draws values between bounds, from a sequence of their own.
    fn drawn(&self, part: u64, distribution: Distribution, least: u32, most: u32) -> Box<dyn FnMut() -> u32> {
        let mut random = Random::part(self.seed, part);
        match distribution {
            Distribution::Uniform => {
                Box::new(move || least + random.below(u64::from(most - least) + 1) as u32)
            }
            Distribution::Zipf => {
                let multiples = Weighted::zipf(most / least);
                Box::new(move || least * multiples.draw(&mut random))
            }
        }
    }
}

/// A number of bytes in whole words.
fn words(bytes: u32) -> u64 {
    u64::from(bytes / 4 * 4)
}
