//! `thalweg show`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use thalweg::Report;
use thalweg::embed::graph::shown;
use thalweg::embed::plan::{NoNextPlan, Program};
use thalweg::embed::report::{Grid, Predictions, Row};
use thalweg::plan::Plan;
use thalweg::trace::{Comparison, ReportExt, Timeline, TimelineExt};

use crate::interrupt::Interrupt;
use crate::mapping::Mapping;
use crate::misuse::Misuse;
use crate::plot::{Line, Lines};
use crate::{outputs, results, standard, text};

/// Show the report of a run, compare two, or draw one as a page.
///
/// One report is printed as tables, with what bounded the run and what would help. Of two reports, those of a run and
/// of a later one, the differences are printed: wall times, shares of the workers' time, and the nodes and channels that
/// changed most.
///
/// With --predict, queueing models say what other numbers of threads, capacities and limits of items in flight would
/// give: a table, and with --output a plot.
///
/// With --output, the report becomes a page for a browser: the graph drawn with loads and fill levels, the times, the
/// bottleneck, advice, and the timeline if it is given. The page is one file without references to others. If the file of a
/// report and its timeline ends in `.svg`, it is the timeline alone, with a thin row for each thread.
///
/// A report is the JSON of `Report::to_json`, a timeline that of `Timeline::to_json`. The command distinguishes them by
/// their content, so their order and their names are free.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg show report.json
  thalweg show before.json after.json
  thalweg show report.json timeline.json -o page.html
  thalweg show report.json timeline.json -o timeline.svg
  thalweg show report.json --predict threads=1..64 -o threads.svg
  thalweg show report.json --predict threads=4,8 capacity=8,64 tokens=20
  thalweg show report.json --next-plan > plan.txt
  thalweg show report.json --next-plan --mapper seg-both > plan.txt
  thalweg show monday.json tuesday.json wednesday.json --next-plan > plan.txt")]
pub(crate) struct Show {
    /// One report, two reports to compare, a report and its timeline, or the reports of several runs of one program
    /// with --next-plan; `-` is standard input
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    files: Vec<PathBuf>,
    /// Write a page for a browser to this file, or the plot of --predict or a timeline (`.svg`) as SVG; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(short, long, requires = "output")]
    force: bool,
    /// Print the plan that the run followed, and nothing else
    #[arg(long, conflicts_with = "output")]
    plan: bool,
    /// Print a plan for the next run, which follows from the times that this run measured, and nothing else: workers of
    /// parallel nodes, and nodes of each worker. The measurements of several runs of the program are added, and the plan of
    /// the first is changed. The next run takes it with its option --plan. Of a compiled program one of the runs must have
    /// chosen its plan itself, and one with `--mode filters` times each piece of code alone
    #[arg(long, conflicts_with_all = ["output", "plan"])]
    next_plan: bool,
    #[command(flatten)]
    mapping: Mapping,
    /// The machine for --mapper, as described in FILE (see `thalweg machine --help`)
    #[arg(long, hide_short_help = true, value_name = "FILE", requires = "mapper")]
    machine: Option<PathBuf>,
    /// Print what other settings would give: `threads` that all nodes share, `pools` of threads for each parallel node,
    /// the `capacity` of all channels, `tokens` as a limit of items in flight. A value is a number or a range, and commas
    /// separate several; all combinations are tried
    #[arg(long, value_name = "SETTING=VALUES", num_args = 1.., conflicts_with_all = ["plan", "next_plan"])]
    predict: Vec<String>,
}

/// The advice below an error in a file that is no text.
const HELP: &str = "\nhelp: name a file that --save-report or --timeline has written";

/// The text of a file, and what it holds.
struct Document<'a> {
    path: &'a Path,
    text: String,
}

