//! Walks a directory tree depth first, ordered by the bytes of names.
//!
//! The archive has this order, so it must not depend on the order in which a file system lists a folder. Only the
//! listings of the folders on the current path are in memory. Links are not followed. Anything but folders, files and
//! links is skipped and reported.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::entry::{Entry, Meta};
use crate::error::Doing;
use crate::observe::Observer;
use crate::{Result, os};

/// One entry of the walk.
pub(crate) struct Step {
    pub entry: Entry,
    /// The open file, if the entry is a file.
    pub file: Option<File>,
}

pub(crate) struct Walk {
    /// The names not yet visited in each open folder, in reverse order.
    levels: Vec<Vec<OsString>>,
    /// The current folder.
    folder: PathBuf,
    /// The path of the last entry.
    last: PathBuf,
    leave_out: Option<(u64, u64)>,
    started: bool,
}

impl Walk {
    pub fn new(root: &Path, leave_out: Option<(u64, u64)>) -> Result<Self> {
        let folder = root.to_path_buf();
        Ok(Walk { levels: Vec::new(), last: folder.clone(), folder, leave_out, started: false })
    }

    /// The path of the last entry, for messages.
    pub fn path(&self) -> &Path {
        &self.last
    }

    pub fn step(&mut self, observer: &mut dyn Observer) -> Result<Option<Step>> {
        if !self.started {
            self.started = true;
            let meta = fs::metadata(&self.folder).doing(|| self.reading())?;
            self.levels.push(self.list()?);
            return Ok(Some(plain(Entry::Dir(describe(Vec::new(), &meta)))));
        }
        while let Some(level) = self.levels.last_mut() {
            let Some(name) = level.pop() else {
                self.levels.pop();
                self.folder.pop();
                return Ok(Some(plain(Entry::Up)));
            };
            if let Some(step) = self.visit(name, observer)? {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    /// Visits one entry of the current folder. Returns `None` if it is skipped.
    fn visit(&mut self, name: OsString, observer: &mut dyn Observer) -> Result<Option<Step>> {
        self.last = self.folder.join(&name);
        let stored = os::name_bytes(&name).doing(|| self.reading())?;
        let meta = fs::symlink_metadata(&self.last).doing(|| self.reading())?;
        let kind = meta.file_type();
        if kind.is_dir() {
            self.folder.push(&name);
            self.levels.push(self.list()?);
            Ok(Some(plain(Entry::Dir(describe(stored, &meta)))))
        } else if kind.is_symlink() {
            let target = fs::read_link(&self.last).doing(|| self.reading())?;
            let target = os::name_bytes(target.as_os_str()).doing(|| self.reading())?;
            Ok(Some(plain(Entry::Link { name: stored, target })))
        } else if kind.is_file() {
            if self.leave_out.is_some() && os::identity(&meta) == self.leave_out {
                observer.skipped(&self.last, "it is the archive being written");
                return Ok(None);
            }
            let file = File::open(&self.last).doing(|| self.reading())?;
            Ok(Some(Step { entry: Entry::File(describe(stored, &meta)), file: Some(file) }))
        } else {
            observer.skipped(&self.last, "it is not a file, folder or link");
            Ok(None)
        }
    }

    /// The names in the current folder, in reverse order.
    fn list(&self) -> Result<Vec<OsString>> {
        let doing = || format!("listing {}", self.folder.display());
        let mut names = Vec::new();
        for item in fs::read_dir(&self.folder).doing(doing)? {
            names.push(item.doing(doing)?.file_name());
        }
        names.sort_unstable_by(|a, b| b.as_encoded_bytes().cmp(a.as_encoded_bytes()));
        Ok(names)
    }

    fn reading(&self) -> String {
        format!("reading {}", self.last.display())
    }
}

fn plain(entry: Entry) -> Step {
    Step { entry, file: None }
}

fn describe(name: Vec<u8>, meta: &Metadata) -> Meta {
    let (seconds, nanos) = meta.modified().map_or((0, 0), since_1970);
    Meta { name, mode: os::mode(meta), seconds, nanos }
}

/// Whole seconds since 1970, rounded down (also before 1970), and nanoseconds.
fn since_1970(time: SystemTime) -> (i64, u32) {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => (after.as_secs() as i64, after.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            match before.subsec_nanos() {
                0 => (-(before.as_secs() as i64), 0),
                nanos => (-(before.as_secs() as i64) - 1, 1_000_000_000 - nanos),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_before_1970_round_down() {
        assert_eq!(since_1970(UNIX_EPOCH), (0, 0));
        assert_eq!(since_1970(UNIX_EPOCH - Duration::from_secs(2)), (-2, 0));
        assert_eq!(since_1970(UNIX_EPOCH - Duration::from_millis(1500)), (-2, 500_000_000));
        assert_eq!(since_1970(UNIX_EPOCH + Duration::from_millis(1500)), (1, 500_000_000));
    }
}
