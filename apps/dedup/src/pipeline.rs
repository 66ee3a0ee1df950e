//! Packing as a pipeline: the stages of [`crate::stage`] as one chain of the engine.

use std::io::{Read, Write};
use std::thread::available_parallelism;

use thalweg::{Options, Report};

use crate::observe::{Observer, Quiet};
use crate::pack::Source;
use crate::params::Params;
use crate::stage::{ArchiveWriter, Planner, chunks, encode, hash};
use crate::summary::Summary;
use crate::{Error, Result};

/// Blocks read ahead.
const BLOCKS: usize = 4;
/// Chunks between the cheap stages: those of a few blocks.
const CHUNKS: usize = 512;
/// Blocks waiting for compression, and records waiting to be written, for each core. Three is
/// where the paper on pipelines with work stealing found no more to gain for dedup.
const TOKENS_PER_CORE: usize = 3;

/// Packs one stream of bytes on the engine's threads.
///
/// The archive is the same, byte for byte, as [`crate::pack_sequential`] makes.
pub fn pack(
    input: impl Read + Send,
    output: impl Write + Send,
    params: &Params,
    options: &Options,
) -> Result<(Summary, Report)> {
    pack_source(Source::stream(input), output, params, Box::new(Quiet), options)
}

/// Packs a stream or a tree on the engine's threads.
pub fn pack_source<'a>(
    source: Source<'a>,
    output: impl Write + Send,
    params: &Params,
    observer: Box<dyn Observer + 'a>,
    options: &Options,
) -> Result<(Summary, Report)> {
    params.validate()?;
    let kind = source.kind();
    let blocks = source.split(params, observer)?;
    let mut writer = ArchiveWriter::new(output, kind, params)?;
    let mut planner = Planner::new(params);
    let tokens = TOKENS_PER_CORE * available_parallelism().map_or(4, usize::from).max(4);
    let flow = thalweg::from_try_iter(blocks)
        .named("read")
        .capacity(BLOCKS)
        .par_flat_map(|block| chunks(block, &params.chunk))
        .named("chunk")
        .capacity(CHUNKS)
        .par_map(hash)
        .named("hash")
        .capacity(CHUNKS)
        .filter_map(|hashed| planner.add(hashed))
        .named("look-up")
        .capacity(tokens)
        .try_par_map(|group| encode(group, params))
        .named("compress")
        .capacity(tokens)
        .try_for_each(|record| writer.record(record))
        .named("write");
    // Every firing is microseconds to milliseconds of work, so claims of several would only take
    // work away from other threads.
    let report = flow.run(&options.clone().run_length(1)).map_err(cause)?;
    let (_, summary) = writer.finish()?;
    Ok((summary, report))
}

/// A stage's own error without the engine's words around it.
fn cause(error: thalweg::Error) -> Error {
    match error {
        thalweg::Error::Node { node, source } => match source.downcast::<Error>() {
            Ok(ours) => *ours,
            Err(source) => Error::Engine(thalweg::Error::Node { node, source }),
        },
        other => Error::Engine(other),
    }
}
