//! What stays of the unfinished output when a process ends before a verb has removed it.

use std::path::PathBuf;

use thalweg::embed::graph::shown;

/// Removes the unfinished outputs of this process, and returns the last message, which names what stays.
pub(super) fn remove() -> String {
    let mut left = thalweg_files::unfinished();
    let were_there = !left.is_empty();
    thalweg_files::remove_unfinished();
    left.retain(|output| output.symlink_metadata().is_ok());
    message("interrupted twice", were_there, &left)
}

/// The last message of a process, after what has `ended` it. `were_there` says whether there was unfinished output.
pub(super) fn message(ended: &str, were_there: bool, left: &[PathBuf]) -> String {
    match (left, were_there) {
        ([], true) => format!("{ended}: the unfinished output was removed"),
        ([], false) => format!("{ended}: no unfinished output is left"),
        (left, _) => {
            let names: Vec<String> = left.iter().map(|path| format!("`{}`", shown(path))).collect();
            let them = if left.len() == 1 { "it" } else { "them" };
            format!("{ended}: the unfinished output stays in {}\nhelp: delete {them}", names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_what_stays() {
        assert_eq!(
            message("interrupted twice", true, &[]),
            "interrupted twice: the unfinished output was removed"
        );
        assert_eq!(
            message("interrupted twice", false, &[]),
            "interrupted twice: no unfinished output is left"
        );
        assert_eq!(
            message("interrupted twice", true, &["a/.thalweg-\n".into(), ".thalweg-b".into()]),
            "interrupted twice: the unfinished output stays in `a/.thalweg-\\n`, `.thalweg-b`\nhelp: delete them"
        );
    }
}
