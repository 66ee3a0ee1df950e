//! Whole programs as contestants: their wall-clock time, processor time and peak of memory.
//!
//! The kernel counts the memory of the process that starts a program towards the program's peak. So each program is the
//! child of a small process: this program with `--process`, which has measured nothing else, and reports on its child.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::row::{Costs, Row};

/// Runs programs at once, each of which reads what the one before it writes. Reports are written into `scratch`.
///
/// # Errors
/// If a program cannot be started, or fails: then with what it has printed.
pub fn run(programs: &[Command], scratch: &Path) -> Result<Row, String> {
    let mut children: Vec<Child> = Vec::new();
    let start = Instant::now();
    let mut input = Stdio::null();
    for (at, program) in programs.iter().enumerate() {
        let output = if at + 1 < programs.len() { Stdio::piped() } else { Stdio::null() };
        let errors = File::create(errors(scratch, at)).map_err(text)?;
        let mut wrapped = wrapped(program, &report(scratch, at))?;
        let mut child = wrapped.stdin(input).stdout(output).stderr(errors).spawn().map_err(text)?;
        input = child.stdout.take().map_or_else(Stdio::null, Stdio::from);
        children.push(child);
    }
    let mut succeeded = true;
    for child in &mut children {
        succeeded &= child.wait().map_err(text)?.success();
    }
    let seconds = start.elapsed().as_secs_f64();
    if !succeeded {
        let said = (0..programs.len()).filter_map(|at| fs::read_to_string(errors(scratch, at)).ok());
        return Err(said.collect::<String>().trim().to_owned());
    }
    let mut row = Row::new(seconds, 0);
    for at in 0..programs.len() {
        let Costs { cpu, memory, .. } = read(&report(scratch, at))?;
        row.costs.cpu += cpu;
        row.costs.memory += memory;
    }
    Ok(row)
}

/// Whether a program can be started.
pub fn is_installed(program: &str) -> bool {
    let quiet =
        |argument| Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet("--version").is_ok()
}

/// The program as a child of this one.
fn wrapped(program: &Command, report: &Path) -> Result<Command, String> {
    let mut command = Command::new(std::env::current_exe().map_err(text)?);
    command.arg("--process").arg(report).arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(folder) = program.get_current_dir() {
        command.current_dir(folder);
    }
    Ok(command)
}

fn report(scratch: &Path, at: usize) -> PathBuf {
    scratch.join(format!("report-{at}"))
}

fn errors(scratch: &Path, at: usize) -> PathBuf {
    scratch.join(format!("errors-{at}"))
}

/// The small process: executes a program, and writes its microseconds of processor time and its peak of memory in bytes.
///
/// # Errors
/// If the program cannot be started, or fails.
pub fn child(words: &[OsString]) -> Result<(), String> {
    let [report, program, arguments @ ..] = words else {
        return Err(format!("no report, or no program: {words:?}"));
    };
    let name = program.display();
    let status =
        Command::new(program).args(arguments).status().map_err(|error| format!("{name}: {error}"))?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| error.to_string())?;
    let cpu = (usage.user_time() + usage.system_time()).num_microseconds();
    fs::write(report, format!("{cpu} {}", usage.max_rss() * 1024)).map_err(text)?;
    if status.success() { Ok(()) } else { Err(format!("{name}: {status}")) }
}

fn read(report: &Path) -> Result<Costs, String> {
    let written = fs::read_to_string(report).map_err(text)?;
    let numbers: Vec<f64> = written.split(' ').filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [microseconds, memory] => Ok(Costs { cpu: microseconds / 1e6, memory, size: 0.0 }),
        _ => Err(format!("{}: not a report: {written:?}", report.display())),
    }
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(folder: &Path, line: &str) -> (Result<(), String>, Costs) {
        let report = report(folder, 0);
        let words = [report.as_os_str(), "sh".as_ref(), "-c".as_ref(), line.as_ref()].map(OsString::from);
        let outcome = child(&words);
        (outcome, read(&report).unwrap())
    }

    #[test]
    fn a_process_reports_the_costs_of_its_child() {
        let folder = tempfile::tempdir().unwrap();
        let (outcome, costs) =
            reported(folder.path(), "head -c 30000000 /dev/zero | tail -c 20000000 >/dev/null");
        assert_eq!(outcome, Ok(()));
        assert!(costs.cpu > 0.0 && costs.memory > 2e7, "{costs:?}");
    }

    #[test]
    fn a_failed_program_is_named_with_its_status() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(reported(folder.path(), "exit 3").0, Err("sh: exit status: 3".into()));
        let none = child(&[folder.path().join("report").into(), "/no/such/program".into()]);
        assert!(none.unwrap_err().starts_with("/no/such/program: "));
    }
}
