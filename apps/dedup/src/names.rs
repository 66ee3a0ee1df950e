//! The places of files in a tree of which further names may follow, in memory in proportion to the tree.

use std::ffi::OsString;
use std::io;

use thalweg_files::Folder;

/// The folders of a tree, and in which of them the files are.
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
        let outer = self.open.last().copied().unwrap_or_default();
        self.folders.push((outer, name));
        self.open.push(self.folders.len());
    }

    /// Leaves the current folder.
    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// Adds a file of the current folder.
    pub fn add(&mut self, name: OsString) {
        self.files.push((self.open.last().copied().unwrap_or_default(), name));
    }

    /// Opens the folder of a file, by way of the root. Returns it, and the file's name.
    ///
    /// # Errors
    /// There is no such file, or a folder cannot be opened.
    pub fn find(&self, file: u64, root: Folder) -> io::Result<(Folder, OsString)> {
        let file = usize::try_from(file).ok().and_then(|file| self.files.get(file));
        let (mut at, name) = file.cloned().ok_or(io::ErrorKind::NotFound)?;
        let mut path = Vec::new();
        while at > 0 {
            let (above, name) = &self.folders[at - 1];
            path.push(name);
            at = *above;
        }
        let mut folder = root;
        for name in path.into_iter().rev() {
            folder = folder.inner(name)?;
        }
        Ok((folder, name))
    }
}
