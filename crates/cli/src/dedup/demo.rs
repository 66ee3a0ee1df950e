//! `thalweg dedup demo`.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use tempfile::TempDir;
use thalweg::Report;
use thalweg_dedup::{
    Archive, Limits, OutFile, Params, Source, Summary, TreeSink, extract_parallel, make_removable,
    pack_source,
};

use super::compare::{Differences, Survey, compare, survey};
use super::ratio;
use crate::engine::Engine;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::{size, standard};

/// Pack a folder, unpack it again, and compare every entry with the original.
///
/// Works in a temporary folder, which is deleted afterwards, and changes nothing else. Fails where
/// anything differs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  thalweg dedup demo                  the installed Rust toolchain
  thalweg dedup demo photos           another folder
  TMPDIR=/scratch thalweg dedup demo  where /tmp is small")]
pub(crate) struct Demo {
    /// The folder to pack (default: the compiler and libraries of the Rust toolchain, found by
    /// `rustc --print sysroot`)
    folder: Option<PathBuf>,
    #[command(flatten)]
    engine: Engine,
}

/// What was done, and how long it took.
struct Told {
    summary: Summary,
    pack: (Report, Duration),
    unpack: (Report, Duration),
    compare: Duration,
    found: Differences,
}

impl Demo {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => toolchain()?,
        };
        let meta = fs::metadata(&folder).with_context(|| format!("reading {}", folder.display()))?;
        ensure!(meta.is_dir(), "{} is not a folder", folder.display());
        let content = survey(&folder, interrupt.stop())?;
        let place = std::env::temp_dir();
        check_place(&place, &folder, content.bytes)?;
        standard::print(&format!(
            "folder    {}\n          {} entries, {}\n",
            folder.display(),
            content.entries,
            size::show(content.bytes)
        ))?;
        let _guard = interrupt.guard();
        let temporary = Temporary::new(&place)?;
        let told = self.round_trip(&folder, content, temporary.path(), interrupt)?;
        temporary.remove()?;
        standard::print(&told.describe())?;
        if self.engine.report {
            standard::complain(&format!("\npack: {}\n\nunpack: {}", told.pack.0, told.unpack.0));
        }
        match told.found.count {
            0 => Ok(()),
            count => bail!("{count} entries differ from the original: {}", told.found.first.join("; ")),
        }
    }

    fn round_trip(
        &self,
        folder: &Path,
        content: Survey,
        temporary: &Path,
        interrupt: &Interrupt,
    ) -> Result<Told> {
        let (packed, copy) = (temporary.join("archive.thd"), temporary.join("copy"));
        let (pack, took) = timed(|| self.pack(folder, content, &packed, interrupt));
        let ((summary, report), pack_took) = (pack.context("packing")?, took);
        let (unpack, took) = timed(|| self.unpack(&packed, &copy, interrupt));
        let ((unpacked, unpack_report), unpack_took) = (unpack.context("unpacking")?, took);
        ensure!(unpacked == summary, "packing and unpacking count differently");
        let progress = Progress::new(Some(content.bytes));
        let options = self.engine.options()?;
        let (found, took) = timed(|| compare(folder, &copy, &options, interrupt.stop(), &progress));
        progress.finish();
        Ok(Told {
            summary,
            pack: (report, pack_took),
            unpack: (unpack_report, unpack_took),
            compare: took,
            found: found?,
        })
    }

    /// Nothing here is worth waiting for the disk.
    fn pack(
        &self,
        folder: &Path,
        content: Survey,
        archive: &Path,
        interrupt: &Interrupt,
    ) -> Result<(Summary, Report)> {
        let mut output = OutFile::create(archive, false)?.durable(false);
        let source = Source::Tree { root: folder.into(), leave_out: None };
        let progress = Progress::new(Some(content.bytes));
        let observer = Box::new(progress.clone());
        let run = self.engine.run(interrupt)?;
        let done = pack_source(source, &mut output, &Params::default(), observer, run);
        progress.finish();
        let done = done?;
        output.commit()?;
        Ok(done)
    }

    fn unpack(&self, archive: &Path, copy: &Path, interrupt: &Interrupt) -> Result<(Summary, Report)> {
        let file = File::open(archive)?;
        let progress = Progress::new(file.metadata().ok().map(|meta| meta.len()));
        let archive = Archive::open(progress.read(file), &Limits::default())?;
        let mut sink = TreeSink::create(copy, false)?.durable(false);
        let done = extract_parallel(archive, &mut sink, self.engine.run(interrupt)?);
        progress.finish();
        let done = done?;
        sink.commit()?;
        Ok(done)
    }
}

