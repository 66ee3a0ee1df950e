//! A C compiler at work. It does so in a process group of its own, with files for what it says and for what it
//! leaves unfinished: so nobody but us ends it, and all that it has started ends with it.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// How often is looked whether it has ended, or is to: seldom enough to cost nothing.
const PAUSE: Duration = Duration::from_millis(3);

/// What came of it.
pub(super) enum Ended {
    Well,
    /// With what it has said.
    Badly(String),
    Interrupted,
}

/// Runs a compiler whose files are in this folder, unless it is interrupted.
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
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut running = Running(command.spawn()?);
    let Some(status) = running.wait(interrupted)? else { return Ok(Ended::Interrupted) };
    if status.success() {
        return Ok(Ended::Well);
    }
    let said = std::fs::read(&said)?;
    let said = String::from_utf8_lossy(&said).lines().take(20).collect::<Vec<_>>().join("\n");
    Ok(Ended::Badly(if said.is_empty() { status.to_string() } else { said }))
}

/// A process that does not outlive this.
struct Running(Child);

impl Running {
    /// Waits until it ends; none where it was interrupted before.
    fn wait(&mut self, interrupted: &dyn Fn() -> bool) -> std::io::Result<Option<ExitStatus>> {
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(Some(status));
            }
            if interrupted() {
                return Ok(None);
            }
            sleep(PAUSE);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            // As long as nobody has waited for it, its number and its group's are nobody else's.
            #[cfg(unix)]
            let _ = rustix::process::kill_process_group(
                rustix::process::Pid::from_child(&self.0),
                rustix::process::Signal::KILL,
            );
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}
