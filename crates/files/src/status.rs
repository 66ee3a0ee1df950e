//! Metadata of an entry.

use std::fs::File;
use std::io;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A socket, pipe or device.
    Other,
}

/// Metadata of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The kind.
    pub kind: Kind,
    /// The lowest twelve bits of the mode: permissions, set-user, set-group and sticky.
    pub mode: u32,
    /// User and group, on systems that number them.
    pub owner: Option<(u32, u32)>,
    /// Modification time: seconds since 1970, rounded down.
    pub seconds: i64,
    /// Modification time: nanoseconds to add to the seconds.
    pub nanos: u32,
    /// Bytes of content.
    pub size: u64,
    /// Device and inode, which identify an entry under any of its names, on systems that have them.
    pub identity: Option<(u64, u64)>,
    /// The number of names.
    pub names: u64,
}

#[cfg(unix)]
pub(crate) use unix::from_stat;
#[cfg(unix)]
pub use unix::status;

#[cfg(unix)]
mod unix {
    use super::*;
    use rustix::fs::{FileType, Stat, fstat};

    /// The status of an open file.
    ///
    /// # Errors
    /// The status cannot be read.
    pub fn status(file: &File) -> io::Result<Status> {
        Ok(from_stat(&fstat(file)?))
    }

    // The types of the fields differ between systems.
    #[allow(clippy::unnecessary_cast, clippy::cast_lossless)]
    pub(crate) fn from_stat(stat: &Stat) -> Status {
        Status {
            kind: match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Folder,
                FileType::Symlink => Kind::Link,
                _ => Kind::Other,
            },
            mode: stat.st_mode as u32 & 0o7777,
            owner: Some((stat.st_uid as u32, stat.st_gid as u32)),
            seconds: stat.st_mtime as i64,
            nanos: stat.st_mtime_nsec as u32,
            size: stat.st_size as u64,
            identity: Some((stat.st_dev as u64, stat.st_ino as u64)),
            names: stat.st_nlink as u64,
        }
    }
}

#[cfg(not(unix))]
pub(crate) use other::from_metadata;
#[cfg(not(unix))]
pub use other::status;

#[cfg(not(unix))]
mod other {
    use super::*;
    use std::fs::Metadata;
    use std::time::{SystemTime, UNIX_EPOCH};

    /// The status of an open file.
    ///
    /// # Errors
    /// The status cannot be read.
    pub fn status(file: &File) -> io::Result<Status> {
        Ok(from_metadata(&file.metadata()?))
    }

    pub(crate) fn from_metadata(meta: &Metadata) -> Status {
        let (seconds, nanos) = meta.modified().map_or((0, 0), since_1970);
        let kind = match meta.file_type() {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_dir() => Kind::Folder,
            kind if kind.is_symlink() => Kind::Link,
            _ => Kind::Other,
        };
        let mode = if kind == Kind::Folder { 0o755 } else { 0o644 };
        Status { kind, mode, owner: None, seconds, nanos, size: meta.len(), identity: None, names: 1 }
    }

    /// Whole seconds since 1970, rounded down (also before 1970), and nanoseconds.
    fn since_1970(time: SystemTime) -> (i64, u32) {
        match time.duration_since(UNIX_EPOCH) {
            Ok(after) => (after.as_secs() as i64, after.subsec_nanos()),
            Err(before) => match (before.duration().as_secs() as i64, before.duration().subsec_nanos()) {
                (seconds, 0) => (-seconds, 0),
                (seconds, nanos) => (-seconds - 1, 1_000_000_000 - nanos),
            },
        }
    }
}