impl Told {
    fn describe(&self) -> String {
        let Summary { content_bytes: content, archive_bytes: archive, .. } = self.summary;
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<10}{value}");
        };
        let pace = |took: Duration| {
            let per_second = content as f64 / took.as_secs_f64().max(1e-9);
            format!("in {:.2} s, {}/s", took.as_secs_f64(), size::show(per_second as u64))
        };
        let threads = |report: &Report| {
            let plural = if report.threads == 1 { "" } else { "s" };
            format!("{} thread{plural}, policy {}", report.threads, report.policy)
        };
        line("packed", format!("{}, {}", pace(self.pack.1), threads(&self.pack.0)));
        let times = content as f64 / archive.max(1) as f64;
        let share = ratio(archive, content);
        line("archive", format!("{}, {share} of the content ({times:.2} to 1)", size::show(archive)));
        let duplicates = self.summary.duplicates;
        let spared = size::show(content - self.summary.unique_bytes);
        let unique = self.summary.chunks - duplicates;
        line("chunks", format!("{unique} unique, {duplicates} duplicates that spare {spared}"));
        line("unpacked", format!("{}, {}", pace(self.unpack.1), threads(&self.unpack.0)));
        line("compared", format!("{} entries {}", self.found.entries, pace(self.compare)));
        let verdict = match self.found.count {
            0 => "identical: names, kinds, contents, modes and targets of links".into(),
            count => format!("DIFFERENT: {count} entries"),
        };
        line("result", verdict);
        text
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let done = work();
    (done, started.elapsed())
}

/// The installed toolchain: compiler and libraries. The whole of its folder often holds fifty
/// thousand small files of documentation besides, which take a slow file system minutes to make.
fn toolchain() -> Result<PathBuf> {
    const ADVICE: &str = "name a folder (thalweg dedup demo FOLDER), or install Rust from https://rustup.rs";
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output();
    let asked = asked.with_context(|| format!("cannot run rustc to find its toolchain; {ADVICE}"))?;
    let said = String::from_utf8_lossy(&asked.stderr);
    ensure!(asked.status.success(), "rustc cannot say where its toolchain is; {ADVICE}\n{}", said.trim());
    let folder = String::from_utf8(asked.stdout).context("the toolchain's folder is not Unicode")?;
    let folder = PathBuf::from(folder.trim_end());
    let libraries = folder.join("lib");
    Ok(if libraries.is_dir() { libraries } else { folder })
}

/// Room for the archive and for the copy must be there, and not within what is packed.
fn check_place(place: &Path, folder: &Path, bytes: u64) -> Result<()> {
    if let (Ok(place), Ok(folder)) = (place.canonicalize(), folder.canonicalize()) {
        ensure!(
            !place.starts_with(&folder),
            "the temporary folder {} lies within {}; set TMPDIR to another one",
            place.display(),
            folder.display()
        );
    }
    // The copy, and an archive that is seldom larger than half of it.
    let needed = bytes + bytes / 2;
    match free(place) {
        Some(free) if free < needed => bail!(
            "this takes about {} in the temporary folder {}, where {} are free; set TMPDIR to a folder \
             with more, or name a smaller FOLDER",
            size::show(needed),
            place.display(),
            size::show(free)
        ),
        _ => Ok(()),
    }
}

/// Bytes free in a folder, where the system says.
#[cfg(unix)]
fn free(place: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(place).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Bytes free in a folder, where the system says.
#[cfg(not(unix))]
fn free(_place: &Path) -> Option<u64> {
    None
}

/// A folder that is deleted in any case, even if there are folders in it that forbid it.
struct Temporary {
    folder: Option<TempDir>,
}

impl Temporary {
    fn new(place: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("thalweg-demo-").tempdir_in(place);
        let folder = folder.with_context(|| format!("making a folder in {}", place.display()))?;
        Ok(Temporary { folder: Some(folder) })
    }

    fn path(&self) -> &Path {
        self.folder.as_ref().expect("taken when it is removed only").path()
    }

    fn remove(mut self) -> Result<()> {
        let Some(folder) = self.folder.take() else { return Ok(()) };
        make_removable(folder.path());
        let removing = format!("deleting {}", folder.path().display());
        folder.close().context(removing)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            make_removable(folder.path());
        }
    }
}
