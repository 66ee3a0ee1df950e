//! What differs between operating systems: names as bytes, permission bits, links, the disk.

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

    /// A name as the archive stores it.
    pub(crate) fn name_bytes(name: &OsStr) -> io::Result<Vec<u8>> {
        Ok(name.as_bytes().to_vec())
    }

    /// A stored name for this system.
    pub(crate) fn name(bytes: &[u8]) -> io::Result<OsString> {
        Ok(OsString::from_vec(bytes.to_vec()))
    }

    pub(crate) fn mode(meta: &Metadata) -> u32 {
        meta.mode() & 0o7777
    }

    /// Device and inode: what makes two names the same file.
    pub(crate) fn identity(meta: &Metadata) -> Option<(u64, u64)> {
        Some((meta.dev(), meta.ino()))
    }

    /// The bits of `mode` that are restored: those that give an account special rights are not.
    pub(crate) fn permissions(mode: u32) -> Option<Permissions> {
        Some(Permissions::from_mode(mode & 0o777))
    }

    pub(crate) fn symlink(target: &OsStr, at: &Path) -> io::Result<()> {
        std::os::unix::fs::symlink(target, at)
    }

    /// A folder can be opened as a file, to set its times.
    pub(crate) fn open_dir(path: &Path) -> io::Result<Option<File>> {
        File::open(path).map(Some)
    }

    /// Whether each file of a tree must be forced to the disk by itself.
    pub(crate) const SYNC_EACH: bool = cfg!(not(target_os = "linux"));

    /// Forces all that was written in `folder` to the disk: one call for the whole file system,
    /// which waits once and not for each of thousands of files.
    pub(crate) fn sync_contents(folder: &Path) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(File::open(folder)?)?;
        #[cfg(not(target_os = "linux"))]
        let _ = folder;
        Ok(())
    }

    /// Forces the names in `folder` to the disk, where it may be read and can do such a thing.
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

    /// A name as the archive stores it.
    pub(crate) fn name_bytes(name: &OsStr) -> io::Result<Vec<u8>> {
        let text = name.to_str().ok_or_else(|| unsupported("a name that is not Unicode"))?;
        Ok(text.as_bytes().to_vec())
    }

    /// A stored name for this system.
    pub(crate) fn name(bytes: &[u8]) -> io::Result<OsString> {
        let text = std::str::from_utf8(bytes).map_err(|_| unsupported("a name that is not Unicode"))?;
        if text.contains(['\\', ':']) {
            return Err(unsupported("a name with a separator of this system in it"));
        }
        Ok(text.into())
    }

    pub(crate) fn mode(meta: &Metadata) -> u32 {
        if meta.is_dir() { 0o755 } else { 0o644 }
    }

    /// Not known here.
    pub(crate) fn identity(_meta: &Metadata) -> Option<(u64, u64)> {
        None
    }

    /// Not restored here.
    pub(crate) fn permissions(_mode: u32) -> Option<Permissions> {
        None
    }

    pub(crate) fn symlink(_target: &OsStr, _at: &Path) -> io::Result<()> {
        Err(unsupported("symbolic links"))
    }

    /// A folder's times are not set here.
    pub(crate) fn open_dir(_path: &Path) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// Whether each file of a tree must be forced to the disk by itself.
    pub(crate) const SYNC_EACH: bool = true;

    /// Done file by file here.
    pub(crate) fn sync_contents(_folder: &Path) -> io::Result<()> {
        Ok(())
    }

    /// A folder cannot be forced to the disk here.
    pub(crate) fn sync_names(_folder: &Path) -> io::Result<()> {
        Ok(())
    }
}
