//! Where bytes go: files that appear when they are complete, and what is written as it is.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// Bytes on their way to a file.
pub enum Output {
    /// Something that is written at once: standard output, a device, a pipe with a name.
    Open(Box<dyn Write>),
    /// A file without a name of its own yet.
    New(Unnamed),
}

/// A file that gets its name when it is complete.
#[derive(Debug)]
pub struct Unnamed {
    file: NamedTempFile,
    path: PathBuf,
    _listed: Listed,
}

/// Where the files of this process are that have no name of their own yet.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes all files that have no name of their own yet, for a process that ends at once; whether there were any. One
/// that gets its name meanwhile stays.
pub fn remove_unfinished() -> bool {
    let files = std::mem::take(&mut *unfinished());
    files.iter().filter(|file| fs::remove_file(file).is_ok()).count() > 0
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An entry in that list.
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
    /// A file of this name. What is there and is no plain file is written as it is; behind a link, what it leads to
    /// is replaced.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn create(path: &Path) -> io::Result<Output> {
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => {
                Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"))
            }
            Ok(there) if !there.is_file() => {
                Ok(Output::Open(Box::new(File::options().write(true).open(path)?)))
            }
            _ => Unnamed::create(path).map(Output::New),
        }
    }

    /// All has been written.
    ///
    /// # Errors
    /// It cannot appear under its name.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Open(mut out) => out.flush(),
            Output::New(file) => file.appear(),
        }
    }
}

impl Unnamed {
    /// A file that will be called so, in the same folder.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn create(path: &Path) -> io::Result<Unnamed> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::Builder::new().prefix(".thalweg-").tempfile_in(folder);
        // Its own name says nothing to the user.
        let file = file.map_err(|error| if folder.is_dir() { error } else { no_folder(folder) })?;
        Ok(Unnamed { _listed: Listed::new(file.path()), file, path })
    }

    /// The file, to be written.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// The file gets its name. A temporary file is its owner's alone; one with a name of its own is not.
    ///
    /// # Errors
    /// It cannot have it.
    pub fn appear(self) -> io::Result<()> {
        let Unnamed { file, path, _listed } = self;
        let readable = readable(&file, &path);
        file.persist(path).map_err(|error| error.error)?;
        readable
    }
}

fn no_folder(folder: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("there is no folder `{}`", folder.display()))
}

/// As the file that it replaces, or for all to read.
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
