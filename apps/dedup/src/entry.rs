//! Entries of a tree: folders, files and links, in depth-first order.
//!
//! An entry has a single name, never a path: it lies in the folder that was opened last and not yet closed by
//! [`Entry::Up`]. A hard link names its file by a number, not by a path. So an absolute path, a `..`, or a path through a
//! symbolic link cannot be expressed, except by a name that the reader refuses.

use crate::wire::{Fields, Parsed, put_bytes, put_number, unzigzag, zigzag};

/// The maximum length of a name, link target or attribute's value. (The usual limits of systems are 255, 4095 and
/// 65536.)
const NAME_LIMIT: usize = 1 << 16;
/// The maximum length of an attribute's name.
const ATTRIBUTE_NAME_LIMIT: usize = 255;
/// The maximum bytes of an entry's attributes, names and values. An entry is not divided among records.
pub(crate) const ATTRIBUTES_LIMIT: usize = 1 << 20;
const NANOS: u64 = 1_000_000_000;

/// The first version with all of [`Meta`] and with [`Entry::HardLink`].
const WITH_OWNERS: u16 = 2;

/// A time of modification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// Seconds since 1970, rounded down.
    pub seconds: i64,
    /// Nanoseconds to add to the seconds.
    pub nanos: u32,
}

/// An extended attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attribute {
    /// The name, with its namespace, such as `user.origin`.
    pub name: Vec<u8>,
    /// The value.
    pub value: Vec<u8>,
}

/// The metadata of an entry that an archive stores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The name within its folder. Empty for the root.
    pub name: Vec<u8>,
    /// The lowest twelve bits of the mode.
    pub mode: u32,
    /// The time of modification. `None` for links in archives of version 1.
    pub time: Option<Time>,
    /// User and group. `None` in archives of version 1, and of systems that do not number them.
    pub owner: Option<(u32, u32)>,
    /// Extended attributes, in rising order of their names.
    pub attributes: Vec<Attribute>,
    /// Whether further names of the file or link may follow as hard links. These count such entries from 0.
    pub shared: bool,
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
        /// Its metadata.
        meta: Meta,
        /// The target, which is never followed.
        target: Vec<u8>,
    },
    /// A further name of a file or symbolic link before it.
    HardLink {
        /// The name within its folder.
        name: Vec<u8>,
        /// The number of the file or link among those with [`Meta::shared`].
        file: u64,
    },
    /// The end of a folder.
    Up,
}

/// Tags of entries. Tags 0 and 1 are chunks (see `table`).
pub(crate) const DIR: u8 = 2;
pub(crate) const UP: u8 = 5;
const FILE: u8 = 3;
const LINK: u8 = 4;
const HARD_LINK: u8 = 6;

/// Bits that say what follows in [`Meta`]'s encoding.
const HAS_OWNER: u64 = 1;
const IS_SHARED: u64 = 2;
const HAS_ATTRIBUTES: u64 = 4;

impl Entry {
    /// Appends the encoding of the newest version, tag first.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        match self {
            Entry::Dir(meta) => put_meta(out, DIR, meta),
            Entry::File(meta) => put_meta(out, FILE, meta),
            Entry::Link { meta, target } => {
                put_meta(out, LINK, meta);
                put_bytes(out, target);
            }
            Entry::HardLink { name, file } => {
                out.push(HARD_LINK);
                put_bytes(out, name);
                put_number(out, *file);
            }
            Entry::Up => out.push(UP),
        }
    }

    /// Reads the fields after the tag, of an archive of this version.
    pub(crate) fn get(tag: u8, fields: &mut Fields<'_>, version: u16) -> Parsed<Self> {
        match tag {
            DIR => get_meta(fields, version, 0).map(Entry::Dir),
            FILE => get_meta(fields, version, IS_SHARED).map(Entry::File),
            LINK if version < WITH_OWNERS => {
                let meta = Meta { name: fields.bytes(NAME_LIMIT)?.to_vec(), ..Meta::default() };
                Ok(Entry::Link { meta, target: fields.bytes(NAME_LIMIT)?.to_vec() })
            }
            LINK => {
                let meta = get_meta(fields, version, IS_SHARED)?;
                Ok(Entry::Link { meta, target: fields.bytes(NAME_LIMIT)?.to_vec() })
            }
            HARD_LINK if version >= WITH_OWNERS => {
                Ok(Entry::HardLink { name: fields.bytes(NAME_LIMIT)?.to_vec(), file: fields.number()? })
            }
            UP => Ok(Entry::Up),
            other => Err(format!("unknown tag {other} of a table item")),
        }
    }

    /// The name, if it has one.
    pub fn name(&self) -> Option<&[u8]> {
        match self {
            Entry::Dir(meta) | Entry::File(meta) | Entry::Link { meta, .. } => Some(&meta.name),
            Entry::HardLink { name, .. } => Some(name),
            Entry::Up => None,
        }
    }

    /// Whether it is a file or link of which further names may follow.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Entry::File(meta) | Entry::Link { meta, .. } if meta.shared)
    }

    /// About the bytes of its encoding.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Entry::Dir(meta) | Entry::File(meta) => 32 + meta.weight(),
            Entry::Link { meta, target } => 32 + meta.weight() + target.len(),
            Entry::HardLink { name, .. } => 8 + name.len(),
            Entry::Up => 1,
        }
    }
}

