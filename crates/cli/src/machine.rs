//! `thalweg machine`.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use clap::Args;
use thalweg::embed::graph::shown;
use thalweg::machine;

use crate::interrupt::Interrupt;
use crate::{outputs, standard, text};

/// The advice below an error in a description that has none of its own.
const HELP: &str =
    "\nhelp: `thalweg machine` prints a description of this machine, and its --help has one of another";

/// Describe this machine: cores, caches, memory domains, limits, and on request costs.
///
/// The description is text that can be edited, and written for another machine. Domains, cores and caches that are
/// alike take one line. What the system does not report is left out.
///
/// With --machine, a description is read and checked instead, and printed in its usual form.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg machine
  thalweg machine --measure -o here.machine
  thalweg machine --machine server.machine

A description of 8 domains of 10 cores:
  thalweg-machine 1
  domains 8 memory 64 GiB
  cores 10
  cache 2 size 256 KiB per core
  cache 3 size 30 MiB per domain
  distance 21")]
pub(crate) struct Machine {
    /// Also measure what queue operations, steals, wake-ups, transfers of cache lines and memory accesses cost, for about a
    /// second
    #[arg(long)]
    measure: bool,
    /// Read and check this description, instead of describing this machine; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "measure")]
    machine: Option<PathBuf>,
    /// Write the description to this file, or to standard output for `-`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(short, long, requires = "output")]
    force: bool,
}

impl Machine {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        outputs::check_apart(self.output.as_deref(), self.machine.as_deref())?;
        let machine = match &self.machine {
            Some(path) => read(path, interrupt)?,
            None => self.here(),
        };
        let text = machine.to_string();
        match &self.output {
            Some(path) => outputs::write(path, self.force, text.as_bytes(), interrupt),
            None => standard::print(&text),
        }
    }

    fn here(&self) -> machine::Machine {
        let machine = machine::Machine::here();
        if !self.measure {
            return machine;
        }
        let costs = machine::measure(&machine);
        machine.with_costs(costs)
    }
}

/// Reads a description, or says in which line it is wrong.
pub(crate) fn read(path: &Path, interrupt: &Interrupt) -> Result<machine::Machine> {
    let text = text::read(path, HELP, interrupt)?;
    machine::Machine::read(&text).map_err(|error| {
        let help = if error.what().contains("\nhelp: ") { "" } else { HELP };
        anyhow!("{}, line {}: {}{help}", shown(path), error.line(), error.what())
    })
}
