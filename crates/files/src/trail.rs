//! The folders from a root to the current one.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::Folder;

/// The maximum number of folders that are open at once; fewer where the process has no descriptor left. Those above are
/// opened again on the way back.
const OPEN: usize = 64;

/// The folders from a root to the current one.
#[derive(Debug)]
pub struct Trail {
    /// The path of the current folder, for messages.
    path: PathBuf,
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    folder: Option<Folder>,
    /// Device and inode.
    identity: Option<(u64, u64)>,
}

impl Trail {
    /// Begins at `root`, which has this path.
    ///
    /// # Errors
    /// The system does not tell the status of `root`.
    pub fn new(root: Folder, path: &Path) -> io::Result<Self> {
        let level = Level { identity: root.status()?.identity, folder: Some(root) };
        Ok(Trail { path: path.to_owned(), levels: vec![level] })
    }

    /// The current folder.
    pub fn here(&self) -> &Folder {
        let here = self.levels.last().and_then(|level| level.folder.as_ref());
        here.expect("the last level is open, and the root is never left")
    }

    /// The path of the current folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of folders below the root that lead to the current one.
    pub fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// Enters the folder `name`, which is no link.
    ///
    /// # Errors
    /// It is no folder, or cannot be read. The current folder stays.
    pub fn enter(&mut self, name: &OsStr) -> io::Result<()> {
        let folder = self.open(|here| here.inner(name))?;
        self.levels.push(Level { identity: folder.status()?.identity, folder: Some(folder) });
        self.path.push(name);
        if let Some(above) = self.levels.len().checked_sub(OPEN + 1) {
            self.levels[above].folder = None;
        }
        Ok(())
    }

    /// Opens an entry of the current folder. Where the process has no descriptor left, this closes the other folders and tries
    /// again.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn open<T>(&mut self, open: impl Fn(&Folder) -> io::Result<T>) -> io::Result<T> {
        match open(self.here()) {
            Err(error) if lacks_descriptors(&error) && self.close_outer() => open(self.here()),
            opened => opened,
        }
    }

    /// Closes all folders but the current one. Returns whether there were any.
    fn close_outer(&mut self) -> bool {
        let outer = self.levels.len() - 1;
        self.levels[..outer].iter_mut().filter_map(|level| level.folder.take()).count() > 0
    }

    /// Leaves the current folder, and returns it.
    ///
    /// # Errors
    /// The folder above was closed, and is no longer the folder above.
    ///
    /// # Panics
    /// If the current folder is the root.
    pub fn leave(&mut self) -> io::Result<Folder> {
        assert!(self.levels.len() > 1, "the root is never left");
        let left = self.levels.pop().and_then(|level| level.folder).expect("the last level is open");
        self.path.pop();
        let above = self.levels.last_mut().expect("the root is never left");
        if above.folder.is_none() {
            let outer = left.outer()?;
            if outer.status()?.identity != above.identity {
                return Err(io::Error::other("a folder was moved while it was in use"));
            }
            above.folder = Some(outer);
        }
        Ok(left)
    }
}

/// Whether this process, or the system, can open no more files.
#[cfg(unix)]
fn lacks_descriptors(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Folders are no descriptors on this system.
#[cfg(not(unix))]
fn lacks_descriptors(_error: &io::Error) -> bool {
    false
}
