//! `thalweg dedup unpack`.

use std::fs::Metadata;
use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use thalweg::embed::graph::shown;
use thalweg_dedup::{Archive, Kind, Run, StreamSink, Summary, TreeSink, extract_parallel};

use super::{Disk, Failures, OutputLimit, ReadLimits, report};
use crate::engine::{Engine, Graphs};
use crate::interrupt::Interrupt;
use crate::outputs;
use crate::standard::{self, Input};

/// Unpack an archive.
///
/// The output appears under its name when the whole archive has been read and checked. With `-o -` the
/// content is written to standard output at once: every byte has passed its checksum, and the exit code
/// tells whether the content is complete.
///
/// Of a tree, permissions and modification times are restored. As with tar, the superuser restores all permissions, and other
/// users restore those that the umask leaves, or all with --same-permissions. The superuser also restores owners, and with
/// them set-user, set-group and sticky bits; --same-owner does so for other users, as far as the system permits. What cannot
/// be restored, such as a time beyond the range of the file system, is named in a warning, and the exit code is 2. A single
/// file gets permissions, modification time and, where this user may give it, owner of its archive. On a file system without
/// hard links, these become copies, with a warning.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg dedup unpack photos.thd -o photos       a folder
  thalweg dedup unpack src.tar.thd -o - | tar x   to standard output
  ssh host cat logs.thd | thalweg dedup unpack - -o logs")]
pub(crate) struct Unpack {
    /// The archive, or `-` for standard input
    archive: PathBuf,
    /// The file or folder to create, or `-` for standard output
    #[arg(short, long, value_name = "OUTPUT")]
    output: PathBuf,
    /// Restore owners, and set-user, set-group and sticky bits (default for the superuser)
    #[arg(long)]
    same_owner: bool,
    /// Leave all to this user, without these bits (default for other users)
    #[arg(long, conflicts_with = "same_owner")]
    no_same_owner: bool,
    /// Restore all permissions (default for the superuser)
    #[arg(long)]
    same_permissions: bool,
    /// Restore permissions without those in the umask (default for other users)
    #[arg(long, conflicts_with = "same_permissions")]
    no_same_permissions: bool,
    /// Restore the extended attributes that users set
    #[arg(long)]
    xattrs: bool,
    /// Replace an existing file or an empty folder, and write to a terminal. Other folders are never replaced
    #[arg(short, long)]
    force: bool,
    /// Make holes of blocks of zeros, so they take no space on the disk (as in images of disks)
    #[arg(long)]
    sparse: bool,
    #[command(flatten)]
    disk: Disk,
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
        outputs::check_apart([self.output.as_path()], self.engine.files().chain([self.archive.as_path()]))?;
        let opened = standard::open(&self.archive, interrupt)?;
        let meta = opened.meta.clone();
        let Input { bytes, length } = opened.into_input(interrupt);
        let _guard = Disk::guard(&self.output, interrupt);
        let progress = self.engine.progress(length);
        let started = Instant::now();
        let failures = Failures::new(&progress);
        let run = run.blocking_input(length.is_none());
        let unpacked = self.unpack(progress.read(bytes), &meta, run, &failures);
        progress.end(&unpacked);
        let (summary, run) = unpacked.with_context(|| format!("unpacking {}", shown(&self.archive)))?;
        let took = started.elapsed();
        self.engine.results.finish(&run, || report(&summary, took), interrupt)?;
        failures.check()
    }

    fn tree(&self, failures: &Failures) -> Result<TreeSink> {
        let failures = failures.clone();
        let sink = TreeSink::create(&self.output, self.force)?
            .durable(!self.disk.no_sync)
            .extended_attributes(self.xattrs)
            .sparse(self.sparse)
            .limit(self.limit.limit.unwrap_or(u64::MAX))
            .on_failure(move |error| failures.add(error));
        let sink = match (self.same_owner, self.no_same_owner) {
            (true, _) => sink.owners(true),
            (_, true) => sink.owners(false),
            _ => sink,
        };
        Ok(match (self.same_permissions, self.no_same_permissions) {
            (true, _) => sink.permissions(true),
            (_, true) => sink.permissions(false),
            _ => sink,
        })
    }

    /// Unpacks the archive that `input` reads from a file with this metadata.
    fn unpack(
        &self,
        input: impl Read + Send,
        meta: &Metadata,
        run: Run,
        failures: &Failures,
    ) -> Result<(Summary, thalweg::Report)> {
        let archive = Archive::open(input, &self.limit.add_to(self.limits.limits()))?;
        match archive.header().kind {
            Kind::Stream => {
                let output = self.disk.file_from(&self.output, self.force, &self.archive, meta)?;
                let mut sink = StreamSink::new(output.sparse(self.sparse));
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
                let mut sink = self.tree(failures)?;
                let done = extract_parallel(archive, &mut sink, run)?;
                sink.commit()?;
                Ok(done)
            }
        }
    }
}
