//! Standard input and output for binary data, and messages that do not fail.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, Result};

/// The name that stands for standard input or output.
pub(crate) const DASH: &str = "-";

pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == DASH
}

/// Opens a file, or standard input for `-`; gives its length too where that is known.
pub(crate) fn input(path: &Path) -> Result<(Box<dyn Read + Send>, Option<u64>)> {
    if is_dash(path) {
        return Ok((stdin()?, None));
    }
    let opening = || format!("opening {}", path.display());
    let file = File::open(path).with_context(opening)?;
    let meta = file.metadata().with_context(opening)?;
    anyhow::ensure!(!meta.is_dir(), "{} is a folder and not an archive", path.display());
    let length = meta.is_file().then_some(meta.len());
    Ok((Box::new(file), length))
}

/// Standard input without a buffer between: we read in large pieces.
#[cfg(unix)]
fn stdin() -> Result<Box<dyn Read + Send>> {
    use std::os::fd::AsFd;
    let fd = io::stdin().as_fd().try_clone_to_owned().context("opening standard input")?;
    Ok(Box::new(File::from(fd)))
}

#[cfg(not(unix))]
fn stdin() -> Result<Box<dyn Read + Send>> {
    Ok(Box::new(io::stdin()))
}

/// Standard output without the line buffer that is meant for text.
#[cfg(unix)]
pub(crate) fn stdout() -> Result<File> {
    use std::os::fd::AsFd;
    let fd = io::stdout().as_fd().try_clone_to_owned().context("opening standard output")?;
    Ok(File::from(fd))
}

/// Standard output without the line buffer that is meant for text.
#[cfg(windows)]
pub(crate) fn stdout() -> Result<File> {
    use std::os::windows::io::AsHandle;
    let handle = io::stdout().as_handle().try_clone_to_owned().context("opening standard output")?;
    Ok(File::from(handle))
}

/// Prints to standard output; a closed pipe is an error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("writing to standard output")
}

/// Prints a line to standard error; if even that is closed there is nobody to tell.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
