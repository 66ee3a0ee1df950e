//! The number of names in the facade is limited, so that each new one is a decision.

use std::collections::BTreeMap;

/// Those at the root, and all.
const LIMITS: (usize, usize) = (40, 120);

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
