//! Open folders.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use other::Folder;
#[cfg(unix)]
pub use unix::Folder;
