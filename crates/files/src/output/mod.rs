//! Outputs that are complete or not there.
//!
//! An output is written under a hidden name in the folder of its final name, synced to disk and renamed. Then the folder
//! is synced. So even a crash of the whole machine never leaves a part of it under its name, and an output that was
//! reported as done survives a crash.
//!
//! A process that is killed leaves its hidden outputs. The next process that creates an output in the same folder removes
//! them: `hidden.rs` says how it tells them from those that are being written.
//!
//! A [`KeptFile`] is for long work that another process can go on with: its unfinished part has a name that users see, and
//! stays.

mod file;
mod folder;
mod hidden;
mod kept;
mod new_mode;
mod private;
mod stale;
mod sync;
mod together;

pub use file::{OutFile, names_folder, partial_name};
pub use folder::OutFolder;
pub use hidden::{is_unfinished, left, remove_unfinished, unfinished};
pub use kept::KeptFile;
pub use new_mode::new_mode;
pub use private::PrivateFolder;
pub use stale::on_stale;

use std::path::Path;
use std::{fs, io};

/// The folder of `path`.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Renames a file or folder unless `to` exists.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {} // by this kernel or file system
            renamed => return Ok(renamed?),
        }
    }
    if from.is_dir() {
        return fs::rename(from, to); // replaces an empty folder alone
    }
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}
