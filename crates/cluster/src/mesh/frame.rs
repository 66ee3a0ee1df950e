//! The messages of a control connection: a word, a length, and what belongs to the word.

use std::io::{self, Cursor, Read};

/// The longest payload of a message that carries no value of a user.
pub(crate) const LONGEST_TEXT: usize = 1 << 16;

/// Bytes before the payload of a message.
const HEAD: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Word {
    Alive = 1,
    Failed = 2,
    Done = 3,
    /// The sink needs no more items.
    Enough = 4,
    /// A shared value.
    Shared = 5,
}

/// A message as bytes.
pub(crate) fn frame(word: Word, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![word as u8];
    frame.extend((payload.len() as u32).to_be_bytes());
    frame.extend(payload);
    frame
}

/// Reads a message.
pub(crate) fn read(stream: &mut impl Read) -> io::Result<(Word, Vec<u8>)> {
    let mut bytes = [0; HEAD];
    stream.read_exact(&mut bytes)?;
    let (word, length) = head(bytes)?;
    // Memory grows with what has come, not with what a length says.
    let mut payload = Vec::new();
    stream.take(length as u64).read_to_end(&mut payload)?;
    if payload.len() < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok((word, payload)) }
}

/// The word of a message, and the length of its payload.
fn head(bytes: [u8; HEAD]) -> io::Result<(Word, usize)> {
    let [word, length @ ..] = bytes;
    let known = [Word::Alive, Word::Failed, Word::Done, Word::Enough, Word::Shared];
    let word = known.into_iter().find(|it| *it as u8 == word).ok_or(io::ErrorKind::InvalidData)?;
    let length = u32::from_be_bytes(length) as usize;
    if word != Word::Shared && length > LONGEST_TEXT {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((word, length))
}

/// What has come on a connection while connections to other processes are missing. All of it belongs to the run, but a
/// failure ends the start, also behind other messages.
#[derive(Default)]
pub(crate) struct Early {
    bytes: Vec<u8>,
    /// Where the first message begins that is not whole.
    at: usize,
}

impl Early {
    /// Adds bytes. Returns what a process says that has failed.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<Option<&[u8]>> {
        self.bytes.extend_from_slice(bytes);
        while let Some(bytes) = self.bytes[self.at..].first_chunk() {
            let (word, length) = head(*bytes)?;
            let (begin, end) = (self.at + HEAD, self.at + HEAD + length);
            if end > self.bytes.len() {
                break;
            }
            if word == Word::Failed {
                return Ok(Some(&self.bytes[begin..end]));
            }
            self.at = end;
        }
        Ok(None)
    }

    /// The bytes, before those that are still to come.
    pub fn before<R: Read>(self, stream: R) -> io::Chain<Cursor<Vec<u8>>, R> {
        Cursor::new(self.bytes).chain(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_found_behind_other_messages() {
        let frames = [
            frame(Word::Alive, &[]),
            frame(Word::Shared, &[7; 300]),
            frame(Word::Done, &[]),
            frame(Word::Failed, b"why"),
        ];
        for size in [1, 2, 7, 1000] {
            let mut early = Early::default();
            let found: Vec<_> = frames
                .concat()
                .chunks(size)
                .map(|bytes| early.add(bytes).unwrap().map(<[u8]>::to_vec))
                .collect();
            let (last, before) = found.split_last().unwrap();
            assert!(before.iter().all(Option::is_none) && last.as_deref() == Some(b"why"));
        }
    }

    #[test]
    fn what_came_early_is_read_by_the_run() {
        let (mut early, whole) = (Early::default(), frame(Word::Shared, &[7; 300]));
        assert_eq!(early.add(&whole[..100]).unwrap(), None);
        assert_eq!(read(&mut early.before(&whole[100..])).unwrap(), (Word::Shared, vec![7; 300]));
    }

    #[test]
    fn other_words_and_long_texts_are_refused() {
        for head in [[0, 0, 0, 0, 0], [6, 0, 0, 0, 0], [1, 0, 1, 0, 1]] {
            assert!(Early::default().add(&head).is_err() && read(&mut &head[..]).is_err(), "{head:?}");
        }
    }
}
