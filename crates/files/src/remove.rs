//! Removes a tree, whatever its permissions and depth.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::{Folder, Kind, Trail};

/// When this process removes no more.
static DEADLINE: OnceLock<Instant> = OnceLock::new();

/// Makes every [`remove_tree`] of this process fail from `after` now on: a process that was asked to end does not go on for
/// minutes because a tree has millions of entries. The first call counts.
pub fn remove_no_longer_than(after: Duration) {
    _ = DEADLINE.set(Instant::now() + after);
}

fn check_deadline() -> io::Result<()> {
    match DEADLINE.get() {
        Some(deadline) if Instant::now() >= *deadline => Err(io::Error::other("the process is to end")),
        _ => Ok(()),
    }
}

/// Removes the folder `name` in `folder` with all that it holds. Permissions of folders that forbid it are changed, and
/// links are removed, not followed.
///
/// # Errors
/// An entry cannot be removed, or the time of [`remove_no_longer_than`] is over. The entries before it are gone.
pub fn remove_tree(folder: &Folder, name: &OsStr) -> io::Result<()> {
    if folder.stat(name)?.kind != Kind::Folder {
        return folder.remove(name);
    }
    // An empty folder takes no descriptor, of which the process may have none left.
    if folder.remove_folder(name).is_ok() {
        return Ok(());
    }
    let mut trail = Trail::new(folder.try_clone()?, Path::new(""))?;
    let mut levels = vec![(name.to_owned(), enter(&mut trail, name)?)];
    while let Some((name, rest)) = levels.last_mut() {
        check_deadline()?;
        let Some(next) = rest.pop() else {
            trail.leave()?;
            trail.here().remove_folder(name)?;
            levels.pop();
            continue;
        };
        if trail.here().stat(&next)?.kind == Kind::Folder {
            let rest = enter(&mut trail, &next)?;
            levels.push((next, rest));
        } else {
            trail.here().remove(&next)?;
        }
    }
    Ok(())
}

/// Enters a folder and lists it. The permissions are changed first, since they may forbid both.
fn enter(trail: &mut Trail, name: &OsStr) -> io::Result<Vec<OsString>> {
    trail.open(|here| here.make_removable(name))?;
    trail.enter(name)?;
    trail.open(Folder::names)
}
