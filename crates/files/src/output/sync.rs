//! Syncing to disk.

use std::io;
use std::path::Path;

/// Whether each file of a tree must be synced to disk separately.
pub(super) const EACH: bool = cfg!(not(target_os = "linux"));

/// Syncs all files of the file system of `folder` to disk, by one call instead of one for each of thousands of files.
#[cfg(target_os = "linux")]
pub(super) fn contents(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(std::fs::File::open(folder)?)?)
}

/// No call for a whole folder on this system: see [`EACH`].
#[cfg(not(target_os = "linux"))]
pub(super) fn contents(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Syncs the names in `folder` to disk, if permissions and file system allow it.
#[cfg(unix)]
pub(super) fn names(folder: &Path) -> io::Result<()> {
    match std::fs::File::open(folder).and_then(|folder| folder.sync_all()) {
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
