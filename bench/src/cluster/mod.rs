//! The programs of `cluster.*`, in processes of their own: ours on several processes, the same without a cluster, and raw
//! timely.
//!
//! ```text
//! bench ─▶ --process (measures) ─▶ --cluster start N JOB.. ─▶ N times --cluster run ADDRESSES P JOB..
//! ```

mod alone;
mod files;
mod keyed;
mod ours;
mod word;

use std::ffi::OsString;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use thalweg::Options;
use thalweg_cluster::Cluster;

use crate::peers::timely;

pub use files::{Blocks, lines_of_counts};
pub use keyed::KeyedJob;
pub use word::{Word, words};

/// Which process of which run this is.
pub struct Seat {
    pub addresses: Vec<String>,
    pub process: usize,
}

impl Seat {
    /// The cluster of all processes.
    pub fn cluster(&self) -> Result<Cluster, String> {
        match self.addresses.len() {
            1 => Ok(Cluster::alone()),
            _ => Cluster::new(&self.addresses, self.process).map_err(|error| error.to_string()),
        }
    }

    /// The threads of the stages: two, divided among the processes.
    pub fn threads(&self) -> usize {
        (2 / self.addresses.len()).max(1)
    }

    pub fn options(&self) -> Options {
        Options::new().threads(self.threads())
    }
}

/// Compresses a block.
fn pack(block: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::bulk::compress(block, 3)
}

/// The command that starts this many processes, by a contestant, of a job with these arguments.
pub fn command(
    processes: usize,
    contestant: &str,
    job: &str,
    arguments: &[OsString],
) -> Result<Command, String> {
    let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    command.args(["--cluster", "start", &processes.to_string(), contestant, job]).args(arguments);
    Ok(command)
}

/// A process of a figure: starts the others, or is one of them.
///
/// # Errors
/// The arguments are none of these; or the job fails.
pub fn child(words: &[OsString]) -> Result<(), String> {
    let text = |at: usize| words.get(at).and_then(|word| word.to_str()).ok_or_else(|| format!("{words:?}"));
    let number = |at: usize| text(at)?.parse::<usize>().map_err(|_| format!("{words:?}: no number"));
    match text(0)? {
        "start" => {
            let failed = |status: &ExitStatus| !status.success();
            let ended =
                started(number(1)?, &words[2..], Stdio::inherit)?.into_iter().map(|mut child| child.wait());
            let ended = ended.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
            ended.iter().find(|status| failed(status)).map_or(Ok(()), |status| Err(status.to_string()))
        }
        "run" => {
            let addresses = text(1)?.split(',').map(str::to_owned).collect();
            let seat = Seat { addresses, process: number(2)? };
            let (contestant, job, rest) = (text(3)?, text(4)?, words.get(5..).unwrap_or_default());
            match contestant {
                "ours" => ours::run(&seat, job, rest),
                "thalweg" => alone::run(job, rest),
                "timely" => timely::run(&seat, job, rest),
                _ => Err(format!("{contestant}: no contestant")),
            }
        }
        _ => Err(format!("{words:?}")),
    }
}

/// Starts processes of a job. `errors`: where they write them.
fn started(processes: usize, job: &[OsString], errors: fn() -> Stdio) -> Result<Vec<Child>, String> {
    let text = |error: std::io::Error| error.to_string();
    // Another program may take a port in between; then the run fails, which does not happen in practice.
    let listeners: Result<Vec<_>, _> = (0..processes).map(|_| TcpListener::bind("127.0.0.1:0")).collect();
    let addresses: Result<Vec<_>, _> =
        listeners.map_err(text)?.iter().map(|it| it.local_addr().map(|it| it.to_string())).collect();
    let addresses = addresses.map_err(text)?.join(",");
    let start = |process: usize| {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["--cluster", "run", &addresses, &process.to_string()])
            .args(job)
            .stderr(errors())
            .spawn()
    };
    (0..processes).map(start).collect::<Result<_, _>>().map_err(text)
}

/// Starts processes that work without an end, sends a signal to the last of them a while later, and waits for all others.
/// Returns how long it took from the signal to the end of the last.
///
/// # Errors
/// A process cannot be started; or one of the others has not failed.
pub fn signalled(processes: usize, signal: Signal, after: Duration) -> Result<Duration, String> {
    let job = ["ours", "endless"].map(OsString::from);
    let mut children = started(processes, &job, Stdio::null)?;
    thread::sleep(after);
    let Some(mut last) = children.pop() else { return Err("no process".into()) };
    let began = Instant::now();
    let sent = kill(Pid::from_raw(last.id() as i32), signal).map_err(|error| error.to_string());
    let ended: Vec<_> = children.iter_mut().map(|child| child.wait()).collect();
    let took = began.elapsed();
    _ = last.kill();
    _ = last.wait();
    sent?;
    match ended.iter().all(|ended| ended.as_ref().is_ok_and(|status| status.code() == Some(1))) {
        true => Ok(took),
        false => Err(format!("the others ended so: {ended:?}")),
    }
}

/// The file beside an output into which process 0 writes how many bytes went from process to process.
pub fn network_file(output: &Path) -> std::path::PathBuf {
    output.with_extension("network")
}

/// Writes what a run has moved between processes.
fn report(cluster: &Cluster, output: &Path) -> Result<(), String> {
    let Some(report) = cluster.report() else { return Ok(()) };
    let bytes: u64 = report.links().iter().map(|link| link.bytes).sum();
    fs::write(network_file(output), bytes.to_string()).map_err(|error| error.to_string())
}
