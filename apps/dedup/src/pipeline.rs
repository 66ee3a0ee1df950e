//! Packing and unpacking as pipelines on the engine.
//!
//! **Memory.** Every channel has a capacity in items. That does not bound bytes where an item is a whole block or is as
//! large as the archive declares (a record), so those channels are also limited in bytes.

use std::io::{Read, Write};

use thalweg::Report;

use crate::Result;
use crate::assemble::Assembler;
use crate::block::Sampled;
use crate::observe::{Observer, Quiet};
use crate::pack::Source;
use crate::params::Params;
use crate::reader::{Archive, Decoded, RawRecord};
use crate::run::Run;
use crate::sink::Sink;
use crate::stage::{ArchiveWriter, Group, Planner, Record, encode, sample};
use crate::summary::Summary;

/// Blocks read ahead.
const BLOCKS: usize = 2;
/// Blocks that wait for compression, and records that wait to be written, for each core. The paper on pipelines with
/// work stealing found no gain for dedup beyond three.
const TOKENS_PER_CORE: usize = 3;
/// Bytes in all weighed channels of a pipeline together, for each core: several blocks of the default size.
const BYTES_PER_CORE: usize = 16 << 20;

/// Packs one stream of bytes on the engine's threads.
///
/// The archive is the same, byte for byte, as that of [`crate::pack_sequential`].
pub fn pack(
    input: impl Read + Send,
    output: impl Write + Send,
    params: &Params,
    run: impl Into<Run>,
) -> Result<(Summary, Report)> {
    pack_source(Source::stream(input), output, params, Box::new(Quiet), run)
}

/// Packs a stream or a tree on the engine's threads.
pub fn pack_source<'a>(
    source: Source<'a>,
    output: impl Write + Send,
    params: &Params,
    observer: Box<dyn Observer + 'a>,
    run: impl Into<Run>,
) -> Result<(Summary, Report)> {
    params.validate()?;
    let run = run.into();
    let kind = source.kind();
    let blocks = source.split(params, observer)?;
    let mut writer = ArchiveWriter::new(output, kind, params)?;
    let mut planner = Planner::new(params);
    let blocks = thalweg::from_try_iter(blocks).named("read").capacity(BLOCKS);
    let end = run
        .read_stage(blocks)
        .par_map(|block| sample(block, &params.matching))
        .named("sample")
        .capacity(tokens())
        .weigh(|sampled: &Sampled| sampled.block.bytes().len())
        .map(|sampled| planner.add(sampled))
        .named("look-up")
        .capacity(tokens())
        .weigh(Group::content_bytes)
        .try_par_map(|group| encode(group, params))
        .named("compress")
        .capacity(tokens())
        .weigh(|record: &Record| record.bytes().len())
        .for_each(|record| writer.record(record))
        .named("write");
    let report = run.execute(end, budget())?;
    let (_, summary) = writer.finish()?;
    Ok((summary, report))
}

/// Passes the whole content of `archive` to `sink`, on the engine's threads. Records are read in order, checked,
/// decompressed and hashed in parallel, and reassembled in order.
///
/// Content, calls of the sink and errors are those of [`crate::extract`]: only the first damaged record is reported,
/// after the content before it has been passed to the sink.
pub fn extract_parallel<R: Read + Send>(
    mut archive: Archive<R>,
    sink: &mut (impl Sink + Send),
    run: impl Into<Run>,
) -> Result<(Summary, Report)> {
    let run = run.into();
    let mut assembler = Assembler::new(archive.header(), archive.limits())?;
    // Errors are items too, so they keep their position in the stream through the parallel stage.
    let records = thalweg::from_iter(archive.records())
        .named("read")
        .capacity(tokens())
        .weigh(|record: &Result<RawRecord>| record.as_ref().map_or(0, RawRecord::weight));
    let end = run
        .read_stage(records)
        .par_map(|record| record.and_then(RawRecord::into_decoded))
        .named("decode")
        .capacity(tokens())
        .weigh(|decoded: &Result<Decoded>| decoded.as_ref().map_or(0, Decoded::weight))
        .for_each(|decoded| assembler.apply(&decoded?, sink))
        .named("assemble");
    let report = run.execute(end, budget())?;
    let (offset, footer) = archive.footer().expect("the footer follows the last record");
    let summary = assembler.finish(footer, *offset, archive.offset())?;
    Ok((summary, report))
}

fn cores() -> usize {
    thalweg::embed::plan::threads().max(4)
}

fn tokens() -> usize {
    TOKENS_PER_CORE * cores()
}

/// The byte budget of a run: 1 MiB for the slots of the channels, and 4/3 of the bytes of the weighed channels,
/// because the engine reserves a quarter for growth (which chains never need).
fn budget() -> usize {
    (1 << 20) + BYTES_PER_CORE * cores() / 3 * 4
}
