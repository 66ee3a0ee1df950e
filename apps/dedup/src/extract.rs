//! Sequential unpacking: the reference for the content and for the errors of the parallel pipeline.

use std::io::{Read, Write};
use std::path::Path;

use crate::assemble::Assembler;
use crate::format::Kind;
use crate::params::Limits;
use crate::reader::{Archive, Decoded};
use crate::sink::{Discard, Sink, StreamSink};
use crate::summary::Summary;
use crate::tree::TreeSink;
use crate::{Error, Result};

/// Passes the whole content of `archive` to `sink` and checks the archive.
///
/// When this function returns an error, the sink may have received a part of the content. Every byte of that part
/// has passed the checksum of its record.
pub fn extract<R: Read>(mut archive: Archive<R>, sink: &mut dyn Sink) -> Result<Summary> {
    let mut assembler = Assembler::new(archive.header(), archive.limits())?;
    let mut decoded = Decoded::default();
    while let Some(record) = archive.next_record()? {
        record.decode(&mut decoded)?;
        assembler.apply(&decoded, sink)?;
    }
    let (offset, footer) = archive.footer().expect("the footer follows the last record");
    assembler.finish(footer, *offset, archive.offset())
}

/// Unpacks an archive of a stream.
pub fn unpack_stream(input: impl Read, output: impl Write, limits: &Limits) -> Result<Summary> {
    let archive = Archive::open(input, limits)?;
    expect_kind(&archive, Kind::Stream)?;
    let mut sink = StreamSink::new(output);
    let summary = extract(archive, &mut sink)?;
    sink.finish()?;
    Ok(summary)
}

/// Unpacks an archive of a tree. The folder `output` appears when it is complete.
pub fn unpack_tree(input: impl Read, output: &Path, limits: &Limits) -> Result<Summary> {
    let archive = Archive::open(input, limits)?;
    expect_kind(&archive, Kind::Tree)?;
    let mut sink = TreeSink::create(output, false)?;
    let summary = extract(archive, &mut sink)?;
    sink.commit()?;
    Ok(summary)
}

/// Reads the whole archive and does all checks of unpacking.
pub fn verify(input: impl Read, limits: &Limits) -> Result<Summary> {
    extract(Archive::open(input, limits)?, &mut Discard)
}

fn expect_kind<R: Read>(archive: &Archive<R>, kind: Kind) -> Result<()> {
    let found = archive.header().kind;
    if found == kind {
        return Ok(());
    }
    Err(Error::Kind { found: found.describe(), wanted: kind.describe() })
}
