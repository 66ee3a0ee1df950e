//! The folders from a root to the current one.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::Folder;

/// The most folders that are open at once. Those above are opened again on the way back.
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
        let folder = self.here().inner(name)?;
        self.levels.push(Level { identity: folder.status()?.identity, folder: Some(folder) });
        self.path.push(name);
        if let Some(above) = self.levels.len().checked_sub(OPEN + 1) {
            self.levels[above].folder = None;
        }
        Ok(())
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
