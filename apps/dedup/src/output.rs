//! An output file that appears under its name only when it is complete.
//!
//! The file is written under a hidden name in the same folder, synced to disk and renamed. Then the folder is synced.
//! So even a crash of the whole machine never leaves a part of the file under its name, and a file that was reported
//! as done survives a crash.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Doing;
use crate::{Error, Result, os};

/// An unfinished output file. If it is dropped without [`OutFile::commit`], it is removed.
#[derive(Debug)]
pub struct OutFile {
    target: Target,
    durable: bool,
}

#[derive(Debug)]
enum Target {
    /// Written under a hidden name in the folder of `path` and renamed at the end.
    Hidden { file: NamedTempFile, path: PathBuf, force: bool },
    /// A device, a pipe or standard output. These cannot be replaced, so they are written directly.
    Direct(File),
}

impl OutFile {
    /// Creates a hidden file that [`OutFile::commit`] renames to `path`. An existing file is refused, or replaced at
    /// the end if `force` is set. An existing device or pipe is written directly.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        let doing = || format!("creating {}", path.display());
        let existing = fs::metadata(path).ok();
        if existing.as_ref().is_some_and(|m| !m.is_file() && !m.is_dir()) {
            let file = OpenOptions::new().write(true).open(path).doing(doing)?;
            return Ok(Self::direct(file));
        }
        let dir = existing.as_ref().is_some_and(|m| m.is_dir());
        if dir {
            return Err(Error::NotReplaceable(path.to_path_buf()));
        }
        if !force && fs::symlink_metadata(path).is_ok() {
            return Err(Error::Exists(path.to_path_buf()));
        }
        // The target of a link is replaced, not the link.
        let path = match existing {
            Some(_) => fs::canonicalize(path).doing(doing)?,
            None => path.to_path_buf(),
        };
        let file = hidden(parent(&path)).doing(doing)?;
        Ok(OutFile { target: Target::Hidden { file, path, force }, durable: true })
    }

    /// Writes directly to `file`.
    pub fn direct(file: File) -> Self {
        OutFile { target: Target::Direct(file), durable: false }
    }

    /// Sets whether [`OutFile::commit`] waits until the file is on the disk. It does by default, except for output
    /// that is written directly.
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// Device and inode of the file that is being written, on systems that have them.
    pub fn identity(&self) -> Option<(u64, u64)> {
        os::identity(&self.file().metadata().ok()?)
    }

    /// Renames the finished file to its final name.
    pub fn commit(self) -> Result<()> {
        let (file, path, force) = match self.target {
            Target::Direct(mut file) => return file.flush().doing(|| "writing the output".into()),
            Target::Hidden { file, path, force } => (file, path, force),
        };
        if self.durable {
            file.as_file().sync_all().doing(|| format!("syncing {} to disk", path.display()))?;
        }
        let named = if force { file.persist(&path) } else { file.persist_noclobber(&path) };
        match named {
            Ok(_) if self.durable => os::sync_names(parent(&path)).doing(|| renaming(&path)),
            Ok(_) => Ok(()),
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Exists(path)),
            Err(e) => Err(e.error).doing(|| renaming(&path)),
        }
    }

    fn file(&self) -> &File {
        match &self.target {
            Target::Hidden { file, .. } => file.as_file(),
            Target::Direct(file) => file,
        }
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

fn renaming(path: &Path) -> String {
    format!("renaming the finished output to {}", path.display())
}

/// Creates a hidden file with the permissions of a new file (0666 without the umask).
fn hidden(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".thalweg-");
    let permissions = os::permissions(0o666);
    if let Some(permissions) = permissions {
        return builder.permissions(permissions).tempfile_in(folder);
    }
    builder.tempfile_in(folder)
}

/// The folder of `path`.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
