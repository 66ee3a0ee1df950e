//! `thalweg launch`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Result, anyhow};
use clap::Args;
use thalweg_cluster::{Ended, Hosts, RemoteShell};

use crate::interrupt::{Interrupt, InterruptNote};
use crate::processes::with_help;

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
/// seconds later are ended: by SIGTERM, and 2 seconds later by SIGKILL. So are all when the launcher gets a signal. If one fails
/// before all have found each other, those that wait for it are ended at once.
///
/// With --resume, a program whose chain ends with `write_file` goes on with the file that a failed run has left: FILE.partial, and
/// FILE.resume beside it. The number of processes may be another.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  thalweg launch -n 4 --report -- thalweg demo wordcount book.txt

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
    /// At the end of each run of the program, let process 0 print on standard error how many bytes and batches each link between two
    /// processes has moved, and how long links and sources have waited
    #[arg(long)]
    report: bool,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Launch {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let _guard = interrupt.guard(); // no process may outlive the launcher
        let ended = self.run_processes(interrupt);
        match interrupt.stop().is_requested() {
            true => Err(InterruptNote("interrupted".into()).into()),
            false => ended,
        }
    }

    fn run_processes(&self, interrupt: &Interrupt) -> Result<()> {
        match &self.hosts {
            None => self.run_here(interrupt),
            Some(hosts) => {
                let hosts = Hosts::read(hosts).map_err(|error| with_help(&error))?;
                self.run_on(&hosts, interrupt)
            }
        }
    }

    /// The variables that tell the program what is asked for.
    fn environment(&self) -> impl Iterator<Item = &'static str> {
        let asked = [(self.resume, thalweg_cluster::RESUME), (self.report, thalweg_cluster::REPORT)];
        asked.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, name)| name)
    }

    fn run_here(&self, interrupt: &Interrupt) -> Result<()> {
        let (name, arguments) = self.program.split_first().ok_or_else(|| anyhow!("no program"))?;
        let command = |process| {
            let mut command = Command::new(name);
            command.args(arguments).envs(self.environment().map(|name| (name, "1")));
            if process > 0 {
                command.stdin(Stdio::null());
            }
            command
        };
        let stop = || interrupt.stop().is_requested();
        let ended = thalweg_cluster::launch(self.processes.unwrap_or(1).into(), command, stop)
            .map_err(|error| with_help(&error))?;
        match first_failure(&ended) {
            None => Ok(()),
            Some((process, status)) => Err(anyhow!("process {process} has failed: {status}")),
        }
    }

    fn run_on(&self, hosts: &Hosts, interrupt: &Interrupt) -> Result<()> {
        let shell = RemoteShell::parse(&self.ssh).map_err(|error| with_help(&error))?;
        let stop = || interrupt.stop().is_requested();
        let asked: Vec<OsString> = self.environment().map(|name| format!("{name}=1").into()).collect();
        let env = asked.first().map(|_| OsString::from("env"));
        let program: Vec<OsString> =
            env.into_iter().chain(asked).chain(self.program.iter().cloned()).collect();
        let ended =
            thalweg_cluster::launch_on(hosts, &shell, &program, stop).map_err(|error| with_help(&error))?;
        let Some((process, status)) = first_failure(&ended) else { return Ok(()) };
        let host = hosts.hosts().nth(process).unwrap_or_default();
        let why = match status.code() {
            Some(255) => format!("; `{}` ends so when it cannot reach the host", shell.words()[0]),
            Some(127) => "; a shell ends so when it finds no program of this name".to_owned(),
            Some(2) if process > 0 => {
                "; a command ends so when its arguments are wrong: run it there by itself".to_owned()
            }
            _ => String::new(),
        };
        Err(anyhow!("process {process} on {host} has failed: {status}{why}"))
    }
}

/// The process that has failed for a reason of its own, as far as that shows: all end with an error that all say. So one that a signal
/// has ended, or that a shell or `ssh` could not start, and otherwise that with the smallest number.
fn first_failure(ended: &[Ended]) -> Option<(usize, ExitStatus)> {
    let failed = || ended.iter().filter(|it| it.has_failed());
    let is_special = |it: &&Ended| it.status.code().is_none_or(|code| code > 125);
    let first = failed().find(is_special).or_else(|| failed().min_by_key(|it| it.process))?;
    Some((first.process, first.status))
}
