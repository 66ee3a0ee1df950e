//! Syncing to disk.

use std::fs::File;
use std::io;
use std::path::Path;

/// Whether each file and folder of a tree must be synced to disk separately.
pub(super) const EACH: bool = cfg!(not(target_os = "linux"));

/// Syncs all of the file system of `folder` to disk, by one call instead of one for each of thousands of files.
#[cfg(target_os = "linux")]
pub(super) fn contents(folder: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(folder)?)
}

/// Syncs the folder alone: this system has no call for what it holds. See [`EACH`].
#[cfg(not(target_os = "linux"))]
pub(super) fn contents(folder: &File) -> io::Result<()> {
    folder.sync_all()
}

/// Syncs the names in `folder` to disk, if permissions and file system allow it.
#[cfg(unix)]
pub(super) fn names(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        other => other,
    }
}

/// Folders cannot be synced on this system.
#[cfg(not(unix))]
pub(super) fn names(_folder: &Path) -> io::Result<()> {
    Ok(())
}
