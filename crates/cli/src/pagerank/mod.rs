//! `thalweg demo pagerank`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use thalweg::embed::graph::shown;
use thalweg_inputs::Content;
use thalweg_pagerank::{
    Error, Estimate, Graph, Input, Iteration, PageRank, Ranking, Recording, Rmat, Schedule,
};

use crate::interrupt::Interrupt;
use crate::memory::Limit;
use crate::misuse::Misuse;
use crate::progress::Progress;
use crate::scheduling::{self, Placement, Scheduling, share};
use crate::threads::Threads;
use crate::{size, standard};

use output::Output;
use paper::Paper;

mod output;
mod paper;

/// Rank the pages of a graph by PageRank, on all cores.
///
/// Prints a line `ID<tab>RANK` for each page, the highest rank first. The ranks add up to 1, and are the same at any
/// number of threads.
///
/// GRAPH is an edge list as SNAP publishes them (a line for each link: the ids of two pages, any 64-bit numbers; comments
/// begin with #), or a coordinate file of Matrix Market (entry i, j is a link from page i to page j). Either may be
/// compressed by gzip. The content decides, not the name. Links that occur twice count once; the weights of such links are
/// added. A page without links counts as one that links to all pages.
///
/// The memory for a link is shown before the links are read. A graph that needs more memory than the process may use is
/// refused.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg demo pagerank soc-LiveJournal1.txt.gz --top 20
  thalweg demo pagerank web-Stanford.mtx --format json -o r.json --plot r.svg
  thalweg demo pagerank roads.txt --undirected --damping 0.9 --tolerance 1e-8
  thalweg demo pagerank --rmat 14 --edge-factor 16 --seed 1 --top 10
  thalweg demo pagerank --scale 2048 --crawl twitter-2010 --top 10
  thalweg demo pagerank --rmat 14 --counts --machine server.machine --top 0
  zcat links.gz | thalweg demo pagerank - --quiet | head")]
pub(crate) struct Pagerank {
    /// The file to read, or `-` for standard input
    #[arg(value_name = "GRAPH", required_unless_present_any = ["rmat", "scale"], conflicts_with = "rmat")]
    graph: Option<PathBuf>,
    /// Make a random graph of 2^SCALE pages instead of reading one
    #[arg(long, value_name = "SCALE", value_parser = clap::value_parser!(u32).range(1..=31))]
    rmat: Option<u32>,
    /// Links of the random graph, divided by its pages (those drawn twice count once)
    #[arg(long, value_name = "F", default_value_t = 16, requires = "rmat", conflicts_with = "graph")]
    edge_factor: u32,
    /// The seed of the random graph
    #[arg(long, value_name = "S", default_value_t = 1, requires = "rmat", conflicts_with = "graph")]
    seed: u64,
    #[command(flatten)]
    paper: Paper,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    ranking: Settings,
    #[command(flatten)]
    scheduling: Scheduling,
    #[command(flatten)]
    output: Output,
}

/// How the links are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading options")]
struct Reading {
    /// Each link leads in both directions
    #[arg(long, conflicts_with_all = ["rmat", "scale"])]
    undirected: bool,
    /// Each link leads from its second page to its first one
    #[arg(long, conflicts_with_all = ["rmat", "scale"])]
    reverse: bool,
    /// Ignore the values of a Matrix Market file (otherwise they are weights)
    #[arg(long, conflicts_with_all = ["rmat", "scale"])]
    unweighted: bool,
    /// Ignore all columns of an edge list after the second one
    #[arg(long, conflicts_with_all = ["rmat", "scale"])]
    extra_columns: bool,
    /// The memory that may be used (default: what the system has available, within the limits of the process)
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
}

