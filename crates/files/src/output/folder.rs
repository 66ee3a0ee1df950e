//! An output folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{PrivateFolder, parent, rename_new, sync};
use crate::error::Doing;
use crate::{Error, Result};

/// An unfinished output folder. If it is dropped without [`OutFolder::commit`], it is removed.
#[derive(Debug)]
pub struct OutFolder {
    private: PrivateFolder,
    path: PathBuf,
    force: bool,
    durable: bool,
}

impl OutFolder {
    /// Creates a private folder, which the writer fills and [`OutFolder::commit`] renames to `path`. If `force` is set, an
    /// empty folder `path` is replaced. Anything else that exists is refused.
    ///
    /// # Errors
    /// `path` exists and is not to be replaced, or is in a folder that cannot be written.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        match (fs::symlink_metadata(path).is_ok(), is_empty_folder(path)) {
            (true, false) => return Err(Error::NotReplaceable(path.to_path_buf())),
            (true, true) if !force => return Err(Error::Exists(path.to_path_buf())),
            _ => {}
        }
        let private = PrivateFolder::create(parent(path))?;
        Ok(OutFolder { private, path: path.to_path_buf(), force, durable: true })
    }

    /// Sets whether [`OutFolder::commit`] waits until the tree is on the disk. It does by default.
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// The folder that becomes the output.
    pub fn private(&self) -> &PrivateFolder {
        &self.private
    }

    /// Whether the writer must sync each file, since this system cannot sync a whole tree.
    pub fn syncs_each(&self) -> bool {
        self.durable && sync::EACH
    }

    /// The final path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the finished output to its final name. The writer has set the attributes of the output too, so they are
    /// synced with it: its mode may even forbid writing, since the folder around it stays the same.
    ///
    /// # Errors
    /// The output cannot be synced or renamed, and is removed.
    pub fn commit(mut self) -> Result<()> {
        let path = &self.path;
        if self.durable {
            self.private.sync().doing("syncing to disk", path)?;
        }
        let from = self.private.path();
        let renamed = if self.force { fs::rename(from, path) } else { rename_new(from, path) };
        match renamed {
            Ok(()) => self.private.release(),
            Err(error) => return Err(refusal(error, path)),
        }
        if self.durable {
            sync::names(parent(path)).doing("syncing the name of", path)?;
        }
        Ok(())
    }
}

/// The error of renaming to `path`, which another process may have changed since [`OutFolder::create`] looked at it.
fn refusal(error: io::Error, path: &Path) -> Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists(path.to_path_buf()),
        io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory => {
            Error::NotReplaceable(path.to_path_buf())
        }
        _ => Error::io("renaming the finished tree to", path, error),
    }
}

fn is_empty_folder(path: &Path) -> bool {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    is_folder && fs::read_dir(path).is_ok_and(|mut items| items.next().is_none())
}
