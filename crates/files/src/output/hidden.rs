//! Hidden outputs: names, locks, and the list of those of this process.
//!
//! The name is `.thalweg-unfinished-`, the id of the process, `-` and a number. The process that writes an output holds
//! a lock on it (`flock`, which the system releases when the process ends in any way). So a hidden output whose lock can
//! be taken is stale: its writer is gone.
//!
//! The race: a process that removes stale outputs may take the lock of a new output after its creation and before its
//! writer takes the lock, and remove it. So the writer looks at the name again when it has the lock, and begins anew if
//! the name is gone. After that no other process can take the lock.
//!
//! On a system or file system without locks nothing is ever stale, since taking the lock fails.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

const PREFIX: &str = ".thalweg-unfinished-";

/// The hidden outputs of this process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether an entry with this name is an unfinished output, of any process.
pub fn is_unfinished(name: &OsStr) -> bool {
    let numbers =
        name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(|rest| rest.split_once('-'));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(process, number)| digits(process) && digits(number))
}

/// The paths of the unfinished outputs of this process.
pub fn unfinished() -> Vec<PathBuf> {
    list().clone()
}

/// Removes the unfinished files of this process, which exits at once. Returns whether there were any outputs and none is
/// left; unfinished folders stay. A file that is renamed at the same time stays too.
pub fn remove_unfinished() -> bool {
    let outputs = std::mem::take(&mut *list());
    !outputs.is_empty() && outputs.iter().filter(|output| fs::remove_file(output).is_err()).count() == 0
}

fn list() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The path of a hidden output, listed until it is dropped.
#[derive(Debug)]
pub(super) struct Listed(PathBuf);

impl Listed {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        list().retain(|path| *path != self.0);
    }
}

/// Creates a hidden output in `folder` by `make`, and locks it.
pub(super) fn create<T>(
    folder: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
    file: impl Fn(&T) -> Option<&File>,
) -> io::Result<(T, Listed)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        // Relaxed: only the number must be unique.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let listed = Listed(folder.join(format!("{PREFIX}{}-{number}", process::id())));
        list().push(listed.0.clone());
        match make(&listed.0) {
            Ok(made) if file(&made).is_some_and(|file| is_lost(file, &listed.0)) => {}
            Ok(made) => return Ok((made, listed)),
            // Another process with this id, on another machine or in a container, may write to the same folder.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Locks a new output. Returns whether another process has removed it in the meantime.
fn is_lost(file: &File, path: &Path) -> bool {
    // Waits for a process that has the lock, which removes the output. Without locks no process removes it.
    file.lock().is_ok() && !is_at(file, path)
}

/// Whether `path` names the open `file`, which may be a folder.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |meta: fs::Metadata| (meta.dev(), meta.ino());
    match (fs::symlink_metadata(path), file.metadata()) {
        (Ok(named), Ok(open)) => identity(named) == identity(open),
        _ => false,
    }
}

/// An open file keeps its name on this system.
#[cfg(not(unix))]
pub(super) fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_names_are_ours() {
        for name in [".thalweg-unfinished-1-0", ".thalweg-unfinished-4711-12"] {
            assert!(is_unfinished(OsStr::new(name)), "{name}");
        }
        for name in [
            ".thalweg-unfinished-1-",
            ".thalweg-unfinished--1",
            ".thalweg-unfinished-1-0.txt",
            ".thalweg-unfinished",
            ".thalweg-1-0",
            "thalweg-unfinished-1-0",
        ] {
            assert!(!is_unfinished(OsStr::new(name)), "{name}");
        }
    }
}
