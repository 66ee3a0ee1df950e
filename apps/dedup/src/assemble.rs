//! Reassembles the content from decoded records: resolves duplicates, and computes the content hash. What needs no data is
//! checked by [`Rules`].

use std::ops::Range;

use crate::entry::Entry;
use crate::format::{Footer, Header};
use crate::params::Limits;
use crate::reader::Decoded;
use crate::rules::Rules;
use crate::sink::Sink;
use crate::summary::{Summary, hash_chunk, hash_entry};
use crate::table::{self, Item};
use crate::window::Window;
use crate::wire::Fields;
use crate::{Error, Result};

/// The state of reassembly between two records.
pub(crate) struct Assembler {
    version: u16,
    rules: Rules,
    window: Window,
    root: blake3::Hasher,
    /// The input of `root` for the current record.
    hash_input: Vec<u8>,
    pending: Pending,
    /// The limit of the output, and the bytes of it that are left.
    limit: u64,
    left: u64,
}

impl Assembler {
    pub fn new(header: &Header, limits: &Limits) -> Result<Self> {
        let capacity = header.window.checked_add(u64::from(header.block.max));
        let capacity = capacity.and_then(|c| usize::try_from(c).ok());
        let capacity = capacity.ok_or_else(|| Error::corrupt(40, "the window exceeds the address space"))?;
        Ok(Assembler {
            version: header.version,
            rules: Rules::new(header),
            window: Window::new(capacity),
            root: blake3::Hasher::new(),
            hash_input: Vec::new(),
            pending: Pending::default(),
            limit: limits.output,
            left: limits.output,
        })
    }

    /// Passes the content of one record to `sink`, up to the first error.
    pub fn apply(&mut self, record: &Decoded, sink: &mut dyn Sink) -> Result<()> {
        let applied = self.items(record, sink);
        self.pending.flush(sink).and(applied)
    }

    fn items(&mut self, record: &Decoded, sink: &mut dyn Sink) -> Result<()> {
        let offset = record.offset;
        let corrupt = |what: String| Error::corrupt(offset, what);
        self.window.push(&record.data);
        self.rules.begin_record(record.data.len() as u64);
        self.hash_input.clear();
        let mut fields = Fields::new(&record.table);
        // Adjacent new chunks, passed to the sink together.
        let mut run = 0..0;
        let mut hashes = record.hashes.iter();
        loop {
            let before = fields.rest();
            let Some(item) = table::next(&mut fields, self.version).map_err(corrupt)? else { break };
            match item {
                Item::New { length } => {
                    self.charge(length.into(), offset)?;
                    self.new_chunk(length, hashes.next(), &mut run).map_err(corrupt)?;
                }
                Item::Duplicate { length, distance } => {
                    self.charge(length.into(), offset)?;
                    self.put(&mut run, &record.data, sink)?;
                    self.duplicate_chunk(length, distance, sink, offset)?;
                }
                Item::Entry(entry) => {
                    self.put(&mut run, &record.data, sink)?;
                    self.pending.flush(sink)?;
                    let encoded = &before[..before.len() - fields.rest().len()];
                    self.charge(encoded.len() as u64, offset)?;
                    self.entry(&entry, encoded, sink, offset)?;
                }
            }
        }
        self.put(&mut run, &record.data, sink)?;
        self.rules.end_record(record.data.len() as u64).map_err(corrupt)?;
        self.root.update(&self.hash_input);
        Ok(())
    }

    /// Adds a run of adjacent new chunks to the output.
    fn put(&mut self, run: &mut Range<usize>, data: &[u8], sink: &mut dyn Sink) -> Result<()> {
        self.pending.put(&data[run.clone()], sink)?;
        run.start = run.end;
        Ok(())
    }

    /// Counts output before it is passed to the sink, so no more than the limit arrives there.
    fn charge(&mut self, bytes: u64, offset: u64) -> Result<()> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or(Error::OutputLimit { limit: self.limit, offset })?;
        Ok(())
    }

    fn new_chunk(
        &mut self,
        length: u32,
        hash: Option<&[u8; 32]>,
        run: &mut Range<usize>,
    ) -> Result<(), String> {
        self.rules.new_chunk(length)?;
        // Decoding hashed every chunk that lies within the data.
        let hash = hash.ok_or("a chunk of the record has no data")?;
        hash_chunk(&mut self.hash_input, length, hash);
        run.end += length as usize;
        Ok(())
    }

    fn duplicate_chunk(
        &mut self,
        length: u32,
        distance: u64,
        sink: &mut dyn Sink,
        offset: u64,
    ) -> Result<()> {
        let corrupt = |what: String| Error::corrupt(offset, what);
        let position = self.rules.duplicate_chunk(length, distance).map_err(corrupt)?;
        let parts = self.window.get(position, length as usize);
        let parts = parts.ok_or_else(|| corrupt("a duplicate refers to data outside the window".into()))?;
        let hash = match parts {
            [whole, []] => blake3::hash(whole),
            [first, second] => blake3::Hasher::new().update(first).update(second).finalize(),
        };
        hash_chunk(&mut self.hash_input, length, hash.as_bytes());
        parts.into_iter().try_for_each(|part| self.pending.put(part, sink))
    }

    fn entry(&mut self, entry: &Entry, encoded: &[u8], sink: &mut dyn Sink, offset: u64) -> Result<()> {
        self.rules.entry(entry, offset)?;
        hash_entry(&mut self.hash_input, encoded);
        sink.entry(entry, offset)
    }

    /// Compares the content with the footer, which is at `offset`.
    pub fn finish(self, footer: &Footer, offset: u64, archive_bytes: u64) -> Result<Summary> {
        self.rules.check_complete(offset)?;
        if *self.root.finalize().as_bytes() != footer.root {
            return Err(Error::corrupt(offset, "the content hash does not match"));
        }
        let totals = self.rules.check_totals(footer, offset)?;
        Ok(Summary { archive_bytes, ..totals })
    }
}

/// Content that the sink has not received yet. Most duplicates are short, and each call of a sink may be a system call.
#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
}

impl Pending {
    /// The most bytes that are held back.
    const LIMIT: usize = 128 << 10;

    fn put(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> Result<()> {
        if self.bytes.len() + bytes.len() <= Self::LIMIT {
            self.bytes.extend_from_slice(bytes);
            return Ok(());
        }
        self.flush(sink)?;
        sink.data(bytes)
    }

    fn flush(&mut self, sink: &mut dyn Sink) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let passed = sink.data(&self.bytes);
        self.bytes.clear();
        passed
    }
}
