//! Byte outputs: files that appear when complete, and outputs written directly.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// A byte output.
pub enum Output {
    /// An output written directly: standard output, a device, a named pipe.
    Open(Box<dyn Write + Send>),
    /// A file that does not have its name yet.
    New(UnfinishedFile),
}

/// A file that gets its name when it is complete.
#[derive(Debug)]
pub struct UnfinishedFile {
    file: NamedTempFile,
    path: PathBuf,
    _listed: Listed,
}

/// Temporary paths of all unfinished files of this process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes all unfinished files, for a process that exits at once; returns whether there were any. A file that is
/// renamed at the same time stays.
pub fn remove_unfinished() -> bool {
    let files = std::mem::take(&mut *unfinished());
    files.iter().filter(|file| fs::remove_file(file).is_ok()).count() > 0
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An entry in `UNFINISHED`.
#[derive(Debug)]
struct Listed(PathBuf);

impl Listed {
    fn new(path: &Path) -> Listed {
        unfinished().push(path.to_owned());
        Listed(path.to_owned())
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        unfinished().retain(|path| *path != self.0);
    }
}

impl Output {
    /// Creates a file. An existing file that is not a regular file is written directly; for a symbolic link the
    /// target is replaced.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> io::Result<Output> {
        match fs::metadata(path) {
            Ok(existing) if existing.is_dir() => {
                Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"))
            }
            Ok(existing) if !existing.is_file() => {
                Ok(Output::Open(Box::new(File::options().write(true).open(path)?)))
            }
            _ => UnfinishedFile::create(path).map(Output::New),
        }
    }

    /// Completes the output.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Open(mut out) => out.flush(),
            Output::New(file) => file.appear(),
        }
    }
}

impl UnfinishedFile {
    /// Creates a temporary file in the folder of `path`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> io::Result<UnfinishedFile> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::Builder::new().prefix(".thalweg-").tempfile_in(folder);
        // The temporary name in the error would not help the user.
        let file = file.map_err(|error| if folder.is_dir() { error } else { no_folder(folder) })?;
        Ok(UnfinishedFile { _listed: Listed::new(file.path()), file, path })
    }

    /// The open file.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Renames the file. A temporary file is readable only by its owner, so the permissions change too.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub fn appear(self) -> io::Result<()> {
        let UnfinishedFile { file, path, _listed } = self;
        let readable = readable(&file, &path);
        file.persist(path).map_err(|error| error.error)?;
        readable
    }
}

fn no_folder(folder: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("there is no folder `{}`", folder.display()))
}

/// Sets the permissions of the file that is replaced, or readable by all.
#[cfg(unix)]
fn readable(file: &NamedTempFile, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let old = fs::metadata(path).map(|old| old.permissions());
    file.as_file().set_permissions(old.unwrap_or_else(|_| Permissions::from_mode(0o644)))
}

#[cfg(not(unix))]
fn readable(_file: &NamedTempFile, _path: &Path) -> io::Result<()> {
    Ok(())
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Open(out) => out.write(bytes),
            Output::New(file) => file.file().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Open(out) => out.flush(),
            Output::New(file) => file.file().flush(),
        }
    }
}
