//! Removes a tree, whatever its permissions and depth.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use crate::{Folder, Kind, Trail};

/// Removes the folder `name` in `folder` with all that it holds. Permissions of folders that forbid it are changed, and
/// links are removed, not followed.
///
/// # Errors
/// An entry cannot be removed. Those before it are gone.
pub fn remove_tree(folder: &Folder, name: &OsStr) -> io::Result<()> {
    if folder.stat(name)?.kind != Kind::Folder {
        return folder.remove(name);
    }
    let mut trail = Trail::new(folder.try_clone()?, Path::new(""))?;
    let mut levels = vec![(name.to_owned(), enter(&mut trail, name)?)];
    while let Some((name, rest)) = levels.last_mut() {
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
    trail.here().make_removable(name)?;
    trail.enter(name)?;
    trail.here().names()
}
