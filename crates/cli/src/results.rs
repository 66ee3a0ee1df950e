//! What a run says about itself: the printed report, and the files of the report and the timeline.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use thalweg::{Options, Report};
use thalweg_dedup::OutFile;

use crate::interrupt::Interrupt;
use crate::standard;

/// The marks of the formats, near the beginning of their files.
const MARKS: [&str; 2] = ["\"thalweg-report\"", "\"thalweg-timeline\""];

/// Where the report and the timeline of a run go.
#[derive(Debug, Args)]
pub(crate) struct Results {
    /// Print counts, and a report of where the time went
    #[arg(long)]
    report: bool,
    /// Write the report as JSON
    #[arg(long, value_name = "FILE")]
    save_report: Option<PathBuf>,
    /// Write what each thread did, and when, as JSON that Perfetto (ui.perfetto.dev) opens
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// Events that the timeline keeps of each thread: the latest ones
    #[arg(long, value_name = "N", default_value_t = 65_536, requires = "timeline", value_parser = events)]
    timeline_events: usize,
}

/// Parses a number of events. More than 2^26 are 3 GB for each thread, and a mistake.
fn events(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=1 << 26).contains(count));
    count.ok_or_else(|| format!("expected a number from 1 to {}", 1 << 26))
}

impl Results {
    /// The options of a run with these results.
    pub fn options(&self, options: Options) -> Options {
        if self.timeline.is_some() { options.timeline(self.timeline_events) } else { options }
    }

    /// Checks the names of the files before the run, which may read and write the files in `others`.
    pub fn check<'p>(&self, others: impl IntoIterator<Item = &'p Path>) -> Result<()> {
        let mut others: Vec<&Path> = others.into_iter().filter(|path| !standard::is_dash(path)).collect();
        for path in [&self.save_report, &self.timeline].into_iter().flatten() {
            ensure!(
                !standard::is_dash(path),
                "the report and the timeline are not written to standard output\nhelp: name a file"
            );
            for other in &others {
                ensure!(
                    !is_same(path, other),
                    "refusing to overwrite {}, which this command also reads or writes\nhelp: choose another name",
                    path.display()
                );
            }
            check_replaceable(path)?;
            others.push(path);
        }
        Ok(())
    }

    /// Prints the report below `counts`, and writes the files, as far as they are asked for.
    pub fn finish(
        &self,
        report: &Report,
        counts: impl FnOnce() -> String,
        interrupt: &Interrupt,
    ) -> Result<()> {
        if self.report {
            standard::eprint(&format!("{}\n\n{report}", counts()));
        }
        self.save(report, None, interrupt)
    }

    /// Whether the report is to be printed.
    pub fn prints(&self) -> bool {
        self.report
    }

    /// Writes the files of one of several runs, which has its name in those of the files.
    pub fn save(&self, report: &Report, part: Option<&str>, interrupt: &Interrupt) -> Result<()> {
        if let Some(path) = &self.save_report {
            save(&name(path, part), interrupt, |out| out.write_all(report.to_json().as_bytes()))?;
        }
        if let Some(path) = &self.timeline {
            let Some(timeline) = &report.timeline else { bail!("the run has recorded no timeline") };
            save(&name(path, part), interrupt, |out| timeline.write_json(&report.graph, out))?;
        }
        Ok(())
    }
}

/// `report.json` becomes `report-pack.json` for the part `pack`.
fn name(path: &Path, part: Option<&str>) -> PathBuf {
    let Some(part) = part else { return path.to_owned() };
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{part}"));
    let name = PathBuf::from(name);
    path.with_file_name(match path.extension() {
        Some(extension) => name.with_extension(extension),
        None => name,
    })
}

/// Writes a file that appears when it is complete. A guard keeps a signal from ending the process in between.
fn save(
    path: &Path,
    interrupt: &Interrupt,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let _guard = interrupt.guard();
    check_replaceable(path)?;
    let mut out = BufWriter::new(OutFile::create(path, true)?.durable(false));
    let writing = || format!("writing {}", path.display());
    write(&mut out).with_context(writing)?;
    out.into_inner().map_err(io::IntoInnerError::into_error).with_context(writing)?.commit()?;
    Ok(())
}

/// Refuses to replace a file that is neither a report nor a timeline. Devices and pipes are written directly.
fn check_replaceable(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let writing = || format!("writing {}", path.display());
    ensure!(folder.is_none_or(Path::is_dir), "{}: no such folder", writing());
    let Ok(meta) = fs::metadata(path) else { return Ok(()) };
    ensure!(!meta.is_dir(), "{}: it is a folder", writing());
    if meta.is_file() && meta.len() > 0 && !is_result(path).with_context(writing)? {
        bail!(
            "refusing to overwrite {}, which is neither a report nor a timeline\n\
             help: choose another name, or delete the file",
            path.display()
        );
    }
    Ok(())
}

/// Whether a file begins as reports and timelines do.
fn is_result(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(200).read_to_end(&mut head)?;
    let head = String::from_utf8_lossy(&head);
    Ok(MARKS.iter().any(|mark| head.contains(mark)))
}

/// Whether two paths name one file, which need not exist.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    matches!((real(one), real(other)), (Ok(one), Ok(other)) if one == other)
}
