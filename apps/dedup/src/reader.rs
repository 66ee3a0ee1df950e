//! Reads an archive as an untrusted stream: every length is checked before it is used, and every error has a byte
//! offset.

use std::io::{self, Read};
use std::sync::Arc;

use crate::codec::decompress;
use crate::error::Doing;
use crate::format::*;
use crate::params::Limits;
use crate::pool::{Buffer, Pool};
use crate::run::Stop;
use crate::table::{self, Item};
use crate::wire::{Fields, check};
use crate::{Error, Result};

/// An open archive. Its header has been read.
#[derive(Debug)]
pub struct Archive<R> {
    input: R,
    offset: u64,
    header: Header,
    limits: Limits,
    records: u64,
    footer: Option<(u64, Footer)>,
    stop: Stop,
    pool: Arc<Pool>,
}

/// A stored record. Its head has been checked, its body has not.
#[derive(Debug)]
pub(crate) struct RawRecord {
    /// The offset of the record in the archive.
    pub offset: u64,
    /// The version of the archive.
    pub version: u16,
    pub head: RecordHead,
    body: Buffer,
}

/// A record's table and unique data.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub offset: u64,
    pub table: Vec<u8>,
    pub data: Buffer,
    /// The hashes of its new chunks, up to the first error of the table.
    pub hashes: Vec<[u8; 32]>,
}

impl<R: Read> Archive<R> {
    /// Reads and checks the header.
    pub fn open(mut input: R, limits: &Limits) -> Result<Self> {
        let mut bytes = [0; HEADER_BYTES];
        let got = read_up_to(&mut input, &mut bytes[..PREFIX_BYTES], 0)?;
        let magic = got.min(MAGIC.len());
        if bytes[..magic] != MAGIC[..magic] {
            return Err(Error::NotAnArchive);
        }
        let truncated = |got: usize| Error::Truncated { offset: got as u64, what: "the header" };
        if got < PREFIX_BYTES {
            return Err(truncated(got));
        }
        let found = u16::from_le_bytes([bytes[8], bytes[9]]);
        if !(OLDEST_VERSION..=FORMAT_VERSION).contains(&found) {
            return Err(Error::Version { found, supported: FORMAT_VERSION });
        }
        if bytes[10..12] != (HEADER_BYTES as u16).to_le_bytes() {
            return Err(Error::corrupt(10, "wrong header length"));
        }
        let rest = read_up_to(&mut input, &mut bytes[PREFIX_BYTES..], PREFIX_BYTES as u64)?;
        if PREFIX_BYTES + rest < HEADER_BYTES {
            return Err(truncated(PREFIX_BYTES + rest));
        }
        let header = Header::decode(&bytes).map_err(|what| Error::corrupt(0, what))?;
        if header.window > limits.window {
            return Err(Error::Window { needed: header.window, limit: limits.window });
        }
        let (offset, stop, pool) = (HEADER_BYTES as u64, Stop::new(), Pool::new());
        Ok(Archive { input, offset, header, limits: *limits, records: 0, footer: None, stop, pool })
    }

