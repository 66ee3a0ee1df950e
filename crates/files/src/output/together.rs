//! Files that are read together.
//!
//! Each file is renamed by itself, so a kill between two renames leaves a new file beside an old one. A reader of both
//! would take them for results of one run. So the old files but the first go before the first new one comes:
//!
//! | after | there are |
//! |---|---|
//! | the removals so far | the old files but those that were removed |
//! | all removals | the first old file |
//! | the first rename, which replaces that file | the first new file |
//! | the further renames so far | new files only |

use super::OutFile;
use crate::Result;

impl OutFile {
    /// Completes files that are read together, as [`OutFile::commit`] does. Whenever the process ends, the files that
    /// exist under their names are all from before the call or all of `files`. Output that is written directly is
    /// there at any time.
    ///
    /// # Errors
    /// As for [`OutFile::commit`], of the first file that fails. The files after it do not appear, and the
    /// old ones may be gone.
    pub fn commit_together(files: Vec<OutFile>) -> Result<()> {
        commit(files, || Ok(()))
    }
}

/// As [`OutFile::commit_together`]. Calls `step` after each step, and ends there if that fails.
fn commit(mut files: Vec<OutFile>, mut step: impl FnMut() -> Result<()>) -> Result<()> {
    for file in files.iter_mut().skip(1) {
        file.remove_replaced()?;
        step()?;
    }
    for file in files {
        file.commit()?;
        step()?;
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::Error;
    use std::collections::BTreeSet;
    use std::fs::{self, Permissions};
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    const NAMES: [&str; 3] = ["report", "timeline", "more"];

    fn new_files(folder: &Path) -> Vec<OutFile> {
        let files = NAMES.map(|name| OutFile::create(&folder.join(name), true).unwrap().durable(false));
        let mut files = Vec::from(files);
        files.iter_mut().for_each(|file| file.write_all(b"new").unwrap());
        files
    }

    /// What a kill after `steps` steps leaves. Returns whether there are fewer steps.
    fn killed_after(mut steps: usize, folder: &Path) -> bool {
        let ended = commit(new_files(folder), || match steps.checked_sub(1) {
            Some(left) => {
                steps = left;
                Ok(())
            }
            None => Err(Error::Exists("killed".into())),
        });
        ended.is_ok()
    }

    #[test]
    fn no_old_file_stands_beside_a_new_one() {
        for steps in 0.. {
            let folder = tempfile::tempdir().unwrap();
            for name in NAMES {
                fs::write(folder.path().join(name), "old").unwrap();
                fs::set_permissions(folder.path().join(name), Permissions::from_mode(0o640)).unwrap();
            }
            let ended = killed_after(steps, folder.path());
            let files: Vec<_> =
                fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
            let contents: BTreeSet<_> = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
            assert_eq!(contents.len(), 1, "after {steps} steps: {files:?}");
            let modes = files.iter().map(|path| fs::metadata(path).unwrap().permissions().mode() & 0o777);
            assert_eq!(modes.collect::<BTreeSet<_>>(), [0o640].into(), "after {steps} steps");
            if ended {
                assert_eq!((files.len(), contents), (NAMES.len(), ["new".to_owned()].into()));
                return;
            }
        }
    }
}
