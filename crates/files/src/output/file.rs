//! An output file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::hidden::{self, Listed};
use super::{parent, rename_new, stale, sync};
use crate::error::Doing;
use crate::{Error, Result, SparseFile, status};
use thalweg_graph::shown;

/// An unfinished output file. If it is dropped without [`OutFile::commit`], it is removed.
#[derive(Debug)]
pub struct OutFile {
    target: Target,
    durable: bool,
}

#[derive(Debug)]
enum Target {
    Hidden(Hidden),
    /// A device, a pipe or standard output. These cannot be replaced, so they are written directly.
    Direct(File),
}

/// Written under a hidden name in the folder of `path` and renamed at the end.
#[derive(Debug)]
struct Hidden {
    file: SparseFile,
    listed: Listed,
    path: PathBuf,
    force: bool,
    model: Option<Box<Metadata>>,
    executable: bool,
    /// Only the owner may read and write the finished file.
    #[cfg_attr(not(unix), allow(dead_code))]
    private: bool,
    /// The file has its final permissions.
    permitted: bool,
    /// What is written is not all: see [`OutFile::mark_partial`].
    partial: bool,
    finished: bool,
}

impl OutFile {
    /// Creates a hidden file that [`OutFile::commit`] renames to `path`. An existing file is refused, or replaced at
    /// the end if `force` is set: the new one gets its permissions, and its owner if this user may give that. An
    /// existing device or pipe is written directly.
    ///
    /// # Errors
    /// `path` exists and is not to be replaced, is a folder, ends as the name of a folder does, or is in a folder that
    /// cannot be written.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        let existing = fs::metadata(path).ok();
        if existing.as_ref().is_some_and(|meta| !meta.is_file() && !meta.is_dir()) {
            let file = OpenOptions::new().write(true).open(path).doing("creating", path)?;
            return Ok(Self::direct(file));
        }
        if !force && existing.as_ref().is_none_or(Metadata::is_file) && fs::symlink_metadata(path).is_ok() {
            return Err(Error::Exists(path.to_path_buf()));
        }
        let hidden = Hidden::create(replaced(path, existing.as_ref())?, force)?;
        Ok(OutFile { target: Target::Hidden(hidden), durable: true })
    }

    /// Creates a hidden file that [`OutFile::commit`] renames to `path`, whatever is there but a folder. Only the owner may
    /// read and write the finished file, whatever the umask and the entry that it replaces permit.
    ///
    /// # Errors
    /// The folder of `path` does not exist, or cannot be written.
    pub fn create_private(path: &Path) -> Result<Self> {
        let mut hidden = Hidden::create(path.to_path_buf(), true)?;
        hidden.private = true;
        Ok(OutFile { target: Target::Hidden(hidden), durable: true })
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

    /// Sets whether blocks of zeros become holes. They do not by default, and never in output that is written directly.
    pub fn sparse(mut self, sparse: bool) -> Self {
        if let Target::Hidden(hidden) = &mut self.target {
            hidden.file.set_holes(sparse);
        }
        self
    }

    /// Gives the finished file the modification time of another one and, unless it replaces a file, the permissions of that
    /// one, and its owner if this user may give that: so what is made of a secret is one. Output that is written directly
    /// stays as it is.
    pub fn like(mut self, model: Metadata) -> Self {
        if let Target::Hidden(hidden) = &mut self.target {
            hidden.model = Some(Box::new(model));
        }
        self
    }

    /// Makes the file executable for those that may read it.
    pub fn executable(mut self) -> Self {
        if let Target::Hidden(hidden) = &mut self.target {
            hidden.executable = true;
        }
        self
    }

    /// Records that the output ends early: [`OutFile::commit`] gives the file its [partial name](partial_name), and replaces
    /// only a file that has that name. No effect on output that is written directly.
    pub fn mark_partial(&mut self) {
        if let Target::Hidden(hidden) = &mut self.target {
            hidden.partial = true;
        }
    }

    /// Device and inode of the file that is being written and of the one that it replaces, on systems that have them.
    pub fn identities(&self) -> Vec<(u64, u64)> {
        let replaced = match &self.target {
            Target::Hidden(hidden) => File::open(&hidden.path).ok(),
            Target::Direct(_) => None,
        };
        let files = [Some(self.file()), replaced.as_ref()].into_iter().flatten();
        files.filter_map(|file| status(file).ok()?.identity).collect()
    }

    /// The open file.
    pub fn file(&self) -> &File {
        match &self.target {
            Target::Hidden(hidden) => hidden.file.file(),
            Target::Direct(file) => file,
        }
    }

    /// Renames the finished file to its final name.
    ///
    /// # Errors
    /// The file cannot be synced or renamed; it is removed.
    pub fn commit(self) -> Result<()> {
        match self.target {
            Target::Direct(mut file) => {
                file.flush().map_err(|source| Error::Io { doing: "writing the output".into(), source })
            }
            Target::Hidden(hidden) => hidden.commit(self.durable),
        }
    }

    /// Removes the file that [`OutFile::commit`] would replace. The new one has its permissions nevertheless.
    pub(super) fn remove_replaced(&mut self) -> Result<()> {
        match &mut self.target {
            Target::Hidden(hidden) if hidden.force => hidden.remove_replaced(),
            Target::Hidden(_) | Target::Direct(_) => Ok(()),
        }
    }
}

