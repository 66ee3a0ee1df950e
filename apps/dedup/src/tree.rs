//! Unpacks a tree into a hidden folder beside the output, which is renamed to the output when it is complete.
//!
//! This run has created every folder on the path of an entry, inside a folder that no other user can write to. It names
//! entries relative to open folders, and never opens anything that already exists, but for folders of its own on the way
//! to a file that gets a further name. So no link can redirect a write.
//!
//! The tree has all its attributes, those of the root too, before it is synced to disk. Then it is renamed, and the folder
//! of the output is synced. So after a crash of the machine, the output is a complete tree or does not exist.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use thalweg::graph::{shown, shown_bytes};
use thalweg_files::{Folder, OutFolder, Trail};

use crate::attributes::Restore;
use crate::entry::{Entry, Meta};
use crate::error::Doing;
use crate::names::Names;
use crate::sink::Sink;
use crate::{Error, Result, os};

/// A sink that writes a tree.
pub struct TreeSink {
    output: OutFolder,
    /// From the root, which is the hidden folder of the output, to the current folder.
    trail: Trail,
    /// The attributes of each open folder, set when it is closed.
    open: Vec<Meta>,
    root: Option<Meta>,
    file: Option<(File, Meta)>,
    names: Names,
    restore: Restore,
    failures: Failures,
}

/// What could not be restored.
#[derive(Default)]
struct Failures {
    receiver: Option<Box<dyn FnMut(Error) + Send>>,
    /// The first one, if there is no receiver.
    first: Option<Error>,
}

impl TreeSink {
    /// Creates a hidden folder that [`TreeSink::commit`] renames to `output`. If `force` is set, an empty folder
    /// `output` is replaced. Anything else that exists is refused.
    ///
    /// # Errors
    /// `output` exists and is not to be replaced, or is in a folder that cannot be written.
    pub fn create(output: &Path, force: bool) -> Result<Self> {
        let output = OutFolder::create(output, force)?;
        let doing = || format!("creating {}", shown(output.path()));
        let root = output.private().open().doing(doing)?;
        // A new folder belongs to this user.
        let superuser = root.status().doing(doing)?.owner.is_some_and(|(user, _)| user == 0);
        let trail = Trail::new(root, output.path()).doing(doing)?;
        Ok(TreeSink {
            output,
            trail,
            open: Vec::new(),
            root: None,
            file: None,
            names: Names::default(),
            restore: Restore { owners: superuser, extended: false },
            failures: Failures::default(),
        })
    }

    /// Sets whether [`TreeSink::commit`] waits until the tree is on the disk. It does by default.
    pub fn durable(mut self, durable: bool) -> Self {
        self.output = self.output.durable(durable);
        self
    }

    /// Sets whether owners are restored, and with them set-user, set-group and sticky bits. They are by default if this
    /// user is the superuser.
    pub fn owners(mut self, owners: bool) -> Self {
        self.restore.owners = owners;
        self
    }

    /// Sets whether extended attributes are restored. They are not by default.
    pub fn extended_attributes(mut self, extended: bool) -> Self {
        self.restore.extended = extended;
        self
    }

    /// Sets a function that receives what could not be restored of an entry: its owner or an extended attribute. By
    /// default the first such failure ends the run.
    pub fn on_failure(mut self, failed: impl FnMut(Error) + Send + 'static) -> Self {
        self.failures.receiver = Some(Box::new(failed));
        self
    }

    /// Renames the finished tree to its final name.
    ///
    /// # Errors
    /// The attributes of the root cannot be set, or the tree cannot be synced or renamed. It is removed.
    pub fn commit(mut self) -> Result<()> {
        self.close_file()?;
        if let Some(meta) = self.root.take() {
            let path = self.output.path();
            set_folder(self.restore, self.trail.here(), &meta, path, &mut self.failures)?;
        }
        Ok(self.output.commit()?)
    }

    /// Calls `with` on the current folder and the name of an entry in it.
    fn at<T>(
        &self,
        what: &str,
        name: &[u8],
        with: impl FnOnce(&Folder, &OsStr) -> io::Result<T>,
    ) -> Result<T> {
        let made = os::name(name).and_then(|name| with(self.trail.here(), &name));
        made.doing(|| format!("{what} {}", self.show(name)))
    }

    /// The path of an entry of the current folder, for messages.
    fn show(&self, name: &[u8]) -> String {
        format!("{} in {}", shown_bytes(name), shown(self.trail.path()))
    }

