//! The processes that a launcher has started, and their end.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// How long the others may go on when one process has failed: they end by themselves much sooner.
const GRACE: Duration = Duration::from_secs(10);

/// How long a process that is to end may take.
const ENDING: Duration = Duration::from_secs(2);

/// Time between two looks at the processes.
const PAUSE: Duration = Duration::from_millis(2);

/// How a process of a launch has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The number of the process.
    pub process: usize,
    /// What it ended with.
    pub status: ExitStatus,
    /// The launcher had terminated it.
    pub was_terminated: bool,
}

impl Ended {
    /// The process failed by itself.
    pub fn has_failed(&self) -> bool {
        !self.was_terminated && !self.status.success()
    }
}

/// The processes of a launch. Those that still run when it is dropped are ended.
pub(crate) struct Running {
    children: Vec<Process>,
    /// In this order.
    ended: Vec<Ended>,
    are_remote: bool,
}

struct Process {
    child: Child,
    has_ended: bool,
    /// When the launcher terminated it.
    terminated: Option<Instant>,
}

impl Running {
    /// Processes of this machine.
    pub fn here() -> Running {
        Running::new(false)
    }

    /// Processes at other hosts, which end when the input of the children ends.
    pub fn at_hosts() -> Running {
        Running::new(true)
    }

    fn new(are_remote: bool) -> Running {
        Running { children: Vec::new(), ended: Vec::new(), are_remote }
    }

    pub fn add(&mut self, child: Child) {
        self.children.push(Process { child, has_ended: false, terminated: None });
    }

    /// Whether a process has ended.
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Waits for all, and calls a function again and again. All are to end as soon as `stop` returns true, or when one has failed and
    /// the others go on for a while.
    pub fn wait(
        mut self,
        stop: &dyn Fn() -> bool,
        mut meanwhile: impl FnMut(&mut Running),
    ) -> io::Result<Vec<Ended>> {
        let mut failed: Option<Instant> = None;
        loop {
            self.look()?;
            if self.children.iter().all(|it| it.has_ended) {
                return Ok(std::mem::take(&mut self.ended));
            }
            if failed.is_none() && self.ended.iter().any(Ended::has_failed) {
                failed = Some(Instant::now());
            }
            if stop() || failed.is_some_and(|since| since.elapsed() > GRACE) {
                self.terminate_all();
            }
            meanwhile(&mut self);
            thread::sleep(PAUSE);
        }
    }

    /// Notes which processes have ended, and kills those that should have.
    fn look(&mut self) -> io::Result<()> {
        for (number, process) in self.children.iter_mut().enumerate().filter(|(_, it)| !it.has_ended) {
            if let Some(status) = process.child.try_wait()? {
                process.has_ended = true;
                self.ended.push(Ended {
                    process: number,
                    status,
                    was_terminated: process.terminated.is_some(),
                });
            } else if process.terminated.is_some_and(|since| since.elapsed() > ENDING) {
                _ = process.child.kill();
            }
        }
        Ok(())
    }

    /// Asks a process to end, by a signal or by the end of its input.
    pub fn terminate(&mut self, process: usize) {
        let Process { child, has_ended, terminated } = &mut self.children[process];
        if *has_ended || terminated.is_some() {
            return;
        }
        *terminated = Some(Instant::now());
        match self.are_remote {
            true => drop(child.stdin.take()),
            false => terminate(child),
        }
    }

    fn terminate_all(&mut self) {
        (0..self.children.len()).for_each(|process| self.terminate(process));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.terminate_all();
        while self.children.iter().any(|it| !it.has_ended) && self.look().is_ok() {
            thread::sleep(PAUSE);
        }
    }
}

#[cfg(unix)]
fn terminate(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process};
    // A child that was not waited for keeps its number.
    _ = kill_process(Pid::from_child(child), Signal::TERM);
}

#[cfg(not(unix))]
fn terminate(child: &mut Child) {
    _ = child.kill();
}
