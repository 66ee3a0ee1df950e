//! Lines of a plain or compressed input.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

use thalweg_inputs::{Content, Opened};

use crate::{Error, Result};

/// The size of the buffer, and of the sample from which the number of lines is estimated.
const BUFFER: usize = 1 << 20;
/// The longest line. No line of a graph comes near it, so a longer one is binary data or a mistake.
const LONGEST: usize = 1 << 16;
/// The bytes of a line that an error shows.
const SHOWN: usize = 80;

/// The lines of an input.
pub(crate) struct Text<'a> {
    name: String,
    input: Opened<'a>,
    /// The bytes before `end` are read; those before `start` belong to earlier lines.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    /// The number of the latest line, from 1, and its place in the buffer.
    line: u64,
    place: Range<usize>,
}

impl<'a> Text<'a> {
    pub fn new(name: &str, input: impl Into<Content<'a>>) -> Result<Text<'a>> {
        let opened = input.into().open();
        Ok(Text {
            name: name.into(),
            input: opened.map_err(|source| Error::Read { name: name.into(), source })?,
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            ended: false,
            line: 0,
            place: 0..0,
        })
    }

    /// The name of the input, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Fills the buffer and returns its content, from which the format is recognised and the size estimated. Must be
    /// called before the first line.
    pub fn sample(&mut self) -> Result<Sample<'_>> {
        while !self.ended && self.end < self.buffer.len() {
            self.fill()?;
        }
        Ok(Sample { bytes: &self.buffer[..self.end], whole: self.ended, taken: self.input.taken() })
    }

    /// Advances to the next line. Returns whether there is one.
    pub fn advance(&mut self) -> Result<bool> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.start..self.end];
            let newline = rest[searched..].iter().position(|byte| *byte == b'\n');
            searched = newline.map_or(rest.len(), |at| searched + at);
            if searched > LONGEST {
                self.take(LONGEST, 0)?;
                return Err(self.error(
                    format!("the line is longer than {LONGEST} bytes"),
                    "check that the input is the text of a graph",
                ));
            }
            match newline {
                Some(_) => return self.take(searched, 1),
                None if self.ended && searched == 0 => return Ok(false),
                None if self.ended => return self.take(searched, 0),
                None => self.fill()?,
            }
        }
    }

    /// Makes the next `length` bytes the current line, and skips `newline` bytes after them.
    fn take(&mut self, length: usize, newline: usize) -> Result<bool> {
        self.place = self.start..self.start + length;
        self.start += length + newline;
        self.line += 1;
        Ok(true)
    }

    /// The current line without its end (`\n` or `\r\n`).
    pub fn line(&self) -> &[u8] {
        let line = &self.buffer[self.place.clone()];
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// An error of the current line.
    pub fn error(&self, what: impl Into<String>, help: &'static str) -> Error {
        let line = self.line();
        let dots = if line.len() > SHOWN { "..." } else { "" };
        let text = format!("{}{dots}", line[..line.len().min(SHOWN)].escape_ascii());
        Error::Line { name: self.name.clone(), line: self.line, what: what.into(), text, help }
    }

    /// Reads once into the free end of the buffer. Sets `ended` at the end of the input.
    fn fill(&mut self) -> Result<()> {
        if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        match self.input.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.ended = true,
            Ok(read) => self.end += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(source) => return Err(self.read_error(source)),
        }
        Ok(())
    }

    fn read_error(&self, source: io::Error) -> Error {
        let name = self.name.clone();
        let damaged = matches!(
            source.kind(),
            ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput
        );
        match self.input.is_gzip() && damaged {
            true => Error::Gzip { name, cause: source.to_string() },
            false => Error::Read { name, source },
        }
    }
}

/// The begin of a text.
pub(crate) struct Sample<'t> {
    pub bytes: &'t [u8],
    /// Whether this is the whole text.
    whole: bool,
    /// The bytes of the input, compressed or not, that hold the sample. A little more may have been read ahead.
    taken: u64,
}

impl Sample<'_> {
    /// The number of lines of an input of `length` bytes that satisfy `counts`, and whether it is exact: those of the
    /// sample, scaled to the length. `None` if the length is not known.
    pub fn lines(&self, length: Option<u64>, counts: impl Fn(&[u8]) -> bool) -> Option<(u64, bool)> {
        let lines = self.bytes.split(|byte| *byte == b'\n').filter(|line| counts(line)).count() as u64;
        if self.whole {
            return Some((lines, true));
        }
        let scale = length? as f64 / self.taken.max(1) as f64;
        Some(((lines as f64 * scale.max(1.0)) as u64, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<Vec<u8>> {
        let mut text = Text::new("test", input).unwrap();
        let mut lines = Vec::new();
        while text.advance().unwrap() {
            lines.push(text.line().to_vec());
        }
        lines
    }

    #[test]
    fn lines_end_with_either_newline_or_the_input() {
        assert_eq!(lines(b""), [[0u8; 0]; 0]);
        assert_eq!(lines(b"\n"), [b""]);
        assert_eq!(lines(b"a\r\n\nb"), [&b"a"[..], b"", b"b"]);
        assert_eq!(lines(b"1"), [b"1"]);
    }

    #[test]
    fn lines_cross_the_borders_of_the_buffer() {
        let all: Vec<u8> = (0..400_000).flat_map(|i: u32| format!("{i}\n").into_bytes()).collect();
        assert!(all.len() > 2 * BUFFER);
        let found = lines(&all);
        assert!(found.iter().enumerate().all(|(i, line)| *line == i.to_string().as_bytes()));
        assert_eq!(found.len(), 400_000);
    }

    #[test]
    fn a_long_line_is_refused_with_or_without_end() {
        let refusal = |input: &mut dyn Read| {
            let mut text = Text::new("test", input).unwrap();
            text.advance().unwrap_err().to_string()
        };
        let long = [&vec![b'7'; LONGEST + 1][..], b"\n"].concat();
        for error in [refusal(&mut io::repeat(b'7')), refusal(&mut &long[..])] {
            assert!(error.starts_with("test:1: the line is longer than 65536 bytes: `777"), "{error}");
        }
        assert_eq!(lines(&long[1..])[0].len(), LONGEST);
    }

    #[test]
    fn an_error_shows_no_control_characters() {
        let mut text = Text::new("test", &b"\n\x1b[2J\xff"[..]).unwrap();
        assert!(text.advance().unwrap() && text.advance().unwrap());
        let error = text.error("wrong", "none").to_string();
        assert_eq!(error, "test:2: wrong: `\\x1b[2J\\xff`\nhelp: none");
    }
}
