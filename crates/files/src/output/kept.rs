//! An output file whose unfinished part stays, so that another process can go on with it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::file::{permit, replaced};
use super::hidden::is_at;
use super::{parent, sync};
use crate::error::Doing;
use crate::{Error, Result};

/// An output file that has its name with `.partial` behind it until [`KeptFile::commit`]. If it is dropped before, or the
/// process is killed, this part of the file stays.
///
/// The process that writes it holds a lock on it, which the system releases when the process ends in any way. So two
/// processes never write one.
#[derive(Debug)]
pub struct KeptFile {
    file: File,
    path: PathBuf,
    partial: PathBuf,
}

impl KeptFile {
    /// Opens the unfinished part of the file `path`, behind its end, or creates an empty one. An existing file `path` is
    /// replaced by [`KeptFile::commit`] and not touched before.
    ///
    /// # Errors
    /// `path` exists and is no file, names a folder, or is in a folder that cannot be written; or another process writes the part.
    pub fn open(path: &Path) -> Result<Self> {
        let path = replaced(path, fs::metadata(path).ok().as_ref())?;
        let partial = beside(&path, "partial");
        loop {
            let file = open(&partial).doing("creating", &partial)?;
            match file.try_lock() {
                // Its writer may have given it its final name since it was opened: that file is complete.
                Ok(()) if !is_at(&file, &partial) => {}
                Err(TryLockError::WouldBlock) => {
                    let busy = io::Error::new(io::ErrorKind::ResourceBusy, "another process writes it");
                    return Err(Error::io("writing", &partial, busy));
                }
                // A file system without locks.
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(KeptFile { file, path, partial }),
            }
        }
    }

    /// The path of a file with this word behind the name of the file `path`, which an unfinished part of it could have a log
    /// in, for example. It is beside the part.
    ///
    /// # Errors
    /// As [`KeptFile::open`] has them of `path`.
    pub fn beside(path: &Path, word: &str) -> Result<PathBuf> {
        Ok(beside(&replaced(path, fs::metadata(path).ok().as_ref())?, word))
    }

    /// The path of the unfinished part.
    pub fn partial(&self) -> &Path {
        &self.partial
    }

    /// The bytes of the unfinished part.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn bytes(&self) -> Result<u64> {
        self.file.metadata().map(|meta| meta.len()).doing("reading the length of", &self.partial)
    }

    /// Cuts off what is behind this number of bytes.
    ///
    /// # Errors
    /// The file cannot be changed.
    pub fn truncate(&mut self, bytes: u64) -> Result<()> {
        self.file.set_len(bytes).doing("truncating", &self.partial)
    }

    /// Adds bytes at the end.
    ///
    /// # Errors
    /// The file cannot be written. It may have a part of the bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).doing("writing", &self.partial)
    }

    /// Waits until what was added is on the disk.
    ///
    /// # Errors
    /// The file cannot be synced.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().doing("syncing to disk", &self.partial)
    }

    /// Gives the file its permissions and its final name, and waits until they are on the disk.
    ///
    /// # Errors
    /// The file cannot be synced or renamed; it keeps its partial name.
    pub fn commit(self) -> Result<()> {
        permit(&self.file, &self.path, None, false).doing("setting the attributes of", &self.partial)?;
        self.file.sync_all().doing("syncing to disk", &self.partial)?;
        fs::rename(&self.partial, &self.path).doing("renaming the finished output to", &self.path)?;
        sync::names(parent(&self.path)).doing("syncing the name of", &self.path)
    }
}

impl Drop for KeptFile {
    fn drop(&mut self) {
        // A child that is being started has a copy of the descriptor, which holds the lock beyond this one.
        _ = self.file.unlock();
    }
}

/// Opens a file to add at its end. A link is refused, as is what is no file: another user may have made them.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it exists and is no file")),
    }
}

/// `a.txt.word` for `a.txt`.
fn beside(path: &Path, word: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(word);
    path.with_file_name(name)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_part_stays_and_the_next_writer_goes_on() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.txt");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let mut first = KeptFile::open(&path).unwrap();
        first.append(b"one, two").unwrap();
        let busy = KeptFile::open(&path).unwrap_err();
        assert!(io::Error::from(busy).to_string().ends_with("a.txt.partial: another process writes it"));
        drop(first);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let mut second = KeptFile::open(&path).unwrap();
        assert_eq!(second.bytes().unwrap(), 8);
        second.truncate(4).unwrap();
        second.append(b" three").unwrap();
        second.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one, three");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn folders_devices_and_links_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("other"), "keep").unwrap();
        symlink("other", at("linked.partial")).unwrap();
        fs::create_dir(at("made.partial")).unwrap();
        for path in
            [place.path(), Path::new("/dev/null"), &at("linked"), &at("made"), &at("missing/x"), &at("x/")]
        {
            assert!(KeptFile::open(path).is_err(), "{}", path.display());
        }
        assert_eq!(fs::read(at("other")).unwrap(), b"keep");
        // A link to a file: the file is replaced, and its part is beside it.
        symlink("other", at("link")).unwrap();
        assert!(KeptFile::open(&at("link")).unwrap().partial().ends_with("other.partial"));
    }
}
