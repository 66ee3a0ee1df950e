//! Peers in other languages: programs that `bench/peers/build.sh` builds from `bench/peers/`.
//!
//! A program takes its job as arguments and prints one line: the seconds of its timed region and the checksum. Libraries for
//! Python run in `bench/peers/apps.py`, by the interpreter that the environment variable `PYTHON` names.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::jobs::{Chain, Farm, Small};
use crate::peers::loops::LoopJob;
use crate::row::Row;

/// The programs, each with a hint how to build it.
pub const PROGRAMS: [(&str, &str); 2] = [
    ("go", "install Go, then bench/peers/build.sh"),
    ("tbb", "apt-get install libtbb-dev, or pip install tbb-devel, then bench/peers/build.sh"),
];

/// A peer program in one of its modes.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    /// The first arguments.
    first: Vec<OsString>,
    /// A variable of its environment.
    variable: Option<(&'static str, &'static str)>,
}

/// The folder of the built programs.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers/target")
}

/// The program `name` in `mode`, if it was built.
pub fn program(name: &str, mode: &'static str) -> Option<Program> {
    let path = folder().join(name);
    path.is_file().then_some(Program { path, first: vec![mode.into()], variable: None })
}

/// The library `name`, if it was built.
pub fn library(name: &str) -> Option<PathBuf> {
    let path = folder().join(name).with_extension("so");
    path.is_file().then_some(path)
}

/// The peers of applications in `mode`, if `PYTHON` names an interpreter that has the module.
pub fn python(module: &str, mode: &'static str) -> Option<Program> {
    let path = PathBuf::from(std::env::var_os("PYTHON")?);
    let has_module = Command::new(&path).args(["-c", &format!("import {module}")]).output();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/apps.py");
    let is_there = has_module.is_ok_and(|output| output.status.success());
    is_there.then_some(Program { path, first: vec![script.into(), mode.into()], variable: None })
}

/// This program, which executes a loop with a contestant of its own as a peer's program does.
pub fn own_loops(contestant: &'static str) -> Result<Program, String> {
    own("--loop", contestant)
}

/// This program, which executes an application with a contestant.
pub fn own_app(contestant: &'static str) -> Result<Program, String> {
    own("--app", contestant)
}

/// This program, which executes a row of `owned` with a contestant.
pub fn own_row(contestant: &'static str) -> Result<Program, String> {
    own("--owned", contestant)
}

fn own(option: &'static str, contestant: &'static str) -> Result<Program, String> {
    let path = std::env::current_exe().map_err(|error| error.to_string())?;
    Ok(Program { path, first: vec![option.into(), contestant.into()], variable: None })
}

impl Program {
    /// The program with a variable of its environment.
    pub fn with(self, name: &'static str, value: &'static str) -> Program {
        Program { variable: Some((name, value)), ..self }
    }

    /// Runs the chain.
    pub fn chain(&self, job: &Chain) -> Result<Row, String> {
        let numbers = [job.stages as u64, job.items, job.work.steps, job.threads as u64];
        self.run(&numbers.map(|n| n.to_string()))
    }

    /// Runs the farm.
    pub fn farm(&self, job: &Farm) -> Result<Row, String> {
        self.run(&[job.items.to_string(), job.threads.to_string(), job.work.table()])
    }

    /// Runs a short farm many times.
    pub fn small(&self, job: &Small) -> Result<Row, String> {
        let Farm { items, work, threads } = &job.farm;
        self.run(&[job.jobs.to_string(), items.to_string(), threads.to_string(), work.table()])
    }

    /// Runs a loop many times.
    pub fn loops(&self, job: &LoopJob, threads: usize) -> Result<Row, String> {
        self.run(&job.arguments(threads))
    }

    /// The seconds of one loop of as many iterations as threads, some time after the last loop.
    pub fn handoff(&self, gap: Duration, meets: bool, threads: usize) -> Result<f64, String> {
        let numbers = [gap.as_nanos() as usize, usize::from(meets), threads].map(|number| number.to_string());
        self.run(&[&["handoff".to_owned()], &numbers[..]].concat()).map(|row| row.seconds)
    }

    /// Runs a job of tasks without work: its size, and the threads.
    pub fn tasks(&self, numbers: [u64; 2]) -> Result<Row, String> {
        self.run(&numbers.map(|number| number.to_string()))
    }

    /// Nanoseconds of one step of work in this program.
    pub fn calibrate(&self) -> Result<f64, String> {
        self.run(&[]).map(|row| row.seconds * 1e9)
    }

    /// Runs a job that its arguments describe.
    pub fn run(&self, arguments: &[String]) -> Result<Row, String> {
        let mut command = Command::new(&self.path);
        command.envs(self.variable);
        let output =
            command.args(&self.first).args(arguments).output().map_err(|error| self.error(&error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        parse(&text).ok_or_else(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            self.error(&format!("{}: {text:?} {}", output.status, said.trim()))
        })
    }

    /// Runs a job as often at once as `times`; the longest of their times.
    pub fn at_once(&self, times: usize, arguments: &[String]) -> Result<Row, String> {
        let rows: Vec<_> = std::thread::scope(|scope| {
            let runs: Vec<_> = (0..times).map(|_| scope.spawn(|| self.run(arguments))).collect();
            runs.into_iter().map(|run| run.join().expect("a run does not panic")).collect()
        });
        let rows = rows.into_iter().collect::<Result<Vec<Row>, String>>()?;
        let longest = rows.into_iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        longest.ok_or_else(|| "no run".into())
    }

    fn error(&self, what: &dyn std::fmt::Display) -> String {
        format!("{} {}: {what}", self.path.display(), self.first.join(OsStr::new(" ")).display())
    }
}

fn parse(text: &str) -> Option<Row> {
    let (seconds, checksum) = text.trim().split_once(' ')?;
    Some(Row::new(seconds.parse().ok()?, checksum.parse().ok()?))
}
