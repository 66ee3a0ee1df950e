//! Differences between operating systems: names as bytes, and permission bits.

#[cfg(not(unix))]
pub(crate) use other::*;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(unix)]
mod unix {
    use std::ffi::{OsStr, OsString};
    use std::fs::{File, Permissions};
    use std::io;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::os::unix::fs::PermissionsExt;

    /// The bytes that the archive stores for a name.
    pub(crate) fn name_bytes(name: &OsStr) -> io::Result<Vec<u8>> {
        Ok(name.as_bytes().to_vec())
    }

    /// The name for stored bytes.
    pub(crate) fn name(bytes: &[u8]) -> io::Result<OsString> {
        Ok(OsString::from_vec(bytes.to_vec()))
    }

    pub(crate) fn permissions(mode: u32) -> Option<Permissions> {
        Some(Permissions::from_mode(mode))
    }

    pub(crate) fn set_owner(file: &File, user: u32, group: u32) -> io::Result<()> {
        std::os::unix::fs::fchown(file, Some(user), Some(group))
    }
}

#[cfg(not(unix))]
mod other {
    use std::ffi::{OsStr, OsString};
    use std::fs::{File, Permissions};
    use std::io;

    fn unsupported(what: &str) -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, what.to_owned())
    }

    /// The bytes that the archive stores for a name.
    pub(crate) fn name_bytes(name: &OsStr) -> io::Result<Vec<u8>> {
        let text = name.to_str().ok_or_else(|| unsupported("the name is not Unicode"))?;
        Ok(text.as_bytes().to_vec())
    }

    /// The name for stored bytes.
    pub(crate) fn name(bytes: &[u8]) -> io::Result<OsString> {
        let text = std::str::from_utf8(bytes).map_err(|_| unsupported("the name is not Unicode"))?;
        if text.contains(['\\', ':']) {
            return Err(unsupported("the name contains a separator of this system"));
        }
        Ok(text.into())
    }

    /// Not restored on this system.
    pub(crate) fn permissions(_mode: u32) -> Option<Permissions> {
        None
    }

    /// Not restored on this system.
    pub(crate) fn set_owner(_file: &File, _user: u32, _group: u32) -> io::Result<()> {
        Ok(())
    }
}
