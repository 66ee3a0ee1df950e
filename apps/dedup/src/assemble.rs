//! Reassembles the content from decoded records: resolves duplicates, checks the order of entries, and
//! computes the content hash.

use std::ops::Range;

use thalweg::graph::shown_bytes;

use crate::entry::{Entry, unsafe_name};
use crate::format::{Footer, Header, Kind};
use crate::params::Limits;
use crate::reader::Decoded;
use crate::sink::Sink;
use crate::summary::{Summary, hash_chunk, hash_entry};
use crate::table::{self, Item};
use crate::window::Window;
use crate::wire::Fields;
use crate::{Error, Result};

/// The state of reassembly between two records.
pub(crate) struct Assembler {
    version: u16,
    kind: Kind,
    /// The largest distance that a duplicate may have.
    max_distance: u64,
    window: Window,
    root: blake3::Hasher,
    totals: Summary,
    /// The input of `root` for the current record.
    hash_input: Vec<u8>,
    pending: Pending,
    order: EntryOrder,
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
            kind: header.kind,
            max_distance: header.window,
            window: Window::new(capacity),
            root: blake3::Hasher::new(),
            totals: Summary::default(),
            hash_input: Vec::new(),
            pending: Pending::default(),
            order: EntryOrder::default(),
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
        let start = self.window.total();
        self.window.push(&record.data);
        self.totals.records += 1;
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
                    self.duplicate_chunk(length, distance, start + run.end as u64, sink, offset)?;
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
        if run.end != record.data.len() {
            let (data, named) = (record.data.len(), run.end);
            return Err(corrupt(format!("the record has {data} bytes of data, its table names {named}")));
        }
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
        self.check_in_file()?;
        // Decoding hashed every chunk that lies within the data.
        let hash = hash.ok_or("the table of the record names more data than the record has")?;
        hash_chunk(&mut self.hash_input, length, hash);
        run.end += length as usize;
        self.totals.chunks += 1;
        self.totals.content_bytes += u64::from(length);
        self.totals.unique_bytes += u64::from(length);
        Ok(())
    }

    /// `now` is the number of bytes of unique data before this item.
    fn duplicate_chunk(
        &mut self,
        length: u32,
        distance: u64,
        now: u64,
        sink: &mut dyn Sink,
        offset: u64,
    ) -> Result<()> {
        let corrupt = |what: &str| Error::corrupt(offset, what);
        self.check_in_file().map_err(|what| corrupt(&what))?;
        if distance > self.max_distance || distance > now || u64::from(length) > distance {
            return Err(corrupt("a duplicate refers to data outside the window"));
        }
        let parts = self.window.get(now - distance, length as usize);
        let parts = parts.ok_or_else(|| corrupt("a duplicate refers to data outside the window"))?;
        let hash = match parts {
            [whole, []] => blake3::hash(whole),
            [first, second] => blake3::Hasher::new().update(first).update(second).finalize(),
        };
        hash_chunk(&mut self.hash_input, length, hash.as_bytes());
        for part in parts {
            self.pending.put(part, sink)?;
        }
        self.totals.chunks += 1;
        self.totals.duplicates += 1;
        self.totals.content_bytes += u64::from(length);
        Ok(())
    }

    fn entry(&mut self, entry: &Entry, encoded: &[u8], sink: &mut dyn Sink, offset: u64) -> Result<()> {
        if self.kind == Kind::Stream {
            return Err(Error::corrupt(offset, "a stream archive has a tree entry"));
        }
        self.order.next(entry, offset)?;
        hash_entry(&mut self.hash_input, encoded);
        self.totals.entries += u64::from(entry.name().is_some());
        sink.entry(entry, offset)
    }

    fn check_in_file(&self) -> Result<(), String> {
        match self.kind {
            Kind::Tree if !self.order.in_file => Err("content outside of a file".into()),
            _ => Ok(()),
        }
    }

    /// Compares the content with the footer, which is at `offset`.
    pub fn finish(mut self, footer: &Footer, offset: u64, archive_bytes: u64) -> Result<Summary> {
        if self.kind == Kind::Tree && !self.order.complete() {
            return Err(Error::corrupt(offset, "the tree ends inside a folder"));
        }
        let root = *self.root.finalize().as_bytes();
        if root != footer.root {
            return Err(Error::corrupt(offset, "the content hash does not match"));
        }
        if self.totals.footer(root) != *footer {
            return Err(Error::corrupt(offset, "the totals in the footer do not match the content"));
        }
        self.totals.archive_bytes = archive_bytes;
        Ok(self.totals)
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

/// Checks that the entries of a tree come in depth-first order with increasing names.
#[derive(Default)]
struct EntryOrder {
    /// The last name in each open folder.
    last: Vec<Vec<u8>>,
    started: bool,
    /// The last entry was a file, so chunks may follow.
    in_file: bool,
    /// The number of files of which further names may follow.
    shared: u64,
}

impl EntryOrder {
    fn complete(&self) -> bool {
        self.started && self.last.is_empty()
    }

    fn next(&mut self, entry: &Entry, offset: u64) -> Result<()> {
        self.in_file = matches!(entry, Entry::File(_));
        if !self.started {
            return self.root(entry, offset);
        }
        let Some(last) = self.last.last_mut() else {
            return Err(Error::corrupt(offset, "entries after the end of the tree"));
        };
        let Some(name) = entry.name() else {
            self.last.pop();
            return Ok(());
        };
        if let Some(why) = unsafe_name(name) {
            let what = format!("the name `{}` {why}", shown_bytes(name));
            return Err(Error::Unsafe { offset, what });
        }
        if *name <= **last {
            let what = format!("the name `{}` is a duplicate or out of order", shown_bytes(name));
            return Err(Error::Unsafe { offset, what });
        }
        if let Entry::HardLink { file, .. } = entry
            && *file >= self.shared
        {
            let what = format!("a hard link refers to file {file} of {}", self.shared);
            return Err(Error::Unsafe { offset, what });
        }
        self.shared += u64::from(entry.is_shared());
        name.clone_into(last);
        if matches!(entry, Entry::Dir(_)) {
            self.last.push(Vec::new());
        }
        Ok(())
    }

    fn root(&mut self, entry: &Entry, offset: u64) -> Result<()> {
        match entry {
            Entry::Dir(meta) if meta.name.is_empty() => {
                self.started = true;
                self.last.push(Vec::new());
                Ok(())
            }
            other => {
                let name = shown_bytes(other.name().unwrap_or_default());
                let what = format!("the tree begins with `{name}`, expected its root");
                Err(Error::Unsafe { offset, what })
            }
        }
    }
}
