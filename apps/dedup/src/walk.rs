//! Walks a directory tree depth first, ordered by the bytes of names.
//!
//! The archive has this order, so it must not depend on the order in which a file system lists a folder. Only the
//! listings of the folders on the current path are in memory. Links are not followed. Anything but folders, files and
//! links is skipped and reported.
//!
//! A tree may change while it is walked. An entry that cannot be read, or is no longer there, is reported and left out.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use thalweg::embed::graph::shown;
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

/// An entry, and why its extended attributes are not in it: the rest of it could be read.
struct Found {
    step: Step,
    unread: Option<Error>,
}

impl Found {
    /// Reports what could not be read.
    fn report(self, observer: &mut dyn Observer) -> Result<Step> {
        self.unread.map_or(Ok(()), |error| observer.failed(error))?;
        Ok(self.step)
    }
}

/// Reads the extended attributes of a file or folder.
type ReadAttributes = fn(&File) -> io::Result<Vec<Attribute>>;

pub(crate) struct Walk {
    trail: Trail,
    /// The names not yet visited in each open folder, in reverse order.
    levels: Vec<Vec<OsString>>,
    /// Device and inode of the files to skip.
    leave_out: Vec<(u64, u64)>,
    /// How extended attributes are read, if they are.
    attributes: Option<ReadAttributes>,
    shared: Shared,
    started: bool,
}

