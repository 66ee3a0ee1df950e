//! Puts decoded records together again: resolves duplicates, checks the order of entries, and
//! hashes what comes out.

use std::ops::Range;

use crate::entry::{Entry, unsafe_name};
use crate::format::{Footer, Header, Kind};
use crate::reader::Decoded;
use crate::sink::Sink;
use crate::summary::{Summary, trail_chunk, trail_entry};
use crate::table::{self, Item};
use crate::window::Window;
use crate::wire::Fields;
use crate::{Error, Result};

/// The state between records.
pub(crate) struct Assembler {
    kind: Kind,
    reach: u64,
    window: Window,
    root: blake3::Hasher,
    totals: Summary,
    trail: Vec<u8>,
    order: Order,
}

impl Assembler {
    pub fn new(header: &Header) -> Result<Self> {
        let capacity = header.window.checked_add(u64::from(header.block.max));
        let capacity = capacity.and_then(|c| usize::try_from(c).ok());
        let capacity = capacity.ok_or_else(|| Error::corrupt(40, "the window does not fit in memory"))?;
        Ok(Assembler {
            kind: header.kind,
            reach: header.window,
            window: Window::new(capacity),
            root: blake3::Hasher::new(),
            totals: Summary::default(),
            trail: Vec::new(),
            order: Order::default(),
        })
    }

    /// Hands the content of one record to `sink`.
    pub fn apply(&mut self, record: &Decoded, sink: &mut dyn Sink) -> Result<()> {
        let offset = record.offset;
        let corrupt = |what: String| Error::corrupt(offset, what);
        let start = self.window.total();
        self.window.push(&record.data);
        self.totals.records += 1;
        self.trail.clear();
        let mut fields = Fields::new(&record.table);
        // New chunks that follow each other are handed on together.
        let mut run = 0..0;
        let mut hashes = record.hashes.iter();
        loop {
            let before = fields.rest();
            let Some(item) = table::next(&mut fields).map_err(corrupt)? else { break };
            match item {
                Item::New { length } => {
                    self.new_chunk(length, hashes.next(), &mut run).map_err(corrupt)?;
                }
                Item::Seen { length, distance } => {
                    flush(&mut run, &record.data, sink)?;
                    self.seen_chunk(length, distance, start + run.end as u64, sink, offset)?;
                }
                Item::Entry(entry) => {
                    flush(&mut run, &record.data, sink)?;
                    let encoded = &before[..before.len() - fields.rest().len()];
                    self.entry(&entry, encoded, sink, offset)?;
                }
            }
        }
        flush(&mut run, &record.data, sink)?;
        if run.end != record.data.len() {
            return Err(corrupt("a record has data that its table does not name".into()));
        }
        self.root.update(&self.trail);
        Ok(())
    }

    fn new_chunk(
        &mut self,
        length: u32,
        hash: Option<&[u8; 32]>,
        run: &mut Range<usize>,
    ) -> Result<(), String> {
        self.may_have_data()?;
        // All chunks within the data were hashed when the record was decoded.
        let hash = hash.ok_or("a record's table names more data than there is")?;
        trail_chunk(&mut self.trail, length, hash);
        run.end += length as usize;
        self.totals.chunks += 1;
        self.totals.content_bytes += u64::from(length);
        self.totals.unique_bytes += u64::from(length);
        Ok(())
    }

    /// `now` is how much unique data stands before this item.
    fn seen_chunk(
        &mut self,
        length: u32,
        distance: u64,
        now: u64,
        sink: &mut dyn Sink,
        offset: u64,
    ) -> Result<()> {
        let corrupt = |what: &str| Error::corrupt(offset, what);
        self.may_have_data().map_err(|what| corrupt(&what))?;
        if distance > self.reach || distance > now || u64::from(length) > distance {
            return Err(corrupt("a duplicate refers to what is not in the window"));
        }
        let parts = self.window.get(now - distance, length as usize);
        let parts = parts.ok_or_else(|| corrupt("a duplicate refers to what is not in the window"))?;
        let mut hasher = blake3::Hasher::new();
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            hasher.update(part);
            sink.data(part)?;
        }
        trail_chunk(&mut self.trail, length, hasher.finalize().as_bytes());
        self.totals.chunks += 1;
        self.totals.duplicates += 1;
        self.totals.content_bytes += u64::from(length);
        Ok(())
    }

    fn entry(&mut self, entry: &Entry, encoded: &[u8], sink: &mut dyn Sink, offset: u64) -> Result<()> {
        if self.kind == Kind::Stream {
            return Err(Error::corrupt(offset, "a stream has an entry in it"));
        }
        self.order.next(entry, offset)?;
        trail_entry(&mut self.trail, encoded);
        self.totals.entries += u64::from(entry.name().is_some());
        sink.entry(entry, offset)
    }

    fn may_have_data(&self) -> Result<(), String> {
        match self.kind {
            Kind::Tree if !self.order.in_file => Err("there is content outside of any file".into()),
            _ => Ok(()),
        }
    }

    /// Compares all that was seen with the footer, which stands at `offset`.
    pub fn finish(mut self, footer: &Footer, offset: u64, archive_bytes: u64) -> Result<Summary> {
        if self.kind == Kind::Tree && !self.order.complete() {
            return Err(Error::corrupt(offset, "the tree ends inside of a folder"));
        }
        let root = *self.root.finalize().as_bytes();
        if root != footer.root {
            return Err(Error::corrupt(offset, "the hash of the whole content does not match"));
        }
        if self.totals.footer(root) != *footer {
            return Err(Error::corrupt(offset, "the totals do not match"));
        }
        self.totals.archive_bytes = archive_bytes;
        Ok(self.totals)
    }
}

/// Hands on the new chunks that were found one behind the other.
fn flush(run: &mut Range<usize>, data: &[u8], sink: &mut dyn Sink) -> Result<()> {
    if run.start < run.end {
        sink.data(&data[run.clone()])?;
        run.start = run.end;
    }
    Ok(())
}

/// Where in the tree we are.
#[derive(Default)]
struct Order {
    /// The last name in each open folder.
    last: Vec<Vec<u8>>,
    started: bool,
    in_file: bool,
}

impl Order {
    fn complete(&self) -> bool {
        self.started && self.last.is_empty()
    }

    fn next(&mut self, entry: &Entry, offset: u64) -> Result<()> {
        self.in_file = matches!(entry, Entry::File(_));
        if !self.started {
            return self.root(entry, offset);
        }
        let Some(last) = self.last.last_mut() else {
            return Err(Error::corrupt(offset, "there are entries behind the end of the tree"));
        };
        let Some(name) = entry.name() else {
            self.last.pop();
            return Ok(());
        };
        if let Some(why) = unsafe_name(name) {
            let what = format!("the name {:?} {why}", String::from_utf8_lossy(name));
            return Err(Error::Unsafe { offset, what });
        }
        if *name <= **last {
            let what = format!("{:?} comes twice, or out of order", String::from_utf8_lossy(name));
            return Err(Error::Unsafe { offset, what });
        }
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
                let name = String::from_utf8_lossy(other.name().unwrap_or_default()).into_owned();
                let what = format!("the tree begins with {name:?} and not with its root");
                Err(Error::Unsafe { offset, what })
            }
        }
    }
}
