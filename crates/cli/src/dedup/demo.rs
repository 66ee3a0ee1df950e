//! `thalweg dedup demo`.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use thalweg::Report;
use thalweg::embed::graph::shown;
use thalweg_dedup::{Archive, Limits, Params, Source, Summary, TreeSink, extract_parallel, pack_source};
use thalweg_files::{OutFile, PrivateFolder};

use super::compare::{Differences, Survey, compare, survey};
use super::ratio;
use crate::engine::{Engine, Graphs};
use crate::interrupt::Interrupt;
use crate::{size, standard};

/// Pack a folder, unpack it again, and compare every entry with the original.
///
/// Works in a temporary folder ($TMPDIR, or /tmp), which is deleted afterwards. It needs about one and a half times the size
/// of the folder. An entry that differs is an error.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg dedup demo                  the installed Rust toolchain
  thalweg dedup demo photos           another folder
  TMPDIR=/var/tmp thalweg dedup demo  where /tmp is small")]
pub(crate) struct Demo {
    /// The folder to pack (default: the compiler and libraries of the Rust toolchain, found by
    /// `rustc --print sysroot`)
    folder: Option<PathBuf>,
    #[command(flatten)]
    engine: Engine,
}

/// The runs with results, in the names of their files.
const PACK: &str = "pack";
/// See [`PACK`].
const UNPACK: &str = "unpack";

/// The results and times of packing, unpacking and comparing.
struct RoundTrip {
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
        let meta = fs::metadata(&folder).with_context(|| format!("reading {}", shown(&folder)))?;
        ensure!(meta.is_dir(), "{} is not a folder\nhelp: name a folder", shown(&folder));
        self.engine.check(&[PACK, UNPACK], [folder.as_path()])?;
        // A mistake in a plan ends the command before it writes anything.
        self.engine.options(Graphs::Several, interrupt)?;
        let content = survey(&folder, interrupt.stop())?;
        let temporary = std::env::temp_dir();
        check_temporary_folder(&temporary, &folder, content.bytes)?;
        standard::print(&format!(
            "folder    {}\n          {} entries, {}\n",
            shown(&folder),
            content.entries,
            size::show(content.bytes)
        ))?;
        let _guard = interrupt.guard();
        let temporary = PrivateFolder::create(&temporary)?;
        let done = self.round_trip(&folder, content, temporary.path(), interrupt)?;
        temporary.remove()?;
        standard::print(&done.describe())?;
        if self.engine.results.prints() {
            standard::eprint(&format!("\npack: {}\n\nunpack: {}", done.pack.0, done.unpack.0));
        }
        self.engine.results.save(&done.pack.0, Some(PACK), interrupt)?;
        self.engine.results.save(&done.unpack.0, Some(UNPACK), interrupt)?;
        match done.found.count {
            0 => Ok(()),
            count => bail!("{count} entries differ from the original: {}", done.found.first.join("; ")),
        }
    }

    fn round_trip(
        &self,
        folder: &Path,
        content: Survey,
        temporary: &Path,
        interrupt: &Interrupt,
    ) -> Result<RoundTrip> {
        let (packed, copy) = (temporary.join("archive.thd"), temporary.join("copy"));
        let (pack, took) = timed(|| self.pack(folder, content, &packed, interrupt));
        let ((summary, report), pack_took) = (pack.context("packing")?, took);
        let (unpack, took) = timed(|| self.unpack(&packed, &copy, interrupt));
        let ((unpacked, unpack_report), unpack_took) = (unpack.context("unpacking")?, took);
        ensure!(unpacked == summary, "packing and unpacking have different counts");
        let progress = self.engine.progress(Some(content.bytes));
        // The comparison checks the results and is none of them.
        let options = self.engine.plain(interrupt)?;
        let (found, took) = timed(|| compare(folder, &copy, &options, interrupt.stop(), &progress));
        progress.end(&found);
        Ok(RoundTrip {
            summary,
            pack: (report, pack_took),
            unpack: (unpack_report, unpack_took),
            compare: took,
            found: found?,
        })
    }

    /// Packs `folder`. The archive is temporary, so it is not synced to disk.
    fn pack(
        &self,
        folder: &Path,
        content: Survey,
        archive: &Path,
        interrupt: &Interrupt,
    ) -> Result<(Summary, Report)> {
        let mut output = OutFile::create(archive, false)?.durable(false);
        let source = Source::Tree { root: folder.into(), leave_out: Vec::new(), attributes: false };
        let progress = self.engine.progress(Some(content.bytes));
        let observer = Box::new(progress.clone());
        let run = self.engine.run(Graphs::Several, interrupt)?;
        let done = pack_source(source, &mut output, &Params::default(), observer, run);
        progress.end(&done);
        let done = done?;
        output.commit()?;
        Ok(done)
    }

    fn unpack(&self, archive: &Path, copy: &Path, interrupt: &Interrupt) -> Result<(Summary, Report)> {
        let file = File::open(archive)?;
        let progress = self.engine.progress(file.metadata().ok().map(|meta| meta.len()));
        let archive = Archive::open(progress.read(file), &Limits::default())?;
        let mut sink = TreeSink::create(copy, false)?.durable(false).permissions(true);
        let done = extract_parallel(archive, &mut sink, self.engine.run(Graphs::Several, interrupt)?);
        progress.end(&done);
        let done = done?;
        sink.commit()?;
        Ok(done)
    }
}