    fn close_file(&mut self) -> Result<()> {
        let Some((file, meta)) = self.file.take() else { return Ok(()) };
        let path = self.show(&meta.name);
        let failed = |what: &str, source| self.failures.add(what, &path, source);
        self.restore.set(&file, &meta, failed).doing(|| format!("setting attributes of {path}"))?;
        self.failures.check()?;
        if self.output.syncs_each() { file.sync_all().doing(|| format!("writing {path}")) } else { Ok(()) }
    }

    fn open_file(&mut self, meta: &Meta) -> Result<()> {
        let file = self.at("creating", &meta.name, |folder, name| folder.create_file(name))?;
        if meta.shared {
            self.names.add(os::name(&meta.name).doing(|| format!("creating {}", self.show(&meta.name)))?);
        }
        self.file = Some((file, meta.clone()));
        Ok(())
    }

    /// Creates a folder, except for the root, which is there.
    fn open_dir(&mut self, meta: &Meta) -> Result<()> {
        if !self.open.is_empty() {
            self.at("creating", &meta.name, |folder, name| folder.create_folder(name))?;
            let doing = || format!("creating {}", shown_bytes(&meta.name));
            let name = os::name(&meta.name).doing(doing)?;
            self.trail.enter(&name).doing(doing)?;
            self.names.enter(name);
        }
        self.open.push(meta.clone());
        Ok(())
    }

    /// Sets the attributes of the folder, except for the root, which [`TreeSink::commit`] sets. They are set last,
    /// because the permissions may forbid to write into the folder, and each new entry changes its time.
    fn close_dir(&mut self) -> Result<()> {
        let Some(meta) = self.open.pop() else { return Ok(()) };
        if self.open.is_empty() {
            self.root = Some(meta);
            return Ok(());
        }
        let path = self.trail.path().to_owned();
        let folder = self.trail.leave().doing(|| format!("leaving {}", shown(&path)))?;
        self.names.leave();
        set_folder(self.restore, &folder, &meta, &path, &mut self.failures)?;
        match folder.as_file().filter(|_| self.output.syncs_each()) {
            Some(folder) => folder.sync_all().doing(|| format!("writing {}", shown(&path))),
            None => Ok(()),
        }
    }

    fn link(&mut self, meta: &Meta, target: &[u8]) -> Result<()> {
        self.at("creating the link", &meta.name, |folder, name| {
            folder.create_link(name, &os::name(target)?)
        })?;
        let path = self.show(&meta.name);
        let doing = || format!("setting attributes of {path}");
        let name = os::name(&meta.name).doing(doing)?;
        let failed = |what: &str, source| self.failures.add(what, &path, source);
        self.restore.set_link(self.trail.here(), &name, meta, failed).doing(doing)?;
        self.failures.check()
    }

    fn hard_link(&self, name: &[u8], file: u64) -> Result<()> {
        self.at("creating the hard link", name, |folder, name| {
            let (from, old) = self.names.find(file, self.output.private().open()?)?;
            folder.create_hard_link(name, &from, &old)
        })
    }
}

impl Sink for TreeSink {
    fn entry(&mut self, entry: &Entry, _offset: u64) -> Result<()> {
        self.close_file()?;
        match entry {
            Entry::Dir(meta) => self.open_dir(meta),
            Entry::File(meta) => self.open_file(meta),
            Entry::Link { meta, target } => self.link(meta, target),
            Entry::HardLink { name, file } => self.hard_link(name, *file),
            Entry::Up => self.close_dir(),
        }
    }

    fn data(&mut self, bytes: &[u8]) -> Result<()> {
        let Some((file, meta)) = &mut self.file else {
            return Err(Error::corrupt(0, "content outside of a file"));
        };
        file.write_all(bytes)
            .doing(|| format!("writing {} in {}", shown_bytes(&meta.name), shown(self.trail.path())))
    }
}

impl fmt::Debug for TreeSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeSink").field("output", &self.output).finish_non_exhaustive()
    }
}

impl Failures {
    fn add(&mut self, what: &str, path: &str, source: io::Error) {
        let error = Error::io(format!("{what} {path}"), source);
        match &mut self.receiver {
            Some(receiver) => receiver(error),
            None => _ = self.first.get_or_insert(error),
        }
    }

    fn check(&mut self) -> Result<()> {
        self.first.take().map_or(Ok(()), Err)
    }
}

fn set_folder(
    restore: Restore,
    folder: &Folder,
    meta: &Meta,
    path: &Path,
    failures: &mut Failures,
) -> Result<()> {
    let Some(file) = folder.as_file() else { return Ok(()) };
    let path = shown(path).to_string();
    let set = restore.set(file, meta, |what, source| failures.add(what, &path, source));
    set.doing(|| format!("setting attributes of {path}"))?;
    failures.check()
}
