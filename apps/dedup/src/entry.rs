//! Entries of a tree: folders, files and symbolic links, in depth-first order.
//!
//! An entry has a single name, never a path: it lies in the folder that was opened last and not yet closed by
//! [`Entry::Up`]. So an absolute path, a `..`, or a path through a symbolic link cannot be expressed, except by a
//! name that the reader refuses.

use crate::wire::{Fields, Parsed, put_bytes, put_number, unzigzag, zigzag};

/// The maximum length of a name or link target. (The usual limits of systems are 255 and 4095.)
const NAME_LIMIT: usize = 1 << 16;
const NANOS: u64 = 1_000_000_000;

/// The metadata of a file or folder that an archive stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The name within its folder. Empty for the root.
    pub name: Vec<u8>,
    /// Permission bits.
    pub mode: u32,
    /// Modification time: seconds since 1970, rounded down.
    pub seconds: i64,
    /// Modification time: nanoseconds to add to the seconds.
    pub nanos: u32,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A folder. The entries up to its [`Entry::Up`] lie in it.
    Dir(Meta),
    /// A file. The chunks up to the next entry are its content.
    File(Meta),
    /// A symbolic link.
    Link {
        /// The name within its folder.
        name: Vec<u8>,
        /// The target, which is never followed.
        target: Vec<u8>,
    },
    /// The end of a folder.
    Up,
}

/// Tags of entries. Tags 0 and 1 are chunks (see `table`).
pub(crate) const DIR: u8 = 2;
pub(crate) const UP: u8 = 5;
const FILE: u8 = 3;
const LINK: u8 = 4;

impl Entry {
    /// Appends the encoding, tag first.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        match self {
            Entry::Dir(meta) => put_meta(out, DIR, meta),
            Entry::File(meta) => put_meta(out, FILE, meta),
            Entry::Link { name, target } => {
                out.push(LINK);
                put_bytes(out, name);
                put_bytes(out, target);
            }
            Entry::Up => out.push(UP),
        }
    }

    /// Reads the fields after the tag.
    pub(crate) fn get(tag: u8, fields: &mut Fields<'_>) -> Parsed<Self> {
        match tag {
            DIR => get_meta(fields).map(Entry::Dir),
            FILE => get_meta(fields).map(Entry::File),
            LINK => Ok(Entry::Link {
                name: fields.bytes(NAME_LIMIT)?.to_vec(),
                target: fields.bytes(NAME_LIMIT)?.to_vec(),
            }),
            UP => Ok(Entry::Up),
            other => Err(format!("unknown tag {other} of a table item")),
        }
    }

    /// The name, if it has one.
    pub fn name(&self) -> Option<&[u8]> {
        match self {
            Entry::Dir(meta) | Entry::File(meta) => Some(&meta.name),
            Entry::Link { name, .. } => Some(name),
            Entry::Up => None,
        }
    }
}

fn put_meta(out: &mut Vec<u8>, tag: u8, meta: &Meta) {
    out.push(tag);
    put_bytes(out, &meta.name);
    put_number(out, u64::from(meta.mode));
    put_number(out, zigzag(meta.seconds));
    put_number(out, u64::from(meta.nanos));
}

fn get_meta(fields: &mut Fields<'_>) -> Parsed<Meta> {
    let name = fields.bytes(NAME_LIMIT)?.to_vec();
    let mode = fields.number()?;
    let seconds = unzigzag(fields.number()?);
    let nanos = fields.number()?;
    if mode > 0o7777 {
        return Err(format!("invalid mode {mode:o}"));
    }
    if nanos >= NANOS {
        return Err(format!("invalid nanoseconds {nanos}, expected less than {NANOS}"));
    }
    Ok(Meta { name, mode: mode as u32, seconds, nanos: nanos as u32 })
}

/// The reason why `name` must not be used as the name of an entry, if there is one.
pub(crate) fn unsafe_name(name: &[u8]) -> Option<&'static str> {
    let leads_out = |part: &[u8]| matches!(part, b"." | b"..");
    if name.is_empty() {
        Some("is empty")
    } else if name[0] == b'/' {
        Some("is an absolute path")
    } else if name.split(|byte| *byte == b'/').any(leads_out) {
        Some("leads out of its folder")
    } else if name.contains(&b'/') || name.contains(&0) {
        Some("contains a separator or a zero byte")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_round_trip() {
        let meta = Meta { name: b"\xff name".to_vec(), mode: 0o755, seconds: -5, nanos: 999_999_999 };
        let link = Entry::Link { name: b"l".to_vec(), target: b"/etc".to_vec() };
        for entry in [Entry::Dir(meta.clone()), Entry::File(meta), link, Entry::Up] {
            let mut out = Vec::new();
            entry.put(&mut out);
            let mut fields = Fields::new(&out);
            let tag = fields.u8().unwrap();
            assert_eq!(Entry::get(tag, &mut fields), Ok(entry));
            assert!(fields.is_empty());
        }
    }

    #[test]
    fn names_that_lead_out_of_the_folder_are_unsafe() {
        for name in [&b""[..], b".", b"..", b"/", b"/etc/passwd", b"a/b", b"../a", b"a/../..", b"a\0b"] {
            assert!(unsafe_name(name).is_some(), "{name:?}");
        }
        for name in [&b"a"[..], b"...", b".hidden", b"\xff\xfe", b"a b"] {
            assert!(unsafe_name(name).is_none(), "{name:?}");
        }
    }
}
