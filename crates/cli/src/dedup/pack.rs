//! `thalweg dedup pack`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use thalweg::embed::graph::shown;
use thalweg_dedup::{Codec, Error, Limits, Observer, Params, Source, pack_source};

use super::{Disk, Failures, report};
use crate::engine::{Engine, Graphs};
use crate::interrupt::Interrupt;
use crate::misuse::Misuse;
use crate::progress::Progress;
use crate::standard::Opened;
use crate::{outputs, size, standard};

/// Pack a file, a directory tree or standard input.
///
/// Duplicate data is stored once, wherever it occurs. The rest is compressed. The bytes of the archive
/// depend only on the input and on the options of the format, not on threads and policy.
///
/// An archive of a tree stores names, contents, symbolic and hard links, permissions with set-user, set-group and sticky
/// bits, numbers of owners and groups, and modification times. Extended attributes that users set are stored with --xattrs.
/// Not stored: access control lists, capabilities and other attributes of the system, attributes of links, other times,
/// names of owners, and holes (they become zeros, and holes again by `unpack --sparse`). Sockets, pipes and devices are
/// skipped with a warning, which does not change the exit code: they hold no data.
///
/// An archive of a file or of standard input stores the content alone. As with gzip, the archive itself gets permissions,
/// modification time and, where this user may give it, owner of the file, and `unpack` gives those of the archive to the
/// file. They are lost where the archive comes from a pipe, or is copied without them. What replaces a file keeps its
/// permissions and owner.
///
/// An entry that cannot be read, or changes while it is read, is named in a warning. The archive has the others, and of a
/// file what was read, and the exit code is 2. The same holds of a single file that changes.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg dedup pack photos -o photos.thd          a folder
  thalweg dedup pack disk.img -o disk.thd          a file
  tar c src | thalweg dedup pack - -o src.tar.thd  standard input
  thalweg dedup pack logs -o - | ssh host 'cat > logs.thd'
  thalweg dedup pack disk.img -o small.thd --level 12 --window 512MiB --report")]
pub(crate) struct Pack {
    /// The file or folder to pack, or `-` for standard input
    input: PathBuf,
    /// The archive to write, or `-` for standard output. A file appears when it is complete
    #[arg(short, long, value_name = "ARCHIVE")]
    output: PathBuf,
    /// Compression of unique data
    #[arg(long, value_name = "zstd|gzip|none", default_value = "zstd")]
    codec: Codec,
    /// Compression level, which trades time for size: zstd -100 to 22 (default 3), gzip 0 to 9 (default 6)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    level: Option<i32>,
    /// Memory for the index of positions at which duplicates may begin. New positions replace older ones
    #[arg(long, hide_short_help = true, value_name = "SIZE", default_value = "8MiB", value_parser = size::parse)]
    index_bytes: u64,
    /// Maximum distance of a duplicate in bytes of unique data, below 4GiB. More finds more. Packing and unpacking need as
    /// much memory
    #[arg(long, value_name = "SIZE", default_value = "96MiB", value_parser = size::parse)]
    window: u64,
    /// Store the extended attributes of files and folders that users set (on Linux, those in the namespace `user`)
    #[arg(long)]
    xattrs: bool,
    /// Write no archive if an entry cannot be read, or changes while it is read
    #[arg(long)]
    strict: bool,
    /// Replace an existing archive, and write one to a terminal
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    disk: Disk,
    #[command(flatten)]
    engine: Engine,
}

impl Pack {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let run = self.engine.run(Graphs::One, interrupt)?;
        self.engine.check(&[], [self.input.as_path(), &self.output])?;
        let params = self.params();
        params.validate().map_err(Misuse::new)?;
        outputs::check_apart([self.output.as_path()], self.engine.files().chain([self.input.as_path()]))?;
        self.note_window();
        let input = self.input(interrupt)?;
        let _guard = Disk::guard(&self.output, interrupt);
        let mut output = match &input {
            Some(input) => self.disk.file_from(&self.output, self.force, &self.input, &input.meta)?,
            None => self.disk.file(&self.output, self.force)?,
        };
        let (source, progress, run) = match input {
            Some(Opened { file, length: Some(length), .. }) => {
                (Source::file(file, &self.input)?, self.engine.progress(Some(length)), run)
            }
            Some(Opened { file, .. }) => {
                (Source::stream(interrupt.input(file)), self.engine.progress(None), run.blocking_input(true))
            }
            None => {
                let tree = Source::Tree {
                    root: self.input.clone(),
                    leave_out: output.identities(),
                    attributes: self.xattrs,
                };
                (tree, self.engine.progress(None), run)
            }
        };
        let started = Instant::now();
        let failures = Failures::new(&progress);
        let observer =
            PackObserver { progress: progress.clone(), strict: self.strict, failures: failures.clone() };
        let packed = pack_source(source, &mut output, &params, Box::new(observer), run);
        progress.end(&packed);
        let (summary, run) = packed.with_context(|| format!("packing {}", shown(&self.input)))?;
        output.commit()?;
        let took = started.elapsed();
        self.engine.results.finish(&run, || report(&summary, took), interrupt)?;
        failures.check()
    }

    /// Says at once what would otherwise be found out when the archive is needed.
    fn note_window(&self) {
        let accepted = Limits::default().window;
        if self.window > accepted {
            standard::eprint(&format!(
                "warning: `unpack` and `verify` accept a window of {} by default, and this archive has {}\n\
                 help: give them --window-limit {}",
                size::show(accepted),
                size::show(self.window),
                size::exact(self.window)
            ));
        }
    }

    fn params(&self) -> Params {
        let params = Params::default().codec(self.codec).index_bytes(self.index_bytes).window(self.window);
        match self.level {
            Some(level) => params.level(level),
            None => params,
        }
    }

    /// Opens the input. Returns `None` for a tree.
    fn input(&self, interrupt: &Interrupt) -> Result<Option<Opened>> {
        if !standard::is_dash(&self.input) {
            let meta = fs::metadata(&self.input);
            let meta = meta.with_context(|| format!("reading {}", shown(&self.input)))?;
            if meta.is_dir() {
                return Ok(None);
            }
        }
        standard::open(&self.input, interrupt).map(Some)
    }
}

/// Prints warnings, and counts the entries that could not be packed as they are.
struct PackObserver {
    progress: Progress,
    strict: bool,
    failures: Failures,
}

impl Observer for PackObserver {
    fn bytes(&mut self, count: u64) {
        self.progress.advance(count);
    }

    fn skipped(&mut self, path: &Path, why: &str) {
        self.progress.note(&format!("warning: skipped {}: {why}", shown(path)));
    }

    fn failed(&mut self, why: Error) -> thalweg_dedup::Result<()> {
        if self.strict {
            return Err(why);
        }
        self.failures.add(why);
        Ok(())
    }
}
