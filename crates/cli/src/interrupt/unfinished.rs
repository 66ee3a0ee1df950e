//! What stays when a second signal ends the process before a verb has removed its unfinished output.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use thalweg::graph::shown;

/// How the names of unfinished files and folders begin.
const PREFIXES: [&str; 2] = [".thalweg-", "thalweg-demo-"];

/// The unfinished files and folders in `folders` that were changed since this process was started.
pub(super) fn find(folders: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut found: Vec<PathBuf> = entries.filter(is_unfinished).map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn is_unfinished(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    let is_recent = |changed: SystemTime| started().is_none_or(|started| changed >= started);
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        && entry.metadata().and_then(|meta| meta.modified()).is_ok_and(is_recent)
}

/// When this process was started, as its folder in `/proc` has it. `None` on systems without one.
fn started() -> Option<SystemTime> {
    // File systems may round the times of files down to seconds.
    fs::metadata("/proc/self").ok()?.modified().ok()?.checked_sub(Duration::from_secs(2))
}

/// The last message of a process that a second signal ends. `removed` says whether the process has removed unfinished
/// output.
pub(super) fn message(removed: bool, left: &[PathBuf]) -> String {
    match (left, removed) {
        ([], true) => "interrupted twice: the unfinished output was removed".to_owned(),
        ([], false) => "interrupted twice: no unfinished output is left".to_owned(),
        (left, _) => {
            let names: Vec<String> = left.iter().map(|path| format!("`{}`", shown(path))).collect();
            let them = if left.len() == 1 { "it" } else { "them" };
            format!(
                "interrupted twice: the unfinished output stays in {}\nhelp: delete {them}",
                names.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_files_of_this_process_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(folder.path().join(name), "").unwrap();
        write(".thalweg-abc");
        write("thalweg-demo-x");
        write("thalweg-abc");
        write(".thalweg-old");
        let old = fs::File::options().write(true).open(folder.path().join(".thalweg-old")).unwrap();
        old.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let found = find(&BTreeSet::from([folder.path().to_owned(), folder.path().join("nowhere")]));
        assert_eq!(found, [".thalweg-abc", "thalweg-demo-x"].map(|name| folder.path().join(name)));
    }

    #[test]
    fn messages_name_what_stays() {
        assert_eq!(message(true, &[]), "interrupted twice: the unfinished output was removed");
        assert_eq!(message(false, &[]), "interrupted twice: no unfinished output is left");
        assert_eq!(
            message(true, &["a/.thalweg-\n".into(), ".thalweg-b".into()]),
            "interrupted twice: the unfinished output stays in `a/.thalweg-\\n`, `.thalweg-b`\nhelp: delete them"
        );
    }
}
