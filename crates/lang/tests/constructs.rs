//! Each construct of the language with a program that shows it, `constructs/*.str`: what is behind `//=` is what it
//! prints, line by line, in as many iterations as stand behind `//!`, or one.

mod common;

use common::lines;
use std::fs;
use std::path::Path;

#[test]
fn every_construct_prints_the_expected_lines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constructs");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 40, "they are not where they were");
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let behind = |mark: &'static str| text.lines().filter_map(move |line| line.strip_prefix(mark));
        let iterations = behind("//! ").next().map_or(1, |count| count.parse().unwrap());
        let said: Vec<&str> = behind("//=").map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        assert!(!said.is_empty(), "{} says nothing", path.display());
        assert_eq!(lines(&text, iterations), said, "{}", path.display());
    }
}
