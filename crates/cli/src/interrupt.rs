//! Ctrl-C (SIGINT) and the other termination signals.
//!
//! While a verb has unfinished output on the disk it holds a [`Guard`]. Then the first signal requests a stop of the
//! run, and the verb removes the output and returns. The removal takes at most [`MAX_REMOVAL`]: the last message names what
//! stays of a tree of millions of entries. A second signal ends the process at once, and its message names what stays, too.
//! Without a guard the first signal ends the process at once, even during a blocking call.
//!
//! One event may send several signals: a terminal signals a command and its wrapper, which relays the signal. So signals
//! that arrive soon after the first one ([`APART`]) are part of it.
//!
//! On Unix the process ends by the signal, not with an exit code: a shell then reports 128 and the signal's number, and
//! ends its own loop if the user has pressed Ctrl-C. A signal that the process was started to ignore, as `nohup` does with
//! SIGHUP, stays ignored.
//!
//! A thread that is blocked on a pipe cannot check for a request. So pipes are opened by [`Interrupt::open`], read through
//! [`Interrupt::input`] and written through [`Interrupt::output`], which wait for the pipe and for the signal at the same time.
//! If several processes share a run, a wait for input ends with the run, too: see [`Interrupt::end_waits_with`].

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::path::Path;
use std::process::exit;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use thalweg_dedup::Stop;
use thalweg_lang::files::Input;
#[cfg(not(unix))]
use thalweg_lang::files::MayBlock;

use crate::standard::eprint;
use crate::watch::screen;

mod unfinished;

/// SIGINT, for systems without signals.
const CTRL_C: i32 = 2;

/// How much later than the first signal a second one arrives.
const APART: Duration = Duration::from_millis(300);

/// How long the removal of an unfinished tree goes on after the first signal.
const MAX_REMOVAL: Duration = Duration::from_secs(1);

/// How often a wait for input looks whether the run of several processes ends.
const LOOK: Duration = Duration::from_millis(20);

/// The state of signal handling.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    stop: Stop,
    /// The number of live guards.
    guards: Arc<Mutex<usize>>,
    alarm: Arc<Alarm>,
    trigger: Arc<Mutex<Option<PipeWriter>>>,
    first: Arc<OnceLock<FirstSignal>>,
}

/// What ends the wait for a pipe.
struct Alarm {
    /// The read end of a pipe. The first signal closes the write end, which wakes every `poll` on the read end.
    signal: PipeReader,
    /// Whether the run of several processes ends, for which this one reads.
    run_ends: OnceLock<Box<dyn Fn() -> bool + Send + Sync>>,
}

impl std::fmt::Debug for Alarm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Alarm").field("signal", &self.signal).finish_non_exhaustive()
    }
}

/// The signal that has requested a stop.
#[derive(Debug)]
struct FirstSignal {
    signal: i32,
    at: Instant,
}

impl Interrupt {
    /// Installs the signal handler of this process. Must be called only once.
    pub fn install() -> Result<Self> {
        let (signal, trigger) = io::pipe().context("creating a pipe")?;
        let this = Interrupt {
            stop: Stop::new(),
            guards: Arc::default(),
            alarm: Arc::new(Alarm { signal, run_ends: OnceLock::new() }),
            trigger: Arc::new(Mutex::new(Some(trigger))),
            first: Arc::default(),
        };
        let signalled = this.clone();
        on_signals(move |signal| signalled.signal(signal)).map_err(|error| {
            anyhow!(
                "installing the handler of Ctrl-C and of other signals: {error}\n\
                 help: it needs a few open files and a thread (`ulimit -n`, `ulimit -u`)"
            )
        })?;
        Ok(this)
    }

    /// Handles one signal, on the thread of the signal handler.
    fn signal(&self, signal: i32) {
        let guards = self.guards();
        let is_first = self.first.set(FirstSignal { signal, at: Instant::now() }).is_ok();
        if is_first && *guards > 0 {
            thalweg_files::remove_no_longer_than(MAX_REMOVAL);
            self.stop.stop();
            drop(self.trigger.lock().unwrap_or_else(PoisonError::into_inner).take());
        } else if is_first {
            if !crate::is_launched() {
                eprint_over_bar("interrupted");
            }
            thalweg_files::remove_unfinished();
            self.end();
        } else if self.first.get().is_some_and(|first| first.at.elapsed() >= APART) {
            eprint_over_bar(&unfinished::remove());
            self.end();
        }
    }

