//! `thalweg dedup unpack`.

use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use thalweg_dedup::{Archive, Kind, StreamSink, Summary, TreeSink, extract};

use super::pack::open_output;
use super::{Grant, report};
use crate::progress::Progress;
use crate::standard;

/// Unpack an archive.
///
/// The output appears under its name only when the whole archive has been read and found good.
/// With `-o -` the content goes to standard output as it comes; everything written there has
/// passed its checksum, and the exit code says whether it is complete.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  thalweg dedup unpack photos.thd -o photos       a folder
  thalweg dedup unpack src.tar.thd -o - | tar x   to standard output
  ssh host cat logs.thd | thalweg dedup unpack - -o logs")]
pub(crate) struct Unpack {
    /// The archive, or `-` for standard input
    archive: PathBuf,
    /// The file or folder to make, or `-` for standard output
    #[arg(short, long, value_name = "OUTPUT")]
    output: PathBuf,
    /// Replace an existing file, or an empty folder (a folder with anything in it is never replaced)
    #[arg(short, long)]
    force: bool,
    /// Say afterwards what was done
    #[arg(long)]
    report: bool,
    #[command(flatten)]
    grant: Grant,
}

impl Unpack {
    pub fn run(self) -> Result<()> {
        let (input, length) = standard::input(&self.archive)?;
        let progress = Progress::new(length);
        let started = Instant::now();
        let unpacked = self.unpack(progress.read(input));
        progress.finish();
        let summary = unpacked.with_context(|| format!("unpacking {}", self.archive.display()))?;
        if self.report {
            standard::complain(&report(&summary, started.elapsed()));
        }
        Ok(())
    }

    fn unpack(&self, input: impl Read) -> Result<Summary> {
        let archive = Archive::open(input, &self.grant.limits())?;
        match archive.header().kind {
            Kind::Stream => {
                let mut sink = StreamSink::new(open_output(&self.output, self.force)?);
                let summary = extract(archive, &mut sink)?;
                sink.finish()?.commit()?;
                Ok(summary)
            }
            Kind::Tree if standard::is_dash(&self.output) => {
                bail!(
                    "the archive holds a directory tree, which does not fit into a pipe; name a folder with -o"
                )
            }
            Kind::Tree => {
                let mut sink = TreeSink::create(&self.output, self.force)?;
                let summary = extract(archive, &mut sink)?;
                sink.commit()?;
                Ok(summary)
            }
        }
    }
}