    /// Makes reading fail with [`Error::Stopped`] between two records when `stop` is requested.
    pub fn stop(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The footer and its offset, after all records have been read.
    pub(crate) fn footer(&self) -> Option<&(u64, Footer)> {
        self.footer.as_ref()
    }

    /// Bytes read so far.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads the next record. Returns `None` after the last one, when the footer has been checked.
    pub(crate) fn next_record(&mut self) -> Result<Option<RawRecord>> {
        if self.footer.is_some() {
            return Ok(None);
        }
        self.stop.check()?;
        let mut tag = [0];
        self.fill(&mut tag, "the records, before the footer")?;
        match tag[0] {
            RECORD => self.record().map(Some),
            FOOTER => self.end().map(|()| None),
            other => Err(Error::corrupt(self.offset - 1, format!("unknown record tag {other}"))),
        }
    }

    /// The records in order. The iterator ends after the first error.
    pub(crate) fn records(&mut self) -> impl Iterator<Item = Result<RawRecord>> {
        let mut failed = false;
        std::iter::from_fn(move || {
            if failed {
                return None;
            }
            let record = self.next_record();
            failed = record.is_err();
            record.transpose()
        })
    }

    fn record(&mut self) -> Result<RawRecord> {
        let offset = self.offset - 1;
        let mut bytes = [RECORD; HEAD_BYTES];
        self.fill(&mut bytes[1..], "the head of a record")?;
        let head = RecordHead::decode(&bytes, &self.header).map_err(|what| Error::corrupt(offset, what))?;
        if head.sequence != self.records {
            let what = format!("found record {}, expected record {}", head.sequence, self.records);
            return Err(Error::corrupt(offset, what));
        }
        self.records += 1;
        let body = self.body(head.body_bytes() + CHECK_BYTES)?;
        Ok(RawRecord { offset, version: self.header.version, head, body })
    }

    /// Reads `length` bytes. Allocates memory only as they arrive, since `length` is not trusted.
    fn body(&mut self, length: usize) -> Result<Buffer> {
        let mut body = self.pool.take(0);
        let read = (&mut self.input).take(length as u64).read_to_end(&mut body);
        self.offset += body.len() as u64;
        read.doing(|| reading(self.offset))?;
        if body.len() < length {
            return Err(Error::Truncated { offset: self.offset, what: "a record" });
        }
        Ok(body)
    }

    fn end(&mut self) -> Result<()> {
        let offset = self.offset - 1;
        let mut bytes = [FOOTER; FOOTER_BYTES];
        self.fill(&mut bytes[1..], "the footer")?;
        let footer = Footer::decode(&bytes, offset).map_err(|what| Error::corrupt(offset, what))?;
        if footer.records != self.records {
            return Err(Error::corrupt(
                offset,
                format!("the archive has {} records, its footer says {}", self.records, footer.records),
            ));
        }
        if read_up_to(&mut self.input, &mut [0], self.offset)? != 0 {
            return Err(Error::corrupt(self.offset, "extra bytes after the end of the archive"));
        }
        self.footer = Some((offset, footer));
        Ok(())
    }

    fn fill(&mut self, bytes: &mut [u8], what: &'static str) -> Result<()> {
        let got = read_up_to(&mut self.input, bytes, self.offset)?;
        self.offset += got as u64;
        if got < bytes.len() {
            return Err(Error::Truncated { offset: self.offset, what });
        }
        Ok(())
    }
}

impl RawRecord {
    /// Compares the body with its checksum.
    pub fn check(&self) -> Result<()> {
        let (body, sum) = self.body.split_at(self.head.body_bytes());
        if sum != check(&[body]).to_le_bytes() {
            return Err(Error::corrupt(self.offset, "the checksum of a record does not match"));
        }
        Ok(())
    }

    /// Checks the body and decompresses its table.
    pub fn table(&self, table: &mut Vec<u8>) -> Result<()> {
        self.check()?;
        let Part { raw, stored, codec } = self.head.table;
        decompress(codec, &self.body[..stored as usize], raw as usize, table)
            .map_err(|what| Error::corrupt(self.offset, what))
    }

    /// Checks, decompresses and hashes the record, reusing the memory of `into`.
    pub fn decode(&self, into: &mut Decoded) -> Result<()> {
        into.offset = self.offset;
        self.table(&mut into.table)?;
        let Part { raw, codec, .. } = self.head.data;
        let stored = &self.body[self.head.table.stored as usize..self.head.body_bytes()];
        decompress(codec, stored, raw as usize, &mut into.data)
            .map_err(|what| Error::corrupt(self.offset, what))?;
        into.hash(self.version);
        Ok(())
    }

    /// Checks, decompresses and hashes the record, into a buffer of the same pool as the record's.
    pub fn into_decoded(self) -> Result<Decoded> {
        let mut decoded = Decoded { data: self.body.take_another(0), ..Decoded::default() };
        self.decode(&mut decoded)?;
        Ok(decoded)
    }

    /// Bytes in memory.
    pub fn weight(&self) -> usize {
        self.body.len()
    }
}

impl Decoded {
    /// Hashes the new chunks. Stops at the first error of the table, which the assembler reports in order.
    fn hash(&mut self, version: u16) {
        self.hashes.clear();
        let mut fields = Fields::new(&self.table);
        let mut rest = &self.data[..];
        while let Ok(Some(item)) = table::next(&mut fields, version) {
            if let Item::New { length } = item {
                let Some((chunk, behind)) = rest.split_at_checked(length as usize) else { return };
                self.hashes.push(*blake3::hash(chunk).as_bytes());
                rest = behind;
            }
        }
    }

    /// Bytes in memory.
    pub fn weight(&self) -> usize {
        self.table.len() + self.data.len()
    }
}

/// Reads until `bytes` is full or the input ends. Returns the number of bytes read.
fn read_up_to(input: &mut impl Read, bytes: &mut [u8], offset: u64) -> Result<usize> {
    let mut got = 0;
    while got < bytes.len() {
        match input.read(&mut bytes[got..]) {
            Ok(0) => break,
            Ok(count) => got += count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io(reading(offset + got as u64), e)),
        }
    }
    Ok(got)
}

fn reading(offset: u64) -> String {
    format!("reading the archive at byte offset {offset}")
}
