//! The fixed-length parts of the archive: header, record head, footer. `FORMAT.md` is the reference.

use crate::params::{BLOCK_LIMIT, BlockSizes, Codec, Matching, Params, TABLE_LIMIT};
use crate::wire::{Fields, Parsed, check};

/// The version of the format that this crate writes.
pub const FORMAT_VERSION: u16 = 2;
/// The oldest version that it reads. The versions differ in the encoding of entries alone.
pub const OLDEST_VERSION: u16 = 1;

/// The first bytes of an archive. As in PNG: a byte that is not text, a name, and line ends that a transfer in text
/// mode would change.
pub(crate) const MAGIC: [u8; 8] = *b"\x89THD\r\n\x1a\n";
/// The last bytes of an archive.
pub(crate) const END_MAGIC: [u8; 8] = *b"THD.end\n";
/// Length of magic, version and header length, which have the same offsets in every version.
pub(crate) const PREFIX_BYTES: usize = 12;
pub(crate) const HEADER_BYTES: usize = 64;
pub(crate) const RECORD: u8 = b'R';
pub(crate) const FOOTER: u8 = b'E';
/// Length of a record's head, including its tag.
pub(crate) const HEAD_BYTES: usize = 35;
/// Length of the checksum after a record's body.
pub(crate) const CHECK_BYTES: usize = 8;
/// Length of the footer, including its tag and the end magic.
pub(crate) const FOOTER_BYTES: usize = 1 + 7 * 8 + 32 + 8 + 8;

/// The kind of content of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One unnamed stream of bytes.
    Stream,
    /// A directory tree.
    Tree,
}

impl Kind {
    /// A description with an article, for messages.
    pub fn describe(self) -> &'static str {
        match self {
            Kind::Stream => "a stream of bytes",
            Kind::Tree => "a directory tree",
        }
    }
}

/// The archive's header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The version of the format.
    pub version: u16,
    /// Stream or tree.
    pub kind: Kind,
    /// The codec.
    pub codec: Codec,
    /// The codec's level.
    pub level: i32,
    /// How duplicates were found. In an archive of an earlier packer, the least and the average length of chunks.
    pub matching: Matching,
    /// The largest distance of a duplicate, in bytes of unique data.
    pub window: u64,
    /// The maximum number of entries in the packer's index.
    pub index_entries: u64,
    pub(crate) block: BlockSizes,
}

impl Header {
    pub(crate) fn new(kind: Kind, params: &Params) -> Self {
        Header {
            version: FORMAT_VERSION,
            kind,
            codec: params.codec,
            level: params.level,
            matching: params.matching,
            window: params.window,
            index_entries: params.index_entries(),
            block: params.block,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_BYTES);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(&(HEADER_BYTES as u16).to_le_bytes());
        out.push(u8::from(self.kind == Kind::Tree));
        out.push(self.codec.tag());
        out.extend_from_slice(&(self.level as i16).to_le_bytes());
        for size in [self.matching.min, self.matching.spacing, 0, self.block.min, self.block.max, 0] {
            out.extend_from_slice(&size.to_le_bytes());
        }
        out.extend_from_slice(&self.window.to_le_bytes());
        out.extend_from_slice(&self.index_entries.to_le_bytes());
        seal(out)
    }

    /// Decodes a whole header. The caller has checked magic and version.
    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES]) -> Parsed<Self> {
        unseal(bytes, "the header's checksum does not match")?;
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        let mut fields = Fields::new(&bytes[PREFIX_BYTES..]);
        let kind = match fields.u8()? {
            0 => Kind::Stream,
            1 => Kind::Tree,
            other => return Err(format!("unknown content kind {other}")),
        };
        let codec = codec(fields.u8()?)?;
        let level = i32::from(fields.i16()?);
        let matching = Matching { min: fields.u32()?, spacing: fields.u32()? };
        // Earlier packers stored the largest chunk here.
        fields.u32()?;
        let block = BlockSizes { min: fields.u32()?, max: fields.u32()? };
        if fields.u32()? != 0 {
            return Err("a reserved field is not zero".into());
        }
        if block.max > BLOCK_LIMIT {
            return Err(format!("the block size is {}, the limit is {BLOCK_LIMIT}", block.max));
        }
        let (window, index_entries) = (fields.u64()?, fields.u64()?);
        Ok(Header { version, kind, codec, level, matching, window, index_entries, block })
    }
}

/// The sizes of one part of a record, uncompressed (`raw`) and as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub raw: u32,
    pub stored: u32,
    pub codec: Codec,
}

/// The head of a record. It has its own checksum, so its lengths are checked before they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordHead {
    pub sequence: u64,
    pub table: Part,
    pub data: Part,
}

impl RecordHead {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD_BYTES);
        out.push(RECORD);
        out.extend_from_slice(&self.sequence.to_le_bytes());
        for part in [self.table, self.data] {
            out.extend_from_slice(&part.raw.to_le_bytes());
            out.extend_from_slice(&part.stored.to_le_bytes());
            out.push(part.codec.tag());
        }
        seal(out)
    }

    pub fn decode(bytes: &[u8; HEAD_BYTES], header: &Header) -> Parsed<Self> {
        unseal(bytes, "the checksum of a record's head does not match")?;
        let mut fields = Fields::new(&bytes[1..]);
        let sequence = fields.u64()?;
        let table = part(&mut fields, TABLE_LIMIT)?;
        let data = part(&mut fields, header.block.max)?;
        Ok(RecordHead { sequence, table, data })
    }

    /// Length of the body, between head and checksum.
    pub fn body_bytes(&self) -> usize {
        self.table.stored as usize + self.data.stored as usize
    }
}

