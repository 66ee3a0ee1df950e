//! The ranks that networkx computes, within 1e-9. `fixtures/make.py` makes the graphs and the ranks.

use std::fs;
use std::path::PathBuf;

use thalweg_pagerank::{Graph, Input, PageRank};

use crate::run;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The expected ranks, ordered by page.
fn expected(name: &str) -> Vec<(u64, f64)> {
    let text = fs::read_to_string(fixture(name)).unwrap();
    let line = |line: &str| {
        let (page, rank) = line.split_once('\t').unwrap();
        (page.parse().unwrap(), rank.parse().unwrap())
    };
    text.lines().map(line).collect()
}

fn graph(name: &str, undirected: bool) -> Graph {
    let bytes = fs::read(fixture(name)).unwrap();
    Input::new(name).undirected(undirected).read(&bytes[..], None, |_| {}).unwrap()
}

/// Compares all ranks with those of networkx.
fn check(graph: &Graph, name: &str, damping: f64) {
    let expected = expected(name);
    let ranking = run(&PageRank::new().damping(damping).tolerance(1e-12), graph);
    let mut found = ranking.top(graph, usize::MAX);
    found.sort_by_key(|(page, _)| *page);
    assert_eq!(found.len(), expected.len());
    for ((page, rank), (expected_page, expected)) in found.into_iter().zip(expected) {
        assert_eq!(page, expected_page);
        assert!((rank - expected).abs() < 1e-9, "page {page}: {rank}, networkx has {expected}");
    }
}

#[test]
fn edge_lists_have_the_ranks_of_networkx() {
    check(&graph("karate.txt", true), "karate.tsv", 0.85);
    check(&graph("web.txt", false), "web.tsv", 0.85);
    check(&graph("thin.txt", false), "thin.tsv", 0.5);
}

#[test]
fn matrices_have_the_ranks_of_networkx() {
    for name in ["weighted", "symmetric", "pattern"] {
        check(&graph(&format!("{name}.mtx"), false), &format!("{name}.tsv"), 0.85);
    }
}

#[test]
fn another_damping_gives_other_ranks() {
    let ranking = run(&PageRank::new().damping(0.84), &graph("karate.txt", true));
    let differs = ranking
        .ranks
        .iter()
        .zip(expected("karate.tsv"))
        .any(|(rank, (_, expected))| (rank - expected).abs() > 1e-6);
    assert!(differs);
}