/// The files and links with several names, of which one has been packed.
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
            attributes: attributes.then_some(extended as ReadAttributes),
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
            let (attributes, unread) = self.extended(self.trail.here().as_file(), self.trail.path());
            root.attributes = attributes;
            self.levels.push(names);
            return Found { step: plain(Entry::Dir(root)), unread }.report(observer).map(Some);
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
                Ok(Some(found)) => return found.report(observer).map(Some),
                Ok(None) => {}
                Err(error) => observer.failed(error)?,
            }
        }
        Ok(None)
    }

    /// Visits one entry of the current folder. Returns `None` if it is skipped.
    fn visit(&mut self, name: OsString, observer: &mut dyn Observer) -> Result<Option<Found>> {
        let path = self.trail.path().join(&name);
        let stored = os::name_bytes(&name).doing(|| reading(&path))?;
        let status = self.trail.here().stat(&name).doing(|| reading(&path))?;
        match status.kind {
            Kind::File if status.identity.is_some_and(|file| self.leave_out.contains(&file)) => {
                // The user has never seen a hidden name of this run.
                if !is_unfinished(&name) {
                    observer.skipped(&path, "it is the archive that this run writes or replaces");
                }
                Ok(None)
            }
            _ if is_unfinished(&name) => {
                observer.skipped(&path, "it is an unfinished output");
                Ok(None)
            }
            Kind::Folder => self.folder(&name, stored, &path).map(Some),
            Kind::Link => {
                if let Some(file) = self.shared.find(&status) {
                    let step = plain(Entry::HardLink { name: stored, file });
                    return Ok(Some(Found { step, unread: None }));
                }
                let target = self.trail.here().target(&name).doing(|| reading(&path))?;
                let target = os::name_bytes(&target).doing(|| reading(&path))?;
                let shared = self.shared.add(&status);
                let meta = Meta { shared, ..describe(stored, &status) };
                Ok(Some(Found { step: plain(Entry::Link { meta, target }), unread: None }))
            }
            Kind::File => self.file(&name, stored, path).map(Some),
            Kind::Other => {
                observer.skipped(&path, "it is not a file, folder or link");
                Ok(None)
            }
        }
    }

    fn folder(&mut self, name: &OsStr, stored: Vec<u8>, path: &Path) -> Result<Found> {
        self.trail.enter(name).doing(|| reading(path))?;
        let opened = self.trail.here().status().doing(|| reading(path));
        match opened.and_then(|status| Ok((status, self.names()?))) {
            Ok((status, names)) => {
                let (attributes, unread) = self.extended(self.trail.here().as_file(), path);
                self.levels.push(names);
                let step = plain(Entry::Dir(Meta { attributes, ..describe(stored, &status) }));
                Ok(Found { step, unread })
            }
            Err(error) => {
                self.trail.leave().doing(|| reading(path))?;
                Err(error)
            }
        }
    }

    fn file(&mut self, name: &OsStr, stored: Vec<u8>, path: PathBuf) -> Result<Found> {
        let file = self.trail.here().open_file(name).doing(|| reading(&path))?;
        let status = thalweg_files::status(&file).doing(|| reading(&path))?;
        if status.kind != Kind::File {
            return Err(Error::Changed(format!("{} is no longer a file", shown(&path))));
        }
        if let Some(file) = self.shared.find(&status) {
            return Ok(Found { step: plain(Entry::HardLink { name: stored, file }), unread: None });
        }
        let (attributes, unread) = self.extended(Some(&file), &path);
        let shared = self.shared.add(&status);
        let entry = Entry::File(Meta { attributes, shared, ..describe(stored, &status) });
        Ok(Found { step: Step { entry, content: Some(Content::new(file, status, path)) }, unread })
    }

    /// The extended attributes of an entry; none, and why, if they cannot be read.
    fn extended(&self, file: Option<&File>, path: &Path) -> (Vec<Attribute>, Option<Error>) {
        let read = file.zip(self.attributes).map_or(Ok(Vec::new()), |(file, read)| read(file));
        match read.doing(|| format!("reading attributes of {}", shown(path))) {
            Ok(attributes) => (attributes, None),
            Err(error) => (Vec::new(), Some(error)),
        }
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    /// Keeps failures, and ends the run at the first one if it is strict.
    #[derive(Default)]
    struct Failures {
        strict: bool,
        received: Vec<String>,
    }

    impl Observer for Failures {
        fn failed(&mut self, why: Error) -> Result<()> {
            self.received.push(why.to_string());
            if self.strict { Err(why) } else { Ok(()) }
        }
    }

    #[test]
    fn attributes_that_cannot_be_read_are_reported_once() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        fs::write(root.path().join("b"), b"").unwrap();
        let unreadable: ReadAttributes = |_| Err(io::Error::other("unreadable"));
        for (strict, expected) in [(true, 1), (false, 3)] {
            let mut observer = Failures { strict, ..Failures::default() };
            let mut walk = Walk::new(root.path(), Vec::new(), true).unwrap();
            walk.attributes = Some(|_| Ok(Vec::new()));
            if strict {
                walk.step(&mut observer).unwrap();
            }
            walk.attributes = Some(unreadable);
            let mut ended = false;
            while !ended {
                ended = !matches!(walk.step(&mut observer), Ok(Some(_)));
            }
            assert_eq!(observer.received.len(), expected, "{:?}", observer.received);
            assert!(observer.received.iter().all(|why| why.starts_with("reading attributes of")));
        }
    }

    /// An entry may be replaced between the call that finds its kind and the one that opens it. Opening a pipe must not
    /// wait for its writer.
    #[test]
    fn entries_that_are_replaced_before_they_are_opened_are_errors() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("file"), b"x").unwrap();
        fs::create_dir(at("folder")).unwrap();
        symlink("file", at("link")).unwrap();
        symlink("folder", at("link to a folder")).unwrap();
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let mut walk = Walk::new(root.path(), Vec::new(), false).unwrap();
        for name in ["folder", "link", "link to a folder", "pipe", "missing"] {
            assert!(walk.file(name.as_ref(), Vec::new(), at(name)).is_err(), "{name}");
        }
        for name in ["file", "link", "link to a folder", "pipe", "missing"] {
            assert!(walk.folder(name.as_ref(), Vec::new(), &at(name)).is_err(), "{name}");
            assert_eq!(walk.trail.depth(), 0, "{name}");
        }
        assert!(walk.file("file".as_ref(), Vec::new(), at("file")).is_ok());
    }
}