/// How the pages are ranked.
#[derive(Debug, Args)]
#[command(next_help_heading = "Ranking options")]
struct Settings {
    /// The probability of following a link, from 0 to below 1
    #[arg(long, value_name = "D", default_value_t = 0.85, allow_negative_numbers = true)]
    damping: f64,
    /// Stop when the changes of all ranks add up to this. With 0, all iterations are done (default: 1e-9, with --scale 0)
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    tolerance: Option<f64>,
    /// The largest number of iterations. More are an error, unless the tolerance is 0 (default: 200, with --scale 10)
    #[arg(long, value_name = "N")]
    max_iterations: Option<usize>,
    /// Pages that a task updates
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pages_per_task: usize,
    #[command(flatten)]
    threads: Threads,
}

impl Pagerank {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let threads = self.ranking.threads.of_team(self.output.quiet)?;
        let settings = self.settings(threads);
        settings.check().map_err(Misuse::new)?;
        self.output.check(self.graph.as_deref().into_iter().chain(self.scheduling.file()), interrupt)?;
        let placement = self.scheduling.placement(threads, interrupt)?;
        let settings = self.scheduled(settings, placement.as_ref());
        let limit = Limit::new(self.reading.memory);
        let graph = match &self.graph {
            Some(path) => self.read(path, limit, interrupt)?,
            None => self.random(limit)?,
        };
        if graph.links().is_empty() {
            standard::eprint(&format!("warning: {} has no links", self.name()));
        }
        let (ranked, jobs) = self.scheduling.count(|| self.rank(&settings, &graph));
        let (ranking, recording, took) = ranked?;
        if !self.output.quiet {
            standard::eprint(&summary(&graph, &ranking, took));
        }
        if let (Some(placement), Some(recording)) = (placement, recording) {
            placement.print(&accesses(&recording, &graph, &placement), &jobs);
        }
        self.output.write(&graph, &ranking, interrupt)
    }

    /// The settings of the ranking, without the schedule.
    fn settings(&self, threads: Option<usize>) -> PageRank {
        let Settings { damping, tolerance, pages_per_task, .. } = self.ranking;
        let of_scale = self.paper.scale.map(|_| 0.0);
        let settings = PageRank::new()
            .damping(damping)
            .tolerance(tolerance.or(of_scale).unwrap_or(1e-9))
            .max_iterations(self.max_iterations())
            .pages_per_task(pages_per_task);
        threads.map_or(settings.clone(), |threads| settings.threads(threads))
    }

    fn max_iterations(&self) -> usize {
        let of_scale = self.paper.scale.map(|_| paper::ITERATIONS);
        self.ranking.max_iterations.or(of_scale).unwrap_or(200)
    }

    /// The name of the graph in messages.
    fn name(&self) -> String {
        match (&self.graph, self.paper.scale) {
            (Some(path), _) if standard::is_dash(path) => "standard input".into(),
            (Some(path), _) => shown(path).to_string(),
            (None, Some(scale)) => self.paper.name(scale),
            (None, None) => format!("R-MAT of scale {}", self.rmat.unwrap_or_default()),
        }
    }

    fn read(&self, path: &Path, limit: Limit, interrupt: &Interrupt) -> Result<Graph> {
        let name = self.name();
        let standard::Input { bytes, length } = standard::input(path, interrupt)?;
        let progress = Progress::new(length);
        let reading = &self.reading;
        let input = Input::new(name.clone())
            .memory(limit.bytes)
            .undirected(reading.undirected)
            .reverse(reading.reverse)
            .weights(!reading.unweighted)
            .extra_columns(reading.extra_columns);
        let input = self.ranking.threads.given().map_or(input.clone(), |threads| input.threads(threads));
        let announce = |size: &Estimate| self.announce(&name, size, &progress);
        let warn = |what: &str| progress.note(&format!("warning: {name}: {what}"));
        let content = Content::from(progress.read(bytes)).warn_by(warn);
        let graph = input.read(content, length, announce);
        progress.end(&graph);
        graph.map_err(|error| limit.explain(error, is_memory))
    }

    fn random(&self, limit: Limit) -> Result<Graph> {
        let rmat = match self.paper.scale {
            Some(scale) => self.paper.rmat(scale),
            None => Rmat::new(self.rmat.unwrap_or_default()).edge_factor(self.edge_factor),
        };
        let rmat = rmat.seed(self.seed).memory(limit.bytes);
        let rmat = self.ranking.threads.given().map_or(rmat.clone(), |threads| rmat.threads(threads));
        let progress = Progress::steps(None);
        let graph = rmat.graph(|size| self.announce(&self.name(), size, &progress));
        progress.end(&graph);
        graph.map_err(|error| limit.explain(error, is_memory))
    }

    /// Prints what the graph needs, before its links are read.
    fn announce(&self, name: &str, size: &Estimate, progress: &Progress) {
        if !self.output.quiet {
            progress.note(&announcement(name, size));
        }
    }

    /// The settings with the schedule, which is loops where none is named, since these are faster.
    fn scheduled(&self, settings: PageRank, placement: Option<&Placement>) -> PageRank {
        let schedule = match self.scheduling.schedule {
            None | Some(scheduling::Schedule::Loops) => Schedule::Loops,
            Some(scheduling::Schedule::StaticLoops) => Schedule::StaticLoops,
            Some(scheduling::Schedule::Tasks) => Schedule::Tasks,
            Some(scheduling::Schedule::RandomTasks) => Schedule::RandomTasks,
        };
        let settings = settings.schedule(schedule);
        match placement {
            Some(placement) => settings.places(&placement.places),
            None => settings,
        }
    }

    /// The ranks, which task had which thread if that is counted, and the time.
    fn rank(&self, settings: &PageRank, graph: &Graph) -> Result<(Ranking, Option<Recording>, Duration)> {
        let progress = Progress::steps(Some(self.max_iterations() as u64));
        let observe = |iteration: Iteration| {
            progress.reach(iteration.number as u64);
            ControlFlow::Continue(())
        };
        let started = Instant::now();
        let ranking = match self.scheduling.counts {
            true => settings.run_recorded(graph, observe).map(|(ranking, all)| (ranking, Some(all))),
            false => settings.run(graph, observe).map(|ranking| (ranking, None)),
        };
        let took = started.elapsed();
        progress.end(&ranking);
        let (ranking, recording) = ranking?;
        Ok((ranking, recording, took))
    }
}

