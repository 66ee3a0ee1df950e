//! Removes hidden outputs of processes that were killed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::TryLockError;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::hidden::{is_at, is_of_this_machine};
use crate::remove::remove_tree;
use crate::{Folder, Kind, Status};

/// Receives the path of each stale output that was removed.
static REPORT: OnceLock<fn(&Path)> = OnceLock::new();

/// Sets the function that receives the path of each stale output that this process removes. The first call counts.
pub fn on_stale(report: fn(&Path)) {
    let _ = REPORT.set(report);
}

/// Removes the stale outputs in `folder` of this machine and of the user that owns the new output `own`; once for each
/// folder, as a process may create thousands of outputs in one. An output that cannot be removed stays.
pub(super) fn sweep(folder: &Path, own: &Status) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    if !SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(path) {
        return;
    }
    sweep_now(folder, own);
}

fn sweep_now(folder: &Path, own: &Status) {
    let Ok(open) = Folder::open(folder) else { return };
    for name in open.names().unwrap_or_default() {
        if is_of_this_machine(&name) && remove_stale(&open, folder, &name, own) == Some(()) {
            REPORT.get().inspect(|report| report(&folder.join(&name)));
        }
    }
}

/// Removes the output `name` if it is stale.
fn remove_stale(folder: &Folder, path: &Path, name: &OsStr, own: &Status) -> Option<()> {
    let status = folder.stat(name).ok().filter(|status| status.owner == own.owner)?;
    let inner;
    let file = match status.kind {
        Kind::File => &folder.open_file(name).ok()?,
        Kind::Folder => {
            inner = folder.inner(name).ok()?;
            inner.as_file()?
        }
        Kind::Link | Kind::Other => return None,
    };
    // Held until the output is gone, so its name cannot be that of another writer's output.
    match file.try_lock() {
        Ok(()) if is_at(file, &path.join(name)) => remove_tree(folder, name).ok(),
        Ok(()) | Err(TryLockError::WouldBlock | TryLockError::Error(_)) => None,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::{OutFile, OutFolder, status};
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Two threads remove what is stale without a pause, while others write. No output is lost.
    #[test]
    fn outputs_that_are_being_written_survive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let own = status(&fs::File::open(path).unwrap()).unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        sweep_now(path, &own);
                    }
                });
            }
            let writers: Vec<_> = (0..2)
                .map(|thread| {
                    scope.spawn(move || {
                        for number in 0..300 {
                            let file = OutFile::create(&path.join(format!("file-{thread}-{number}")), false);
                            file.unwrap().durable(false).commit().unwrap();
                            let folder = path.join(format!("folder-{thread}-{number}"));
                            let folder = OutFolder::create(&folder, false).unwrap().durable(false);
                            folder.commit().unwrap();
                        }
                    })
                })
                .collect();
            let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
            stop.store(true, Ordering::Relaxed);
            ended.into_iter().for_each(|ended| ended.unwrap());
        });
        assert_eq!(fs::read_dir(path).unwrap().count(), 1200);
    }
}