impl RoundTrip {
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
            let plural = if report.threads() == 1 { "" } else { "s" };
            format!("{} thread{plural}, policy {}", report.threads(), report.policy())
        };
        line("packed", format!("{}, {}", pace(self.pack.1), threads(&self.pack.0)));
        let times = content as f64 / archive.max(1) as f64;
        let share = ratio(archive, content);
        line("archive", format!("{}, {share} of the content ({times:.2} to 1)", size::show(archive)));
        let duplicates = self.summary.duplicates;
        let saved = size::show(content - self.summary.unique_bytes);
        let unique = self.summary.chunks - duplicates;
        line("chunks", format!("{unique} unique, {duplicates} duplicates, which save {saved}"));
        line("unpacked", format!("{}, {}", pace(self.unpack.1), threads(&self.unpack.0)));
        line("compared", format!("{} entries {}", self.found.entries, pace(self.compare)));
        let verdict = match self.found.count {
            0 => "identical: names, file types, contents, permissions and targets of links".into(),
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

/// The folder of compiler and libraries of the installed toolchain. The whole toolchain often has fifty thousand
/// small files of documentation in addition, which a slow file system takes minutes to create.
fn toolchain() -> Result<PathBuf> {
    const HELP: &str =
        "help: name a folder (thalweg dedup demo FOLDER), or install Rust from https://rustup.rs";
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    let output =
        output.map_err(|error| anyhow!("cannot run rustc to find its toolchain: {error}\n{HELP}"))?;
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "rustc --print sysroot failed: {}\n{HELP}", message.trim());
    let folder = String::from_utf8(output.stdout).context("the path of the toolchain is not Unicode")?;
    let folder = PathBuf::from(folder.trim_end());
    let libraries = folder.join("lib");
    Ok(if libraries.is_dir() { libraries } else { folder })
}

/// Checks that the temporary folder has room for the archive and the copy, and is not inside `folder`.
fn check_temporary_folder(temporary: &Path, folder: &Path, bytes: u64) -> Result<()> {
    if let (Ok(temporary), Ok(folder)) = (temporary.canonicalize(), folder.canonicalize()) {
        ensure!(
            !temporary.starts_with(&folder),
            "the temporary folder {} is inside {}\nhelp: set TMPDIR to another folder",
            shown(&temporary),
            shown(&folder)
        );
    }
    // The copy, and the archive, which is seldom larger than half of it.
    let needed = bytes + bytes / 2;
    match free_bytes(temporary) {
        Some(free) if free < needed => bail!(
            "the demo needs about {} in the temporary folder {}, which has {} free\n\
             help: set TMPDIR to a folder with more space, or name a smaller FOLDER",
            size::show(needed),
            shown(&temporary),
            size::show(free)
        ),
        _ => Ok(()),
    }
}

/// The free bytes in a folder, if the system reports them.
#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// The free bytes in a folder, if the system reports them.
#[cfg(not(unix))]
fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}