impl Hidden {
    fn create(path: PathBuf, force: bool) -> Result<Self> {
        let folder = parent(&path);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        // What replaces a secret is one, and another user could hold its lock: see `hidden.rs`. So only the owner can open it
        // until it is complete.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let created = hidden::create(folder, |path| options.open(path), |file| Some(file));
        let created = created.map_err(|error| if folder.is_dir() { error } else { no_folder(folder) });
        let (file, listed) = created.doing("creating", &path)?;
        if let Ok(status) = status(&file) {
            stale::sweep(folder, &status);
        }
        let file = SparseFile::new(file);
        Ok(Hidden {
            file,
            listed,
            path,
            force,
            model: None,
            executable: false,
            private: false,
            permitted: false,
            partial: false,
            finished: false,
        })
    }

    fn commit(mut self, durable: bool) -> Result<()> {
        self.file.finish().doing("writing", &self.path)?;
        self.set_attributes().doing("setting the attributes of", &self.path)?;
        if durable {
            self.file.file().sync_all().doing("syncing to disk", &self.path)?;
        }
        if self.partial {
            // Its attributes are those of the complete file.
            self.path = partial_name(&self.path);
        }
        let hidden = self.listed.path();
        let named = if self.force || self.partial {
            fs::rename(hidden, &self.path)
        } else {
            rename_new(hidden, &self.path)
        };
        match named {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::Exists(self.path.clone()));
            }
            named => named.doing("renaming the finished output to", &self.path)?,
        }
        self.finished = true;
        if durable {
            sync::names(parent(&self.path)).doing("syncing the name of", &self.path)?;
        }
        Ok(())
    }

    fn remove_replaced(&mut self) -> Result<()> {
        self.set_permissions().doing("setting the permissions of", &self.path)?;
        self.permitted = true;
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.doing("replacing", &self.path),
        }
    }

    fn set_attributes(&self) -> io::Result<()> {
        if !self.permitted {
            self.set_permissions()?;
        }
        match &self.model {
            Some(model) => self.file.file().set_modified(model.modified()?),
            None => Ok(()),
        }
    }

    fn set_permissions(&self) -> io::Result<()> {
        #[cfg(unix)]
        if self.private {
            use std::os::unix::fs::PermissionsExt;
            return self.file.file().set_permissions(fs::Permissions::from_mode(0o600));
        }
        permit(self.file.file(), &self.path, self.model.as_deref(), self.executable)
    }
}

/// The path of the file that an output at `path` creates or replaces: the target of a link is replaced, not the link.
/// `existing`: what the path leads to.
pub(super) fn replaced(path: &Path, existing: Option<&Metadata>) -> Result<PathBuf> {
    match existing {
        Some(existing) if !existing.is_file() => Err(Error::NotReplaceable(path.to_path_buf())),
        _ if names_folder(path) => Err(Error::NamesFolder(path.to_path_buf())),
        Some(_) => fs::canonicalize(path).doing("creating", path),
        None => Ok(path.to_path_buf()),
    }
}

/// Sets the permissions of a file that becomes `path`: those of a new file, or owner and permissions of the file that is
/// replaced or of the model, as far as this user may. If the file gets another group, that group has no permissions. Set-user
/// and set-group bits are not passed on: they were for other contents.
#[cfg(unix)]
pub(super) fn permit(file: &File, path: &Path, model: Option<&Metadata>, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let replaced = fs::metadata(path).ok();
    let mut mode = if let Some(old) = replaced.as_ref().or(model) {
        let own = fchown(file, Some(old.uid()), Some(old.gid()));
        let kept = own.or_else(|_| fchown(file, None, Some(old.gid())));
        old.mode() & if kept.is_ok() { 0o777 } else { 0o707 }
    } else {
        super::new_mode(parent(path))? & 0o666
    };
    if executable {
        mode |= (mode & 0o444) >> 2;
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// This system has no permissions that a file could have.
#[cfg(not(unix))]
pub(super) fn permit(_: &File, _: &Path, _: Option<&Metadata>, _: bool) -> io::Result<()> {
    Ok(())
}

/// The name of a part of the file `path`: `sound.partial.wav` for `sound.wav`.
pub fn partial_name(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".partial");
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Whether a path ends with a separator: it names a folder, which need not exist.
pub fn names_folder(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|byte| std::path::is_separator(*byte as char))
}

/// The hidden name in the system's error would not help the user.
fn no_folder(folder: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("there is no folder `{}`", shown(folder)))
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if !self.finished {
            // The first error is the cause.
            let _ = fs::remove_file(self.listed.path());
        }
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Hidden(hidden) => hidden.file.write(bytes),
            Target::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}
