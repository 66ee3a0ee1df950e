//! A program appended to an executable.
//!
//! ```text
//! executable │ payload │ trailer
//!
//! payload: version, name, code, reason if there is no code, name and text of each source file
//! trailer: length of the payload, BLAKE3 of the payload, mark
//! ```
//!
//! Numbers are little-endian. Each part of the payload after the version is preceded by its length in 4 bytes. All
//! systems that we know run an executable with appended data like the executable alone.

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use thalweg_codegen::Object;
use thalweg_lang::Sources;

const VERSION: u32 = 1;
const MARK: &[u8; 16] = b"thalweg program\n";

/// Length of the trailer: the payload's length, its checksum, and the mark.
const TRAILER: u64 = 8 + 32 + 16;

/// A program embedded in an executable.
#[derive(Debug)]
pub(super) struct Payload {
    /// The name of the top-level stream.
    pub(super) name: String,
    /// The source files.
    pub(super) sources: Sources,
    /// Native code, or the reason why there is none.
    pub(super) code: Result<Object, String>,
}

impl Payload {
    /// Writes the payload and its trailer.
    pub(super) fn append(&self, out: &mut impl Write) -> std::io::Result<()> {
        let bytes = self.to_bytes();
        out.write_all(&bytes)?;
        out.write_all(&(bytes.len() as u64).to_le_bytes())?;
        out.write_all(blake3::hash(&bytes).as_bytes())?;
        out.write_all(MARK)
    }

    /// Reads the program embedded in an executable, if there is one.
    ///
    /// # Errors
    /// The program is damaged, or has another version.
    pub(super) fn find(file: &mut File) -> Result<Option<Payload>> {
        let Some((length, hash)) = trailer(file)? else { return Ok(None) };
        file.seek(SeekFrom::End(-((TRAILER + length) as i64)))?;
        let mut bytes = vec![0; usize::try_from(length)?];
        file.read_exact(&mut bytes)?;
        ensure!(blake3::hash(&bytes).as_bytes() == &hash, "the embedded program is damaged");
        let payload = Payload::from_bytes(&bytes).context("the embedded program has another version")?;
        Ok(Some(payload))
    }

    /// Whether a file is an executable with an embedded program.
    pub(super) fn is_in(file: &mut File) -> bool {
        matches!(trailer(file), Ok(Some(_)))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = VERSION.to_le_bytes().to_vec();
        let mut put = |part: &[u8]| {
            bytes.extend((part.len() as u32).to_le_bytes());
            bytes.extend(part);
        };
        put(self.name.as_bytes());
        let (code, why) = match &self.code {
            Ok(object) => (object.to_bytes(), ""),
            Err(why) => (Vec::new(), why.as_str()),
        };
        put(&code);
        put(why.as_bytes());
        for source in self.sources.files() {
            put(source.name.as_bytes());
            put(source.text.as_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Payload> {
        let (version, mut rest) = bytes.split_first_chunk()?;
        if u32::from_le_bytes(*version) != VERSION {
            return None;
        }
        let name = text(&mut rest)?;
        let (code, why) = (part(&mut rest)?, text(&mut rest)?);
        let code = if code.is_empty() { Err(why) } else { Ok(Object::from_bytes(code)?) };
        let mut sources = Sources::new();
        while !rest.is_empty() {
            sources.add(text(&mut rest)?, text(&mut rest)?);
        }
        Some(Payload { name, sources, code })
    }
}

/// The length and checksum of the payload of a file, if it has one.
fn trailer(file: &mut File) -> Result<Option<(u64, [u8; 32])>> {
    let length = file.seek(SeekFrom::End(0))?;
    if length < TRAILER {
        return Ok(None);
    }
    file.seek(SeekFrom::End(-(TRAILER as i64)))?;
    let (mut payload, mut hash, mut mark) = ([0; 8], [0; 32], [0; 16]);
    file.read_exact(&mut payload)?;
    file.read_exact(&mut hash)?;
    file.read_exact(&mut mark)?;
    let payload = u64::from_le_bytes(payload);
    Ok((mark == *MARK && payload <= length - TRAILER).then_some((payload, hash)))
}

fn part<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (part, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *bytes = rest;
    Some(part)
}

fn text(bytes: &mut &[u8]) -> Option<String> {
    String::from_utf8(part(bytes)?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload() -> Payload {
        let mut sources = Sources::of("a.str", "void->void pipeline Main { }");
        sources.add("b.str", "");
        Payload { name: "Main".into(), sources, code: Err("the reason".into()) }
    }

    fn file(before: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> File {
        let mut bytes = before.to_vec();
        payload().append(&mut bytes).unwrap();
        change(&mut bytes);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file
    }

    #[test]
    fn an_embedded_program_is_found() {
        let found = Payload::find(&mut file(b"an executable", |_| ())).unwrap().unwrap();
        assert_eq!((found.name.as_str(), found.code), ("Main", Err("the reason".into())));
        let names: Vec<&str> = found.sources.files().iter().map(|file| file.name.as_str()).collect();
        assert_eq!((names, found.sources.files()[1].text.as_str()), (vec!["a.str", "b.str"], ""));
    }

    #[test]
    fn a_plain_executable_has_no_embedded_program() {
        for bytes in
            [&b""[..], b"an executable without a program, longer than a trailer would be if there were one"]
        {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).unwrap();
            assert!(Payload::find(&mut file).unwrap().is_none() && !Payload::is_in(&mut file));
        }
    }

    #[test]
    fn any_changed_byte_is_detected() {
        let length = file(b"", |_| ()).metadata().unwrap().len() as usize;
        for at in 0..length {
            let mut file = file(b"", |bytes| bytes[at] ^= 0x40);
            let found = Payload::find(&mut file);
            assert!(!matches!(found, Ok(Some(_))), "byte {at} of {length}");
        }
    }
}
