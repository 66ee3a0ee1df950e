//! Standard input and output for binary data, and messages to standard error.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::interrupt::Interrupt;
use crate::watch::screen;

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

/// Opens a file, or standard input for `-`.
pub(crate) fn input(path: &Path, interrupt: &Interrupt) -> Result<Input> {
    let opening = || format!("opening {}", path.display());
    let file = if is_dash(path) {
        stdin().context("opening standard input")?
    } else {
        interrupt.open(path, File::options().read(true)).with_context(opening)?
    };
    let meta = file.metadata().with_context(opening)?;
    ensure!(!meta.is_dir(), "{} is a folder, expected a file", path.display());
    if meta.is_file() && !is_dash(path) {
        return Ok(Input { bytes: Box::new(file), length: Some(meta.len()) });
    }
    Ok(Input { bytes: Box::new(interrupt.input(file)), length: None })
}

/// Unbuffered standard input. The callers read in large pieces.
#[cfg(unix)]
pub(crate) fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

/// Unbuffered standard input. The callers read in large pieces.
#[cfg(windows)]
pub(crate) fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    io::stdin().as_handle().try_clone_to_owned().map(File::from)
}

/// Unbuffered standard output. The line buffer of [`io::stdout`] is for text.
#[cfg(unix)]
pub(crate) fn stdout() -> Result<File> {
    use std::os::fd::AsFd;
    let fd = io::stdout().as_fd().try_clone_to_owned().context("opening standard output")?;
    Ok(File::from(fd))
}

/// Unbuffered standard output. The line buffer of [`io::stdout`] is for text.
#[cfg(windows)]
pub(crate) fn stdout() -> Result<File> {
    use std::os::windows::io::AsHandle;
    let handle = io::stdout().as_handle().try_clone_to_owned().context("opening standard output")?;
    Ok(File::from(handle))
}

/// Prints to standard output. A closed pipe is no error: its reader needs no more output.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.context("writing to standard output"),
    }
}

/// Prints a line to standard error, above the live view if there is one. Errors are ignored, since they cannot be
/// reported.
pub(crate) fn eprint(text: &str) {
    screen::print(text);
}
