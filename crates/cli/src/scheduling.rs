//! The options of the verbs that execute loops or graphs of tasks: how, and what of it is counted.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use thalweg::embed::tasks::MemberCounts;
use thalweg::machine::{Machine, Places};

use crate::interrupt::Interrupt;
use crate::{machine, standard};

/// How work is divided among threads.
#[derive(Debug, Args)]
#[command(next_help_heading = "Scheduling options")]
pub(crate) struct Scheduling {
    /// How the work is divided among threads (default: loops for pagerank, tasks for align). The result does not depend on
    /// it
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    pub schedule: Option<Schedule>,
    /// Print on standard error how many accesses to blocks went to the memory of other threads, and the steals. They are those of the threads
    /// that ran, whose places are assumed: no thread is pinned
    #[arg(long, hide_short_help = true)]
    pub counts: bool,
    /// Count accesses for the memory domains of the machine that FILE describes (`thalweg machine` writes such files), over
    /// which the threads are spread; `-` is standard input (default: this machine)
    #[arg(long, hide_short_help = true, value_name = "FILE", requires = "counts")]
    machine: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Schedule {
    /// Parallel loops: each thread begins with blocks of its own, and then steals
    Loops,
    /// The same loops without stealing
    StaticLoops,
    /// A graph of tasks, in which threads prefer to steal tasks whose blocks are near
    Tasks,
    /// The same graph, in which threads steal any task
    RandomTasks,
}

/// The place of each thread.
pub(crate) struct Placement {
    pub places: Places,
    /// How many memory domains these are in.
    count: usize,
}

impl Scheduling {
    /// The file that is read.
    pub fn file(&self) -> Option<&Path> {
        self.machine.as_deref()
    }

    /// The places of this many threads, if accesses are counted. The threads are spread over the machine.
    pub fn placement(&self, threads: Option<usize>, interrupt: &Interrupt) -> Result<Option<Placement>> {
        if !self.counts {
            return Ok(None);
        }
        let machine = match &self.machine {
            Some(path) => machine::read(path, interrupt)?,
            None => Machine::here(),
        };
        let team = thalweg::loops::team_size();
        let threads = threads.unwrap_or(team).clamp(1, team);
        let places = machine.places(threads);
        let count = places.domains().chunk_by(|a, b| a == b).count();
        Ok(Some(Placement { places, count }))
    }

    /// Does the work, and counts its loops and task graphs if counts are printed.
    pub fn count<R>(&self, work: impl FnOnce() -> R) -> (R, MemberCounts) {
        match self.counts {
            true => {
                let (result, counts) = thalweg::loops::count_jobs(work);
                (result, counts.total())
            }
            false => (work(), MemberCounts::default()),
        }
    }
}

impl Placement {
    /// Prints accesses below a line that says where the threads are, and the steals of `jobs`.
    pub fn print(&self, accesses: &str, jobs: &MemberCounts) {
        let (steals, attempts) = (jobs.steals(), jobs.attempts());
        let (coloured_steals, coloured_attempts) = (jobs.coloured_steals(), jobs.coloured_attempts());
        let (threads, domains) = (self.places.threads(), self.count);
        let plural = if domains == 1 { "" } else { "s" };
        standard::eprint(&format!(
            "threads: {threads}, in {domains} memory domain{plural}\n{accesses}\n\
             steals: {steals} in {attempts} attempts, of which coloured {coloured_steals} in {coloured_attempts}"
        ));
    }
}

/// `remote` of `all`, in words.
pub(crate) fn share(remote: u64, all: u64) -> String {
    let percent = 100.0 * remote as f64 / (all as f64).max(1.0);
    format!("{remote} of {all} ({percent:.1} %)")
}
