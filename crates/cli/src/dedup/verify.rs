//! `thalweg dedup verify`.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use thalweg::embed::graph::shown;
use thalweg_dedup::{Archive, Discard, extract_parallel};

use super::{OutputLimit, ReadLimits, report};
use crate::engine::{Engine, Graphs};
use crate::interrupt::Interrupt;
use crate::standard::{self, Input};

/// Check an archive as unpacking does, without writing output.
///
/// Reads and decompresses the whole archive, and checks all checksums. Prints nothing if the archive is sound; --report prints
/// what it holds.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg dedup verify photos.thd && echo good
  ssh host cat photos.thd | thalweg dedup verify -")]
pub(crate) struct Verify {
    /// The archive, or `-` for standard input
    archive: PathBuf,
    #[command(flatten)]
    engine: Engine,
    #[command(flatten)]
    limits: ReadLimits,
    #[command(flatten)]
    limit: OutputLimit,
}

impl Verify {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let run = self.engine.run(Graphs::One, interrupt)?;
        self.engine.check(&[], [self.archive.as_path()])?;
        let Input { bytes, length } = standard::input(&self.archive, interrupt)?;
        let progress = self.engine.progress(length);
        let started = Instant::now();
        let limits = self.limit.add_to(self.limits.limits());
        let archive = Archive::open(progress.read(bytes), &limits);
        let run = run.blocking_input(length.is_none());
        let verified = archive.and_then(|archive| extract_parallel(archive, &mut Discard, run));
        progress.end(&verified);
        let (summary, run) = verified.with_context(|| format!("verifying {}", shown(&self.archive)))?;
        let took = started.elapsed();
        self.engine.results.finish(&run, || report(&summary, took), interrupt)
    }
}
