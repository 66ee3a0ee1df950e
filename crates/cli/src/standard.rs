//! Standard input and output for binary data, and messages to standard error.

use std::fmt::Write as _;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::interrupt::Interrupt;
use crate::watch::screen;
use thalweg::embed::graph::shown;

mod closed;

/// The file name for standard input or output.
pub(crate) const DASH: &str = "-";

pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == DASH
}

/// An open input.
pub(crate) struct Input {
    pub bytes: Box<dyn Read + Send>,
    /// The length of a regular file. `None` for other inputs, of which reads may block.
    pub length: Option<u64>,
}

/// An open file, or standard input.
pub(crate) struct Opened {
    pub file: File,
    pub meta: Metadata,
    /// See [`Input::length`].
    pub length: Option<u64>,
}

impl Opened {
    pub fn into_input(self, interrupt: &Interrupt) -> Input {
        let Opened { file, length, .. } = self;
        let bytes: Box<dyn Read + Send> =
            if length.is_some() { Box::new(file) } else { Box::new(interrupt.input(file)) };
        Input { bytes, length }
    }
}

/// Opens a file to read it, or standard input for `-`.
pub(crate) fn input(path: &Path, interrupt: &Interrupt) -> Result<Input> {
    Ok(open(path, interrupt)?.into_input(interrupt))
}

/// Opens a file, or standard input for `-`.
pub(crate) fn open(path: &Path, interrupt: &Interrupt) -> Result<Opened> {
    let opening = || format!("opening {}", shown(path));
    let file = if is_dash(path) {
        stdin().context("opening standard input")?
    } else {
        interrupt.open(path, File::options().read(true)).with_context(opening)?
    };
    let meta = file.metadata().with_context(opening)?;
    ensure!(!meta.is_dir(), "{} is a folder, expected a file\nhelp: name a file in it", shown(path));
    let length = (meta.is_file() && !is_dash(path)).then_some(meta.len());
    Ok(Opened { file, meta, length })
}

/// Unbuffered standard input. The callers read in large pieces.
pub(crate) fn stdin() -> io::Result<File> {
    closed::check_stdin()?;
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned();
    owned.map(File::from)
}

/// Unbuffered standard output. The line buffer of [`io::stdout`] is for text.
pub(crate) fn stdout() -> Result<File> {
    closed::check_stdout()?;
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    owned.map(File::from).context("opening standard output")
}

/// Prints to standard output. A closed pipe is no error: its reader needs no more output.
pub(crate) fn print(text: &str) -> Result<()> {
    print_by(|| io::stdout().lock().write_all(text.as_bytes()))
}

/// Like [`print`], with a function that writes to [`io::stdout`].
pub(crate) fn print_by(write: impl FnOnce() -> io::Result<()>) -> Result<()> {
    closed::check_stdout()?;
    match write().and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.context("writing to standard output"),
    }
}

/// A text from outside that has lines, such as a message of another library, in which names may not be escaped: what a
/// terminal would obey or not show is, except line breaks and tabs.
pub(crate) fn harmless(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // A backslash may begin an escape.
            '\n' | '\t' | ' '..='~' => escaped.push(c),
            c => _ = write!(escaped, "{}", shown(c.encode_utf8(&mut [0; 4]))),
        }
    }
    escaped
}

/// Prints a line to standard error, above the live view if there is one. Errors are ignored, since they cannot be
/// reported.
pub(crate) fn eprint(text: &str) {
    screen::print(text);
}
