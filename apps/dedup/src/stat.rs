//! The properties of an archive, read without decompressing its data.

use std::io::Read;

use crate::entry::Entry;
use crate::format::{Footer, Header};
use crate::params::Limits;
use crate::reader::{Archive, RawRecord};
use crate::rules::Rules;
use crate::table::{self, Item};
use crate::wire::Fields;
use crate::{Error, Result};

/// Header, footer and size of an archive. All records have passed their checksums.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stat {
    /// The header.
    pub header: Header,
    /// The totals of the archive.
    pub footer: Footer,
    /// The length of the archive.
    pub archive_bytes: u64,
    /// Bytes of all tables and data as stored.
    pub stored_bytes: u64,
}

/// Receives the entries of a tree in order. An entry is passed when the next one has been read, since the size of a
/// file is not known before.
pub trait Listing {
    /// Receives an entry, and the bytes of content after it.
    fn entry(&mut self, entry: &Entry, size: u64) -> Result<()>;
}

impl<F: FnMut(&Entry, u64) -> Result<()>> Listing for F {
    fn entry(&mut self, entry: &Entry, size: u64) -> Result<()> {
        self(entry, size)
    }
}

/// Scans an archive. Checks all that unpacking checks except the data, of which it only compares checksums: it does not
/// decompress it. Takes time and memory in proportion to the tables of the records, which have the entries.
pub fn stat(input: impl Read, limits: &Limits, listing: &mut dyn Listing) -> Result<Stat> {
    let mut archive = Archive::open(input, limits)?;
    let mut scan = Scan { rules: Rules::new(archive.header()), last: None, listing };
    let mut table = Vec::new();
    let mut stored_bytes = 0;
    while let Some(record) = archive.next_record()? {
        record.table(&mut table)?;
        stored_bytes += record.head.body_bytes() as u64;
        scan.record(&record, &table)?;
    }
    scan.pass()?;
    let (offset, footer) = archive.footer().expect("the footer follows the last record").clone();
    scan.rules.check_complete(offset)?;
    scan.rules.check_totals(&footer, offset)?;
    Ok(Stat { header: archive.header().clone(), footer, archive_bytes: archive.offset(), stored_bytes })
}

/// The state of a scan between two records.
struct Scan<'a> {
    rules: Rules,
    /// The latest entry, and the bytes of content after it.
    last: Option<(Entry, u64)>,
    listing: &'a mut dyn Listing,
}

impl Scan<'_> {
    fn record(&mut self, record: &RawRecord, table: &[u8]) -> Result<()> {
        let offset = record.offset;
        let corrupt = |what: String| Error::corrupt(offset, what);
        let data = u64::from(record.head.data.raw);
        self.rules.begin_record(data);
        let mut fields = Fields::new(table);
        while let Some(item) = table::next(&mut fields, record.version).map_err(corrupt)? {
            match item {
                Item::New { length } => {
                    self.rules.new_chunk(length).map_err(corrupt)?;
                    self.count(length);
                }
                Item::Duplicate { length, distance } => {
                    self.rules.duplicate_chunk(length, distance).map_err(corrupt)?;
                    self.count(length);
                }
                Item::Entry(entry) => {
                    self.rules.entry(&entry, offset)?;
                    self.pass()?;
                    self.last = Some((entry, 0));
                }
            }
        }
        self.rules.end_record(data).map_err(corrupt)
    }

    fn count(&mut self, length: u32) {
        if let Some((_, size)) = &mut self.last {
            *size += u64::from(length);
        }
    }

    /// Passes the latest entry on.
    fn pass(&mut self) -> Result<()> {
        match self.last.take() {
            Some((entry, size)) => self.listing.entry(&entry, size),
            None => Ok(()),
        }
    }
}
