//! The last stage: writes the header, the records in stream order, and the footer.

use std::io::Write;

use crate::Result;
use crate::error::Doing;
use crate::format::{Header, Kind};
use crate::params::Params;
use crate::record::Record;
use crate::summary::Summary;

/// Writes an archive.
#[derive(Debug)]
pub struct ArchiveWriter<W> {
    out: W,
    root: blake3::Hasher,
    totals: Summary,
}

impl<W: Write> ArchiveWriter<W> {
    /// Creates a writer and writes the header.
    pub fn new(out: W, kind: Kind, params: &Params) -> Result<Self> {
        let mut writer = ArchiveWriter { out, root: blake3::Hasher::new(), totals: Summary::default() };
        writer.put(&Header::new(kind, params).encode())?;
        Ok(writer)
    }

    /// Writes the next record.
    ///
    /// # Panics
    /// If the records are not in the order in which the planner made them.
    pub fn record(&mut self, record: Record) -> Result<()> {
        assert_eq!(record.sequence, self.totals.records, "records arrive in stream order");
        self.put(&record.bytes)?;
        self.root.update(&record.hash_input);
        self.totals += record.counts;
        self.totals.records += 1;
        Ok(())
    }

    /// Writes the footer. Returns the output and the counts.
    pub fn finish(mut self) -> Result<(W, Summary)> {
        let footer = self.totals.footer(*self.root.finalize().as_bytes());
        self.put(&footer.encode(self.totals.archive_bytes))?;
        self.out.flush().doing(|| self.writing())?;
        Ok((self.out, self.totals))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).doing(|| self.writing())?;
        self.totals.archive_bytes += bytes.len() as u64;
        Ok(())
    }

    fn writing(&self) -> String {
        format!("writing the archive at byte offset {}", self.totals.archive_bytes)
    }
}
