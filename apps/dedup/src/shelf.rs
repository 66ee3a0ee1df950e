//! Second names of files that are deep in a tree, in one folder beside it.
//!
//! A hard link needs the folder of its file. The way from the root to it is as long as the tree is deep, and an archive may
//! have a hard link for each of its bytes. So a file that is deep gets a name on the shelf as soon as it is created, and its
//! further names are made from that one.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use thalweg_files::{Folder, PrivateFolder, Trail};

use crate::tree::MakeLink;

/// The depth up to which a file is found by way of the root.
const MAX_WAY: usize = 64;

/// The second names, which are removed when this is dropped.
#[derive(Default)]
pub(crate) struct Shelf {
    /// `None` as long as no file is deep.
    folder: Option<PrivateFolder>,
    files: HashSet<u64>,
}

impl Shelf {
    /// Adds a file of the current folder, if that is deep. `output` is the tree's path. A file that cannot be added is found
    /// by way of the root.
    pub fn put(&mut self, file: u64, output: &Path, (trail, name): (&Trail, &OsStr), link: MakeLink) {
        self.take(file);
        if trail.depth() <= MAX_WAY {
            return;
        }
        if self.folder.is_none() {
            let beside = output.parent().filter(|outer| !outer.as_os_str().is_empty());
            self.folder = PrivateFolder::create(beside.unwrap_or(Path::new("."))).ok();
        }
        let Some(folder) = self.folder.as_ref().and_then(|folder| folder.open().ok()) else { return };
        if link(&folder, &name_of(file), trail.here(), name).is_ok() {
            self.files.insert(file);
        }
    }

    /// Removes a file that another one replaces.
    fn take(&mut self, file: u64) {
        if self.files.remove(&file)
            && let Some(Ok(folder)) = self.folder.as_ref().map(PrivateFolder::open)
        {
            let _ = folder.remove(&name_of(file)); // else the next one is not put there
        }
    }

    /// The folder and the name of a file; `None` where it is not on the shelf.
    pub fn find(&self, file: u64) -> Option<io::Result<(Folder, OsString)>> {
        let folder = self.folder.as_ref().filter(|_| self.files.contains(&file))?;
        Some(folder.open().map(|folder| (folder, name_of(file))))
    }
}

fn name_of(file: u64) -> OsString {
    file.to_string().into()
}
