//! What a reader refuses, as far as the data is not needed: one set of rules for unpacking, for verifying and for `stat`,
//! which does not decompress it.

use thalweg::embed::graph::shown_bytes;

use crate::entry::{Entry, unsafe_name};
use crate::format::{Footer, Header, Kind};
use crate::summary::Summary;
use crate::{Error, Result};

/// The state of the rules between two items. It grows with the names of open folders.
pub(crate) struct Rules {
    kind: Kind,
    /// The largest distance that a duplicate may have.
    max_distance: u64,
    /// Of the items so far.
    totals: Summary,
    /// The unique bytes that all records so far have.
    unique_bytes: u64,
    order: EntryOrder,
}

impl Rules {
    pub fn new(header: &Header) -> Self {
        Rules {
            kind: header.kind,
            max_distance: header.window,
            totals: Summary::default(),
            unique_bytes: 0,
            order: EntryOrder::default(),
        }
    }

    /// Begins a record that has this many bytes of data.
    pub fn begin_record(&mut self, data: u64) {
        self.totals.records += 1;
        self.unique_bytes += data;
    }

    /// Ends a record: its table has named all its data.
    pub fn end_record(&self, data: u64) -> Result<(), String> {
        let begin = self.unique_bytes - data;
        let named = self.totals.unique_bytes - begin;
        if named == data {
            return Ok(());
        }
        Err(format!("the record has {data} bytes of data, its table names {named}"))
    }

    /// Takes a new chunk.
    pub fn new_chunk(&mut self, length: u32) -> Result<(), String> {
        self.check_in_file()?;
        self.totals.chunks += 1;
        self.totals.content_bytes += u64::from(length);
        self.totals.unique_bytes += u64::from(length);
        if self.totals.unique_bytes > self.unique_bytes {
            return Err("the table of the record names more data than the record has".into());
        }
        Ok(())
    }

    /// Takes a duplicate. Returns the position of its data in the unique data of the archive.
    pub fn duplicate_chunk(&mut self, length: u32, distance: u64) -> Result<u64, String> {
        self.check_in_file()?;
        let now = self.totals.unique_bytes;
        if distance > self.max_distance || distance > now || u64::from(length) > distance {
            return Err("a duplicate refers to data outside the window".into());
        }
        self.totals.chunks += 1;
        self.totals.duplicates += 1;
        self.totals.content_bytes += u64::from(length);
        Ok(now - distance)
    }

    /// Takes an entry of the record at `offset`.
    pub fn entry(&mut self, entry: &Entry, offset: u64) -> Result<()> {
        if self.kind == Kind::Stream {
            return Err(Error::corrupt(offset, "a stream archive has a tree entry"));
        }
        self.order.next(entry, offset)?;
        self.totals.entries += u64::from(entry.name().is_some());
        Ok(())
    }

    fn check_in_file(&self) -> Result<(), String> {
        match self.kind {
            Kind::Tree if !self.order.in_file => Err("content outside of a file".into()),
            _ => Ok(()),
        }
    }

    /// Checks that the tree is complete at its footer, which is at `offset`.
    pub fn check_complete(&self, offset: u64) -> Result<()> {
        if self.kind == Kind::Tree && !self.order.complete() {
            return Err(Error::corrupt(offset, "the tree ends inside a folder"));
        }
        Ok(())
    }

    /// Compares the totals with the footer, which is at `offset`. Returns them.
    pub fn check_totals(self, footer: &Footer, offset: u64) -> Result<Summary> {
        if self.totals.footer(footer.root) != *footer {
            return Err(Error::corrupt(offset, "the totals in the footer do not match the content"));
        }
        Ok(self.totals)
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
        if let Entry::Link { target, .. } = entry
            && (target.is_empty() || target.contains(&0))
        {
            let what =
                format!("the target of the link `{}` is empty or contains a zero byte", shown_bytes(name));
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
