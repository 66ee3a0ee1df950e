//! Ctrl-C, and the signals that ask a process to end.
//!
//! As long as a verb has something unfinished on the disk it holds a [`Guard`], and a signal only
//! asks its run to stop; the verb then removes what is unfinished and returns. Without a guard
//! there is nothing to lose, and a signal ends the process at once, whatever it waits for. So does
//! a second signal. The exit code is 130 in all cases.
//!
//! A thread that waits for a pipe sees no flag. It opens it with [`Interrupt::open`] and reads through
//! [`Interrupt::input`], which wait for the pipe and for the signal at the same time.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, PipeReader, Read, stderr};
use std::path::Path;
use std::process::{ExitCode, exit};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[cfg(unix)]
use std::time::Duration;

use anyhow::{Context, Result};
use thalweg_dedup::Stop;
#[cfg(not(unix))]
use thalweg_lang::files::Unsure;
use thalweg_lang::files::{Input, remove_unfinished};

use crate::standard::complain;

/// What shells report for a process that Ctrl-C ended.
const EXIT: u8 = 130;

/// What signals lead to.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    stop: Stop,
    guards: Arc<Mutex<usize>>,
    /// Its other end is closed by the first signal.
    alarm: Arc<PipeReader>,
}

impl Interrupt {
    /// Takes charge of the signals of this process; once.
    pub fn install() -> Result<Self> {
        let (alarm, bell) = io::pipe().context("making a pipe")?;
        let this = Interrupt { stop: Stop::new(), guards: Arc::new(Mutex::new(0)), alarm: Arc::new(alarm) };
        let (signalled, mut bell) = (this.clone(), Some(bell));
        ctrlc::set_handler(move || {
            signalled.signal();
            drop(bell.take());
        })
        .context("taking charge of signals")?;
        Ok(this)
    }

    /// On a thread of its own, once for each signal.
    fn signal(&self) {
        let guards = self.guards();
        if *guards == 0 {
            complain_over_bar("interrupted");
            exit(EXIT.into());
        }
        if self.stop.is_requested() {
            let removed = remove_unfinished();
            let what = if removed { "was removed" } else { "is left behind" };
            complain_over_bar(&format!("interrupted twice: what was unfinished {what}"));
            exit(EXIT.into());
        }
        self.stop.stop();
    }

    /// Asks runs to stop at the first signal.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// While it lives, a signal leaves time to clean up.
    pub fn guard(&self) -> Guard {
        *self.guards() += 1;
        Guard { guards: self.guards.clone() }
    }

    /// The exit code and the last words of a run that failed, if it was for a signal.
    pub fn verdict(&self, error: &anyhow::Error) -> Option<ExitCode> {
        let removed = Left("interrupted: the unfinished output was removed");
        self.stop.is_requested().then(|| {
            complain(error.downcast_ref().unwrap_or(&removed).0);
            ExitCode::from(EXIT)
        })
    }

    fn guards(&self) -> MutexGuard<'_, usize> {
        self.guards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a file. A pipe with a name waits for its other end; a signal ends that wait.
    #[cfg(unix)]
    pub fn open(&self, path: &Path, how: &OpenOptions) -> io::Result<File> {
        use std::os::unix::fs::FileTypeExt;
        if !path.metadata().is_ok_and(|there| there.file_type().is_fifo()) {
            return how.open(path);
        }
        let (opened, word) = io::pipe()?;
        let (path, how) = (path.to_owned(), how.clone());
        // After a signal this may wait for ever, and ends with the process.
        let opening = std::thread::Builder::new().spawn(move || {
            let file = how.open(path);
            drop(word);
            file
        })?;
        wait(&opened, &self.alarm, None)?;
        opening.join().unwrap_or_else(|_| Err(io::Error::other("it could not be opened")))
    }

    /// Opens a file.
    #[cfg(not(unix))]
    pub fn open(&self, path: &Path, how: &OpenOptions) -> io::Result<File> {
        how.open(path)
    }

    /// Reads `input`, which may be a pipe that gives nothing for hours; fails at a signal.
    #[cfg(unix)]
    pub fn input(&self, input: File) -> impl Input + Send + use<> {
        Alert { input, alarm: self.alarm.clone(), ready: false }
    }

    /// Reads `input`; a signal is not seen before its next bytes.
    #[cfg(not(unix))]
    pub fn input(&self, input: File) -> impl Input + Send + use<> {
        let _ = &self.alarm;
        Unsure(input)
    }
}

/// What a run that was interrupted leaves, where that is not nothing.
#[derive(Debug)]
pub(crate) struct Left(pub &'static str);

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Left {}

/// See [`Interrupt::guard`].
#[derive(Debug)]
pub(crate) struct Guard {
    guards: Arc<Mutex<usize>>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        *self.guards.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

/// Input that a signal wakes from its wait.
#[cfg(unix)]
#[derive(Debug)]
struct Alert {
    input: File,
    alarm: Arc<PipeReader>,
    /// The next read does not wait.
    ready: bool,
}

#[cfg(unix)]
impl Read for Alert {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if !std::mem::take(&mut self.ready) {
            wait(&self.input, &self.alarm, None)?;
        }
        self.input.read(bytes)
    }
}

#[cfg(unix)]
impl Input for Alert {
    fn waits(&mut self, patience: Duration) -> io::Result<bool> {
        self.ready = self.ready || wait(&self.input, &self.alarm, Some(patience))?;
        Ok(!self.ready)
    }
}

/// Waits for `input`, perhaps not for ever; whether there is some. Fails where the alarm comes first.
#[cfg(unix)]
fn wait(input: &impl std::os::fd::AsFd, alarm: &PipeReader, patience: Option<Duration>) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut both = [PollFd::new(input, PollFlags::IN), PollFd::new(alarm, PollFlags::IN)];
    let patience = patience.map(|patience| Timespec {
        tv_sec: patience.as_secs().cast_signed(),
        tv_nsec: patience.subsec_nanos().into(),
    });
    rustix::io::retry_on_intr(|| poll(&mut both, patience.as_ref()))?;
    if !both[1].revents().is_empty() {
        return Err(io::Error::other("interrupted by a signal"));
    }
    Ok(!both[0].revents().is_empty())
}

/// A last line, in the place of the progress bar if there is one.
fn complain_over_bar(text: &str) {
    let clear = if stderr().is_terminal() { "\r\x1b[2K" } else { "" };
    complain(&format!("{clear}{text}"));
}
