//! Differences between operating systems: names as bytes, permission bits, links, syncing to disk.

#[cfg(not(unix))]
pub(crate) use other::*;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(unix)]
mod unix {
    use std::ffi::{OsStr, OsString};
    use std::fs::{File, Metadata, Permissions};
    use std::io;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;

    /// The bytes that the archive stores for a name.
    pub(crate) fn name_bytes(name: &OsStr) -> io::Result<Vec<u8>> {
        Ok(name.as_bytes().to_vec())
    }

    /// The name for stored bytes.
    pub(crate) fn name(bytes: &[u8]) -> io::Result<OsString> {
        Ok(OsString::from_vec(bytes.to_vec()))
    }

    /// Device and inode, which identify a file under any of its names.
    pub(crate) fn identity(meta: &Metadata) -> Option<(u64, u64)> {
        Some((meta.dev(), meta.ino()))
    }

    /// The bits of `mode` that are restored: all but set-user, set-group and sticky.
    pub(crate) fn permissions(mode: u32) -> Option<Permissions> {
        Some(Permissions::from_mode(mode & 0o777))
    }

    pub(crate) fn symlink(target: &OsStr, at: &Path) -> io::Result<()> {
        std::os::unix::fs::symlink(target, at)
    }

    /// Opens a folder as a file, to set its times.
    pub(crate) fn open_dir(path: &Path) -> io::Result<Option<File>> {
        File::open(path).map(Some)
    }

    /// Whether each file of a tree must be synced to disk separately.
    pub(crate) const SYNC_EACH: bool = cfg!(not(target_os = "linux"));

    /// Syncs all files below `folder` to disk, by one call for the whole file system instead of one for each of
    /// thousands of files.
    pub(crate) fn sync_contents(folder: &Path) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(File::open(folder)?)?;
        #[cfg(not(target_os = "linux"))]
        let _ = folder;
        Ok(())
    }

    /// Syncs the names in `folder` to disk, if permissions and file system allow it.
    pub(crate) fn sync_names(folder: &Path) -> io::Result<()> {
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            other => other,
        }
    }
}

#[cfg(not(unix))]
mod other {
    use std::ffi::{OsStr, OsString};
    use std::fs::{File, Metadata, Permissions};
    use std::io;
    use std::path::Path;

    fn unsupported(what: &str) -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, what.to_owned())
    }

    /// The bytes that the archive stores for a name.
    pub(crate) fn name_bytes(name: &OsStr) -> io::Result<Vec<u8>> {
        let text = name.to_str().ok_or_else(|| unsupported("the name is not Unicode"))?;
        Ok(text.as_bytes().to_vec())
    }

    /// The name for stored bytes.
    pub(crate) fn name(bytes: &[u8]) -> io::Result<OsString> {
        let text = std::str::from_utf8(bytes).map_err(|_| unsupported("the name is not Unicode"))?;
        if text.contains(['\\', ':']) {
            return Err(unsupported("the name contains a separator of this system"));
        }
        Ok(text.into())
    }

    /// Unknown on this system.
    pub(crate) fn identity(_meta: &Metadata) -> Option<(u64, u64)> {
        None
    }

    /// Not restored on this system.
    pub(crate) fn permissions(_mode: u32) -> Option<Permissions> {
        None
    }

    pub(crate) fn symlink(_target: &OsStr, _at: &Path) -> io::Result<()> {
        Err(unsupported("symbolic links are not supported on this system"))
    }

    /// Times of folders are not restored on this system.
    pub(crate) fn open_dir(_path: &Path) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// Whether each file of a tree must be synced to disk separately.
    pub(crate) const SYNC_EACH: bool = true;

    /// No call for a whole folder on this system: see [`SYNC_EACH`].
    pub(crate) fn sync_contents(_folder: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Folders cannot be synced on this system.
    pub(crate) fn sync_names(_folder: &Path) -> io::Result<()> {
        Ok(())
    }
}
