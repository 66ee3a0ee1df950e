//! `thalweg pagerank`.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use thalweg_dedup::OutFile;
use thalweg_pagerank::{
    Estimate, Graph, Input, Iteration, PageRank, Ranking, Recording, Rmat, Schedule, write_json, write_tsv,
};

use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::scheduling::{self, Placement, Scheduling, share};
use crate::{results, size, standard};

mod plot;

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
#[command(after_help = "Examples:
  thalweg pagerank soc-LiveJournal1.txt.gz --top 20
  thalweg pagerank web-Stanford.mtx --format json -o ranks.json --plot convergence.svg
  thalweg pagerank roads.txt --undirected --damping 0.9 --tolerance 1e-12
  thalweg pagerank --rmat 20 --edge-factor 16 --seed 1 --top 10
  thalweg pagerank --rmat 20 --schedule tasks --counts --machine server.machine --top 0
  zcat links.gz | thalweg pagerank - --quiet | head")]
pub(crate) struct Pagerank {
    /// The file to read, or `-` for standard input
    #[arg(value_name = "GRAPH", required_unless_present = "rmat", conflicts_with = "rmat")]
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
struct Reading {
    /// Each link leads in both directions
    #[arg(long, conflicts_with = "rmat")]
    undirected: bool,
    /// Each link leads from its second page to its first one
    #[arg(long, conflicts_with = "rmat")]
    reverse: bool,
    /// Ignore the values of a Matrix Market file (otherwise they are weights)
    #[arg(long, conflicts_with = "rmat")]
    unweighted: bool,
    /// Ignore all columns of an edge list after the second one
    #[arg(long, conflicts_with = "rmat")]
    extra_columns: bool,
    /// The memory that may be used (default: what the system has available, within the limits of the process)
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
}

/// How the pages are ranked.
#[derive(Debug, Args)]
struct Settings {
    /// The probability of following a link, from 0 to below 1
    #[arg(long, value_name = "D", default_value_t = 0.85)]
    damping: f64,
    /// Stop when the changes of all ranks add up to this. With 0, all iterations are done
    #[arg(long, value_name = "T", default_value = "1e-9")]
    tolerance: f64,
    /// The largest number of iterations. More are an error, unless the tolerance is 0
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_iterations: usize,
    /// Pages that a task updates
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pages_per_task: usize,
    /// Threads (default: the number of cores that this process may use)
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// What is written, and where.
#[derive(Debug, Args)]
struct Output {
    /// Write only the K pages of the highest ranks
    #[arg(long, value_name = "K")]
    top: Option<usize>,
    /// The form of the ranks
    #[arg(long, value_enum, default_value_t = Format::Tsv)]
    format: Format,
    /// Write the ranks to this file, which appears when it is complete (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the changes of the ranks by iteration, as SVG
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Replace existing files
    #[arg(short, long)]
    force: bool,
    /// Print neither the size of the graph nor the time
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Lines `ID<tab>RANK`
    Tsv,
    /// One object with counts, residuals and ranks
    Json,
}

impl Pagerank {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let settings = self.ranking.settings();
        settings.check()?;
        self.output.check(self.graph.as_deref(), interrupt)?;
        let placement = self.scheduling.placement(self.ranking.threads, interrupt)?;
        let settings = self.scheduled(settings, placement.as_ref());
        let graph = match (&self.graph, self.rmat) {
            (Some(path), _) => self.read(path, interrupt)?,
            (None, scale) => self.random(scale.unwrap_or_default())?,
        };
        let (ranking, recording, took) = self.rank(&settings, &graph)?;
        if !self.output.quiet {
            standard::eprint(&summary(&graph, &ranking, took));
        }
        if let (Some(placement), Some(recording)) = (placement, recording) {
            placement.print(&accesses(&recording, &graph, &placement), &recording.steals());
        }
        self.output.write(&graph, &ranking, interrupt)
    }

    fn read(&self, path: &Path, interrupt: &Interrupt) -> Result<Graph> {
        let name = if standard::is_dash(path) { "standard input".into() } else { path.display().to_string() };
        let standard::Input { bytes, length } = standard::input(path, interrupt)?;
        let progress = Progress::new(length);
        let reading = &self.reading;
        let input = Input::new(name.clone())
            .memory(self.memory())
            .undirected(reading.undirected)
            .reverse(reading.reverse)
            .weights(!reading.unweighted)
            .extra_columns(reading.extra_columns);
        let input = self.ranking.threads.map_or(input.clone(), |threads| input.threads(threads));
        let announce = |size: &Estimate| self.announce(&name, size, &progress);
        let graph = input.read(progress.read(bytes), length, announce);
        progress.end(&graph);
        Ok(graph?)
    }

