//! A private folder.

use std::fs;
use std::io;
use std::path::Path;

use super::hidden::{self, Listed};
use super::{stale, sync};
use crate::error::Doing;
use crate::remove::remove_tree;
use crate::{Folder, Result};

/// A new hidden folder that no other user can read or write, removed with all that it holds when it is dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    /// The folder that the hidden one is in.
    outer: Folder,
    hidden: Folder,
    listed: Listed,
    /// It has another name now, and is removed no more.
    released: bool,
}

impl PrivateFolder {
    /// Creates one in `folder`.
    ///
    /// # Errors
    /// `folder` does not exist or cannot be written.
    pub fn create(folder: &Path) -> Result<Self> {
        let doing = "creating a folder in";
        let outer = Folder::open(folder).doing(doing, folder)?;
        let (hidden, listed) = hidden::create(folder, make, Folder::as_file).doing(doing, folder)?;
        let this = PrivateFolder { outer, hidden, listed, released: false };
        if let Ok(status) = this.hidden.status() {
            stale::sweep(folder, &status);
        }
        Ok(this)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.listed.path()
    }

    /// Another handle of it.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn open(&self) -> io::Result<Folder> {
        self.hidden.try_clone()
    }

    /// Syncs it to disk with all that it holds, and its own attributes.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.hidden.as_file().map_or(Ok(()), sync::contents)
    }

    /// Keeps the folder, which was renamed.
    pub(super) fn release(&mut self) {
        self.released = true;
    }

    /// Removes it.
    ///
    /// # Errors
    /// An entry cannot be removed.
    pub fn remove(self) -> Result<()> {
        let path = self.path().to_owned();
        self.remove_all().doing("deleting", &path)
    }

    fn remove_all(&self) -> io::Result<()> {
        let Some(name) = self.path().file_name().filter(|_| !self.released) else { return Ok(()) };
        match remove_tree(&self.outer, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        if self.remove_all().is_err() {
            self.listed.is_left();
        }
    }
}

fn make(path: &Path) -> io::Result<Folder> {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    // It may be gone: see `hidden.rs`. Then the next name is tried.
    Folder::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::ErrorKind::AlreadyExists.into(),
        _ => {
            // The process may have no descriptor left, and the first error is the cause.
            let _ = fs::remove_dir(path);
            error
        }
    })
}
