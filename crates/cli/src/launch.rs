//! `thalweg launch`.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use anyhow::{Result, anyhow};
use clap::Args;

use crate::interrupt::Interrupt;

/// Run a program as several processes on this machine.
///
/// The program is one that calls `Cluster::from_env` of the crate thalweg-cluster: its processes find each other, share the work, and
/// have the result that one process alone has. A program that does not call it simply runs several times.
///
/// Process 0 gets the standard input. All write to the standard output and error. If one fails, the others end with its
/// error, and those that still run 10 seconds later are killed.
///
/// With --resume, a program whose chain ends with `write_file` goes on with the file that a failed run has left: FILE.partial, and
/// FILE.resume beside it. The number of processes may be another.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  thalweg launch -n 2 -- echo hello")]
pub(crate) struct Launch {
    /// The number of processes
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    processes: u16,
    /// Go on with the file that a run which has failed left unfinished: the program must end its chain with `write_file`
    #[arg(long)]
    resume: bool,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Launch {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let (name, arguments) = self.program.split_first().ok_or_else(|| anyhow!("no program"))?;
        let command = |process| {
            let mut command = Command::new(name);
            command.args(arguments);
            if self.resume {
                command.env(thalweg_cluster::RESUME, "1");
            }
            if process > 0 {
                command.stdin(Stdio::null());
            }
            command
        };
        let _guard = interrupt.guard(); // no process may outlive the launcher
        let ended =
            thalweg_cluster::launch(self.processes.into(), command, || interrupt.stop().is_requested())?;
        match ended.iter().enumerate().find(|(_, status)| !status.success()) {
            None => Ok(()),
            Some((process, status)) => Err(anyhow!("process {process} has failed: {status}")),
        }
    }
}
