//! Reads sequences in FASTA format, plain or compressed with gzip.

use std::io::{BufRead, BufReader, Read};

use thalweg_inputs::Content;

use crate::{Alphabet, Error, Result};

/// A named sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub struct Sequence {
    /// The first word of the header.
    pub name: String,
    /// The rest of the header.
    pub description: String,
    /// The letters, in upper case.
    #[cfg_attr(feature = "cluster", serde(with = "serde_bytes"))]
    pub letters: Vec<u8>,
}

/// The most bytes of a header line.
const LONGEST_HEADER: usize = 1 << 16;

/// The maximum number of bytes of a line that are in memory beside the sequences: a line of letters may have any length. A
/// header with its `>` and its line end fits.
const LONGEST_PIECE: u64 = LONGEST_HEADER as u64 + 16;

/// Reads all sequences of a file that is called `file` in errors. Data that begins as gzip does is decompressed, and a byte
/// order mark is skipped. Lines may end with CRLF, sequences may be wrapped and empty, and letters may be lower case.
///
/// ```
/// let text = b">one first\nACgt\nAC\n>two\n";
/// let sequences = thalweg_align::read_fasta(&text[..], "text", None, u64::MAX)?;
/// assert_eq!((sequences[0].name.as_str(), &sequences[0].letters[..]), ("one", &b"ACGTAC"[..]));
/// assert!(sequences[1].letters.is_empty());
/// # Ok::<(), thalweg_align::Error>(())
/// ```
///
/// # Errors
/// Reading fails, a line is not FASTA, a letter is not in `alphabet` (if there is one; otherwise, is neither a letter
/// nor
/// `*`), or the sequences take more than `limit` bytes.
pub fn read_fasta<'a>(
    input: impl Into<Content<'a>>,
    file: &str,
    alphabet: Option<Alphabet>,
    limit: u64,
) -> Result<Vec<Sequence>> {
    let mut parser =
        Parser { file, alphabet, limit, line: 0, bytes: 0, sequences: Vec::new(), within: Within::Begin };
    let reading = |error| Error::io(format!("reading {file}"), error);
    let mut input = BufReader::with_capacity(1 << 16, input.into().open().map_err(reading)?);
    let mut piece = Vec::new();
    while (&mut input).take(LONGEST_PIECE).read_until(b'\n', &mut piece).map_err(reading)? > 0 {
        parser.piece(&piece)?;
        piece.clear();
    }
    Ok(parser.sequences)
}

struct Parser<'a> {
    file: &'a str,
    alphabet: Option<Alphabet>,
    limit: u64,
    line: u64,
    bytes: u64,
    sequences: Vec<Sequence>,
    within: Within,
}

/// Where the next piece begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// At the beginning of a line.
    Begin,
    /// In a line of letters.
    Letters,
    /// In white space, which must be the end of the line.
    Spaces,
}

