//! An output file that appears under its name only when it is complete.
//!
//! It is written under a hidden name in the same folder, forced to the disk, renamed, and then the
//! folder is forced to the disk. So not even a crash of the whole machine leaves a part of it under
//! its name, and what was reported as done is there after one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Doing;
use crate::{Error, Result, os};

/// A file in the making. Dropped without [`OutFile::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct OutFile {
    to: To,
    durable: bool,
}

#[derive(Debug)]
enum To {
    /// Written beside its place and renamed at the end.
    Hidden { file: NamedTempFile, place: PathBuf, force: bool },
    /// A device, a pipe, standard output: what cannot be replaced is written to as it is.
    Direct(File),
}

impl OutFile {
    /// Prepares a file that will become `place`. An existing file is refused, or with `force`
    /// replaced at the end; an existing device or pipe is written to.
    pub fn create(place: &Path, force: bool) -> Result<Self> {
        let doing = || format!("creating {}", place.display());
        let existing = fs::metadata(place).ok();
        if existing.as_ref().is_some_and(|m| !m.is_file() && !m.is_dir()) {
            let file = OpenOptions::new().write(true).open(place).doing(doing)?;
            return Ok(Self::direct(file));
        }
        let dir = existing.as_ref().is_some_and(|m| m.is_dir());
        if dir {
            return Err(Error::InTheWay(place.to_path_buf()));
        }
        if !force && fs::symlink_metadata(place).is_ok() {
            return Err(Error::Exists(place.to_path_buf()));
        }
        // What a link points to is replaced, not the link.
        let place = match existing {
            Some(_) => fs::canonicalize(place).doing(doing)?,
            None => place.to_path_buf(),
        };
        let file = hidden(parent(&place)).doing(doing)?;
        Ok(OutFile { to: To::Hidden { file, place, force }, durable: true })
    }

    /// Writes to `file` as it is.
    pub fn direct(file: File) -> Self {
        OutFile { to: To::Direct(file), durable: false }
    }

    /// Whether [`OutFile::commit`] waits until the file is on the disk (which it does unless told
    /// otherwise). Output that is written directly never waits.
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// Device and inode of the file while it is written, where the system has such.
    pub fn identity(&self) -> Option<(u64, u64)> {
        os::identity(&self.file().metadata().ok()?)
    }

    /// Gives the finished file its name.
    pub fn commit(self) -> Result<()> {
        let (file, place, force) = match self.to {
            To::Direct(mut file) => return file.flush().doing(|| "writing the output".into()),
            To::Hidden { file, place, force } => (file, place, force),
        };
        if self.durable {
            file.as_file().sync_all().doing(|| format!("writing {} to the disk", place.display()))?;
        }
        let named = if force { file.persist(&place) } else { file.persist_noclobber(&place) };
        match named {
            Ok(_) if self.durable => os::sync_names(parent(&place)).doing(|| naming(&place)),
            Ok(_) => Ok(()),
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Exists(place)),
            Err(e) => Err(e.error).doing(|| naming(&place)),
        }
    }

    fn file(&self) -> &File {
        match &self.to {
            To::Hidden { file, .. } => file.as_file(),
            To::Direct(file) => file,
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

fn naming(place: &Path) -> String {
    format!("renaming the finished output to {}", place.display())
}

/// A hidden file with the permissions a new file would have.
fn hidden(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".thalweg-");
    let permissions = os::permissions(0o666);
    if let Some(permissions) = permissions {
        return builder.permissions(permissions).tempfile_in(folder);
    }
    builder.tempfile_in(folder)
}

/// The folder `place` lies in.
pub(crate) fn parent(place: &Path) -> &Path {
    match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