    /// Ends the process by the first signal, as if it had no handler.
    fn end(&self) -> ! {
        _ = io::stdout().flush(); // a failure cannot be reported any more
        let signal = self.first.get().map_or(CTRL_C, |first| first.signal);
        #[cfg(unix)]
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        exit(128 + signal)
    }

    /// The token that the first signal triggers if there is a guard.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Returns a guard. While it lives, the first signal does not end the process, so the verb can clean up.
    pub fn guard(&self) -> Guard {
        *self.guards() += 1;
        Guard { guards: self.guards.clone() }
    }

    /// If a signal has stopped the run that failed with `error`, prints the last message and ends the process.
    pub fn end_if_interrupted(&self, error: &anyhow::Error) {
        if self.stop.is_requested() {
            let left = thalweg_files::left();
            match error.downcast_ref() {
                Some(InterruptNote(note)) if left.is_empty() => eprint(note),
                _ => eprint(&unfinished::message("interrupted", true, &left)),
            }
            self.end();
        }
    }

    /// Lets a blocked read, or the opening of a named pipe, fail when `run_ends` returns true.
    #[cfg(feature = "cluster")]
    pub fn end_waits_with(&self, run_ends: impl Fn() -> bool + Send + Sync + 'static) {
        _ = self.alarm.run_ends.set(Box::new(run_ends));
    }

    /// Whether the run of several processes ends, so that reads fail.
    #[cfg(feature = "cluster")]
    pub fn run_ends(&self) -> bool {
        self.alarm.run_ends()
    }

    fn guards(&self) -> MutexGuard<'_, usize> {
        self.guards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a file. Opening a named pipe blocks until its other end is opened. A signal makes that fail.
    #[cfg(unix)]
    pub fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File> {
        use std::os::unix::fs::FileTypeExt;
        if !path.metadata().is_ok_and(|meta| meta.file_type().is_fifo()) {
            return options.open(path);
        }
        let (opened, done) = io::pipe()?;
        let (path, options) = (path.to_owned(), options.clone());
        // After a signal this thread may stay blocked until the process exits.
        let opening = std::thread::Builder::new().spawn(move || {
            let file = options.open(path);
            drop(done);
            file
        })?;
        wait_long(&opened, &self.alarm)?;
        opening
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the thread that opens the file has panicked")))
    }

    /// Opens a file.
    #[cfg(not(unix))]
    pub fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File> {
        options.open(path)
    }

    /// A reader of `input`, which may be a pipe. A signal makes a blocked read fail.
    #[cfg(unix)]
    pub fn input(&self, input: File) -> impl Input + use<> {
        InterruptibleInput { input, alarm: self.alarm.clone(), ready: false }
    }

    /// A reader of `input`. A signal takes effect when the current read returns.
    #[cfg(not(unix))]
    pub fn input(&self, input: File) -> impl Input + use<> {
        let _ = &self.alarm;
        MayBlock(input)
    }
}

impl Interrupt {
    /// A writer of `output`, which may be a pipe or a terminal. After a signal it fails where it would block.
    #[cfg(unix)]
    pub fn output(&self, output: File) -> io::Result<impl Write + Send + use<>> {
        let blocks = !output.metadata()?.is_file();
        Ok(InterruptibleOutput { output, alarm: self.alarm.clone(), blocks })
    }

    /// A writer of `output`. A signal takes effect when the current write returns.
    #[cfg(not(unix))]
    pub fn output(&self, output: File) -> io::Result<impl Write + Send + use<>> {
        Ok(output)
    }
}

/// Names the unfinished output that a failed run could not remove.
pub(crate) fn note_left() {
    let left = thalweg_files::left();
    if !left.is_empty() {
        eprint(&unfinished::message("note", true, &left));
    }
}

/// Calls a function with each signal that asks the process to end, on a thread of its own. Signals that are ignored stay
/// ignored.
#[cfg(unix)]
fn on_signals(call: impl Fn(i32) + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored_signals();
    let handled = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = signal_hook::iterator::Signals::new(handled)?;
    let wait = move || signals.forever().for_each(call);
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    Ok(())
}

/// Calls a function for each Ctrl-C, on a thread of its own.
#[cfg(not(unix))]
fn on_signals(call: impl Fn(i32) + Send + 'static) -> io::Result<()> {
    ctrlc::set_handler(move || call(CTRL_C)).map_err(io::Error::other)
}

