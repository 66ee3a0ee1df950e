//! The members of gzip data, one after the other.

use std::io::{self, BufRead, BufReader, Read};
use std::mem::replace;

use flate2::bufread::GzDecoder;

use crate::content::{GZIP, Raw, Warn};

/// Bytes of compressed data that are read at a time.
const BUFFER: usize = 1 << 16;

/// A reader of all members. Zeros after a member are padding, as tapes and block devices need it. Other bytes that begin no
/// member are ignored with a warning, as gzip does. A member that is cut off is an error.
pub(crate) struct Members<'a> {
    state: State<'a>,
    warn: Warn<'a>,
}

enum State<'a> {
    Member(Box<GzDecoder<BufReader<Raw<'a>>>>),
    /// After a member.
    Between(BufReader<Raw<'a>>),
    Ended,
}

/// What follows a member.
enum Next {
    Padding(usize),
    Member,
    Garbage,
    End,
}

impl<'a> Members<'a> {
    pub fn new(input: Raw<'a>, warn: Warn<'a>) -> Members<'a> {
        Members { state: member(BufReader::with_capacity(BUFFER, input)), warn }
    }

    /// Advances to the next member, or to the end.
    fn advance(&mut self) -> io::Result<()> {
        // A failed read leaves the state as it is.
        let State::Between(rest) = &mut self.state else { return Ok(()) };
        let next = next(rest.fill_buf()?);
        match (next, replace(&mut self.state, State::Ended)) {
            (Next::Padding(zeros), State::Between(mut rest)) => {
                rest.consume(zeros);
                self.state = State::Between(rest);
            }
            (Next::Member, State::Between(rest)) => self.state = member(rest),
            (Next::Garbage, _) => (self.warn)("ignored what follows the gzip data: it is no gzip data"),
            _ => {}
        }
        Ok(())
    }
}

fn member(input: BufReader<Raw<'_>>) -> State<'_> {
    State::Member(Box::new(GzDecoder::new(input)))
}

/// What the bytes after a member are. A single byte that may begin a member does: if no other follows, it was cut off.
fn next(bytes: &[u8]) -> Next {
    match bytes.iter().position(|byte| *byte != 0) {
        None if bytes.is_empty() => Next::End,
        None => Next::Padding(bytes.len()),
        Some(0) if bytes.starts_with(&GZIP) || GZIP.starts_with(bytes) => Next::Member,
        Some(0) => Next::Garbage,
        Some(zeros) => Next::Padding(zeros),
    }
}

impl Read for Members<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        loop {
            let State::Member(member) = &mut self.state else { return Ok(0) };
            match member.read(bytes)? {
                0 => {}
                read => return Ok(read),
            }
            if let State::Member(member) = replace(&mut self.state, State::Ended) {
                self.state = State::Between(member.into_inner());
            }
            while let State::Between(_) = self.state {
                self.advance()?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::Content;

    fn zip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    /// The text, or the error, and the number of warnings.
    fn read(bytes: &[u8]) -> (io::Result<String>, usize) {
        let warnings = RefCell::new(0);
        let content = Content::from(bytes).warn_by(|_| *warnings.borrow_mut() += 1);
        let mut text = String::new();
        let read = content.open().and_then(|mut input| input.read_to_string(&mut text));
        (read.map(|_| text), warnings.take())
    }

    fn text(bytes: &[u8]) -> (String, usize) {
        let (text, warnings) = read(bytes);
        (text.unwrap(), warnings)
    }

    #[test]
    fn zeros_after_a_member_are_padding() {
        for zeros in [0, 1, 511, 3 * BUFFER] {
            let padding = vec![0; zeros];
            assert_eq!(text(&[zip("ab"), padding.clone()].concat()), ("ab".into(), 0));
            let two = [zip("ab"), padding.clone(), zip("cd"), padding].concat();
            assert_eq!(text(&two), ("abcd".into(), 0), "{zeros}");
        }
    }

    #[test]
    fn other_bytes_after_a_member_are_a_warning() {
        for garbage in [&b"x"[..], b"garbage", b"\0\0garbage", b"\x1fgarbage", b"\0\xff"] {
            assert_eq!(text(&[&zip("ab"), garbage].concat()), ("ab".into(), 1), "{garbage:?}");
        }
    }

    #[test]
    fn a_member_that_is_cut_off_is_an_error() {
        let (first, second) = (zip("ab"), zip("cd"));
        for length in 1..second.len() {
            let (read, warnings) = read(&[&first, &second[..length]].concat());
            assert_eq!(read.unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{length}");
            assert_eq!(warnings, 0);
        }
    }
}
