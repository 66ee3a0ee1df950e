//! Each construct of the language: native code does what the interpreter does.

mod common;

use common::{Memory, agree, compiled, has_compiler};
use std::fs;
use std::path::Path;
use thalweg_codegen::{Level, source};

/// What cannot be native so far, and why.
const LEFT: [(&str, &str); 1] = [("recursive_functions.str", "nested too deep")];

#[test]
fn every_construct_means_the_same() {
    if !has_compiler("every_construct_means_the_same") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang/tests/constructs");
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        if let Some((_, why)) = LEFT.iter().find(|(name, _)| entry.file_name() == *name) {
            let refusal = source(&compiled(&text), Level::Vectors).unwrap_err().to_string();
            assert!(refusal.contains(why), "{refusal}");
            continue;
        }
        let iterations = text.lines().find_map(|line| line.strip_prefix("//! "));
        agree(&text, &Memory::default(), Some(iterations.map_or(1, |count| count.parse().unwrap())));
    }
}