fn is_memory(error: &Error) -> bool {
    matches!(error, Error::Memory { .. })
}

/// The size of a graph, and of its memory.
fn announcement(name: &str, size: &Estimate) -> String {
    let limit = size::show(size.limit);
    let each =
        format!("{} B of memory for a link, {} B for a page", size.bytes_per_link, size.bytes_per_page);
    let (about, pages) = match (size.exact, size.pages) {
        (true, pages) => ("up to", pages.map(|pages| format!(" between {pages} pages")).unwrap_or_default()),
        (false, _) => ("about", String::new()),
    };
    match (size.links, size.bytes) {
        (Some(links), Some(bytes)) => {
            let missing = if size.pages.is_none() { " and the pages" } else { "" };
            let bytes = size::show(bytes);
            format!("{name}: {about} {links} links{pages}; {each}: {bytes}{missing}, the limit is {limit}")
        }
        _ => format!("{name}: {each}; the limit is {limit}"),
    }
}

/// What was done, and how fast.
fn summary(graph: &Graph, ranking: &Ranking, took: Duration) -> String {
    let (links, iterations) = (graph.links().len(), ranking.residuals.len());
    let per_second = links as f64 * iterations as f64 / took.as_secs_f64().max(1e-9) / 1e6;
    format!(
        "ranked {} pages ({} dangling) and {links} links: {iterations} iterations in {:.3} s, {per_second:.1} million \
         links a second, residual {:.2e}",
        graph.pages(),
        graph.dangling(),
        took.as_secs_f64(),
        ranking.residuals.last().copied().unwrap_or(0.0),
    )
}

/// The accesses of a schedule on these memory domains.
fn accesses(recording: &Recording, graph: &Graph, placement: &Placement) -> String {
    let all = recording.replay(graph, placement.places.domains());
    format!(
        "remote: tasks {}, predecessors {}, links from predecessors {}",
        share(all.remote_tasks, all.tasks),
        share(all.remote_predecessors, all.predecessors),
        share(all.remote_links, all.links),
    )
}
