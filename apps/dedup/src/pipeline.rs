//! Packing and unpacking as pipelines: chains of operators.
//!
//! **Memory.** Every channel has a capacity in items. That is no bound in bytes where an item may
//! keep a whole block alive (a chunk) or is as large as an archive claims (a record), so those
//! channels are weighed, too.

use std::io::{Read, Write};
use std::thread::available_parallelism;

use thalweg::Report;

use crate::Result;
use crate::assemble::Assembler;
use crate::block::{Chunk, Hashed};
use crate::observe::{Observer, Quiet};
use crate::pack::Source;
use crate::params::Params;
use crate::reader::{Archive, Decoded, RawRecord};
use crate::run::Run;
use crate::sink::Sink;
use crate::stage::{ArchiveWriter, Planner, chunks, encode, hash};
use crate::summary::Summary;

/// Blocks read ahead.
const BLOCKS: usize = 4;
/// Chunks between the cheap stages: those of a few blocks.
const CHUNKS: usize = 512;
/// Blocks waiting for compression, and records waiting to be written, for each core. Three is
/// where the paper on pipelines with work stealing found no more to gain for dedup.
const TOKENS_PER_CORE: usize = 3;
/// Bytes in one weighed channel, for each core: several blocks of the usual size.
const BYTES_PER_CORE: usize = 8 << 20;
/// Weighed channels in either pipeline.
const WEIGHED: usize = 2;

/// Packs one stream of bytes on the engine's threads.
///
/// The archive is the same, byte for byte, as [`crate::pack_sequential`] makes.
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
        .reading(blocks)
        .par_flat_map(|block| chunks(block, &params.chunk))
        .named("chunk")
        .capacity(CHUNKS)
        .weigh(|chunk: &Chunk| chunk.bytes().len())
        .par_map(hash)
        .named("hash")
        .capacity(CHUNKS)
        .weigh(|hashed: &Hashed| hashed.chunk.bytes().len())
        .filter_map(|hashed| planner.add(hashed))
        .named("look-up")
        .capacity(tokens())
        .try_par_map(|group| encode(group, params))
        .named("compress")
        .capacity(tokens())
        .for_each(|record| writer.record(record))
        .named("write");
    let report = run.go(end, budget())?;
    let (_, summary) = writer.finish()?;
    Ok((summary, report))
}

/// Hands the whole content of `archive` to `sink`, on the engine's threads: records are read and
/// put together in order, and checked, decompressed and hashed in parallel between.
///
/// Content, sink calls and errors are those of [`crate::extract`]: a faulty record is reported
/// after all that stands before it was handed on, and the first one only.
pub fn extract_parallel<R: Read + Send>(
    mut archive: Archive<R>,
    sink: &mut (impl Sink + Send),
    run: impl Into<Run>,
) -> Result<(Summary, Report)> {
    let run = run.into();
    let mut assembler = Assembler::new(archive.header())?;
    // Errors travel as items: in their places, however the parallel stage runs.
    let records = thalweg::from_iter(archive.records())
        .named("read")
        .capacity(tokens())
        .weigh(|record: &Result<RawRecord>| record.as_ref().map_or(0, RawRecord::weight));
    let end = run
        .reading(records)
        .par_map(|record| record.and_then(RawRecord::unfold))
        .named("decode")
        .capacity(tokens())
        .weigh(|decoded: &Result<Decoded>| decoded.as_ref().map_or(0, Decoded::weight))
        .for_each(|decoded| assembler.apply(&decoded?, sink))
        .named("assemble");
    let report = run.go(end, budget())?;
    let (offset, footer) = archive.footer().expect("records end with the footer");
    let summary = assembler.finish(footer, *offset, archive.offset())?;
    Ok((summary, report))
}

fn cores() -> usize {
    available_parallelism().map_or(4, usize::from).max(4)
}

fn tokens() -> usize {
    TOKENS_PER_CORE * cores()
}

/// The engine keeps a quarter for growth, which chains never need, and charges the slots.
fn budget() -> usize {
    (1 << 20) + WEIGHED * BYTES_PER_CORE * cores() / 3 * 4
}
