//! What stays when a second signal ends the process before a verb has removed its unfinished output.

use std::path::PathBuf;

use thalweg::graph::shown;

/// Removes the unfinished outputs of this process, and returns the last message, which names what stays.
pub(super) fn remove() -> String {
    let mut left = thalweg_files::unfinished();
    let were_there = !left.is_empty();
    thalweg_files::remove_unfinished();
    left.retain(|output| output.symlink_metadata().is_ok());
    message(were_there, &left)
}

/// The last message of a process that a second signal ends. `were_there` says whether there was unfinished output.
fn message(were_there: bool, left: &[PathBuf]) -> String {
    match (left, were_there) {
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
    fn messages_name_what_stays() {
        assert_eq!(message(true, &[]), "interrupted twice: the unfinished output was removed");
        assert_eq!(message(false, &[]), "interrupted twice: no unfinished output is left");
        assert_eq!(
            message(true, &["a/.thalweg-\n".into(), ".thalweg-b".into()]),
            "interrupted twice: the unfinished output stays in `a/.thalweg-\\n`, `.thalweg-b`\nhelp: delete them"
        );
    }
}
