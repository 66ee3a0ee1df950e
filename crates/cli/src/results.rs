//! What a run says about itself: the printed report, and the files of the report, the timeline and the plan.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use thalweg::embed::graph::shown;
use thalweg::embed::report::Unpredictable;
use thalweg::plan::Plan;
use thalweg::trace::{ReportExt, Timeline, TimelineExt};
use thalweg::{Options, Report};
use thalweg_files::OutFile;

use crate::interrupt::Interrupt;
use crate::misuse::Misuse;
use crate::{outputs, standard};

/// Where the report, the timeline and the plan of a run go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Report options")]
pub(crate) struct Results {
    /// Print counts, and a report of where the time went, on standard error
    #[arg(long)]
    report: bool,
    /// Write the report as JSON, which `thalweg show` reads. Replaces an older report, and no other file
    #[arg(long, value_name = "FILE")]
    save_report: Option<PathBuf>,
    /// Write what each thread did, and when, as JSON that Perfetto (ui.perfetto.dev) opens. Replaces an older timeline, and
    /// no other file
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// How many events of each thread the timeline keeps, the latest ones
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 65_536, requires = "timeline", value_parser = events)]
    timeline_events: usize,
    /// Write the plan that the run follows, which --plan reads. Replaces an older plan, and no other file
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    save_plan: Option<PathBuf>,
}

/// Parses a number of events. More than 2^26 are 3 GB for each thread, and a mistake.
fn events(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=1 << 26).contains(count));
    count.ok_or_else(|| format!("expected a number from 1 to {}", 1 << 26))
}

impl Results {
    /// The options that the user has given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("--report", self.report),
            ("--save-report", self.save_report.is_some()),
            ("--timeline", self.timeline.is_some()),
            ("--save-plan", self.save_plan.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }

    /// The options of a run with these results.
    pub fn options(&self, options: Options) -> Options {
        if self.timeline.is_some() { options.timeline(self.timeline_events) } else { options }
    }

    /// The files to write, by run of `parts`.
    fn files(&self, parts: &[&str]) -> Result<Vec<(PathBuf, Kind)>> {
        let asked = [
            (&self.save_report, Kind::Result),
            (&self.timeline, Kind::Result),
            (&self.save_plan, Kind::Plan),
        ];
        let mut files = Vec::new();
        for (path, kind) in asked.iter().filter_map(|(path, kind)| Some((path.as_ref()?, *kind))) {
            ensure!(
                !standard::is_dash(path),
                Misuse::new(
                    "reports, timelines and plans are not written to standard output\nhelp: name a file"
                )
            );
            match parts {
                [] => files.push((path.clone(), kind)),
                parts => files.extend(parts.iter().map(|part| (name(path, Some(part)), kind))),
            }
        }
        Ok(files)
    }

    /// Checks the names of the files before the runs, which may read and write the files in `others`. Several runs
    /// have `parts` in the names of their files.
    pub fn check<'p>(&self, parts: &[&str], others: impl IntoIterator<Item = &'p Path>) -> Result<()> {
        let files = self.files(parts)?;
        outputs::check_apart(files.iter().map(|(path, _)| path.as_path()), others)?;
        files.iter().try_for_each(|(path, kind)| kind.check_replaceable(path))
    }

    /// Prints the report below `counts`, and writes the files, as far as they are asked for.
    pub fn finish(
        &self,
        report: &Report,
        counts: impl FnOnce() -> String,
        interrupt: &Interrupt,
    ) -> Result<()> {
        if self.report {
            standard::eprint(&format!("{}\n\n{}", counts(), text(report)));
        }
        self.save(report, None, interrupt)
    }

    /// Whether the report is to be printed.
    pub fn prints(&self) -> bool {
        self.report
    }

    /// Writes the files of one of several runs, which has its name in those of the files. A timeline is read with the report
    /// of its run: so none of an earlier run stands beside a new report, even if the process is killed.
    pub fn save(&self, report: &Report, part: Option<&str>, interrupt: &Interrupt) -> Result<()> {
        let _guard = interrupt.guard(); // no signal ends the process before the files are complete
        let mut files = Vec::new();
        if let Some(path) = &self.save_report {
            let write = |out: &mut dyn Write| out.write_all(report.to_json().as_bytes());
            files.push(written(&name(path, part), Kind::Result, write)?);
        }
        if let Some(path) = &self.timeline {
            let Some(timeline) = report.timeline() else { bail!("the run has recorded no timeline") };
            let write = |out: &mut dyn Write| timeline.write_json(report.graph(), out);
            files.push(written(&name(path, part), Kind::Result, write)?);
        }
        OutFile::commit_together(files)?;
        if let Some(path) = &self.save_plan {
            let write = |out: &mut dyn Write| out.write_all(report.plan_text().as_bytes());
            written(&name(path, part), Kind::Plan, write)?.commit()?;
        }
        Ok(())
    }
}

/// A report as text, with advice, and what the queueing models say of the run.
pub(crate) fn text(report: &Report) -> String {
    let prediction = match report.prediction() {
        Ok(prediction) => format!("\n{prediction}"),
        Err(Unpredictable::Unmeasured) => String::new(),
        Err(why) => format!("\nno prediction: {why}\n"),
    };
    format!("{report}\n{}\n{prediction}", report.advice())
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

/// Writes a file that appears when it is committed.
fn written(path: &Path, kind: Kind, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<OutFile> {
    kind.check_replaceable(path)?;
    let mut out = BufWriter::new(OutFile::create(path, true)?.durable(false));
    let writing = || format!("writing {}", shown(path));
    write(&mut out).with_context(writing)?;
    out.into_inner().map_err(io::IntoInnerError::into_error).with_context(writing)
}

/// What a file holds, which decides what it may replace: no plan that was edited is lost to a report.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A report or a timeline.
    Result,
    Plan,
}

impl Kind {
    /// Refuses to replace a file that holds anything else. Devices and pipes are written directly.
    fn check_replaceable(self, path: &Path) -> Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let writing = || format!("writing {}", shown(path));
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            bail!("creating {}: there is no folder `{}`\nhelp: create it first", shown(path), shown(folder));
        }
        ensure!(
            !thalweg_files::names_folder(path),
            "{}: it names a folder\nhelp: name the file in it",
            writing()
        );
        let Ok(meta) = fs::metadata(path) else { return Ok(()) };
        ensure!(!meta.is_dir(), "{} is a folder, expected a file\nhelp: name a file in it", shown(path));
        if meta.is_file() && meta.len() > 0 && !self.is_in(path).with_context(writing)? {
            bail!(
                "refusing to overwrite {}, which is {}\nhelp: choose another name, or delete the file",
                shown(path),
                match self {
                    Kind::Result => "neither a report nor a timeline",
                    Kind::Plan => "no plan",
                }
            );
        }
        Ok(())
    }

    /// Whether a file begins as files of this kind do.
    fn is_in(self, path: &Path) -> io::Result<bool> {
        let mut head = Vec::new();
        File::open(path)?.take(200).read_to_end(&mut head)?;
        let head = String::from_utf8_lossy(&head);
        Ok(match self {
            Kind::Result => Report::is_json(&head) || Timeline::is_json(&head),
            Kind::Plan => Plan::is_text(&head),
        })
    }
}
