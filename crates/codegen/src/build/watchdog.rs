//! Ends the C compiler when this process is killed.
//!
//! SIGKILL leaves a process no time to end its children, and a compiler is several processes: `cc` starts `cc1`, `as` and
//! `ld`. Linux can signal a child when its parent ends (`PR_SET_PDEATHSIG`), but not what that child has started, and it
//! does so when the *thread* ends that has started the child. So a shell leads the compiler's process group, and reads a
//! pipe that only this process can write. It writes nothing: the pipe ends when the process ends in any way, and then the
//! shell kills the group.

use std::process::{Child, Command, Stdio};

/// The shell. It ends when this is dropped, and the group stays.
pub(super) struct Watchdog(Child);

impl Watchdog {
    /// Starts the shell in a new process group; `None` where there is no shell.
    pub(super) fn start() -> Option<Watchdog> {
        if !cfg!(unix) {
            return None;
        }
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "read line; kill -s KILL 0"]);
        // The child keeps the write end of the pipe until it is dropped.
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        shell.spawn().ok().map(Watchdog)
    }

    /// The first process of the group. Its number, which is that of the group, is not used again before this is dropped.
    pub(super) fn leader(&self) -> &Child {
        &self.0
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
