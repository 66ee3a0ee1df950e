//! Folders as paths, on systems without `openat`.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::status::{Status, from_metadata};

/// A folder.
#[derive(Debug)]
pub struct Folder(PathBuf);

fn unsupported(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what.to_owned())
}

// Errors are those of the system calls; `unix.rs` has the documentation of each function.
#[allow(missing_docs)]
impl Folder {
    pub fn open(path: &Path) -> io::Result<Self> {
        fs::read_dir(path)?;
        Ok(Folder(path.to_owned()))
    }

    pub fn inner(&self, name: &OsStr) -> io::Result<Self> {
        Folder::open(&self.0.join(name))
    }

    pub fn outer(&self) -> io::Result<Self> {
        let path = self.0.parent().ok_or_else(|| unsupported("the folder has no outer folder"))?;
        Ok(Folder(path.to_owned()))
    }

    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Folder(self.0.clone()))
    }

    pub fn as_file(&self) -> Option<&File> {
        None
    }

    pub fn status(&self) -> io::Result<Status> {
        Ok(from_metadata(&fs::metadata(&self.0)?))
    }

    pub fn stat(&self, name: &OsStr) -> io::Result<Status> {
        Ok(from_metadata(&fs::symlink_metadata(self.0.join(name))?))
    }

    pub fn names(&self) -> io::Result<Vec<OsString>> {
        fs::read_dir(&self.0)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        File::open(self.0.join(name))
    }

    pub fn create_file(&self, name: &OsStr) -> io::Result<File> {
        File::options().write(true).create_new(true).open(self.0.join(name))
    }

    pub fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub fn target(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(fs::read_link(self.0.join(name))?.into_os_string())
    }

    pub fn create_link(&self, _name: &OsStr, _target: &OsStr) -> io::Result<()> {
        Err(unsupported("symbolic links are not supported on this system"))
    }

    pub fn create_hard_link(&self, name: &OsStr, from: &Folder, old: &OsStr) -> io::Result<()> {
        fs::hard_link(from.0.join(old), self.0.join(name))
    }

    pub fn set_time(&self, _name: &OsStr, _seconds: i64, _nanos: u32) -> io::Result<()> {
        Ok(())
    }

    pub fn set_owner(&self, _name: &OsStr, _user: u32, _group: u32) -> io::Result<()> {
        Ok(())
    }

    pub fn make_removable(&self, _name: &OsStr) -> io::Result<()> {
        Ok(())
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }
}
