//! Measures this engine and its peers and prints a line for each figure.
//!
//! Every figure is a race ([`race`]): contestants take turns, runs with other load on the machine are repeated
//! ([`noise`]), and the medians become a line ([`mod@line`]) with a verdict on its target ([`targets`]). The jobs are
//! defined in [`jobs`], [`variants`] and [`work`]; [`ours`] runs them on this engine, [`peers`] on other systems.

mod cluster;
mod corpus;
mod fastq;
mod figures;
mod heap;
mod jobs;
mod line;
mod machine;
mod native;
mod noise;
mod ours;
mod owned;
mod pages;
mod peers;
mod race;
mod ratio;
mod results;
mod row;
mod session;
mod suite;
mod targets;
mod variants;
mod wait;
mod work;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::session::{Options, Session};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measure the engine and its peers: one line per figure, medians of interleaved runs.
///
/// Columns: the figure, our value, the best peer's value and name, ours divided by the best peer's, the target,
/// and the verdict: "pass" or "miss". Values with a unit are nanoseconds per item (and stage), milliseconds or per
/// cent; a value without a unit is an efficiency: the time of a perfect split of the same work over the threads,
/// divided by the time taken. "noisy" marks a line with a run that was disturbed (more than 2 % foreign or stolen
/// processor time) even after it was repeated. "-" means not measured.
///
/// Peers in other languages are built by bench/peers/build.sh.
#[derive(Parser)]
#[command(name = "thalweg-bench", after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    measure: Measure,
    /// Print the figures that have targets, without measuring
    #[arg(long)]
    list: bool,
    /// Measures the memory of processes in this process: what `kpn.bytes` runs
    #[arg(long, hide = true, num_args = 2, value_names = ["STYLE", "NODES"])]
    resident: Vec<String>,
    /// Times the first operation of this process: what `small.first` runs
    #[arg(long, hide = true, num_args = 2, value_names = ["WHAT", "THREADS"])]
    first: Vec<String>,
    /// Executes loops in this process: what `loop.*` run. `bench/peers/loops/job.h` states the arguments
    #[arg(long = "loop", hide = true, num_args = 4.., value_names = ["CONTESTANT", "JOB"])]
    loops: Vec<String>,
    /// Executes an application in this process: what `locality.*` run
    #[arg(long = "app", hide = true, num_args = 3.., value_names = ["CONTESTANT", "JOB"])]
    app: Vec<String>,
    /// Executes a row of items that own memory in this process: what `owned.*` run
    #[arg(long, hide = true, num_args = 5, value_names = ["CONTESTANT", "ROW", "ITEMS", "THREADS", "STEPS"])]
    owned: Vec<String>,
    /// Executes a filter of reads in this process: what `fastq.*` run
    #[arg(long, hide = true, num_args = 4, value_names = ["CONTESTANT", "INPUT", "OUTPUT", "THREADS"])]
    fastq: Vec<String>,
    /// Starts the processes of a job, or is one of them: what `cluster.*` run
    #[arg(long, hide = true, num_args = 2.., value_names = ["WHAT", "JOB"])]
    cluster: Vec<OsString>,
    /// Executes a program and writes what it has cost: what `archives.*` run
    #[arg(long, hide = true, num_args = 2.., allow_hyphen_values = true, value_names = ["REPORT", "PROGRAM"])]
    process: Vec<OsString>,
    #[command(subcommand)]
    other: Option<Other>,
}

#[derive(Subcommand)]
enum Other {
    /// Measure what a run of everything leaves out, the papers' sweeps and archivers: about 80 minutes on 2 cores
    ///
    /// The random network at work divisions 10 to 10^5, the pipeline with messages of 8 to 2048 bytes,
    /// scatter-gather with 8 to 256 workers, the H.264 encoder with 1 to 512, and the hybrid scheduler's figures
    /// (`sweep hybrid.`) by queues, work, batches, threads up to all processors, frequency and selectivity. `sweep
    /// archives.` measures `thalweg dedup` beside tar with zstd, borg and restic, as far as these are installed, and `sweep danbi.`
    /// the programs of the DANBI paper under its policies, which is most of the time.
    Sweep(Measure),
    /// Write docs/results: tables and plots of the results, with the papers' figures. Measures nothing
    Pages(Pages),
}

