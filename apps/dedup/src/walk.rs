//! Walks a directory tree depth first, ordered by the bytes of names.
//!
//! The archive has this order, so it must not depend on the order in which a file system lists a folder. Only the
//! listings of the folders on the current path are in memory. Links are not followed. Anything but folders, files and
//! links is skipped and reported.
//!
//! A tree may change while it is walked. An entry that cannot be read, or is no longer there, is reported and left out.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use thalweg::graph::shown;
use thalweg_files::{Folder, Kind, Status, Trail, is_unfinished};

use crate::attributes::{describe, extended};
use crate::content::Content;
use crate::entry::{Attribute, Entry, Meta};
use crate::error::Doing;
use crate::observe::Observer;
use crate::{Error, Result, os};

/// One entry of the walk.
pub(crate) struct Step {
    pub entry: Entry,
    /// The open file, if the entry is a file.
    pub content: Option<Content>,
}

pub(crate) struct Walk {
    trail: Trail,
    /// The names not yet visited in each open folder, in reverse order.
    levels: Vec<Vec<OsString>>,
    /// Device and inode of the files to skip.
    leave_out: Vec<(u64, u64)>,
    /// Whether to read extended attributes.
    attributes: bool,
    shared: Shared,
    started: bool,
}

/// The files with several names, of which one has been packed.
#[derive(Default)]
struct Shared {
    /// By device and inode: the number of the file, and how many of its names have not been found yet.
    files: HashMap<(u64, u64), (u64, u64)>,
    count: u64,
}

impl Shared {
    /// Adds a file of which one name has been packed. Returns whether it has others.
    fn add(&mut self, status: &Status) -> bool {
        let Some(identity) = status.identity.filter(|_| status.names > 1) else { return false };
        self.files.insert(identity, (self.count, status.names - 1));
        self.count += 1;
        true
    }

    /// The number of a file of which another name has been packed. Forgets it with its last name.
    fn find(&mut self, status: &Status) -> Option<u64> {
        let identity = status.identity.filter(|_| status.names > 1)?;
        let (number, left) = self.files.get_mut(&identity)?;
        let number = *number;
        *left -= 1;
        if *left == 0 {
            self.files.remove(&identity);
        }
        Some(number)
    }
}

impl Walk {
    /// Opens the root, which may be a link.
    pub fn new(root: &Path, leave_out: Vec<(u64, u64)>, attributes: bool) -> Result<Self> {
        let trail = Folder::open(root).and_then(|folder| Trail::new(folder, root));
        let trail = trail.doing(|| reading(root))?;
        Ok(Walk {
            trail,
            levels: Vec::new(),
            leave_out,
            attributes,
            shared: Shared::default(),
            started: false,
        })
    }

    pub fn step(&mut self, observer: &mut dyn Observer) -> Result<Option<Step>> {
        if !self.started {
            self.started = true;
            let status = self.trail.here().status().doing(|| reading(self.trail.path()))?;
            let names = self.names()?;
            let mut root = describe(Vec::new(), &status);
            root.attributes = self.extended(self.trail.here().as_file(), self.trail.path(), observer)?;
            self.levels.push(names);
            return Ok(Some(plain(Entry::Dir(root))));
        }
        while let Some(level) = self.levels.last_mut() {
            let Some(name) = level.pop() else {
                self.levels.pop();
                if self.trail.depth() > 0 {
                    self.trail.leave().doing(|| reading(self.trail.path()))?;
                }
                return Ok(Some(plain(Entry::Up)));
            };
            match self.visit(name, observer) {
                Ok(Some(step)) => return Ok(Some(step)),
                Ok(None) => {}
                Err(error) => observer.failed(error)?,
            }
        }
        Ok(None)
    }

    /// Visits one entry of the current folder. Returns `None` if it is skipped.
    fn visit(&mut self, name: OsString, observer: &mut dyn Observer) -> Result<Option<Step>> {
        let path = self.trail.path().join(&name);
        let stored = os::name_bytes(&name).doing(|| reading(&path))?;
        let status = self.trail.here().stat(&name).doing(|| reading(&path))?;
        match status.kind {
            Kind::File if status.identity.is_some_and(|file| self.leave_out.contains(&file)) => {
                observer.skipped(&path, "it is the archive that this run writes or replaces");
                Ok(None)
            }
            _ if is_unfinished(&name) => {
                observer.skipped(&path, "it is an unfinished output");
                Ok(None)
            }
            Kind::Folder => self.folder(name, stored, &path, observer).map(Some),
            Kind::Link => {
                let target = self.trail.here().target(&name).doing(|| reading(&path))?;
                let target = os::name_bytes(&target).doing(|| reading(&path))?;
                Ok(Some(plain(Entry::Link { meta: describe(stored, &status), target })))
            }
            Kind::File => self.file(name, stored, path, observer).map(Some),
            Kind::Other => {
                observer.skipped(&path, "it is not a file, folder or link");
                Ok(None)
            }
        }
    }

    fn folder(
        &mut self,
        name: OsString,
        stored: Vec<u8>,
        path: &Path,
        observer: &mut dyn Observer,
    ) -> Result<Step> {
        self.trail.enter(&name).doing(|| reading(path))?;
        let opened = self.trail.here().status().doing(|| reading(path));
        let read = opened.and_then(|status| {
            let attributes = self.extended(self.trail.here().as_file(), path, observer)?;
            Ok((Meta { attributes, ..describe(stored, &status) }, self.names()?))
        });
        match read {
            Ok((meta, names)) => {
                self.levels.push(names);
                Ok(plain(Entry::Dir(meta)))
            }
            Err(error) => {
                self.trail.leave().doing(|| reading(path))?;
                Err(error)
            }
        }
    }

    fn file(
        &mut self,
        name: OsString,
        stored: Vec<u8>,
        path: PathBuf,
        observer: &mut dyn Observer,
    ) -> Result<Step> {
        let file = self.trail.here().open_file(&name).doing(|| reading(&path))?;
        let status = thalweg_files::status(&file).doing(|| reading(&path))?;
        if status.kind != Kind::File {
            return Err(Error::Changed(format!("{} is no longer a file", shown(&path))));
        }
        if let Some(file) = self.shared.find(&status) {
            return Ok(plain(Entry::HardLink { name: stored, file }));
        }
        let mut meta = describe(stored, &status);
        meta.attributes = self.extended(Some(&file), &path, observer)?;
        meta.shared = self.shared.add(&status);
        let entry = Entry::File(meta);
        Ok(Step { entry, content: Some(Content::new(file, status, path)) })
    }

    /// The extended attributes of an entry, none if they cannot be read: the rest of it can.
    fn extended(
        &self,
        file: Option<&File>,
        path: &Path,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Attribute>> {
        let Some(file) = file.filter(|_| self.attributes) else { return Ok(Vec::new()) };
        let read = extended(file).doing(|| format!("reading attributes of {}", shown(path)));
        read.or_else(|error| observer.failed(error).map(|()| Vec::new()))
    }

    /// The names in the current folder, in reverse order.
    fn names(&self) -> Result<Vec<OsString>> {
        let doing = || format!("listing {}", shown(self.trail.path()));
        let mut names = self.trail.here().names().doing(doing)?;
        names.sort_unstable_by(|a, b| b.as_encoded_bytes().cmp(a.as_encoded_bytes()));
        Ok(names)
    }
}

fn reading(path: &Path) -> String {
    format!("reading {}", shown(path))
}

fn plain(entry: Entry) -> Step {
    Step { entry, content: None }
}
