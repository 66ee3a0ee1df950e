//! Owners, permissions, times and extended attributes: from a file to its entry, and back.

use std::ffi::OsStr;
use std::fs::{File, FileTimes};
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use thalweg_files::{Folder, Status, status};

use crate::entry::{ATTRIBUTES_LIMIT, Attribute, Meta, Time};
use crate::os;

/// What an archive keeps of an entry, but for extended attributes.
pub(crate) fn describe(name: Vec<u8>, status: &Status) -> Meta {
    let time = Some(Time { seconds: status.seconds, nanos: status.nanos });
    Meta { name, mode: status.mode, time, owner: status.owner, ..Meta::default() }
}

/// The extended attributes of a file or folder that the owner has set, in rising order of their names.
///
/// # Errors
/// They cannot be read, or are too long for an entry.
#[cfg(unix)]
pub(crate) fn extended(file: &File) -> io::Result<Vec<Attribute>> {
    use xattr::FileExt;
    let names = match file.list_xattr() {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(Vec::new()),
        names => names?,
    };
    let mut attributes = Vec::new();
    for name in names.filter(|name| is_of_users(name.as_encoded_bytes())) {
        // It may be gone in the meantime.
        if let Some(value) = file.get_xattr(&name)? {
            attributes.push(Attribute { name: os::name_bytes(&name)?, value });
        }
    }
    let bytes: usize =
        attributes.iter().map(|attribute| attribute.name.len() + attribute.value.len() + 8).sum();
    if bytes > ATTRIBUTES_LIMIT {
        return Err(io::Error::other(format!(
            "the attributes have {bytes} bytes, the limit is {ATTRIBUTES_LIMIT}"
        )));
    }
    attributes.sort_unstable();
    Ok(attributes)
}

/// Not stored on this system.
#[cfg(not(unix))]
pub(crate) fn extended(_file: &File) -> io::Result<Vec<Attribute>> {
    Ok(Vec::new())
}

/// Whether users may set this attribute. The others mean something to the system: capabilities, access control lists.
fn is_of_users(name: &[u8]) -> bool {
    !cfg!(target_os = "linux") || name.starts_with(b"user.")
}

/// What is restored beside permissions and times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Restore {
    pub owners: bool,
    /// Whether all permissions are, or those alone that `new_mode` has.
    pub permissions: bool,
    /// The permissions that the system leaves to a new entry.
    pub new_mode: u32,
    pub extended: bool,
}

impl Restore {
    /// Sets the attributes of a file or folder. What cannot be set goes to `failed`.
    pub fn set(self, file: &File, meta: &Meta, mut failed: impl FnMut(&str, io::Error)) -> io::Result<()> {
        if self.extended {
            for attribute in &meta.attributes {
                set_extended(file, attribute).unwrap_or_else(|error| failed("setting attributes of", error));
            }
        }
        // Before the permissions, since a change of the owner removes set-user and set-group.
        let owned = match meta.owner.filter(|_| self.owners) {
            None => false,
            Some((user, group)) => {
                let set = os::set_owner(file, user, group);
                let owned = set.is_ok();
                set.unwrap_or_else(|error| failed("setting the owner of", error));
                owned
            }
        };
        if let Some(permissions) = os::permissions(self.mode(meta.mode, owned)) {
            file.set_permissions(permissions)?;
        }
        if let Some(time) = meta.time {
            set_time(file, time).unwrap_or_else(|error| failed("setting the time of", error));
        }
        Ok(())
    }

    fn mode(self, stored: u32, owned: bool) -> u32 {
        let permissions = stored & if self.permissions { 0o777 } else { self.new_mode };
        // For another owner, set-user and set-group would mean something else.
        permissions | if owned { stored & 0o7000 } else { 0 }
    }

    /// Sets owner and time of the link `name`.
    pub fn set_link(
        self,
        folder: &Folder,
        name: &OsStr,
        meta: &Meta,
        mut failed: impl FnMut(&str, io::Error),
    ) -> io::Result<()> {
        if let Some((user, group)) = meta.owner.filter(|_| self.owners) {
            let set = folder.set_owner(name, user, group);
            set.unwrap_or_else(|error| failed("setting the owner of", error));
        }
        if let Some(time) = meta.time {
            let set = folder.set_time(name, time.seconds, time.nanos);
            let set = set.and_then(|()| check_kept(time, || folder.stat(name)));
            set.unwrap_or_else(|error| failed("setting the time of", error));
        }
        Ok(())
    }
}

#[cfg(unix)]
fn set_extended(file: &File, attribute: &Attribute) -> io::Result<()> {
    if !is_of_users(&attribute.name) {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "only attributes of users are restored"));
    }
    xattr::FileExt::set_xattr(file, os::name(&attribute.name)?, &attribute.value)
}

#[cfg(not(unix))]
fn set_extended(_file: &File, _attribute: &Attribute) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "attributes are not restored on this system"))
}

/// Sets the modification time.
fn set_time(file: &File, time: Time) -> io::Result<()> {
    file.set_times(FileTimes::new().set_modified(system_time(time).ok_or_else(beyond_range)?))?;
    check_kept(time, || status(file))
}

/// Compares the time of an entry with what its file system has made of it: systems cut times beyond its range, without an
/// error. Other times are not compared.
fn check_kept(time: Time, status: impl FnOnce() -> io::Result<Status>) -> io::Result<()> {
    const KEPT_BY_ALL: std::ops::Range<i64> = 1 << 30..1 << 31;
    /// The resolution of the coarsest file system, in seconds.
    const COARSEST: u64 = 2;
    if KEPT_BY_ALL.contains(&time.seconds) || status()?.seconds.abs_diff(time.seconds) <= COARSEST {
        return Ok(());
    }
    Err(beyond_range())
}

fn beyond_range() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "the time is beyond the range of the file system")
}

/// `None` if this system cannot represent the time.
fn system_time(Time { seconds, nanos }: Time) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let whole = if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    whole?.checked_add(Duration::from_nanos(nanos.into()))
}
