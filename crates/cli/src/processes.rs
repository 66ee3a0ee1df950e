//! The options of verbs that run on several processes, and what each process says of a failure.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, anyhow};
use clap::Args;
use thalweg_cluster::{Cluster, Error};

use crate::interrupt::Interrupt;
use crate::standard;

/// Which processes share the work.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for several processes")]
pub(crate) struct Processes {
    /// Be one of the processes that FILE lists, with a line HOST:PORT for each. All are started with the same arguments but for
    /// --process, by hand or by `thalweg launch`, which needs none of these options; process 0 writes the output
    #[arg(long, hide_short_help = true, value_name = "FILE", requires = "process")]
    hosts: Option<PathBuf>,
    /// Which process of FILE this is, by line from 0
    #[arg(long, hide_short_help = true, value_name = "N", requires = "hosts")]
    process: Option<usize>,
    /// A file of mode 0600 with a secret that all processes know; needed if an address can be reached from other machines
    #[arg(long, hide_short_help = true, value_name = "FILE", requires = "hosts")]
    secret_file: Option<PathBuf>,
}

impl Processes {
    /// The processes that share the work, if there are several.
    pub fn several(&self) -> Result<Option<Cluster>> {
        let cluster = match (&self.hosts, self.process) {
            (Some(hosts), Some(process)) => Cluster::from_hosts(hosts, process),
            _ => Cluster::from_env(),
        };
        let cluster = cluster.and_then(|cluster| match &self.secret_file {
            Some(file) => cluster.secret_file(file),
            None => Ok(cluster),
        });
        let cluster = cluster.map_err(|error| with_help(&error))?;
        Ok(Some(cluster).filter(|cluster| cluster.processes() > 1))
    }
}

/// Why this process cannot do its share, as this process says it: with its cause and its exit code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Own(Arc<Mutex<Option<anyhow::Error>>>);

impl Own {
    /// Keeps an error, and returns the text that the other processes get.
    pub fn keep(&self, error: anyhow::Error) -> String {
        let text = format!("{error:#}");
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        text
    }

    pub fn take(&self) -> Option<anyhow::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Lets a read of this process that waits for its input fail when a run ends: the end would wait for it.
pub(crate) fn end_waits_with(cluster: &Cluster, interrupt: &Interrupt) {
    let cluster = cluster.clone();
    interrupt.end_waits_with(move || cluster.is_ending());
}

/// Prints what the last run has moved between processes.
pub(crate) fn print_report(cluster: &Cluster) {
    if let Some(report) = cluster.report() {
        standard::eprint(report.to_string().trim_end());
    }
}

/// Process 0 says why the run has failed.
#[derive(Debug)]
pub(crate) struct SaidElsewhere;

impl fmt::Display for SaidElsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("process 0 says why the run has failed")
    }
}

impl std::error::Error for SaidElsewhere {}

/// What this process says of the failure of a run. Process 0 says `own`, if there is one, since it was the first to know of it, or
/// else the cause; another process says that process 0 is lost, or what keeps itself from joining the run, and nothing else.
pub(crate) fn failed(cluster: &Cluster, error: &Error, own: Option<anyhow::Error>) -> anyhow::Error {
    let by_stage = error.to_string().contains("), stage ");
    match (cluster.process(), error.process()) {
        (0, _) => own.unwrap_or_else(|| with_help(error)),
        (_, None | Some(0)) if !by_stage => with_help(error),
        (me, Some(process)) if me == process && !by_stage => with_help(error),
        _ => SaidElsewhere.into(),
    }
}

/// The error, and below it what to do.
pub(crate) fn with_help(error: &Error) -> anyhow::Error {
    match error.help() {
        Some(help) => anyhow!("{error}\nhelp: {}", help.replace("`Cluster::secret_file`", "--secret-file")),
        None => anyhow!("{error}"),
    }
}
