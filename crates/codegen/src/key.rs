//! What a program's C follows from.

use crate::Level;
use crate::emit::alike::Alike;
use thalweg_lang::Compiled;

/// Changes whenever what writes C does: a hash of the sources of this crate and of the front end.
const GENERATOR: &str = env!("THALWEG_GENERATOR");

/// The hash of all that a program's C follows from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key(pub(crate) [u8; 32]);

impl Key {
    pub(crate) fn of(compiled: &Compiled, level: Level, lanes: usize, alike: Alike) -> Key {
        let Alike { long, apart, many } = alike;
        let mut hasher = blake3::Hasher::new();
        hasher.update(GENERATOR.as_bytes()).update(&compiled.digest);
        for number in [level as usize, lanes, long, apart, many] {
            hasher.update(&(number as u64).to_le_bytes());
        }
        Key(*hasher.finalize().as_bytes())
    }
}
