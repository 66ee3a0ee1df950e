//! The number of names in the facade is limited, so that each new one is a decision. The fields of the data types that it
//! names, and of those that these have, are private.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Those at the root, and all.
const LIMITS: (usize, usize) = (40, 121);

/// The names that the facade's source exports, by module; those of the root under the empty name. Without the crates of
/// `embed`.
fn names(source: &str) -> BTreeMap<String, Vec<String>> {
    let (mut module, mut export) = (String::new(), None::<String>);
    let mut names = BTreeMap::<_, Vec<_>>::new();
    for line in source.lines().map(|line| line.split("//").next().unwrap_or_default().trim()) {
        if let Some(name) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(" {")) {
            module = name.to_owned();
        } else if line == "}" && export.is_none() {
            module.clear();
        }
        if line.starts_with("pub use ") {
            export = Some(String::new());
        }
        let Some(text) = &mut export else { continue };
        *text += line.trim_start_matches("pub use ");
        if line.ends_with(';') {
            let text = export.take().expect("an export");
            let list = text.trim_end_matches(';').rsplit_once("::{").map_or(&*text, |(_, list)| list);
            let list = list.trim_end_matches(['}', ';']).split(',').filter(|name| !name.trim().is_empty());
            let last = |path: &str| path.rsplit("::").next().unwrap_or_default().trim().to_owned();
            names.entry(module.clone()).or_default().extend(list.map(last));
        }
    }
    names.remove("embed").expect("the module of crates");
    names
}

#[test]
fn the_facade_has_few_names() {
    let names = names(include_str!("../src/lib.rs"));
    let root = &names[""];
    for known in ["from_iter", "Graph", "Options", "Run", "par_for"] {
        assert!(root.iter().any(|name| name == known), "{known} is missing in {root:?}");
    }
    assert!(names["tasks"].iter().any(|name| name == "TaskGraph"), "{names:?}");
    let all: usize = names.values().map(Vec::len).sum();
    assert!(root.len() <= LIMITS.0 && all <= LIMITS.1, "{} and {all}: {names:#?}", root.len());
    // The parser has found most of them.
    assert!(root.len() > LIMITS.0 / 2 && all > LIMITS.1 / 2, "{} and {all}", root.len());
}

/// Crates and files whose data types all reach users of the facade, whether it names them or not.
const DATA: [&str; 12] = [
    "graph/src",
    "trace/src",
    "report/src",
    "plan/src/plan.rs",
    "plan/src/error.rs",
    "plan/src/fingerprint.rs",
    "plan/src/units.rs",
    "plan/src/profile.rs",
    "plan/src/program.rs",
    "plan/src/wishes.rs",
    "runtime/src/error.rs",
    "machine/src",
];

/// The Rust files at a path and below it.
pub fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| files(&entry.unwrap().path(), found));
    } else if path.extension().is_some_and(|end| end == "rs") {
        found.push(path.to_owned());
    }
}

/// The public structs of a source text, each with the names of its public fields.
fn public_fields(source: &str) -> Vec<(String, Vec<String>)> {
    let mut structs = Vec::<(String, Vec<String>)>::new();
    let mut inside = false;
    for line in source.lines() {
        let words = line.trim_start();
        if let Some(rest) = words.strip_prefix("pub struct ") {
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            structs.push((name.to_owned(), Vec::new()));
            inside = rest.ends_with('{');
        } else if inside {
            inside = words != "}";
            let field = words.strip_prefix("pub ").and_then(|rest| rest.split_once(':'));
            structs.last_mut().expect("a struct before").1.extend(field.map(|(name, _)| name.to_owned()));
        }
    }
    structs
}

#[test]
fn data_types_have_no_public_fields() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of crates");
    let named: Vec<String> = names(include_str!("../src/lib.rs")).into_values().flatten().collect();
    let mut sources = Vec::new();
    for name in ["graph", "machine", "plan", "policy", "report", "runtime", "tasks", "thalweg", "trace"] {
        files(&crates.join(name).join("src"), &mut sources);
    }
    let mut seen = 0;
    for path in sources {
        let all = DATA.iter().any(|data| path.starts_with(crates.join(data)));
        for (name, fields) in public_fields(&fs::read_to_string(&path).unwrap()) {
            if all || named.contains(&name) {
                seen += 1;
                assert!(fields.is_empty(), "{name} in {} has public fields: {fields:?}", path.display());
            }
        }
    }
    assert!(seen > 60, "the search has found only {seen} data types");
}

#[test]
fn public_fields_are_found() {
    let source =
        "pub struct A {\n    /// A field.\n    pub a: u8,\n    pub(crate) b: u8,\n}\npub struct B(u8);\n";
    let expected = [("A".to_owned(), vec!["a".to_owned()]), ("B".to_owned(), Vec::new())];
    assert_eq!(public_fields(source), expected);
}