impl Parser<'_> {
    /// Takes a line, or a part of a long one.
    fn piece(&mut self, piece: &[u8]) -> Result<()> {
        let text = piece.trim_ascii_end();
        match self.within {
            Within::Begin => {
                self.line += 1;
                self.take(text)?;
            }
            Within::Letters => self.letters(text)?,
            Within::Spaces if text.is_empty() => {}
            Within::Spaces => return Err(self.unexpected(b' ')),
        }
        self.within = match piece.last() {
            Some(b'\n') => Within::Begin,
            _ if text.len() < piece.len() => Within::Spaces,
            _ => Within::Letters,
        };
        Ok(())
    }

    /// Takes a line without the white space at its end.
    fn take(&mut self, line: &[u8]) -> Result<()> {
        match line.split_first() {
            Some((b'>', header)) if header.len() > LONGEST_HEADER => {
                let what = format!("the header is longer than {LONGEST_HEADER} bytes");
                Err(self.error(what, "shorten the description"))
            }
            Some((b'>', header)) => self.header(header),
            _ => self.letters(line),
        }
    }

    fn header(&mut self, header: &[u8]) -> Result<()> {
        let header = String::from_utf8_lossy(header);
        let (name, description) = header.split_once([' ', '\t']).unwrap_or((&header, ""));
        if name.is_empty() {
            return Err(self.error("the header has no name".into(), "write the name directly after `>`"));
        }
        if let Some(control) = header.chars().find(|c| c.is_control() && *c != '\t') {
            let what = format!("the header has the control character {control:?}");
            return Err(self.error(what, "check that the file is FASTA"));
        }
        self.count(header.len())?;
        let [name, description] = [name, description.trim()].map(str::to_owned);
        self.sequences.push(Sequence { name, description, letters: Vec::new() });
        Ok(())
    }

    fn letters(&mut self, letters: &[u8]) -> Result<()> {
        if letters.is_empty() {
            return Ok(());
        }
        if let Some(bad) = letters.iter().find(|letter| !self.contains(**letter)) {
            return Err(self.unexpected(*bad));
        }
        self.count(letters.len())?;
        let what = "letters before the first header";
        let help = "a sequence begins with a line `>name`; check that the file is FASTA";
        let Some(sequence) = self.sequences.last_mut() else { return Err(self.error(what.into(), help)) };
        sequence.letters.extend(letters.iter().map(u8::to_ascii_uppercase));
        Ok(())
    }

    fn contains(&self, letter: u8) -> bool {
        self.alphabet.unwrap_or(Alphabet::Protein).contains(letter)
    }

    fn unexpected(&self, byte: u8) -> Error {
        let of = match self.alphabet {
            Some(Alphabet::Dna) => "a letter of DNA",
            _ => "a letter or `*`",
        };
        let help = match (self.alphabet, byte) {
            (_, b'-' | b'.') => "remove the gaps: the input is unaligned sequences",
            (_, b' ' | b'\t' | b'0'..=b'9') => "remove spaces and numbers from the sequence",
            (Some(Alphabet::Dna), letter) if Alphabet::Protein.contains(letter) => {
                "use --alphabet protein if these are amino acids"
            }
            _ => "check that the file is FASTA",
        };
        self.error(format!("unexpected {:?}, expected {of}", char::from(byte)), help)
    }

    fn count(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes as u64;
        if self.bytes > self.limit {
            let what = format!("{} holds more than {} bytes of sequences", self.file, self.limit);
            return Err(Error::TooLarge { what, help: "raise the memory limit, or split the file" });
        }
        Ok(())
    }

    fn error(&self, what: String, help: &'static str) -> Error {
        Error::Malformed { file: self.file.into(), line: self.line, what, help }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(text: impl Read + 'a, limit: u64) -> Result<Vec<Sequence>> {
        read_fasta(text, "text", None, limit)
    }

    /// As does that of a chromosome which is not wrapped.
    #[test]
    fn a_line_of_letters_may_have_any_length() {
        let letters = 10 * LONGEST_PIECE;
        let long = std::io::repeat(b'a').take(letters);
        let spaces = || std::io::repeat(b' ').take(3 * LONGEST_PIECE);
        let text = b">one\n".chain(long).chain(spaces()).chain(&b"\r\n>two\nC\n"[..]);
        let sequences = read(text, u64::MAX).unwrap();
        assert_eq!((sequences[0].letters.len() as u64, &sequences[1].letters[..]), (letters, &b"C"[..]));
        let text = b">one\nA".chain(spaces()).chain(&b"A\n"[..]);
        let error = read(text, u64::MAX).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("unexpected ' '"), "{error}");
    }

    /// Input without an end is refused at the limit, and a line is not kept beside its sequence.
    #[test]
    fn a_line_without_an_end_is_refused() {
        let endless =
            |text: &'static [u8], byte| read(text.chain(std::io::repeat(byte)), 1 << 20).unwrap_err();
        assert!(matches!(endless(b">one\n", b'A'), Error::TooLarge { .. }));
        for (text, byte) in [(&b">"[..], b'x'), (b"", 0), (b">one\n", 0)] {
            assert!(matches!(endless(text, byte), Error::Malformed { .. }), "{byte}");
        }
    }
}
