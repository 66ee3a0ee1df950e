//! `thalweg dedup unpack`.

use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use thalweg_dedup::{Archive, Kind, Run, StreamSink, Summary, TreeSink, extract_parallel};

use super::{OutputLimit, OutputOptions, ReadLimits, check_not_input, report};
use crate::engine::{Engine, Graphs};
use crate::interrupt::Interrupt;
use crate::standard::{self, Input};

/// Unpack an archive.
///
/// The output appears under its name when the whole archive has been read and checked. With `-o -` the
/// content is written to standard output at once: every byte has passed its checksum, and the exit code
/// tells whether the content is complete.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  thalweg dedup unpack photos.thd -o photos       a folder
  thalweg dedup unpack src.tar.thd -o - | tar x   to standard output
  ssh host cat logs.thd | thalweg dedup unpack - -o logs")]
pub(crate) struct Unpack {
    /// The archive, or `-` for standard input
    archive: PathBuf,
    /// The file or folder to create, or `-` for standard output
    #[arg(short, long, value_name = "OUTPUT")]
    output: PathBuf,
    #[command(flatten)]
    disk: OutputOptions,
    #[command(flatten)]
    engine: Engine,
    #[command(flatten)]
    limits: ReadLimits,
    #[command(flatten)]
    limit: OutputLimit,
}

impl Unpack {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let run = self.engine.run(Graphs::One, interrupt)?;
        self.engine.check(&[], [self.archive.as_path(), &self.output])?;
        check_not_input(&self.archive, &self.output)?;
        let Input { bytes, length } = standard::input(&self.archive, interrupt)?;
        let _guard = OutputOptions::guard(&self.output, interrupt);
        let progress = self.engine.progress(length);
        let started = Instant::now();
        let unpacked = self.unpack(progress.read(bytes), run.blocking_input(length.is_none()));
        progress.end(&unpacked);
        let (summary, run) = unpacked.with_context(|| format!("unpacking {}", self.archive.display()))?;
        let took = started.elapsed();
        self.engine.results.finish(&run, || report(&summary, took), interrupt)
    }

    fn unpack(&self, input: impl Read + Send, run: Run) -> Result<(Summary, thalweg::Report)> {
        let archive = Archive::open(input, &self.limit.add_to(self.limits.limits()))?;
        match archive.header().kind {
            Kind::Stream => {
                let mut sink = StreamSink::new(self.disk.file(&self.output)?);
                let done = extract_parallel(archive, &mut sink, run)?;
                sink.finish()?.commit()?;
                Ok(done)
            }
            Kind::Tree if standard::is_dash(&self.output) => {
                bail!(
                    "the archive holds a directory tree, which cannot be written to standard output\n\
                     help: name a folder with -o"
                )
            }
            Kind::Tree => {
                let sink = TreeSink::create(&self.output, self.disk.force)?;
                let mut sink = sink.durable(!self.disk.no_sync);
                let done = extract_parallel(archive, &mut sink, run)?;
                sink.commit()?;
                Ok(done)
            }
        }
    }
}
