//! Each construct of the language: native code does what the interpreter does.

use crate::common::{Memory, agree, has_compiler};
use std::fs;
use std::path::Path;

#[test]
fn every_construct_means_the_same() {
    if !has_compiler("every_construct_means_the_same") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang/tests/constructs");
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        let iterations = text.lines().find_map(|line| line.strip_prefix("//! "));
        agree(&text, &Memory::default(), Some(iterations.map_or(1, |count| count.parse().unwrap())));
    }
}
