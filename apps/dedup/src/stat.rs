//! The properties of an archive, read without decompressing its data.

use std::io::Read;

use crate::entry::Entry;
use crate::format::{Footer, Header};
use crate::params::Limits;
use crate::reader::Archive;
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

/// Scans an archive. Checks the checksums of the data, but does not decompress it.
pub fn stat(input: impl Read, limits: &Limits, listing: &mut dyn Listing) -> Result<Stat> {
    let mut archive = Archive::open(input, limits)?;
    let mut table = Vec::new();
    let mut last: Option<(Entry, u64)> = None;
    let mut stored_bytes = 0;
    while let Some(record) = archive.next_record()? {
        record.table(&mut table)?;
        stored_bytes += record.head.body_bytes() as u64;
        let mut fields = Fields::new(&table);
        while let Some(item) =
            table::next(&mut fields, record.version).map_err(|e| Error::corrupt(record.offset, e))?
        {
            match item {
                Item::New { length } | Item::Duplicate { length, .. } => {
                    if let Some((_, size)) = &mut last {
                        *size += u64::from(length);
                    }
                }
                Item::Entry(entry) => pass(last.replace((entry, 0)), listing)?,
            }
        }
    }
    pass(last, listing)?;
    let (_, footer) = archive.footer().expect("the footer follows the last record").clone();
    Ok(Stat { header: archive.header().clone(), footer, archive_bytes: archive.offset(), stored_bytes })
}

fn pass(entry: Option<(Entry, u64)>, listing: &mut dyn Listing) -> Result<()> {
    match entry {
        Some((entry, size)) => listing.entry(&entry, size),
        None => Ok(()),
    }
}