#[derive(Args)]
struct Measure {
    /// Only figures with a name that contains one of these, for example `chain.s4` or `.w1us.t2`
    filter: Vec<String>,
    /// Small jobs and 3 runs, for a quick look; results are kept only with --out
    #[arg(long)]
    quick: bool,
    /// Runs of every contestant [default: 5, or 3 with --quick or of a sweep]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    runs: Option<u16>,
    /// Threads of the parallel figures; the targets are for 2
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// The file for the results, with all single runs [default: `bench/results/DATE-MACHINE.tsv`]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print every contestant below each line
    #[arg(long)]
    peers: bool,
}

#[derive(Args)]
struct Pages {
    /// Files of results; of a figure that is in several, the newest is shown [default: all of bench/results]
    results: Vec<PathBuf>,
    /// The folder to write to [default: docs/results]
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  thalweg-bench                     everything, about 20 minutes on 2 cores
  thalweg-bench --quick             a quick look in under 2 minutes
  thalweg-bench farm --peers        the farm and its variants, with every peer's value
  thalweg-bench chain.s4.w0 --runs 11
  thalweg-bench owned.map. --peers  a parallel map over lines, beside the plain loop and all peers
  thalweg-bench cluster. --peers    several processes on this machine, beside one and raw timely
  thalweg-bench sweep layers        the random network at all its work divisions
  thalweg-bench sweep hybrid.7a     threads of the operating system against one, on one processor
  thalweg-bench sweep archives. --runs 5
  thalweg-bench sweep danbi.speedup.rg --peers
  thalweg-bench pages               docs/results, from all recorded results";

impl Measure {
    /// The options of the session, with `runs` as the default number of runs.
    fn options(&self, runs: usize) -> Options {
        Options {
            filters: self.filter.clone(),
            runs: self.runs.map_or(if self.quick { 3 } else { runs }, usize::from),
            quick: self.quick,
            threads: self.threads.into(),
            peers: self.peers,
        }
    }

    /// The file for the results; none for a quick look without `--out`.
    fn path(&self, what: &str) -> Option<PathBuf> {
        self.out.clone().or_else(|| (!self.quick).then(|| results::default_path(what)))
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let [style, nodes] = &arguments.resident[..] {
        let nodes = nodes.parse().map_err(|_| format!("{nodes}: not a number"));
        return child(nodes.and_then(|nodes| figures::resident(style, nodes)));
    }
    if let [what, threads] = &arguments.first[..] {
        return child(figures::first(what, threads));
    }
    if !arguments.loops.is_empty() {
        return child(figures::loops(&arguments.loops));
    }
    if !arguments.app.is_empty() {
        return child(figures::app(&arguments.app));
    }
    if !arguments.owned.is_empty() {
        return child(figures::owned::child(&arguments.owned));
    }
    if !arguments.fastq.is_empty() {
        return child(figures::fastq(&arguments.fastq));
    }
    if !arguments.cluster.is_empty() {
        return child(cluster::child(&arguments.cluster));
    }
    if !arguments.process.is_empty() {
        return child(peers::process::child(&arguments.process));
    }
    match &arguments.other {
        _ if arguments.list => {
            session::list();
            ExitCode::SUCCESS
        }
        None => measure(arguments.measure.options(5), arguments.measure.path(""), figures::all),
        Some(Other::Sweep(measured)) => sweep(measured),
        Some(Other::Pages(pages)) => match pages::write(&pages.results, pages.to.as_deref()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
    }
}

/// Measures the papers' sweeps. Figures in dilated time have a heap that keeps its memory, if the session has no others.
fn sweep(measured: &Measure) -> ExitCode {
    if figures::are_dilated(&measured.filter)
        && let Err(error) = heap::restart()
    {
        eprintln!("error: cannot restart with other settings of the heap: {error}");
        return ExitCode::FAILURE;
    }
    measure(measured.options(3), measured.path("-sweep"), figures::sweep)
}

fn measure(options: Options, path: Option<PathBuf>, figures: impl FnOnce(&mut Session)) -> ExitCode {
    let mut session = Session::start(options, path);
    figures(&mut session);
    finish(session)
}

/// Ends a child process that a figure has started.
fn child(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the results; fails if a contestant failed or the results could not be written.
fn finish(mut session: Session) -> ExitCode {
    session.save();
    if let Some(path) = session.results.path.as_ref().filter(|path| path.exists()) {
        eprintln!("results: {}", path.display());
    }
    if session.errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
