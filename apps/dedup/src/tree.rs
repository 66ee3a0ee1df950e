//! Unpacks a tree into a hidden folder beside the output, which is renamed to the output when it is complete.
//!
//! This run has created every folder on the path of an entry, inside a folder that no other user can write to, and it
//! never opens anything that already exists. So no link can redirect a write.
//!
//! The tree is synced to disk before it is renamed, and the folder of the output afterwards. So after a crash of the
//! machine, the output is a complete tree or does not exist.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

use crate::entry::{Entry, Meta};
use crate::error::Doing;
use crate::output::parent;
use crate::sink::Sink;
use crate::{Error, Result, os};

/// A sink that writes a tree.
#[derive(Debug)]
pub struct TreeSink {
    hidden: TempDir,
    output: PathBuf,
    /// The current folder.
    path: PathBuf,
    /// The attributes of each open folder, set when it is closed.
    open: Vec<Meta>,
    root: Option<Meta>,
    file: Option<(File, Meta)>,
    durable: bool,
}

impl TreeSink {
    /// Creates a hidden folder that [`TreeSink::commit`] renames to `output`. If `force` is set, an empty folder
    /// `output` is replaced. Anything else that exists is refused.
    pub fn create(output: &Path, force: bool) -> Result<Self> {
        match (fs::symlink_metadata(output).is_ok(), is_empty_dir(output)) {
            (true, false) => return Err(Error::NotReplaceable(output.to_path_buf())),
            (true, true) if !force => return Err(Error::Exists(output.to_path_buf())),
            _ => {}
        }
        let hidden = tempfile::Builder::new()
            .prefix(".thalweg-unpack-")
            .tempdir_in(parent(output))
            .doing(|| format!("creating a folder beside {}", output.display()))?;
        let path = hidden.path().to_path_buf();
        Ok(TreeSink {
            hidden,
            output: output.to_path_buf(),
            path,
            open: Vec::new(),
            root: None,
            file: None,
            durable: true,
        })
    }

    /// Sets whether [`TreeSink::commit`] waits until the tree is on the disk. It does by default.
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// Renames the finished tree to its final name.
    pub fn commit(mut self) -> Result<()> {
        self.close_file()?;
        if self.durable {
            let doing = || format!("syncing {} to disk", self.output.display());
            os::sync_contents(self.hidden.path()).doing(doing)?;
        }
        let doing = || format!("renaming the finished tree to {}", self.output.display());
        fs::rename(self.hidden.path().join("tree"), &self.output).doing(doing)?;
        // Set after the rename, because a folder without write permission cannot be renamed.
        if let Some(root) = &self.root {
            set_dir(&self.output, root)?;
        }
        if self.durable { os::sync_names(parent(&self.output)).doing(doing) } else { Ok(()) }
    }

    /// The path of an entry of the current folder.
    fn path_of(&self, name: &[u8]) -> Result<PathBuf> {
        // The root has an empty name.
        let name: &[u8] = if self.open.is_empty() { b"tree" } else { name };
        let name = os::name(name).doing(|| format!("naming an entry of {}", self.path.display()))?;
        Ok(self.path.join(name))
    }

    fn close_file(&mut self) -> Result<()> {
        let Some((file, meta)) = self.file.take() else { return Ok(()) };
        let doing = || format!("writing {} in {}", String::from_utf8_lossy(&meta.name), self.path.display());
        if let Some(permissions) = os::permissions(meta.mode) {
            file.set_permissions(permissions).doing(doing)?;
        }
        file.set_times(times(&meta)).doing(doing)?;
        if self.durable && os::SYNC_EACH { file.sync_all().doing(doing) } else { Ok(()) }
    }

    fn open_file(&mut self, meta: &Meta) -> Result<()> {
        let path = self.path_of(&meta.name)?;
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.doing(|| format!("creating {}", path.display()))?;
        self.file = Some((file, meta.clone()));
        Ok(())
    }

    fn open_dir(&mut self, meta: &Meta) -> Result<()> {
        let path = self.path_of(&meta.name)?;
        fs::create_dir(&path).doing(|| format!("creating {}", path.display()))?;
        self.path = path;
        self.open.push(meta.clone());
        Ok(())
    }

    /// Sets the attributes of the folder, except for the root, which [`TreeSink::commit`] sets. They are set last,
    /// because the permissions may forbid to write into the folder, and each new entry changes its time.
    fn close_dir(&mut self) -> Result<()> {
        let Some(meta) = self.open.pop() else { return Ok(()) };
        if self.open.is_empty() {
            self.root = Some(meta);
        } else {
            set_dir(&self.path, &meta)?;
        }
        self.path.pop();
        Ok(())
    }
}

impl Sink for TreeSink {
    fn entry(&mut self, entry: &Entry, _offset: u64) -> Result<()> {
        self.close_file()?;
        match entry {
            Entry::Dir(meta) => self.open_dir(meta),
            Entry::File(meta) => self.open_file(meta),
            Entry::Up => self.close_dir(),
            Entry::Link { name, target } => {
                let path = self.path_of(name)?;
                let doing = || format!("creating the link {}", path.display());
                os::symlink(&os::name(target).doing(doing)?, &path).doing(doing)
            }
        }
    }

    fn data(&mut self, bytes: &[u8]) -> Result<()> {
        let Some((file, meta)) = &mut self.file else {
            return Err(Error::corrupt(0, "content outside of a file"));
        };
        file.write_all(bytes)
            .doing(|| format!("writing {} in {}", String::from_utf8_lossy(&meta.name), self.path.display()))
    }
}

impl Drop for TreeSink {
    fn drop(&mut self) {
        // The permissions of closed folders may forbid to remove their entries.
        make_removable(self.hidden.path());
    }
}

/// Makes every folder below `root` writable, so that the tree can be deleted. Errors are ignored here, since the
/// deletion reports them.
pub fn make_removable(root: &Path) {
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if let Some(permissions) = os::permissions(0o700) {
            let _ = fs::set_permissions(&folder, permissions);
        }
        let items = fs::read_dir(&folder).into_iter().flatten().flatten();
        folders
            .extend(items.filter(|item| item.file_type().is_ok_and(|t| t.is_dir())).map(|item| item.path()));
    }
}

fn set_dir(path: &Path, meta: &Meta) -> Result<()> {
    let doing = || format!("setting attributes of {}", path.display());
    // Before the permissions, because a folder without read permission cannot be opened to set its times.
    if let Some(folder) = os::open_dir(path).doing(doing)? {
        folder.set_times(times(meta)).doing(doing)?;
    }
    match os::permissions(meta.mode) {
        Some(permissions) => fs::set_permissions(path, permissions).doing(doing),
        None => Ok(()),
    }
}

/// The stored modification time, or no time if this system cannot represent it.
fn times(meta: &Meta) -> FileTimes {
    let seconds = Duration::from_secs(meta.seconds.unsigned_abs());
    let whole: Option<SystemTime> =
        if meta.seconds < 0 { UNIX_EPOCH.checked_sub(seconds) } else { UNIX_EPOCH.checked_add(seconds) };
    let time = whole.and_then(|t| t.checked_add(Duration::from_nanos(u64::from(meta.nanos))));
    time.map_or(FileTimes::new(), |t| FileTimes::new().set_modified(t))
}

fn is_empty_dir(path: &Path) -> bool {
    let is_dir = fs::symlink_metadata(path).is_ok_and(|m| m.is_dir());
    is_dir && fs::read_dir(path).is_ok_and(|mut items| items.next().is_none())
}
