//! Measures this engine beside its peers and prints a line for each figure.
//!
//! Every figure is a race ([`race`]): contestants take turns, the machine is watched ([`quiet`]), the medians
//! become a line ([`mod@line`]) that is compared with its target ([`targets`]). What the contestants do is written
//! in [`jobs`], [`variants`] and [`work`]; how ours does it in [`ours`]; how the others do it in [`peers`].

mod corpus;
mod figures;
mod jobs;
mod line;
mod machine;
mod ours;
mod peers;
mod quiet;
mod race;
mod results;
mod row;
mod session;
mod targets;
mod variants;
mod wait;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::session::{Options, Session};

/// Measure the engine beside its peers: one line per figure, medians of interleaved runs.
///
/// Columns: the figure, our value, the best peer's value and name, ours divided by the best peer's, the target,
/// and whether it is met. Values are nanoseconds per item (and stage), milliseconds or per cent where a unit
/// stands, otherwise efficiency: the time of a perfect split of the same work over the threads, divided by the
/// time taken. "noisy" marks a line with a run that was disturbed (more than 2 % foreign or stolen processor
/// time) even after it was repeated. "-" means not measured.
///
/// Peers in other languages are built by bench/peers/build.sh.
#[derive(Parser)]
#[command(name = "thalweg-bench", after_help = EXAMPLES)]
struct Arguments {
    /// Only figures whose names contain one of these, for example `chain.s4` or `.w1us.t2`
    filter: Vec<String>,
    /// Small jobs and 3 runs: a look, not a result; kept only with --out
    #[arg(long)]
    quick: bool,
    /// Runs of every contestant [default: 5, or 3 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    runs: Option<u16>,
    /// Threads of the parallel figures; the targets are for 2
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Where to keep all single runs [default: `bench/results/DATE-MACHINE.tsv`]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show every contestant below each line
    #[arg(long)]
    peers: bool,
    /// Print the figures that have targets, and run nothing
    #[arg(long)]
    list: bool,
    /// Measures the memory of processes in this process: what `kpn.bytes` runs
    #[arg(long, hide = true, num_args = 2, value_names = ["STYLE", "NODES"])]
    resident: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  thalweg-bench                     everything, about 15 minutes on 2 cores
  thalweg-bench --quick             a look in under 2 minutes
  thalweg-bench farm --peers        the farm and its variants, with every peer's value
  thalweg-bench chain.s4.w0 --runs 11";

impl Arguments {
    fn options(&self) -> Options {
        Options {
            filters: self.filter.clone(),
            runs: self.runs.map_or(if self.quick { 3 } else { 5 }, usize::from),
            quick: self.quick,
            threads: self.threads.into(),
            peers: self.peers,
        }
    }

    /// Where results go; a quick look leaves nothing behind unless asked to.
    fn path(&self) -> Option<PathBuf> {
        self.out.clone().or_else(|| (!self.quick).then(results::default_path))
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        session::list();
        return ExitCode::SUCCESS;
    }
    if let [style, nodes] = &arguments.resident[..] {
        return resident(style, nodes);
    }
    let mut session = Session::start(arguments.options());
    figures::all(&mut session);
    finish(&session, arguments.path())
}

fn resident(style: &str, nodes: &str) -> ExitCode {
    let nodes = nodes.parse().map_err(|_| format!("{nodes}: not a number"));
    match nodes.and_then(|nodes| figures::resident(style, nodes)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Keeps the results; fails if a contestant gave a wrong answer or the results could not be kept.
fn finish(session: &Session, path: Option<PathBuf>) -> ExitCode {
    if let Some(path) = path {
        match session.results.write(&path) {
            Ok(()) => eprintln!("results: {}", path.display()),
            Err(error) => {
                eprintln!("error: {}: {error}", path.display());
                return ExitCode::FAILURE;
            }
        }
    }
    if session.errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
