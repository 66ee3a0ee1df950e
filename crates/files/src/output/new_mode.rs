//! The permissions that the system leaves to new entries.

use std::io;
use std::path::Path;

/// The permissions that the system leaves to a new file or folder in `folder`: those that are not in the umask, or those of
/// the folder's default access control list.
///
/// The umask cannot be read without a change that all threads of the process see. So this creates an empty file, looks at
/// it and removes it.
///
/// # Errors
/// No file can be created in `folder`.
#[cfg(unix)]
pub fn new_mode(folder: &Path) -> io::Result<u32> {
    use super::hidden;
    use std::fs::{self, OpenOptions};
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o777);
    let (file, listed) = hidden::create_unlocked(folder, |path| options.open(path))?;
    let mode = file.metadata().map(|meta| meta.mode() & 0o777);
    // A process that removes stale outputs may have removed it.
    match fs::remove_file(listed.path()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => mode,
    }
}

/// All permissions, which this system does not have.
#[cfg(not(unix))]
pub fn new_mode(_folder: &Path) -> io::Result<u32> {
    Ok(0o777)
}