impl Meta {
    fn weight(&self) -> usize {
        let attributes =
            self.attributes.iter().map(|attribute| attribute.name.len() + attribute.value.len() + 4);
        self.name.len() + attributes.sum::<usize>()
    }
}

fn put_meta(out: &mut Vec<u8>, tag: u8, meta: &Meta) {
    let time = meta.time.unwrap_or(Time { seconds: 0, nanos: 0 });
    out.push(tag);
    put_bytes(out, &meta.name);
    put_number(out, u64::from(meta.mode));
    put_number(out, zigzag(time.seconds));
    put_number(out, u64::from(time.nanos));
    let flag = |is: bool, flag: u64| if is { flag } else { 0 };
    let flags = flag(meta.owner.is_some(), HAS_OWNER)
        | flag(meta.shared, IS_SHARED)
        | flag(!meta.attributes.is_empty(), HAS_ATTRIBUTES);
    put_number(out, flags);
    if let Some((user, group)) = meta.owner {
        put_number(out, user.into());
        put_number(out, group.into());
    }
    if !meta.attributes.is_empty() {
        put_number(out, meta.attributes.len() as u64);
        for attribute in &meta.attributes {
            put_bytes(out, &attribute.name);
            put_bytes(out, &attribute.value);
        }
    }
}

/// `special` is the flag that this kind of entry may have beside those of all kinds.
fn get_meta(fields: &mut Fields<'_>, version: u16, special: u64) -> Parsed<Meta> {
    let name = fields.bytes(NAME_LIMIT)?.to_vec();
    let mode = fields.number()?;
    if mode > 0o7777 {
        return Err(format!("invalid mode {mode:#o}, expected twelve bits"));
    }
    let seconds = unzigzag(fields.number()?);
    let nanos = fields.number()?;
    if nanos >= NANOS {
        return Err(format!("invalid nanoseconds {nanos}, expected less than {NANOS}"));
    }
    let time = Some(Time { seconds, nanos: nanos as u32 });
    let meta = Meta { name, mode: mode as u32, time, ..Meta::default() };
    if version < WITH_OWNERS {
        return Ok(meta);
    }
    let flags = fields.number()?;
    if flags & !(HAS_OWNER | HAS_ATTRIBUTES | special) != 0 {
        return Err(format!("unknown flags {flags:#b} of an entry"));
    }
    let owner = if flags & HAS_OWNER == 0 { None } else { Some((id(fields)?, id(fields)?)) };
    let attributes = if flags & HAS_ATTRIBUTES == 0 { Vec::new() } else { get_attributes(fields)? };
    Ok(Meta { owner, attributes, shared: flags & IS_SHARED != 0, ..meta })
}

/// The number of a user or group.
fn id(fields: &mut Fields<'_>) -> Parsed<u32> {
    let id = fields.number()?;
    // The largest number means "no change" to the system.
    u32::try_from(id).ok().filter(|id| *id != u32::MAX).ok_or_else(|| format!("invalid user or group {id}"))
}

