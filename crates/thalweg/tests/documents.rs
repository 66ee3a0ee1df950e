//! Checks that what the documents for developers and users name exists: files, folders and links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

const GUIDE: &str = "crates/thalweg/guide";

/// The ends of the names in code spans that are taken for paths.
const ENDS: [&str; 7] = [".rs", ".md", ".sh", ".toml", ".tsv", ".str", "/"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace's folder")
}

/// The documents, by their paths from the root.
fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "docs/checks.md"].map(PathBuf::from).into();
    found.extend(chapters());
    found
}

/// The pages of the guide, by their paths from the root.
fn chapters() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(root().join(GUIDE)).expect("the guide");
    let names = entries.map(|entry| Path::new(GUIDE).join(entry.expect("an entry").file_name()));
    names.filter(|path| path.extension().is_some_and(|end| end == "md"))
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
        .chain(definitions(prose).map(|(_, target)| target))
        .map(|target| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains(':'))
}

/// The definitions `[label]: target`.
fn definitions(prose: &str) -> impl Iterator<Item = (&str, &str)> {
    prose.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: "))
}

/// The labels of links `[text][label]`.
fn labels(prose: &str) -> BTreeSet<&str> {
    prose.split("][").skip(1).filter_map(|rest| rest.split(']').next()).collect()
}

/// The places in a page that a link may name: its headings, as a forge and rustdoc name them.
fn places(prose: &str) -> BTreeSet<String> {
    let headings = prose.lines().filter_map(|line| line.strip_prefix('#'));
    headings
        .map(|heading| {
            let name = heading.trim_start_matches('#').trim().to_lowercase();
            name.chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
                .collect::<String>()
                .replace(' ', "-")
        })
        .collect()
}

/// Where a label leads in rustdoc: to the module of the chapter that the page defines it as, or to the place of the front page
/// that names files of the repository.
fn in_rustdoc(target: &str) -> String {
    match target.split_once(".md") {
        Some((chapter, place)) if !chapter.contains('/') => {
            format!("crate::guide::{}{place}", chapter.replace('-', "_"))
        }
        _ => "crate::guide#examples-and-figures".to_owned(),
    }
}

/// What is wrong with the labels of a page: those without a definition, unused definitions, and definitions that differ from
/// those for rustdoc.
fn wrong_labels(prose: &str, rustdoc: &BTreeMap<&str, &str>) -> Vec<String> {
    let (used, defined) = (labels(prose), definitions(prose).map(|(label, _)| label).collect());
    let unpaired = used.symmetric_difference(&defined).map(|label| (*label).to_owned());
    let differ = definitions(prose)
        .filter(|(label, target)| rustdoc.get(label).is_none_or(|there| **there != in_rustdoc(target)));
    unpaired.chain(differ.map(|(label, target)| format!("{label}: {}", in_rustdoc(target)))).collect()
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
fn chapters_link_to_the_same_places_in_rustdoc_and_on_a_forge() {
    let rustdoc = fs::read_to_string(root().join(GUIDE).join("links.txt")).expect("the links for rustdoc");
    let rustdoc: BTreeMap<&str, &str> = definitions(&rustdoc).collect();
    let pages: BTreeMap<PathBuf, String> = chapters()
        .map(|page| {
            let text = fs::read_to_string(root().join(&page)).expect("a readable page");
            (page, prose(&text))
        })
        .collect();
    let places: BTreeMap<String, BTreeSet<String>> = pages
        .iter()
        .map(|(page, text)| {
            (page.file_name().unwrap_or_default().to_string_lossy().into_owned(), places(text))
        })
        .collect();
    let mut wrong = Vec::new();
    for (page, text) in &pages {
        wrong.extend(wrong_labels(text, &rustdoc).iter().map(|label| format!("{}: {label}", page.display())));
        for (label, target) in definitions(text) {
            let (file, place) = target.split_once('#').unwrap_or((target, ""));
            let absent = places.get(file).is_some_and(|places| !place.is_empty() && !places.contains(place));
            wrong.extend(absent.then(|| format!("{}: no place [{label}]: {target}", page.display())));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn wrong_labels_are_found() {
    let rustdoc =
        BTreeMap::from([("a", "crate::guide::a"), ("b#x", "crate::guide::b_c#x"), ("d", "crate::guide::a")]);
    let page =
        "[right][a] [undefined][c]\n[differs][d]\n\n[a]: a.md\n[b#x]: b-c.md#x\n[d]: d.md\n[e]: ../e.md\n";
    assert_eq!(
        wrong_labels(page, &rustdoc),
        ["b#x", "c", "e", "d: crate::guide::d", "e: crate::guide#examples-and-figures"]
    );
    assert_eq!(links(page).collect::<Vec<_>>(), ["a.md", "b-c.md", "d.md", "../e.md"]);
    assert!(places("# The `x`, y\n").contains("the-x-y"));
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
