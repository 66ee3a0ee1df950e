//! `thalweg launch`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Result, anyhow};
use clap::Args;
use thalweg_cluster::{Hosts, RemoteShell};

use crate::interrupt::Interrupt;

/// Run a program as several processes, on this machine or on several.
///
/// The program is one that calls `Cluster::from_env` of the crate thalweg-cluster: its processes find each other, share the work, and
/// have the result that one process alone has. A program that does not call it simply runs several times.
///
/// With -n all processes run here, and process 0 gets the standard input. With --hosts each runs on its host, which `ssh` reaches
/// without a question; the program and its files must be there, relative paths begin in the user's home, and no process gets the
/// standard input. The processes know each other by a secret that is new for each run; what they send is not encrypted.
///
/// All write to the standard output and error. If one fails, the others end with its error, and those that still run 10
/// seconds later are killed. None outlives the launcher.
///
/// With --resume, a program whose chain ends with `write_file` goes on with the file that a failed run has left: FILE.partial, and
/// FILE.resume beside it. The number of processes may be another.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  thalweg launch -n 2 -- echo hello

A file of hosts, and its use:
  node1:7000        # process 0 listens there while a run begins
  node2:7000
  node2:7001        # another process of the same host

  thalweg launch --hosts FILE -- /shared/bin/program
  thalweg launch --hosts FILE --ssh 'ssh -i KEY' -- program")]
pub(crate) struct Launch {
    /// The number of processes on this machine
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[arg(required_unless_present = "hosts")]
    processes: Option<u16>,
    /// A file with a line HOST:PORT for each process
    #[arg(long, value_name = "FILE", conflicts_with = "processes")]
    hosts: Option<PathBuf>,
    /// The command that runs another on a host; the host and a command line are added to its words
    #[arg(long, value_name = "COMMAND", default_value = "ssh", conflicts_with = "processes")]
    ssh: String,
    /// Go on with the file that a run which has failed left unfinished: the program must end its chain with `write_file`
    #[arg(long)]
    resume: bool,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Launch {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let _guard = interrupt.guard(); // no process may outlive the launcher
        match &self.hosts {
            None => self.run_here(interrupt),
            Some(hosts) => self.run_on(&Hosts::read(hosts)?, interrupt),
        }
    }

    fn run_here(&self, interrupt: &Interrupt) -> Result<()> {
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
        let stop = || interrupt.stop().is_requested();
        let ended = thalweg_cluster::launch(self.processes.unwrap_or(1).into(), command, stop)?;
        match first_failure(&ended) {
            None => Ok(()),
            Some((process, status)) => Err(anyhow!("process {process} has failed: {status}")),
        }
    }

    fn run_on(&self, hosts: &Hosts, interrupt: &Interrupt) -> Result<()> {
        let shell = RemoteShell::parse(&self.ssh)?;
        let stop = || interrupt.stop().is_requested();
        let resume = [OsString::from("env"), format!("{}=1", thalweg_cluster::RESUME).into()];
        let resume = resume.into_iter().filter(|_| self.resume);
        let program: Vec<OsString> = resume.chain(self.program.iter().cloned()).collect();
        let ended = thalweg_cluster::launch_on(hosts, &shell, &program, stop)?;
        let Some((process, status)) = first_failure(&ended) else { return Ok(()) };
        let host = hosts.hosts().nth(process).unwrap_or_default();
        let why = match status.code() {
            Some(255) => format!("; `{}` ends so when it cannot reach the host", shell.words()[0]),
            Some(127) => "; a shell ends so when it finds no program of this name".to_owned(),
            _ => String::new(),
        };
        Err(anyhow!("process {process} on {host} has failed: {status}{why}"))
    }
}

fn first_failure(ended: &[ExitStatus]) -> Option<(usize, ExitStatus)> {
    ended.iter().copied().enumerate().find(|(_, status)| !status.success())
}
