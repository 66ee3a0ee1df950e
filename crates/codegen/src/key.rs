//! The cache key of a program: a hash of everything that determines its C text.

use crate::Level;
use crate::emit::merging::Merging;
use thalweg_lang::Compiled;

/// A hash of the sources of this crate and of the front end: it changes whenever the generator does.
const GENERATOR: &str = env!("THALWEG_GENERATOR");

/// The hash of everything that determines a program's C text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key(pub(crate) [u8; 32]);

impl Key {
    pub(crate) fn of(compiled: &Compiled, level: Level, lanes: usize, merging: Merging) -> Key {
        let Merging { long, apart, many } = merging;
        let mut hasher = blake3::Hasher::new();
        hasher.update(GENERATOR.as_bytes()).update(&compiled.digest);
        for number in [level as usize, lanes, long, apart, many] {
            hasher.update(&(number as u64).to_le_bytes());
        }
        Key(*hasher.finalize().as_bytes())
    }
}
