//! Libraries that are no files.

use super::Library;
use std::io::Write;

/// Loads a library that is in memory: from a file that has no name, or where there are none such from one
/// that has none for long.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Library, String> {
    #[cfg(target_os = "linux")]
    if let Some(library) = nameless(bytes) {
        return Ok(library);
    }
    let mut file = tempfile::Builder::new()
        .suffix(".so")
        .tempfile()
        .map_err(|error| format!("a temporary file: {error}"))?;
    file.write_all(bytes).map_err(|error| format!("{}: {error}", file.path().display()))?;
    Library::open(file.path())
}

/// None where this system has no such files, or no names for them.
#[cfg(target_os = "linux")]
fn nameless(bytes: &[u8]) -> Option<Library> {
    use std::os::fd::{AsRawFd, IntoRawFd};
    let file = rustix::fs::memfd_create("thalweg", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
    let mut file = std::fs::File::from(file);
    file.write_all(bytes).ok()?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let library = Library::open(path.as_ref()).ok()?;
    // The loader takes libraries with one path for one library, so nobody else must have this number.
    let _ = file.into_raw_fd();
    Some(library)
}
