//! Runs a C compiler in a process group of its own, with files of its own for its messages and its temporary
//! files: so only this process ends it, and everything that it has started ends with it.

use super::watchdog::Watchdog;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Interval between checks of whether it has ended or must be killed: long enough to cost nothing.
const PAUSE: Duration = Duration::from_millis(3);

/// How the compiler ended.
pub(super) enum Ended {
    Well,
    /// It failed, with these messages.
    Badly(String),
    Interrupted,
}

/// Runs a compiler with its files in this folder; kills it when `interrupted` returns true.
pub(super) fn run(
    mut command: Command,
    folder: &Path,
    interrupted: &dyn Fn() -> bool,
) -> std::io::Result<Ended> {
    if interrupted() {
        return Ok(Ended::Interrupted);
    }
    let said = folder.join("said");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&said)?).env("TMPDIR", folder);
    let mut running = Running::start(&mut command)?;
    let Some(status) = running.wait(interrupted)? else { return Ok(Ended::Interrupted) };
    if status.success() {
        return Ok(Ended::Well);
    }
    let said = std::fs::read(&said)?;
    Ok(Ended::Badly(report(status, &String::from_utf8_lossy(&said))))
}

/// The first lines of a compiler's messages, below its exit status.
fn report(status: ExitStatus, said: &str) -> String {
    const SHOWN: usize = 20;
    let lines: Vec<&str> = said.lines().collect();
    match lines.len().checked_sub(SHOWN) {
        _ if lines.is_empty() => format!("{status}, without a message"),
        None | Some(0) => format!("{status}\n{}", lines.join("\n")),
        Some(more) => format!("{status}\n{}\n({more} more lines)", lines[..SHOWN].join("\n")),
    }
}

/// A process that is killed, with its group, when this is dropped or this process ends.
struct Running {
    child: Child,
    /// Dropped after the process has ended.
    watchdog: Option<Watchdog>,
}

impl Running {
    fn start(command: &mut Command) -> std::io::Result<Running> {
        let watchdog = Watchdog::start();
        #[cfg(unix)]
        {
            let group = watchdog.as_ref().map_or(0, |watchdog| watchdog.leader().id().cast_signed());
            std::os::unix::process::CommandExt::process_group(command, group);
        }
        Ok(Running { child: command.spawn()?, watchdog })
    }

    /// Waits until the process ends; `None` where it was interrupted first.
    fn wait(&mut self, interrupted: &dyn Fn() -> bool) -> std::io::Result<Option<ExitStatus>> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            if interrupted() {
                return Ok(None);
            }
            sleep(PAUSE);
        }
    }

    /// The first process of the group. Until it is waited for, its process id and group id cannot be reused.
    #[cfg(unix)]
    fn leader(&self) -> &Child {
        self.watchdog.as_ref().map_or(&self.child, Watchdog::leader)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            #[cfg(unix)]
            let _ = rustix::process::kill_process_group(
                rustix::process::Pid::from_child(self.leader()),
                rustix::process::Signal::KILL,
            );
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
