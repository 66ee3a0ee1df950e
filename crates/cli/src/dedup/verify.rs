//! `thalweg dedup verify`.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use thalweg_dedup::verify;

use super::{Grant, report};
use crate::progress::Progress;
use crate::standard;

/// Check an archive: all that unpacking checks, without writing anything.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  thalweg dedup verify photos.thd && echo good
  ssh host cat photos.thd | thalweg dedup verify -")]
pub(crate) struct Verify {
    /// The archive, or `-` for standard input
    archive: PathBuf,
    /// Say afterwards what was found
    #[arg(long)]
    report: bool,
    #[command(flatten)]
    grant: Grant,
}

impl Verify {
    pub fn run(self) -> Result<()> {
        let (input, length) = standard::input(&self.archive)?;
        let progress = Progress::new(length);
        let started = Instant::now();
        let verified = verify(progress.read(input), &self.grant.limits());
        progress.finish();
        let summary = verified.with_context(|| format!("verifying {}", self.archive.display()))?;
        if self.report {
            standard::complain(&report(&summary, started.elapsed()));
        }
        Ok(())
    }
}
