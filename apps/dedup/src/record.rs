//! The compression stage: encodes a planned block as a record.

use std::ops::Range;

use crate::Result;
use crate::codec::compress;
use crate::format::{CHECK_BYTES, HEAD_BYTES, Part, RecordHead};
use crate::params::{Codec, Params};
use crate::plan::{Group, Plan};
use crate::pool::Buffer;
use crate::summary::Summary;
use crate::wire::check;

/// A finished record, ready to be written.
#[derive(Debug)]
pub struct Record {
    pub(crate) sequence: u64,
    pub(crate) bytes: Buffer,
    /// The input of the content hash for this record.
    pub(crate) hash_input: Vec<u8>,
    pub(crate) counts: Summary,
}

impl Record {
    /// The bytes of this record in the archive.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of content in this record.
    pub fn content_bytes(&self) -> u64 {
        self.counts.content_bytes
    }
}

/// Shorter tables are stored uncompressed.
const SMALL_TABLE: usize = 256;

/// Hashes the chunks of one group, and compresses its unique data into a record: the fourth stage.
pub fn encode(group: Group, params: &Params) -> Result<Record> {
    let Group { mut block, sequence, plan } = group;
    let Plan { table, unique, mut hash_input, chunks, counts } = plan;
    for (range, at) in chunks {
        let hash = blake3::hash(&block.bytes[range.start as usize..range.end as usize]);
        hash_input[at..at + 32].copy_from_slice(hash.as_bytes());
    }
    let mut bytes = block.records.take(HEAD_BYTES + table.len() + CHECK_BYTES);
    bytes.resize(HEAD_BYTES, 0);
    let table_codec = if table.len() < SMALL_TABLE { Codec::None } else { params.codec };
    let table = part(table_codec, params.level, &table, &mut bytes)?;
    let data = part(params.codec, params.level, gather(&mut block.bytes, &unique), &mut bytes)?;
    bytes[..HEAD_BYTES].copy_from_slice(&RecordHead { sequence, table, data }.encode());
    let sum = check(&[&bytes[HEAD_BYTES..]]);
    bytes.extend_from_slice(&sum.to_le_bytes());
    Ok(Record { sequence, bytes, hash_input, counts })
}

fn part(codec: Codec, level: i32, data: &[u8], out: &mut Vec<u8>) -> Result<Part> {
    let start = out.len();
    let codec = compress(codec, level, data, out)?;
    Ok(Part { raw: data.len() as u32, stored: (out.len() - start) as u32, codec })
}

/// Moves `parts` of `bytes`, in rising order, to the front.
fn gather<'a>(bytes: &'a mut [u8], parts: &[Range<u32>]) -> &'a [u8] {
    let mut length = 0;
    for part in parts {
        let part = part.start as usize..part.end as usize;
        bytes.copy_within(part.clone(), length);
        length += part.len();
    }
    &bytes[..length]
}
