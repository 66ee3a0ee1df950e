//! Loads libraries from memory.

use super::Library;
use std::io::Write;

/// Loads a library from bytes: through an anonymous file, or where the system has none, through a temporary
/// file that is deleted after loading.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Library, String> {
    #[cfg(target_os = "linux")]
    if let Some(library) = nameless(bytes) {
        return Ok(library);
    }
    let mut file = tempfile::Builder::new()
        .suffix(".so")
        .tempfile()
        .map_err(|error| format!("cannot create a temporary file: {error}"))?;
    file.write_all(bytes).map_err(|error| format!("{}: {error}", file.path().display()))?;
    Library::open(file.path())
}

/// `None` where the system has no anonymous files, or no paths for them.
#[cfg(target_os = "linux")]
fn nameless(bytes: &[u8]) -> Option<Library> {
    use std::os::fd::AsRawFd;
    let file = rustix::fs::memfd_create("thalweg", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
    let mut file = std::fs::File::from(file);
    file.write_all(bytes).ok()?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // The loader identifies a library by its path. So the descriptor stays open while the library is loaded: no later
    // library can get its number.
    Some(Library::open(path.as_ref()).ok()?.with_file(file))
}