impl Show {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let inputs = self.files.iter().map(PathBuf::as_path);
        outputs::check_apart(self.output.as_deref(), inputs)?;
        let documents =
            self.files.iter().map(|path| Document::read(path, interrupt)).collect::<Result<Vec<_>>>()?;
        let (timelines, reports): (Vec<_>, Vec<_>) = documents.into_iter().partition(Document::is_timeline);
        let report = |document: &Document<'_>| {
            Report::from_json(&document.text).with_context(|| format!("reading {}", shown(&document.path)))
        };
        if let Some(option) = self.mapping.given().filter(|_| !self.next_plan) {
            bail!("{option} makes a plan for the next run\nhelp: add --next-plan");
        }
        match (&reports[..], &timelines[..]) {
            ([first, more @ ..], []) if self.next_plan => {
                let more = more.iter().map(report).collect::<Result<Vec<_>>>()?;
                standard::print(&standard::harmless(&self.next_plan(&report(first)?, &more, interrupt)?))
            }
            ([one], []) if !self.predict.is_empty() => self.predict(&report(one)?, interrupt),
            (..) if !self.predict.is_empty() => {
                bail!(
                    "--predict takes one report, {} files are given\nhelp: name one report",
                    self.files.len()
                )
            }
            ([one], []) => self.show(report(one)?, interrupt),
            ([one], [timeline]) => {
                let mut report = report(one)?;
                *report.timeline_mut() = Some(Box::new(timeline.timeline(&report)?));
                ensure!(
                    self.output.is_some(),
                    "{} is a timeline, which only a page can show\nhelp: name the page with -o PAGE.html",
                    shown(&timeline.path)
                );
                self.show(report, interrupt)
            }
            ([before, after], []) => self.compare(&report(before)?, &report(after)?),
            ([], [timeline, ..]) => bail!(
                "{} is a timeline, and no report is given\nhelp: name the report of the same run too",
                shown(&timeline.path)
            ),
            _ => bail!(
                "{} files are given\nhelp: name one report, two to compare, or several with --next-plan",
                self.files.len()
            ),
        }
    }

    fn show(&self, report: Report, interrupt: &Interrupt) -> Result<()> {
        match &self.output {
            Some(path) => {
                let is_picture = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("svg"));
                let picture = if is_picture { report.timeline_svg() } else { None };
                let text = picture.unwrap_or_else(|| report.to_html());
                outputs::write(path, self.force, text.as_bytes(), interrupt)
            }
            None if self.plan => {
                self.planned(&report)?;
                standard::print(&standard::harmless(&report.plan_text()))
            }
            None => standard::print(&results::text(&report)),
        }
    }

    /// What the models say of other settings, as a table and as a plot.
    fn predict(&self, report: &Report, interrupt: &Interrupt) -> Result<()> {
        let grid: Grid = self.predict.join(" ").parse().map_err(|error| {
            Misuse::new(format!(
                "--predict: {error}\nhelp: write, for example, --predict threads=1..8 capacity=64"
            ))
        })?;
        let predictions =
            report.predict(&grid).with_context(|| format!("predicting {}", shown(&self.files[0])))?;
        match &self.output {
            Some(path) => outputs::write(path, self.force, plot(&predictions).as_bytes(), interrupt),
            None => standard::print(&predictions.to_string()),
        }
    }

    /// The plan of the report of the first file.
    fn planned<'r>(&self, report: &'r Report) -> Result<&'r Plan> {
        let Some(plan) = report.plan() else {
            bail!("{} has no plan\nhelp: save the report of a run of the engine", shown(&self.files[0]));
        };
        Ok(plan)
    }

    /// The plan that follows from the plan of a report and what it and others have measured.
    fn next_plan(&self, report: &Report, more: &[Report], interrupt: &Interrupt) -> Result<String> {
        if let Some(program) = report.program() {
            return self.next_program_plan(report, program, more, interrupt);
        }
        let plan = self.planned(report)?;
        plan.check(report.graph())
            .with_context(|| format!("reading the plan in {}", shown(&self.files[0])))?;
        let mut profile = report.profile();
        let mut runs = vec![(plan, report.profile())];
        for (more, path) in more.iter().zip(&self.files[1..]) {
            self.check_dilation(report, more)?;
            let measured = more.profile();
            profile
                .merge(&measured)
                .with_context(|| format!("adding {} to {}", shown(path), shown(&self.files[0])))?;
            if let Some(plan) = more.plan() {
                plan.check(report.graph()).with_context(|| format!("reading the plan in {}", shown(path)))?;
                runs.push((plan, measured));
            }
        }
        let runs: Vec<_> = runs.iter().map(|(plan, profile)| (*plan, profile)).collect();
        if let Some((plan, notes)) = self.mapping.by_trials(report.graph(), &runs) {
            return Ok(notes + &plan.on(report.graph()).to_string());
        }
        let target = self.mapping.target(self.machine.as_deref(), interrupt)?;
        if let Some((plan, notes)) = self.mapping.map(plan, report.graph(), &profile, &target)? {
            return Ok(notes + &plan.on(report.graph()).to_string());
        }
        Ok(plan.refined(report.graph(), &profile).on(report.graph()).to_string())
    }

    /// The plan that follows from runs of a compiled program.
    fn next_program_plan(
        &self,
        report: &Report,
        program: &Program,
        more: &[Report],
        interrupt: &Interrupt,
    ) -> Result<String> {
        let first = shown(&self.files[0]);
        program.plan().check(program.graph()).with_context(|| format!("reading the plan in {first}"))?;
        let mut runs = vec![(program, report.profile())];
        for (more, path) in more.iter().zip(&self.files[1..]) {
            let Some(program) = more.program() else {
                bail!("{} is no report of a compiled program, as {first} is", shown(path));
            };
            self.check_dilation(report, more)?;
            runs.push((program, more.profile()));
        }
        let target = self.mapping.target(self.machine.as_deref(), interrupt)?;
        let explain = |reason| match reason {
            NoNextPlan::OtherUnits(run) => anyhow!("adding {} to {first}: {reason}", shown(&self.files[run])),
            NoNextPlan::Unmeasured => anyhow!(
                "{reason}\nhelp: add the report of a run on several threads without --plan and --mode"
            ),
        };
        let pipeline = || Program::pipeline(&runs, &target).map_err(explain);
        if let Some((plan, notes)) = self.mapping.map_units(program, pipeline)? {
            return Ok(notes + &plan.on(program.graph()).to_string());
        }
        let next = Program::next_plan(&runs).map_err(explain)?;
        Ok(next.on(program.graph()).to_string())
    }

    /// Refuses the times of two runs together, if time passed differently in them.
    fn check_dilation(&self, report: &Report, other: &Report) -> Result<()> {
        let words = |report: &Report| report.dilated().unwrap_or_else(|| "time not dilated".to_owned());
        ensure!(
            report.dilation() == other.dilation(),
            "the reports have different times: {} in {}, and {} in another one\nhelp: give reports of runs with one scale",
            words(report),
            shown(&self.files[0]),
            words(other)
        );
        Ok(())
    }

    fn compare(&self, before: &Report, after: &Report) -> Result<()> {
        ensure!(
            self.output.is_none(),
            "a page shows one report, two are given\nhelp: leave out one of them, or -o"
        );
        ensure!(
            !self.plan,
            "--plan prints the plan of one report, two are given\nhelp: leave out one of them"
        );
        self.check_dilation(before, after)?;
        standard::print(&Comparison::new(before, after).to_string())
    }
}

