//! Folders as descriptors: entries are named relative to them, and links are never followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT};
use rustix::fs::{
    chmodat, fchmod, fstat, linkat, mkdirat, openat, readlinkat, statat, symlinkat, unlinkat, utimensat,
};

use crate::status::{Status, from_stat};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// An open folder.
#[derive(Debug)]
pub struct Folder(File);

impl Folder {
    /// Opens the folder at `path`, which may be a link.
    ///
    /// # Errors
    /// It is no folder, or cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Folder(openat(CWD, path, FOLDER, Mode::empty())?.into()))
    }

    /// Opens the folder `name` in this one, which is no link.
    ///
    /// # Errors
    /// It is no folder, or cannot be read.
    pub fn inner(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Folder(openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?.into()))
    }

    /// Opens the folder that this one is in.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn outer(&self) -> io::Result<Self> {
        Ok(Folder(openat(&self.0, "..", FOLDER, Mode::empty())?.into()))
    }

    /// Another handle of the same folder.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Folder)
    }

    /// The folder as a file, to set its attributes; `None` on systems that cannot open a folder.
    pub fn as_file(&self) -> Option<&File> {
        Some(&self.0)
    }

    /// The status of this folder.
    ///
    /// # Errors
    /// The status cannot be read.
    pub fn status(&self) -> io::Result<Status> {
        Ok(from_stat(&fstat(&self.0)?))
    }

    /// The status of the entry `name`, of a link itself.
    ///
    /// # Errors
    /// There is no such entry.
    pub fn stat(&self, name: &OsStr) -> io::Result<Status> {
        Ok(from_stat(&statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// The names of the entries, in no order.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }

    /// Opens the file `name` for reading. Does not wait for the other end if it is a pipe.
    ///
    /// # Errors
    /// There is no such file, it is a link, or it cannot be read.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        // A terminal must not become that of this process, and a pipe must not block it.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(openat(&self.0, name, flags, Mode::empty())?.into())
    }

    /// Creates the file `name`, which only its owner can read and write.
    ///
    /// # Errors
    /// The entry exists, or cannot be created.
    pub fn create_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.0, name, flags, Mode::from_raw_mode(0o600))?.into())
    }

    /// Creates the folder `name`, which only its owner can read and write.
    ///
    /// # Errors
    /// The entry exists, or cannot be created.
    pub fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(mkdirat(&self.0, name, Mode::RWXU)?)
    }

    /// The target of the link `name`.
    ///
    /// # Errors
    /// There is no such link.
    pub fn target(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(OsString::from_vec(readlinkat(&self.0, name, Vec::new())?.into_bytes()))
    }

    /// Creates a symbolic link.
    ///
    /// # Errors
    /// The entry exists, or cannot be created.
    pub fn create_link(&self, name: &OsStr, target: &OsStr) -> io::Result<()> {
        Ok(symlinkat(target, &self.0, name)?)
    }

    /// Gives the file `old` in the folder `from` the further name `name` here.
    ///
    /// # Errors
    /// The entry exists, or cannot be created.
    pub fn create_hard_link(&self, name: &OsStr, from: &Folder, old: &OsStr) -> io::Result<()> {
        Ok(linkat(&from.0, old, &self.0, name, AtFlags::empty())?)
    }

    /// Sets the modification time of the entry `name`, of a link itself.
    ///
    /// # Errors
    /// There is no such entry, or the file system cannot keep this time.
    pub fn set_time(&self, name: &OsStr, seconds: i64, nanos: u32) -> io::Result<()> {
        let keep = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let time = Timespec { tv_sec: seconds, tv_nsec: nanos.into() };
        let times = Timestamps { last_access: keep, last_modification: time };
        Ok(utimensat(&self.0, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Sets user and group of the entry `name`, of a link itself.
    ///
    /// # Errors
    /// There is no such entry, or this user may not.
    pub fn set_owner(&self, name: &OsStr, user: u32, group: u32) -> io::Result<()> {
        use rustix::fs::{Gid, Uid, chownat};
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
        Ok(chownat(&self.0, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Permits the owner all with the folder `name`, which is no link.
    ///
    /// # Errors
    /// There is no such folder, or this user may not.
    pub fn make_removable(&self, name: &OsStr) -> io::Result<()> {
        match self.inner(name) {
            Ok(folder) => Ok(fchmod(&folder.0, Mode::RWXU)?),
            // A folder that its owner cannot read is not opened.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => permit_all(&self.0, name),
            Err(error) => Err(error),
        }
    }

    /// Removes the entry `name`, which is no folder.
    ///
    /// # Errors
    /// There is no such entry, or it cannot be removed.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes the empty folder `name`.
    ///
    /// # Errors
    /// There is no such entry, or it cannot be removed.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }
}

/// Permits the owner all with the folder `name`, without opening it to read. The name could mean another entry at the next
/// call, so the call that changes the permissions gets no name: it gets a descriptor, by its path, since `fchmod` refuses
/// one that cannot be read.
#[cfg(target_os = "linux")]
fn permit_all(outer: &File, name: &OsStr) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(outer, name, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
    Ok(chmodat(CWD, path, Mode::RWXU, AtFlags::empty())?)
}

/// Permits the owner all with the folder `name`, without opening it to read.
#[cfg(not(target_os = "linux"))]
fn permit_all(outer: &File, name: &OsStr) -> io::Result<()> {
    Ok(chmodat(outer, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Both ways, since the superuser can open every folder.
    #[test]
    fn a_folder_becomes_removable_and_the_target_of_a_link_stays_as_it_was() {
        let ways: [fn(&Folder, &OsStr) -> io::Result<()>; 2] =
            [Folder::make_removable, |folder, name| permit_all(&folder.0, name)];
        for way in ways {
            let place = tempfile::tempdir().unwrap();
            let at = |name: &str| place.path().join(name);
            let set = |name: &str, mode| fs::set_permissions(at(name), Permissions::from_mode(mode)).unwrap();
            let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o7777;
            for name in ["tree", "outside"] {
                fs::create_dir(at(name)).unwrap();
                set(name, 0o055);
            }
            fs::write(at("file"), b"").unwrap();
            set("file", 0o055);
            symlink("outside", at("link")).unwrap();
            let folder = Folder::open(place.path()).unwrap();
            way(&folder, "tree".as_ref()).unwrap();
            for refused in ["link", "file", "missing"] {
                way(&folder, refused.as_ref()).unwrap_err();
            }
            assert_eq!((mode("tree"), mode("outside"), mode("file")), (0o700, 0o055, 0o055));
            set("outside", 0o700);
        }
    }
}
