//! Hidden outputs: names, locks, and the list of those of this process.
//!
//! The name is `.thalweg-unfinished-`, the id of the process, `-`, a number, `-` and the name of the machine. The process
//! that writes an output holds a lock on it (`flock`, which the system releases when the process ends in any way). So a
//! hidden output whose lock can be taken is stale: its writer is gone.
//!
//! The race: a process that removes stale outputs may take the lock of a new output after its creation and before its
//! writer takes the lock, and remove it. So the writer looks at the name again when it has the lock, and begins anew with
//! another name if the name is gone or the lock is taken. After that no other process can take the lock.
//!
//! The writer never waits for a lock, and creates outputs that other users cannot open: in a shared folder another user
//! could hold the lock of each new output for any time.
//!
//! A network file system may keep the locks of each machine apart. So a process removes nothing that another machine has
//! written: what was left there goes when a process of that machine writes to the folder again.
//!
//! On a system or file system without locks nothing is ever stale, since taking the lock fails.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

const PREFIX: &str = ".thalweg-unfinished-";
/// The most outputs that are created until one can be locked.
const TRIES: usize = 1000;

/// The hidden outputs of this process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The hidden folders that this process could not remove.
static LEFT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether an entry with this name is an unfinished output, of any process.
pub fn is_unfinished(name: &OsStr) -> bool {
    machine_of(name).is_some()
}

/// Whether an entry with this name is an unfinished output of this machine.
pub(super) fn is_of_this_machine(name: &OsStr) -> bool {
    machine_of(name) == Some(machine())
}

/// The name of the machine that writes the unfinished output with this name.
fn machine_of(name: &OsStr) -> Option<&str> {
    let mut parts = name.to_str()?.strip_prefix(PREFIX)?.splitn(3, '-');
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = [parts.next()?, parts.next()?];
    parts.next().filter(|machine| !machine.is_empty() && numbers.into_iter().all(digits))
}

/// The name of this machine.
fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '_' };
        let name: String = system_name().chars().map(plain).collect();
        if name.is_empty() { "localhost".into() } else { name }
    })
}

#[cfg(unix)]
fn system_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn system_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
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

/// The unfinished folders that this process has not removed, although it writes to them no more: it could not, or was to
/// end. Another process removes them when it writes to the folder that they are in.
pub fn left() -> Vec<PathBuf> {
    locked(&LEFT).clone()
}

fn list() -> MutexGuard<'static, Vec<PathBuf>> {
    locked(&UNFINISHED)
}

fn locked(paths: &'static Mutex<Vec<PathBuf>>) -> MutexGuard<'static, Vec<PathBuf>> {
    paths.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The path of a hidden output, listed until it is dropped.
#[derive(Debug)]
pub(super) struct Listed(PathBuf);

impl Listed {
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Records that it stays on the disk.
    pub fn is_left(&self) {
        locked(&LEFT).push(self.0.clone());
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        list().retain(|path| *path != self.0);
    }
}

/// Creates a hidden output in `folder` by `make`, and locks it.
///
/// # Errors
/// The output cannot be created, or another process takes the lock of each one.
pub(super) fn create<T>(
    folder: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
    file: impl Fn(&T) -> Option<&File>,
) -> io::Result<(T, Listed)> {
    for _ in 0..TRIES {
        let (made, listed) = create_unlocked(folder, &make)?;
        if !file(&made).is_some_and(|file| is_lost(file, listed.path())) {
            return Ok((made, listed));
        }
    }
    let taken = format!("another process has taken the locks of {TRIES} new files");
    Err(io::Error::new(io::ErrorKind::ResourceBusy, taken))
}

/// Creates a hidden output in `folder` by `make`, which any process may remove.
pub(super) fn create_unlocked<T>(
    folder: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(T, Listed)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        // Relaxed: only the number must be unique.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let listed = Listed(folder.join(format!("{PREFIX}{}-{number}-{}", process::id(), machine())));
        list().push(listed.0.clone());
        match make(&listed.0) {
            Ok(made) => return Ok((made, listed)),
            // Another process with this id, in another container, may write to the same folder.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Locks a new output. Returns whether another process has taken it, which removes what it has locked. Without locks no
/// process removes it.
fn is_lost(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => !is_at(file, path),
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => false,
    }
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
    use std::sync::mpsc;
    use std::time::Duration;

    /// Another process takes the locks of the first `count` outputs. Returns how many it has taken at the end.
    fn create_against(count: usize) -> (io::Result<bool>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let locks = Mutex::new(Vec::new());
        let make = |path: &Path| {
            let file = File::create_new(path)?;
            let mut locks = locks.lock().unwrap();
            if locks.len() < count {
                let other = File::open(path)?;
                other.lock()?;
                locks.push(other);
            }
            Ok(file)
        };
        let created = create(folder.path(), make, |file| Some(file));
        (created.map(|(_, listed)| listed.path().exists()), locks.lock().unwrap().len())
    }

    #[test]
    fn a_lock_of_another_process_is_not_waited_for() {
        let (done, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let (created, locks) = create_against(3);
            done.send((created.unwrap(), locks)).unwrap();
            let (created, _) = create_against(usize::MAX);
            done.send((created.unwrap_err().kind() == io::ErrorKind::ResourceBusy, TRIES)).unwrap();
        });
        let next = || ended.recv_timeout(Duration::from_secs(60)).expect("creating an output does not wait");
        assert_eq!(next(), (true, 3));
        assert_eq!(next(), (true, TRIES));
    }

    #[test]
    fn only_our_names_are_ours() {
        for name in [".thalweg-unfinished-1-0-a", ".thalweg-unfinished-4711-12-our-host.example"] {
            assert!(is_unfinished(OsStr::new(name)), "{name}");
        }
        for name in [
            ".thalweg-unfinished-1-0",
            ".thalweg-unfinished-1-0-",
            ".thalweg-unfinished--1-a",
            ".thalweg-unfinished-1--a",
            ".thalweg-unfinished-1-0.txt-a",
            ".thalweg-unfinished",
            ".thalweg-1-0-a",
            "thalweg-unfinished-1-0-a",
        ] {
            assert!(!is_unfinished(OsStr::new(name)), "{name}");
        }
    }
}
