//! The places of folders and files in a tree that are needed again, in memory in proportion to the tree.

use std::ffi::OsString;
use std::io;

use thalweg_files::{Folder, Trail};

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

    /// The number of files so far.
    pub fn shared(&self) -> u64 {
        self.files.len() as u64
    }

    /// Moves a trail, which began at the root and has entered the folders `open`, to another folder, by way of the nearest
    /// folder that both are in. So visiting all folders in depth-first order takes time in proportion to the tree.
    ///
    /// # Errors
    /// A folder cannot be opened.
    pub fn go(&self, folder: usize, trail: &mut Trail, open: &mut Vec<usize>) -> io::Result<()> {
        // The number of a folder is larger than that of the one that it is in, so `open` rises.
        let way = self.way(folder, |outer| open.binary_search(&outer).is_ok());
        let outer = way.last().map_or(folder, |first| self.folders[first - 1].0);
        while open.last().is_some_and(|last| *last != outer) {
            trail.leave()?;
            open.pop();
        }
        for inner in way.into_iter().rev() {
            trail.enter(&self.folders[inner - 1].1)?;
            open.push(inner);
        }
        Ok(())
    }

    /// The numbers of the folders from `folder` outwards, up to the first one that is `reached` or the root, which is not
    /// among them.
    fn way(&self, mut folder: usize, reached: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut way = Vec::new();
        while folder > 0 && !reached(folder) {
            way.push(folder);
            folder = self.folders[folder - 1].0;
        }
        way
    }

    /// Opens a folder by way of the root.
    fn folder(&self, folder: usize, root: Folder) -> io::Result<Folder> {
        let mut way = self.way(folder, |_| false).into_iter().rev();
        way.try_fold(root, |folder, number| folder.inner(&self.folders[number - 1].1))
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
