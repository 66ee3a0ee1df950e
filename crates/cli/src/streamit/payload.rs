//! A program behind an executable.
//!
//! ```text
//!  executable │ version, name, files, code or why there is none │ length, BLAKE3 of what is between, mark
//! ```
//!
//! Numbers are little-endian; texts and lists have their lengths of 4 bytes in front. An executable with
//! something behind it runs as before, on all systems that we know.

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use thalweg_codegen::Object;
use thalweg_lang::Sources;

const VERSION: u32 = 1;
const MARK: &[u8; 16] = b"thalweg program\n";

/// Length, checksum and mark.
const TRAILER: u64 = 8 + 32 + 16;

/// A program that an executable carries.
#[derive(Debug)]
pub(super) struct Payload {
    /// The stream that is the program.
    pub(super) name: String,
    /// Its files.
    pub(super) sources: Sources,
    /// Native code, or why there is none.
    pub(super) code: Result<Object, String>,
}

impl Payload {
    /// Writes it behind an executable.
    pub(super) fn append(&self, out: &mut impl Write) -> std::io::Result<()> {
        let bytes = self.to_bytes();
        out.write_all(&bytes)?;
        out.write_all(&(bytes.len() as u64).to_le_bytes())?;
        out.write_all(blake3::hash(&bytes).as_bytes())?;
        out.write_all(MARK)
    }

    /// What an executable carries; none where it carries nothing.
    ///
    /// # Errors
    /// It is damaged, or of another version.
    pub(super) fn find(file: &mut File) -> Result<Option<Payload>> {
        let Some((length, hash)) = trailer(file)? else { return Ok(None) };
        file.seek(SeekFrom::End(-((TRAILER + length) as i64)))?;
        let mut bytes = vec![0; usize::try_from(length)?];
        file.read_exact(&mut bytes)?;
        ensure!(blake3::hash(&bytes).as_bytes() == &hash, "the program that it carries is damaged");
        let payload = Payload::from_bytes(&bytes).context("it carries a program of another version")?;
        Ok(Some(payload))
    }

    /// Whether a file is an executable that carries a program.
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

/// Length and checksum of what a file carries.
fn trailer(file: &mut File) -> Result<Option<(u64, [u8; 32])>> {
    let length = file.seek(SeekFrom::End(0))?;
    if length < TRAILER {
        return Ok(None);
    }
    file.seek(SeekFrom::End(-(TRAILER as i64)))?;
    let (mut carried, mut hash, mut mark) = ([0; 8], [0; 32], [0; 16]);
    file.read_exact(&mut carried)?;
    file.read_exact(&mut hash)?;
    file.read_exact(&mut mark)?;
    let carried = u64::from_le_bytes(carried);
    Ok((mark == *MARK && carried <= length - TRAILER).then_some((carried, hash)))
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
        Payload { name: "Main".into(), sources, code: Err("it has reasons".into()) }
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
    fn what_is_carried_is_found() {
        let found = Payload::find(&mut file(b"an executable", |_| ())).unwrap().unwrap();
        assert_eq!((found.name.as_str(), found.code), ("Main", Err("it has reasons".into())));
        let names: Vec<&str> = found.sources.files().iter().map(|file| file.name.as_str()).collect();
        assert_eq!((names, found.sources.files()[1].text.as_str()), (vec!["a.str", "b.str"], ""));
    }

    #[test]
    fn nothing_is_found_where_nothing_is_carried() {
        for bytes in [&b""[..], b"an executable of which nobody knows that it carries nothing behind it"] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).unwrap();
            assert!(Payload::find(&mut file).unwrap().is_none() && !Payload::is_in(&mut file));
        }
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let length = file(b"", |_| ()).metadata().unwrap().len() as usize;
        for at in 0..length {
            let mut file = file(b"", |bytes| bytes[at] ^= 0x40);
            let found = Payload::find(&mut file);
            assert!(!matches!(found, Ok(Some(_))), "byte {at} of {length}");
        }
    }
}
