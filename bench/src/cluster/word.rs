//! A word without memory of its own, for all contestants that send every word.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Maximum bytes of a word. The generated texts have no longer ones.
const LONGEST: usize = 15;

/// A word: its bytes, padded with zeros, and their number.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Word([u8; LONGEST + 1]);

impl Word {
    /// `None`: the word is too long.
    pub fn new(bytes: &[u8]) -> Option<Word> {
        let mut word = [0; LONGEST + 1];
        word.get_mut(..bytes.len()).filter(|_| bytes.len() <= LONGEST)?.copy_from_slice(bytes);
        word[LONGEST] = bytes.len() as u8;
        Some(Word(word))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0[..usize::from(self.0[LONGEST])]
    }
}

impl Hash for Word {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(u128::from_ne_bytes(self.0));
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.bytes())
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Word;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {LONGEST} bytes")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Word, E> {
                Word::new(bytes).ok_or_else(|| E::invalid_length(bytes.len(), &self))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// The words of a text: letters between spaces and line breaks, as the generated texts have them.
pub fn words(text: &[u8]) -> impl Iterator<Item = Word> {
    text.split(|byte| *byte <= b' ').filter(|word| !word.is_empty()).filter_map(Word::new)
}
