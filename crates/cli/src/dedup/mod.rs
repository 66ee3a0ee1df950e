//! `thalweg dedup`: one file per verb.

use std::fs::{self, Metadata};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, Subcommand};
use thalweg_dedup::{Error, Limits, Summary};
use thalweg_files::OutFile;

use crate::interrupt::{Guard, Interrupt};
use crate::progress::Progress;
use crate::{outputs, size, standard};

mod compare;
mod demo;
mod list;
mod pack;
mod stat;
mod unpack;
mod verify;

/// Pack files into a deduplicated, compressed archive, and unpack them again.
///
/// An archive stores data that occurs several times once, and compresses the rest. It holds a directory tree, a file or a
/// stream.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg dedup pack photos -o photos.thd
  thalweg dedup unpack photos.thd -o restored
  thalweg dedup verify photos.thd
  thalweg dedup demo                         pack and unpack the Rust toolchain")]
pub(crate) struct Dedup {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Pack(pack::Pack),
    Unpack(unpack::Unpack),
    Verify(verify::Verify),
    Stat(stat::Stat),
    Demo(demo::Demo),
}

impl Dedup {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        match self.verb {
            Verb::Pack(verb) => verb.run(interrupt),
            Verb::Unpack(verb) => verb.run(interrupt),
            Verb::Verify(verb) => verb.run(interrupt),
            Verb::Stat(verb) => verb.run(interrupt),
            Verb::Demo(verb) => verb.run(interrupt),
        }
    }
}

/// Limits for reading an archive.
#[derive(Debug, Args)]
struct ReadLimits {
    /// Refuse archives that need more memory than this for earlier data: those that were packed with a larger --window
    #[arg(long, hide_short_help = true, value_name = "SIZE", default_value = "1GiB", value_parser = size::parse)]
    window_limit: u64,
}

impl ReadLimits {
    fn limits(&self) -> Limits {
        Limits::default().window(self.window_limit)
    }
}

/// The limit of the output of an archive.
#[derive(Debug, Args)]
struct OutputLimit {
    /// Refuse archives of more output than this, before it is written: a small one may hold any amount (default: no
    /// limit). Contents count, and names and attributes as the archive stores them
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    limit: Option<u64>,
}

impl OutputLimit {
    fn add_to(&self, limits: Limits) -> Limits {
        self.limit.map_or(limits, |limit| limits.output(limit))
    }
}

/// Options of verbs that write to disk.
#[derive(Debug, Args)]
struct Disk {
    /// Do not wait until the finished output is on the disk
    #[arg(long, hide_short_help = true)]
    no_sync: bool,
}

impl Disk {
    /// Creates the output file, or opens standard output for `-`. A terminal, which may take data for commands, is refused
    /// unless `force` is set.
    fn file(&self, path: &Path, force: bool) -> Result<OutFile> {
        if standard::is_dash(path) {
            ensure!(
                force || !io::stdout().is_terminal(),
                "refusing to write binary data to a terminal\n\
                 help: name a file with -o, send standard output to another command, or give --force"
            );
            return Ok(OutFile::direct(standard::stdout()?));
        }
        Ok(OutFile::create(path, force)?.durable(!self.no_sync))
    }

    /// Creates the output file of what is read from `input`, which gets the attributes of a file that the user has named.
    fn file_from(&self, path: &Path, force: bool, input: &Path, meta: &Metadata) -> Result<OutFile> {
        let output = self.file(path, force)?;
        outputs::check_not_input(&output, meta)?;
        let is_named = meta.is_file() && !standard::is_dash(input);
        Ok(if is_named { output.like(meta.clone()) } else { output })
    }

    /// A guard to hold while `path` is written. Pipes and devices need none: they are written directly, so an
    /// interrupt leaves nothing to remove, and writing may wait for a reader.
    fn guard(path: &Path, interrupt: &Interrupt) -> Option<Guard> {
        let direct = standard::is_dash(path) || fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir());
        (!direct).then(|| interrupt.guard())
    }
}

/// The error of a run that has done all but what its warnings name. The exit code is 2, as that of tar.
#[derive(Debug, thiserror::Error)]
#[error("{0} of the entries could not be kept as they are: see the warnings")]
pub(crate) struct Incomplete(pub u64);

/// The exit code of [`Incomplete`].
pub(crate) const INCOMPLETE: u8 = 2;

/// Prints as warnings what could not be kept of entries, and counts it.
#[derive(Clone, Debug)]
struct Failures {
    progress: Progress,
    count: Arc<AtomicU64>,
}

impl Failures {
    fn new(progress: &Progress) -> Self {
        Failures { progress: progress.clone(), count: Arc::default() }
    }

    fn add(&self, why: Error) {
        // Relaxed: `check` reads it after the run.
        self.count.fetch_add(1, Ordering::Relaxed);
        self.progress.note(&format!("warning: {:#}", anyhow::Error::from(why)));
    }

    /// Fails if there were any.
    fn check(&self) -> Result<()> {
        let count = self.count.load(Ordering::Relaxed);
        ensure!(count == 0, Incomplete(count));
        Ok(())
    }
}

/// The summary of a finished run.
fn report(summary: &Summary, took: Duration) -> String {
    let per_second = summary.content_bytes as f64 / took.as_secs_f64().max(1e-9);
    format!(
        "content   {} in {} entries\n\
         unique    {} ({} of {} chunks are duplicates)\n\
         archive   {} ({}), {} records\n\
         time      {:.3} s, {}/s",
        size::show(summary.content_bytes),
        summary.entries,
        size::show(summary.unique_bytes),
        summary.duplicates,
        summary.chunks,
        size::show(summary.archive_bytes),
        ratio(summary.archive_bytes, summary.content_bytes),
        summary.records,
        took.as_secs_f64(),
        size::show(per_second as u64),
    )
}

/// `part` as a percentage of `whole`.
fn ratio(part: u64, whole: u64) -> String {
    if whole == 0 { "-".into() } else { format!("{:.2} %", part as f64 * 100.0 / whole as f64) }
}