/// The signals that this process ignores: bit `n - 1` is signal `n`. Systems other than Linux do not say it in a file,
/// and there all signals count as not ignored.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// The last message of an interrupted run, as its error. Without it, the message is that the unfinished output was
/// removed.
#[derive(Debug)]
pub(crate) struct InterruptNote(pub Cow<'static, str>);

impl std::fmt::Display for InterruptNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InterruptNote {}

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

/// A reader that fails when a signal arrives while it is blocked.
#[cfg(unix)]
#[derive(Debug)]
struct InterruptibleInput {
    input: File,
    alarm: Arc<Alarm>,
    /// The next read does not block.
    ready: bool,
}

#[cfg(unix)]
impl Read for InterruptibleInput {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if !std::mem::take(&mut self.ready) {
            wait_long(&self.input, &self.alarm)?;
        }
        self.input.read(bytes)
    }
}

#[cfg(unix)]
impl Input for InterruptibleInput {
    fn would_block(&mut self, timeout: Duration) -> io::Result<bool> {
        self.ready = self.ready || wait(&self.input, &self.alarm, Some(timeout))?;
        Ok(!self.ready)
    }
}

/// A writer that fails when a signal arrives while it is blocked.
#[cfg(unix)]
#[derive(Debug)]
struct InterruptibleOutput {
    output: File,
    alarm: Arc<Alarm>,
    /// Whether writes may block: it is no regular file.
    blocks: bool,
}

#[cfg(unix)]
impl Write for InterruptibleOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        use rustix::event::PollFlags;
        if !self.blocks {
            return self.output.write(bytes);
        }
        if !poll_with(&self.output, PollFlags::OUT, &self.alarm, None)?.is_ready {
            return Err(interrupted());
        }
        // So much a pipe that is ready takes at once.
        self.output.write(&bytes[..bytes.len().min(rustix::pipe::PIPE_BUF)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl Alarm {
    fn run_ends(&self) -> bool {
        self.run_ends.get().is_some_and(|run_ends| run_ends())
    }
}

/// Waits until `input` is readable. Fails on a signal, and when the run ends.
#[cfg(unix)]
fn wait_long(input: &impl std::os::fd::AsFd, alarm: &Alarm) -> io::Result<()> {
    let look = alarm.run_ends.get().map(|_| LOOK);
    while !wait(input, alarm, look)? {
        if alarm.run_ends() {
            return Err(io::Error::other("the run has ended"));
        }
    }
    Ok(())
}

/// Waits until `input` is readable or `timeout` has passed, and returns whether it is readable. Fails on a signal.
#[cfg(unix)]
fn wait(input: &impl std::os::fd::AsFd, alarm: &Alarm, timeout: Option<Duration>) -> io::Result<bool> {
    let polled = poll_with(input, rustix::event::PollFlags::IN, alarm, timeout)?;
    if polled.is_interrupted { Err(interrupted()) } else { Ok(polled.is_ready) }
}

/// What a wait for a file has ended.
#[cfg(unix)]
struct Polled {
    is_ready: bool,
    is_interrupted: bool,
}

/// Waits until `file` is ready, a signal has arrived, or `timeout` has passed.
#[cfg(unix)]
fn poll_with(
    file: &impl std::os::fd::AsFd,
    ready: rustix::event::PollFlags,
    alarm: &Alarm,
    timeout: Option<Duration>,
) -> io::Result<Polled> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut both = [PollFd::new(file, ready), PollFd::new(&alarm.signal, PollFlags::IN)];
    let timeout = timeout.map(|timeout| Timespec {
        tv_sec: timeout.as_secs().cast_signed(),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    rustix::io::retry_on_intr(|| poll(&mut both, timeout.as_ref()))?;
    let [is_ready, is_interrupted] = both.map(|polled| !polled.revents().is_empty());
    Ok(Polled { is_ready, is_interrupted })
}

#[cfg(unix)]
fn interrupted() -> io::Error {
    io::Error::other("interrupted by a signal")
}

/// Makes a write beyond the limit of file sizes (`ulimit -f`) an error, as on a full disk, instead of the end of the
/// process, which would leave the unfinished output.
#[cfg(unix)]
pub(crate) fn survive_file_size_limit() -> Result<()> {
    // The system returns an error from `write` when the handler has returned. The flag is not needed.
    let handler = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    handler.map(drop).context("installing the handler of SIGXFSZ")
}

/// Other systems have no such signal.
#[cfg(not(unix))]
pub(crate) fn survive_file_size_limit() -> Result<()> {
    Ok(())
}

/// Prints a line to standard error, over the progress bar or below the last frame of the live view, if there is one.
fn eprint_over_bar(text: &str) {
    screen::end(true);
    let clear = if screen::is_possible() { "\r\x1b[2K" } else { "" };
    eprint(&format!("{clear}{text}"));
}
