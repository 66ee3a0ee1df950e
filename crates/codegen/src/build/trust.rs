//! Whether this user may use code that lies in a folder or file.

use thalweg_files::Status;

/// Why a folder or file may have what another user wrote; `None` if only this user and the superuser could write it.
/// A list of access rights that lets others write shows in the group's bits of the mode. The owner must be the effective
/// user even for the superuser, since the environment may be another user's.
#[cfg(unix)]
pub(super) fn distrust(status: &Status) -> Option<&'static str> {
    const OTHERS_WRITE: u32 = 0o022;
    let user = rustix::process::geteuid().as_raw();
    if status.owner.is_some_and(|(owner, _)| owner != user) {
        Some("it belongs to another user")
    } else if status.mode & OTHERS_WRITE != 0 {
        Some("other users may write it (`chmod go-w` forbids that)")
    } else {
        None
    }
}

/// This system has neither owners nor modes.
#[cfg(not(unix))]
pub(super) fn distrust(_status: &Status) -> Option<&'static str> {
    None
}
