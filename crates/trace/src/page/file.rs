//! Writes a page to a file, completely or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes `text` beside `path` and renames it, so `path` never has a part of it.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let (mut file, temporary) = create_beside(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    drop(file);
    let done = written.and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        // The first error is the cause.
        _ = fs::remove_file(&temporary);
    }
    done
}

/// Creates a hidden file in the folder of `path`, under a name that no other thread or process uses.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let no_file = || io::Error::new(io::ErrorKind::InvalidInput, "the path does not name a file");
    let name = path.file_name().ok_or_else(no_file)?;
    loop {
        // Relaxed: only the number must be unique.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut hidden = std::ffi::OsString::from(format!(".thalweg-{}-{number}-", process::id()));
        hidden.push(name);
        let temporary = path.with_file_name(hidden);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
