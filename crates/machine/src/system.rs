//! The operating system: its files, the affinity of threads, the available parallelism, the limit on the address space. No
//! other file of this crate reads what the machine has, or pins a thread. `crates/runtime` pins the threads of runs.
//!
//! Files are read below a root folder. The root of a [`System::live`] is `/`. A [`System::copy`] is a folder with a copy of
//! `/sys` and `/proc`: it answers from files alone.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where to read about a machine.
pub(crate) struct System {
    root: PathBuf,
    is_live: bool,
}

/// The maximum number of bytes read of a file. Files of /sys have at most a page; /proc/self/mountinfo has more.
const MOST_BYTES: u64 = 1 << 20;

/// The most entries read of a folder.
const MOST_ENTRIES: usize = 100_000;

impl System {
    /// This machine.
    pub fn live() -> System {
        System { root: PathBuf::from("/"), is_live: true }
    }

    /// The machine whose files are below `root`.
    pub fn copy(root: &Path) -> System {
        System { root: root.to_owned(), is_live: false }
    }

    fn path(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The text of a file, without white space at its ends. `None` if it cannot be read.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let mut bytes = Vec::new();
        File::open(self.path(path.as_ref())).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The numbers `n` of the entries `<prefix>n` of a folder, ascending. None if it cannot be read.
    pub fn numbered(&self, folder: impl AsRef<Path>, prefix: &str) -> Vec<u32> {
        let Ok(entries) = fs::read_dir(self.path(folder.as_ref())) else { return Vec::new() };
        let names = entries.take(MOST_ENTRIES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut numbers: Vec<u32> =
            names.filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Whether a file or folder exists.
    pub fn has(&self, path: impl AsRef<Path>) -> bool {
        self.path(path.as_ref()).exists()
    }

    /// The CPUs that the calling thread may use, as the system call reports them. `None` if it does not, and in a copy.
    pub fn affinity(&self) -> Option<Vec<u32>> {
        if self.is_live { affinity() } else { None }
    }

    /// The maximum number of bytes of address space that the process may reserve (`RLIMIT_AS`). `None` without a limit, and in a copy.
    pub fn address_space(&self) -> Option<u64> {
        if self.is_live { address_space() } else { None }
    }

    /// The number of threads that the process may run at once, at least 1. 1 in a copy.
    pub fn available(&self) -> usize {
        if self.is_live { crate::threads() } else { 1 }
    }
}

#[cfg(target_os = "linux")]
fn affinity() -> Option<Vec<u32>> {
    let set = rustix::thread::sched_getaffinity(None).ok()?;
    let all = (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu));
    Some(all.map(|cpu| cpu as u32).collect())
}

#[cfg(not(target_os = "linux"))]
fn affinity() -> Option<Vec<u32>> {
    None
}

#[cfg(target_os = "linux")]
fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

#[cfg(not(target_os = "linux"))]
fn address_space() -> Option<u64> {
    None
}

/// Pins the calling thread to a CPU for the rest of its life. Returns whether the system has done so.
#[cfg(all(feature = "measure", target_os = "linux"))]
pub(crate) fn pin(cpu: u32) -> bool {
    let mut only = rustix::thread::CpuSet::new();
    let fits = (cpu as usize) < rustix::thread::CpuSet::MAX_CPU;
    if fits {
        only.set(cpu as usize);
    }
    fits && rustix::thread::sched_setaffinity(None, &only).is_ok()
}

#[cfg(all(feature = "measure", not(target_os = "linux")))]
pub(crate) fn pin(_cpu: u32) -> bool {
    false
}