    fn random(&self, scale: u32) -> Result<Graph> {
        let rmat = Rmat::new(scale).edge_factor(self.edge_factor).seed(self.seed).memory(self.memory());
        let rmat = self.ranking.threads.map_or(rmat.clone(), |threads| rmat.threads(threads));
        let progress = Progress::steps(None);
        let graph = rmat.graph(|size| self.announce(&format!("R-MAT of scale {scale}"), size, &progress));
        progress.end(&graph);
        Ok(graph?)
    }

    /// The bytes that the graph may need.
    fn memory(&self) -> u64 {
        self.reading.memory.or_else(thalweg::machine::available_memory).unwrap_or(u64::MAX)
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
        let progress = Progress::steps(Some(self.ranking.max_iterations as u64));
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

impl Settings {
    fn settings(&self) -> PageRank {
        let settings = PageRank::new()
            .damping(self.damping)
            .tolerance(self.tolerance)
            .max_iterations(self.max_iterations)
            .pages_per_task(self.pages_per_task);
        self.threads.map_or(settings.clone(), |threads| settings.threads(threads))
    }
}

impl Output {
    /// The files to write.
    fn files(&self) -> impl Iterator<Item = &Path> {
        let output = self.output.as_deref().filter(|path| !standard::is_dash(path));
        output.into_iter().chain(self.plot.as_deref())
    }

    /// Refuses files that cannot be written, or that are read, before the work begins.
    fn check(&self, graph: Option<&Path>, interrupt: &Interrupt) -> Result<()> {
        let mut others: Vec<&Path> = graph.into_iter().filter(|path| !standard::is_dash(path)).collect();
        ensure!(
            self.plot.as_deref().is_none_or(|path| !standard::is_dash(path)),
            "the plot is not written to standard output\nhelp: name a file"
        );
        for path in self.files() {
            for other in &others {
                ensure!(
                    !results::is_same(path, other),
                    "refusing to overwrite {}, which this command also reads or writes\nhelp: choose another name",
                    path.display()
                );
            }
            others.push(path);
            // Devices and pipes are opened once, when there is something to write.
            if fs::metadata(path).map_or(true, |meta| meta.is_file() || meta.is_dir()) {
                let _guard = interrupt.guard();
                drop(OutFile::create(path, self.force)?);
                interrupt.stop().check()?;
            }
        }
        Ok(())
    }

    /// Writes the ranks and the plot.
    fn write(&self, graph: &Graph, ranking: &Ranking, interrupt: &Interrupt) -> Result<()> {
        let top = ranking.top(graph, self.top.unwrap_or(usize::MAX));
        let write = |out: &mut dyn Write| match self.format {
            Format::Tsv => write_tsv(out, &top),
            Format::Json => write_json(out, graph, ranking, &top),
        };
        match self.output.as_deref().filter(|path| !standard::is_dash(path)) {
            Some(path) => self.save(path, interrupt, write)?,
            None => print(write)?,
        }
        match &self.plot {
            Some(path) => {
                let svg = plot::convergence(&ranking.residuals);
                self.save(path, interrupt, |out| out.write_all(svg.as_bytes()))
            }
            None => Ok(()),
        }
    }

    /// Writes a file, completely or not at all.
    fn save(
        &self,
        path: &Path,
        interrupt: &Interrupt,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let _guard = interrupt.guard();
        let writing = || format!("writing {}", path.display());
        let file = OutFile::create(path, self.force)?;
        let mut out = BufWriter::with_capacity(1 << 16, Stoppable { file, interrupt });
        write(&mut out).with_context(writing)?;
        let out = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(writing)?;
        interrupt.stop().check()?;
        Ok(out.file.commit()?)
    }
}

/// Writes to standard output. A closed pipe is no error: its reader, such as `head`, needs no more output.
fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, standard::stdout()?);
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            _ = out.into_parts(); // drops the buffered output without writing it
            Ok(())
        }
        printed => printed.context("writing to standard output"),
    }
}

/// A file whose writes fail after a signal.
struct Stoppable<'i> {
    file: OutFile,
    interrupt: &'i Interrupt,
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.interrupt.stop().check().map_err(io::Error::other)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
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