fn part(fields: &mut Fields<'_>, limit: u32) -> Parsed<Part> {
    let part = Part { raw: fields.u32()?, stored: fields.u32()?, codec: codec(fields.u8()?)? };
    if part.raw > limit {
        return Err(format!("a part of the record has {} bytes, the limit is {limit}", part.raw));
    }
    // A part that would not shrink is stored uncompressed, so it never grows.
    let fits = match part.codec {
        Codec::None => part.stored == part.raw,
        _ => part.stored < part.raw,
    };
    if fits {
        Ok(part)
    } else {
        Err(format!("impossible stored length {} of a part of {} bytes", part.stored, part.raw))
    }
}

fn codec(tag: u8) -> Parsed<Codec> {
    Codec::from_tag(tag).ok_or_else(|| format!("unknown codec {tag}"))
}

/// The footer: the totals of the whole archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Footer {
    /// Records in the archive.
    pub records: u64,
    /// Bytes of unpacked content.
    pub content_bytes: u64,
    /// Bytes of content without duplicates.
    pub unique_bytes: u64,
    /// All chunks.
    pub chunks: u64,
    /// Chunks that duplicate earlier ones.
    pub duplicates: u64,
    /// Folders, files and links.
    pub entries: u64,
    /// The content hash: blake3 over all chunk hashes and entries, in stream order.
    pub root: [u8; 32],
}

impl Footer {
    /// `offset` is the offset of the footer in the archive.
    pub(crate) fn encode(&self, offset: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(FOOTER_BYTES);
        out.push(FOOTER);
        let counts =
            [self.records, self.content_bytes, self.unique_bytes, self.chunks, self.duplicates, self.entries];
        for count in counts.into_iter().chain([offset]) {
            out.extend_from_slice(&count.to_le_bytes());
        }
        out.extend_from_slice(&self.root);
        let mut out = seal(out);
        out.extend_from_slice(&END_MAGIC);
        out
    }

    pub(crate) fn decode(bytes: &[u8; FOOTER_BYTES], offset: u64) -> Parsed<Self> {
        let (sealed, end) = bytes.split_at(FOOTER_BYTES - END_MAGIC.len());
        unseal(sealed, "the footer's checksum does not match")?;
        if end != END_MAGIC {
            return Err("wrong end magic".into());
        }
        let mut fields = Fields::new(&sealed[1..]);
        let footer = Footer {
            records: fields.u64()?,
            content_bytes: fields.u64()?,
            unique_bytes: fields.u64()?,
            chunks: fields.u64()?,
            duplicates: fields.u64()?,
            entries: fields.u64()?,
            root: [0; 32],
        };
        if fields.u64()? != offset {
            return Err("the footer names another offset than its own".into());
        }
        Ok(Footer { root: fields.hash()?, ..footer })
    }
}

/// Appends the checksum of `out`.
fn seal(mut out: Vec<u8>) -> Vec<u8> {
    let sum = check(&[&out]);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}

/// Checks the checksum at the end of `bytes`. Fails with `message`.
fn unseal(bytes: &[u8], message: &str) -> Parsed<()> {
    let (body, sum) = bytes.split_at(bytes.len() - CHECK_BYTES);
    if sum == check(&[body]).to_le_bytes() { Ok(()) } else { Err(message.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_parts_have_their_lengths() {
        let header = Header::new(Kind::Tree, &Params::default());
        let bytes: [u8; HEADER_BYTES] = header.encode().try_into().unwrap();
        assert_eq!(Header::decode(&bytes), Ok(header.clone()));

        let part = Part { raw: 10, stored: 10, codec: Codec::None };
        let head = RecordHead { sequence: 7, table: part, data: part };
        let bytes: [u8; HEAD_BYTES] = head.encode().try_into().unwrap();
        assert_eq!(RecordHead::decode(&bytes, &header), Ok(head));

        let footer = Footer { records: 3, root: [9; 32], ..Footer::default() };
        let bytes: [u8; FOOTER_BYTES] = footer.encode(1234).try_into().unwrap();
        assert_eq!(Footer::decode(&bytes, 1234), Ok(footer));
        assert!(Footer::decode(&bytes, 1235).is_err());
    }

    #[test]
    fn lengths_beyond_the_limits_are_refused_even_with_a_valid_checksum() {
        let header = Header::new(Kind::Stream, &Params::default());
        let small = Part { raw: 1, stored: 1, codec: Codec::None };
        let huge = Part { raw: u32::MAX, stored: 5, codec: Codec::Zstd };
        for (table, data) in [(small, huge), (huge, small)] {
            let bytes: [u8; HEAD_BYTES] =
                RecordHead { sequence: 0, table, data }.encode().try_into().unwrap();
            assert!(RecordHead::decode(&bytes, &header).is_err());
        }
    }
}