fn get_attributes(fields: &mut Fields<'_>) -> Parsed<Vec<Attribute>> {
    let count = fields.number()?;
    let before = fields.rest().len();
    // Allocates only for what has been read: `count` is not trusted.
    let mut attributes: Vec<Attribute> = Vec::new();
    for _ in 0..count {
        let name = fields.bytes(ATTRIBUTE_NAME_LIMIT)?.to_vec();
        if name.is_empty() || name.contains(&0) {
            return Err("the name of an attribute is empty or contains a zero byte".into());
        }
        if attributes.last().is_some_and(|last| last.name >= name) {
            return Err("an attribute is a duplicate or out of order".into());
        }
        attributes.push(Attribute { name, value: fields.bytes(NAME_LIMIT)?.to_vec() });
        if before - fields.rest().len() > ATTRIBUTES_LIMIT {
            return Err(format!("the attributes of an entry exceed {ATTRIBUTES_LIMIT} bytes"));
        }
    }
    if attributes.is_empty() {
        Err("an entry has an empty list of attributes".into())
    } else {
        Ok(attributes)
    }
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

    fn meta() -> Meta {
        let attribute = |name: &[u8]| Attribute { name: name.to_vec(), value: b"\0value".to_vec() };
        Meta {
            name: b"\xff name".to_vec(),
            mode: 0o4755,
            time: Some(Time { seconds: -5, nanos: 999_999_999 }),
            owner: Some((0, u32::MAX - 1)),
            attributes: vec![attribute(b"user.a"), attribute(b"user.b")],
            shared: false,
        }
    }

    fn read(bytes: &[u8], version: u16) -> Parsed<Entry> {
        let mut fields = Fields::new(bytes);
        let tag = fields.u8()?;
        let entry = Entry::get(tag, &mut fields, version)?;
        assert!(fields.is_empty());
        Ok(entry)
    }

    #[test]
    fn entries_round_trip() {
        let plain = Meta { owner: None, attributes: Vec::new(), ..meta() };
        let link = |meta: Meta| Entry::Link { meta, target: b"/etc".to_vec() };
        for entry in [
            Entry::Dir(meta()),
            Entry::Dir(plain.clone()),
            Entry::File(Meta { shared: true, ..meta() }),
            Entry::File(plain.clone()),
            link(meta()),
            link(Meta { shared: true, ..meta() }),
            link(plain),
            Entry::HardLink { name: b"h".to_vec(), file: u64::MAX },
            Entry::Up,
        ] {
            let mut out = Vec::new();
            entry.put(&mut out);
            assert_eq!(read(&out, 2), Ok(entry.clone()));
            assert!(out.len() <= entry.weight() + 12, "{entry:?}");
            for length in 0..out.len() {
                assert!(read(&out[..length], 2).is_err(), "{entry:?} {length}");
            }
        }
    }

    #[test]
    fn forged_attributes_and_flags_are_refused() {
        let mut begin = Vec::new();
        put_meta(&mut begin, FILE, &Meta { name: b"x".to_vec(), ..Meta::default() });
        begin.pop(); // no flags
        let with = |rest: &[u8]| read(&[&begin, rest].concat(), 2);
        assert!(with(&[0]).is_ok() && with(&[4, 1, 1, b'a', 0]).is_ok());
        let long = |length: usize| {
            let mut rest = vec![4, 1];
            put_bytes(&mut rest, &vec![b'a'; length]);
            rest.push(0);
            rest
        };
        assert!(with(&long(255)).is_ok());
        let many: Vec<u8> = (0..20u8)
            .flat_map(|number| {
                let mut rest = vec![1, b'a' + number];
                put_bytes(&mut rest, &[0; NAME_LIMIT]);
                rest
            })
            .collect();
        for refused in [
            vec![8],                                // an unknown flag
            vec![4, 0],                             // no attribute
            vec![4, 1, 0, 0],                       // without a name
            vec![4, 1, 1, 0, 0],                    // a zero byte
            vec![4, 2, 1, b'a', 0, 1, b'a', 0],     // twice
            vec![4, 2, 1, b'b', 0, 1, b'a', 0],     // out of order
            vec![4, 0x80, 0x80, 0x80, 0x80, 0x10],  // very many
            vec![1, 0xff, 0xff, 0xff, 0xff, 15, 0], // "no change" as user
            long(256),
            [&[4, 20][..], &many].concat(),
        ] {
            assert!(with(&refused).is_err(), "{:?}", &refused[..refused.len().min(20)]);
        }
        let mut folder = Vec::new();
        put_meta(&mut folder, DIR, &Meta { name: b"x".to_vec(), shared: true, ..Meta::default() });
        assert!(read(&folder, 2).is_err(), "a folder has one name");
    }

    #[test]
    fn version_1_has_neither_owners_nor_hard_links() {
        assert!(read(&[HARD_LINK, 1, b'h', 0], 1).is_err());
        let link = Meta { name: b"l".to_vec(), ..Meta::default() };
        let target = b"t".to_vec();
        assert_eq!(read(&[LINK, 1, b'l', 1, b't'], 1), Ok(Entry::Link { meta: link, target }));
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
