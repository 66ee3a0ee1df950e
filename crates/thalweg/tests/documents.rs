//! Checks that what the documents for developers and users name exists: files, folders and links.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The ends of the names in code spans that are taken for paths.
const ENDS: [&str; 7] = [".rs", ".md", ".sh", ".toml", ".tsv", ".str", "/"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace's folder")
}

/// The documents, by their paths from the root.
fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "docs/checks.md"].map(PathBuf::from).into();
    for entry in fs::read_dir(root().join("docs/guide")).expect("the guide") {
        found.push(Path::new("docs/guide").join(entry.expect("an entry").file_name()));
    }
    found
}

/// Every end of every path in the workspace: `a/b/c.rs`, `b/c.rs` and `c.rs`, and those of its folders.
fn ends_of_paths() -> BTreeSet<PathBuf> {
    let mut ends = BTreeSet::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder") {
            let entry = entry.expect("an entry");
            let path = folder.join(entry.file_name());
            let parts: Vec<Component<'_>> = path.components().collect();
            ends.extend((0..parts.len()).map(|from| parts[from..].iter().collect::<PathBuf>()));
            if entry.file_type().expect("a file type").is_dir()
                && !["target", ".git"].contains(&&*entry.file_name().to_string_lossy())
            {
                folders.push(path);
            }
        }
    }
    ends
}

/// The text without its blocks of code.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The code spans that are paths.
fn spans(prose: &str) -> impl Iterator<Item = &str> {
    let spans = prose.split('`').skip(1).step_by(2);
    spans.filter(|span| {
        let is_path = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
        span.len() > 1
            && span.chars().all(is_path)
            && ENDS.iter().any(|end| span.ends_with(end))
            && !span.starts_with(['.', '/'])
    })
}

/// The targets of links into the repository, without what stands after `#`.
fn links(prose: &str) -> impl Iterator<Item = &str> {
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets
        .map(|target| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains(':'))
}

/// In a table a file's name may be relative to the folder in the first column.
fn misplaced(prose: &str, ends: &BTreeSet<PathBuf>) -> Vec<String> {
    let rows = prose.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("/` |"));
    let files =
        rows.flat_map(|(folder, rest)| spans_of_row(rest).map(move |file| format!("{folder}/{file}")));
    files.filter(|path| !ends.contains(Path::new(path))).collect()
}

fn spans_of_row(rest: &str) -> impl Iterator<Item = &str> {
    rest.split('`').skip(1).step_by(2).filter(|span| span.ends_with(".rs") && !span.contains('/'))
}

#[test]
fn documents_name_paths_that_exist() {
    let ends = ends_of_paths();
    let mut missing = Vec::new();
    for document in documents() {
        let text = prose(&fs::read_to_string(root().join(&document)).expect("a readable document"));
        let folder = root().join(document.parent().unwrap_or(Path::new("")));
        let absent = spans(&text)
            .filter(|span| !ends.contains(Path::new(span.trim_end_matches('/'))))
            .map(str::to_owned);
        let broken = links(&text).filter(|link| !folder.join(link).exists()).map(str::to_owned);
        let all = absent.chain(broken).chain(misplaced(&text, &ends));
        missing.extend(all.map(|path| format!("{}: {path}", document.display())));
    }
    assert_eq!(missing, [""; 0]);
}

#[test]
fn missing_paths_are_found() {
    let ends = BTreeSet::from(["a/here.rs", "here.rs", "a"].map(PathBuf::from));
    let text = "`here.rs` `gone.rs` `a/` `not a path.rs` [link](there.md#part) [outside](https://x.y)\n| `a/` | `here.rs` |\n| `b/` | `here.rs` |";
    assert_eq!(
        spans(text).collect::<Vec<_>>(),
        ["here.rs", "gone.rs", "a/", "a/", "here.rs", "b/", "here.rs"]
    );
    assert_eq!(links(text).collect::<Vec<_>>(), ["there.md"]);
    assert_eq!(misplaced(text, &ends), ["b/here.rs"]);
}
