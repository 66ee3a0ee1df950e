//! Unpacks a tree into a hidden folder beside the output, which is renamed to the output when it is complete.
//!
//! This run has created every folder on the path of an entry, inside a folder that no other user can write to. It names
//! entries relative to open folders, and never opens anything that already exists. So no link can redirect a write.
//!
//! The tree is synced to disk before it is renamed, and the folder of the output afterwards. So after a crash of the
//! machine, the output is a complete tree or does not exist.

use std::ffi::OsStr;
use std::fs::{File, FileTimes};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use thalweg_files::{Folder, OutFolder, Trail, printable, printable_bytes};

use crate::entry::{Entry, Meta};
use crate::error::Doing;
use crate::sink::Sink;
use crate::{Error, Result, os};

/// A sink that writes a tree.
#[derive(Debug)]
pub struct TreeSink {
    output: OutFolder,
    /// From the private folder of the output to the current folder.
    trail: Trail,
    /// The attributes of each open folder, set when it is closed.
    open: Vec<Meta>,
    root: Option<(Folder, Meta)>,
    file: Option<(File, Meta)>,
}

impl TreeSink {
    /// Creates a hidden folder that [`TreeSink::commit`] renames to `output`. If `force` is set, an empty folder
    /// `output` is replaced. Anything else that exists is refused.
    ///
    /// # Errors
    /// `output` exists and is not to be replaced, or is in a folder that cannot be written.
    pub fn create(output: &Path, force: bool) -> Result<Self> {
        let output = OutFolder::create(output, force)?;
        let doing = || format!("creating {}", printable(output.path()));
        let private = output.private();
        let trail = private.open().and_then(|folder| Trail::new(folder, output.path())).doing(doing)?;
        Ok(TreeSink { output, trail, open: Vec::new(), root: None, file: None })
    }

    /// Sets whether [`TreeSink::commit`] waits until the tree is on the disk. It does by default.
    pub fn durable(mut self, durable: bool) -> Self {
        self.output = self.output.durable(durable);
        self
    }

    /// Renames the finished tree to its final name.
    ///
    /// # Errors
    /// It cannot be synced or renamed, and is removed.
    pub fn commit(mut self) -> Result<()> {
        self.close_file()?;
        let path = self.output.path().to_owned();
        let root = self.root;
        self.output.commit(|| match &root {
            Some((folder, meta)) => set_folder(folder, meta).doing(|| setting(&path)),
            None => Ok(()),
        })
    }

    /// The name that an entry of the current folder gets. The root has an empty name.
    fn name<'n>(&self, name: &'n [u8]) -> &'n [u8] {
        if self.open.is_empty() { OutFolder::ROOT.as_bytes() } else { name }
    }

    /// Calls `with` on the current folder and the name of an entry in it.
    fn at<T>(
        &self,
        what: &str,
        name: &[u8],
        with: impl FnOnce(&Folder, &OsStr) -> std::io::Result<T>,
    ) -> Result<T> {
        let made = os::name(self.name(name)).and_then(|name| with(self.trail.here(), &name));
        made.doing(|| format!("{what} {} in {}", printable_bytes(name), printable(self.trail.path())))
    }

    fn close_file(&mut self) -> Result<()> {
        let Some((file, meta)) = self.file.take() else { return Ok(()) };
        let doing = || format!("writing {} in {}", printable_bytes(&meta.name), printable(self.trail.path()));
        set(&file, &meta).doing(doing)?;
        if self.output.syncs_each() { file.sync_all().doing(doing) } else { Ok(()) }
    }

    fn open_file(&mut self, meta: &Meta) -> Result<()> {
        let file = self.at("creating", &meta.name, |folder, name| folder.create_file(name))?;
        self.file = Some((file, meta.clone()));
        Ok(())
    }

    fn open_dir(&mut self, meta: &Meta) -> Result<()> {
        self.at("creating", &meta.name, |folder, name| folder.create_folder(name))?;
        let doing =
            || format!("creating {} in {}", printable_bytes(&meta.name), printable(self.output.path()));
        let name = os::name(self.name(&meta.name)).doing(doing)?;
        self.trail.enter(&name).doing(doing)?;
        self.open.push(meta.clone());
        Ok(())
    }

    /// Sets the attributes of the folder, except for the root, which [`TreeSink::commit`] sets. They are set last,
    /// because the permissions may forbid to write into the folder, and each new entry changes its time.
    fn close_dir(&mut self) -> Result<()> {
        let Some(meta) = self.open.pop() else { return Ok(()) };
        let path = self.trail.path().to_owned();
        let folder = self.trail.leave().doing(|| setting(&path))?;
        if self.open.is_empty() {
            self.root = Some((folder, meta));
            return Ok(());
        }
        set_folder(&folder, &meta).doing(|| setting(&path))
    }
}

impl Sink for TreeSink {
    fn entry(&mut self, entry: &Entry, _offset: u64) -> Result<()> {
        self.close_file()?;
        match entry {
            Entry::Dir(meta) => self.open_dir(meta),
            Entry::File(meta) => self.open_file(meta),
            Entry::Up => self.close_dir(),
            Entry::Link { name, target } => self
                .at("creating the link", name, |folder, name| folder.create_link(name, &os::name(target)?)),
        }
    }

    fn data(&mut self, bytes: &[u8]) -> Result<()> {
        let Some((file, meta)) = &mut self.file else {
            return Err(Error::corrupt(0, "content outside of a file"));
        };
        file.write_all(bytes)
            .doing(|| format!("writing {} in {}", printable_bytes(&meta.name), printable(self.trail.path())))
    }
}

fn setting(path: &Path) -> String {
    format!("setting attributes of {}", printable(path))
}

fn set_folder(folder: &Folder, meta: &Meta) -> std::io::Result<()> {
    folder.as_file().map_or(Ok(()), |file| set(file, meta))
}

fn set(file: &File, meta: &Meta) -> std::io::Result<()> {
    if let Some(permissions) = os::permissions(meta.mode) {
        file.set_permissions(permissions)?;
    }
    file.set_times(times(meta))
}

/// The stored modification time, or no time if this system cannot represent it.
fn times(meta: &Meta) -> FileTimes {
    let seconds = Duration::from_secs(meta.seconds.unsigned_abs());
    let whole: Option<SystemTime> =
        if meta.seconds < 0 { UNIX_EPOCH.checked_sub(seconds) } else { UNIX_EPOCH.checked_add(seconds) };
    let time = whole.and_then(|t| t.checked_add(Duration::from_nanos(u64::from(meta.nanos))));
    time.map_or(FileTimes::new(), |t| FileTimes::new().set_modified(t))
}
