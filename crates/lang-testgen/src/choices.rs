//! Sources of a generator's decisions.

/// After this many bytes every choice is the simplest one, which bounds the size of programs.
const MAX_BYTES: usize = 1 << 13;

/// A sequence of decisions, from a seed or from bytes.
///
/// Each decision consumes the next byte or bytes; byte 0, which also follows the end, selects the simplest
/// alternative. So a shorter or smaller sequence generates a simpler program, and shrinking bytes
/// ([`shrink`](super::shrink)) shrinks programs.
#[derive(Clone, Debug)]
pub struct Choices {
    source: Source,
    taken: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Source {
    Seed(u64),
    Bytes(Vec<u8>),
}

impl Choices {
    /// An unlimited sequence from a seed.
    pub fn seeded(seed: u64) -> Choices {
        Choices { source: Source::Seed(seed), taken: Vec::new() }
    }

    /// These bytes, followed by the simplest decisions.
    pub fn of(bytes: impl Into<Vec<u8>>) -> Choices {
        Choices { source: Source::Bytes(bytes.into()), taken: Vec::new() }
    }

    /// The bytes consumed so far.
    pub fn taken(&self) -> &[u8] {
        &self.taken
    }

    fn byte(&mut self) -> u8 {
        let at = self.taken.len();
        let byte = match &mut self.source {
            _ if at >= MAX_BYTES => 0,
            Source::Seed(state) => next(state),
            Source::Bytes(bytes) => bytes.get(at).copied().unwrap_or(0),
        };
        self.taken.push(byte);
        byte
    }

    /// A number below `count`, which must not be 0.
    pub fn below(&mut self, count: u32) -> u32 {
        if count <= 1 {
            return 0;
        }
        let bytes = if count <= 256 { 1 } else { 4 };
        let number = (0..bytes).fold(0, |number: u32, _| number << 8 | u32::from(self.byte()));
        number % count
    }

    /// A number from `least` to `most`, inclusive.
    pub fn within(&mut self, least: u32, most: u32) -> u32 {
        least + self.below(most - least + 1)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        u32::from(self.byte()) * 100 >= (100 - percent) * 256
    }

    /// An element of a slice.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let at = self.below(from.len() as u32);
        &from[at as usize]
    }

    /// An index, with probability in proportion to its weight.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (at, weight) in weights.iter().enumerate() {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return at,
            }
        }
        0
    }
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
fn next(state: &mut u64) -> u8 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 56) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_choices_reproduce_the_program() {
        let mut first = Choices::seeded(7);
        let draw =
            |choices: &mut Choices| (0..50).map(|at| choices.within(1, 3 + at * 20)).collect::<Vec<_>>();
        let drawn = draw(&mut first);
        assert_eq!(draw(&mut Choices::of(first.taken())), drawn);
        assert_ne!(draw(&mut Choices::seeded(8)), drawn);
    }

    #[test]
    fn choices_past_the_end_are_zero() {
        let mut choices = Choices::of([]);
        assert_eq!((choices.below(9), choices.chance(99), choices.weighted(&[1, 5])), (0, false, 0));
    }
}
