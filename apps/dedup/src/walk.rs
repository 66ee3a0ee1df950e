//! Walks a directory tree depth first, ordered by the bytes of names.
//!
//! The archive has this order, so it must not depend on the order in which a file system lists a folder. Only the
//! listings of the folders on the current path are in memory. Links are not followed. Anything but folders, files and
//! links is skipped and reported.
//!
//! A tree may change while it is walked. An entry that cannot be read, or is no longer there, is reported and left out.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use thalweg_files::{Folder, Kind, Status, Trail, is_unfinished, printable};

use crate::content::Content;
use crate::entry::{Entry, Meta};
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
    started: bool,
}

impl Walk {
    /// Opens the root, which may be a link.
    pub fn new(root: &Path, leave_out: Vec<(u64, u64)>) -> Result<Self> {
        let trail = Folder::open(root).and_then(|folder| Trail::new(folder, root));
        let trail = trail.doing(|| reading(root))?;
        Ok(Walk { trail, levels: Vec::new(), leave_out, started: false })
    }

    pub fn step(&mut self, observer: &mut dyn Observer) -> Result<Option<Step>> {
        if !self.started {
            self.started = true;
            let status = self.trail.here().status().doing(|| reading(self.trail.path()))?;
            let names = self.names()?;
            self.levels.push(names);
            return Ok(Some(plain(Entry::Dir(describe(Vec::new(), &status)))));
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
        if is_unfinished(&name) {
            observer.skipped(&path, "it is an unfinished output");
            return Ok(None);
        }
        match status.kind {
            Kind::Folder => self.folder(name, stored, &path).map(Some),
            Kind::Link => {
                let target = self.trail.here().target(&name).doing(|| reading(&path))?;
                let target = os::name_bytes(&target).doing(|| reading(&path))?;
                Ok(Some(plain(Entry::Link { name: stored, target })))
            }
            Kind::File if status.identity.is_some_and(|file| self.leave_out.contains(&file)) => {
                observer.skipped(&path, "it is the archive that this run writes or replaces");
                Ok(None)
            }
            Kind::File => self.file(name, stored, path).map(Some),
            Kind::Other => {
                observer.skipped(&path, "it is not a file, folder or link");
                Ok(None)
            }
        }
    }

    fn folder(&mut self, name: OsString, stored: Vec<u8>, path: &Path) -> Result<Step> {
        self.trail.enter(&name).doing(|| reading(path))?;
        let opened = self.trail.here().status().doing(|| reading(path));
        match opened.and_then(|status| Ok((status, self.names()?))) {
            Ok((status, names)) => {
                self.levels.push(names);
                Ok(plain(Entry::Dir(describe(stored, &status))))
            }
            Err(error) => {
                self.trail.leave().doing(|| reading(path))?;
                Err(error)
            }
        }
    }

    fn file(&mut self, name: OsString, stored: Vec<u8>, path: PathBuf) -> Result<Step> {
        let file = self.trail.here().open_file(&name).doing(|| reading(&path))?;
        let status = thalweg_files::status(&file).doing(|| reading(&path))?;
        if status.kind != Kind::File {
            return Err(Error::Changed(format!("{} is no longer a file", printable(&path))));
        }
        let entry = Entry::File(describe(stored, &status));
        Ok(Step { entry, content: Some(Content::new(file, status, path)) })
    }

    /// The names in the current folder, in reverse order.
    fn names(&self) -> Result<Vec<OsString>> {
        let doing = || format!("listing {}", printable(self.trail.path()));
        let mut names = self.trail.here().names().doing(doing)?;
        names.sort_unstable_by(|a, b| b.as_encoded_bytes().cmp(a.as_encoded_bytes()));
        Ok(names)
    }
}

fn reading(path: &Path) -> String {
    format!("reading {}", printable(path))
}

fn plain(entry: Entry) -> Step {
    Step { entry, content: None }
}

fn describe(name: Vec<u8>, status: &Status) -> Meta {
    Meta { name, mode: status.mode, seconds: status.seconds, nanos: status.nanos }
}
