//! The places of folders and files in a tree that are needed again, in memory in proportion to the tree.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use thalweg_files::Folder;

/// The folders of a tree, and in which of them are the files of which further names may follow.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The name of each folder below the root, and the number of the folder that it is in. The root has the number 0.
    folders: Vec<(usize, OsString)>,
    /// The numbers of the open folders below the root.
    open: Vec<usize>,
    /// The number of its folder and the name of each file.
    files: Vec<(usize, OsString)>,
}

impl Names {
    /// Enters a folder.
    pub fn enter(&mut self, name: OsString) {
        self.folders.push((self.here(), name));
        self.open.push(self.folders.len());
    }

    /// Leaves the current folder, and returns its number.
    pub fn leave(&mut self) -> usize {
        self.open.pop().unwrap_or_default()
    }

    /// Adds a file of the current folder.
    pub fn add(&mut self, name: OsString) {
        self.files.push((self.here(), name));
    }

    /// Has a file found in the current folder from now on.
    pub fn replace(&mut self, file: u64, name: OsString) {
        let here = self.here();
        if let Some(file) = usize::try_from(file).ok().and_then(|file| self.files.get_mut(file)) {
            *file = (here, name);
        }
    }

    /// The path of a folder below the root.
    pub fn path(&self, mut folder: usize) -> PathBuf {
        let mut names = Vec::new();
        while folder > 0 {
            let (outer, name) = &self.folders[folder - 1];
            names.push(name);
            folder = *outer;
        }
        names.into_iter().rev().collect()
    }

    /// Opens a folder by way of the root.
    ///
    /// # Errors
    /// A folder cannot be opened.
    pub fn folder(&self, folder: usize, root: Folder) -> io::Result<Folder> {
        self.path(folder).iter().try_fold(root, |folder, name| folder.inner(name))
    }

    /// Opens the folder of a file by way of the root. Returns it, and the file's name.
    ///
    /// # Errors
    /// There is no such file, or a folder cannot be opened.
    pub fn find(&self, file: u64, root: Folder) -> io::Result<(Folder, OsString)> {
        let file = usize::try_from(file).ok().and_then(|file| self.files.get(file));
        let (folder, name) = file.ok_or(io::ErrorKind::NotFound)?;
        Ok((self.folder(*folder, root)?, name.clone()))
    }

    /// The number of the current folder.
    fn here(&self) -> usize {
        self.open.last().copied().unwrap_or_default()
    }
}
