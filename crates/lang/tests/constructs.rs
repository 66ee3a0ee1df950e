//! One program for each construct of the language, `constructs/*.str`. Lines that begin with `//=` are the expected
//! output; `//!` gives the number of iterations, 1 by default.

use crate::common;

use common::lines;
use std::fs;
use std::path::Path;

#[test]
fn every_construct_prints_the_expected_lines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constructs");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 40, "the programs of the constructs are missing");
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let marked = |mark: &'static str| text.lines().filter_map(move |line| line.strip_prefix(mark));
        let iterations = marked("//! ").next().map_or(1, |count| count.parse().unwrap());
        let expected: Vec<&str> = marked("//=").map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        assert!(!expected.is_empty(), "{} has no expected output", path.display());
        assert_eq!(lines(&text, iterations), expected, "{}", path.display());
    }
}