/// A line for each way to give threads, each capacity and each number of tokens, over threads; of one number of threads,
/// over capacities, and of one capacity, over tokens.
fn plot(predictions: &Predictions) -> String {
    type Axis = (&'static str, fn(&Row) -> Option<u64>);
    let axes: [Axis; 3] = [
        ("threads", |row| Some(row.threads())),
        ("capacity (items)", Row::capacity),
        ("tokens", Row::tokens),
    ];
    let values =
        |of: fn(&Row) -> Option<u64>| predictions.rows().iter().filter_map(of).collect::<BTreeSet<_>>().len();
    let (x, of) = axes.into_iter().find(|(_, of)| values(*of) > 1).unwrap_or(axes[0]);
    let mut lines = BTreeMap::<String, Vec<(u64, f64)>>::new();
    for row in predictions.rows() {
        let others = axes.iter().filter(|axis| axis.0 != x && values(axis.1) > 1);
        let settings = others.filter_map(|(name, of)| Some(format!("{name} {}", of(row)?)));
        let threads = if row.is_pools() { "threads of each node" } else { "threads of all nodes" };
        let name = [threads.to_owned()].into_iter().chain(settings).collect::<Vec<_>>().join(", ");
        lines.entry(name).or_default().extend(of(row).map(|x| (x, row.throughput())));
    }
    let lines = lines.into_iter().map(|(name, points)| Line { name, points }).collect();
    let y = format!("firings of {} per second", shown(predictions.source()));
    Lines { x, y: &y, logarithmic: false, lines }.svg()
}

impl<'a> Document<'a> {
    fn read(path: &'a Path, interrupt: &Interrupt) -> Result<Document<'a>> {
        Ok(Document { path, text: text::read(path, HELP, interrupt)? })
    }

    /// Whether this is a timeline. A text that is neither counts as a report, whose reader says what is wrong with it.
    fn is_timeline(&self) -> bool {
        Timeline::is_json(&self.text)
    }

    fn timeline(&self, report: &Report) -> Result<Timeline> {
        let timeline = Timeline::from_json(&self.text, report.graph());
        timeline.with_context(|| format!("reading {}", shown(&self.path)))
    }
}
