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
    /// The name of the output within its private folder.
    pub const ROOT: &str = "tree";

    /// Creates a private folder in which the writer creates the output, and which [`OutFolder::commit`] renames to
    /// `path`. If `force` is set, an empty folder `path` is replaced. Anything else that exists is refused.
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

    /// The folder in which the writer creates the output under the name [`OutFolder::ROOT`].
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

    /// Renames the finished output to its final name, and then calls `finish` for what can be done only then: a folder
    /// that forbids writing cannot be renamed.
    ///
    /// # Errors
    /// The output cannot be synced or renamed, and is removed; or `finish` has failed.
    pub fn commit<E: From<Error>>(self, finish: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let path = &self.path;
        if self.durable {
            sync::contents(self.private.path()).doing("syncing to disk", path)?;
        }
        let from = self.private.path().join(Self::ROOT);
        let renamed = if self.force { fs::rename(from, path) } else { rename_new(&from, path) };
        match renamed {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::Exists(path.clone()).into());
            }
            renamed => renamed.doing("renaming the finished tree to", path)?,
        }
        finish()?;
        if self.durable {
            sync::names(parent(path)).doing("syncing the name of", path)?;
        }
        Ok(())
    }
}

fn is_empty_folder(path: &Path) -> bool {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    is_folder && fs::read_dir(path).is_ok_and(|mut items| items.next().is_none())
}
