//! What the readers accept, and what they say of the rest.

use std::io::{self, Read};

use thalweg_pagerank::{Graph, Input};

use crate::hostile::gzip;
use crate::{read, refusal};

/// The links of a graph, as pairs of ids.
fn links(graph: &Graph) -> Vec<(u64, u64)> {
    let mut links = Vec::new();
    for target in 0..graph.pages() {
        let sources = graph.links().sources_of(target).iter();
        links.extend(sources.map(|source| (graph.id(*source as usize), graph.id(target))));
    }
    links.sort_unstable();
    links
}

const MATRIX: &str =
    "%%MatrixMarket matrix coordinate real general\n% comment\n\n3 3 3\n1 2 0.5\n3 3 2\n2 1 1e0\n";

#[test]
fn edge_lists_may_have_comments_blank_lines_and_any_ids() {
    let graph = read("# Nodes: 3\n18446744073709551615\t7\r\n\n  7 3 \n% more\n3\t\t7");
    assert_eq!(links(&graph), [(3, 7), (7, 3), (u64::MAX, 7)]);
}

#[test]
fn the_order_of_the_lines_does_not_matter() {
    assert!(read("5 9\n1 5\n9 1\n") == read("9 1\n5 9\n1 5\n"));
}

#[test]
fn gzip_is_recognised_by_its_content() {
    for text in ["1 2\n2 3\n", MATRIX] {
        let packed = gzip(text.as_bytes());
        let graph = Input::new("test").read(&packed[..], None, |_| {}).unwrap();
        assert!(graph == read(text));
        // Two members, as `cat a.gz b.gz` and parallel compressors make them.
        let (begin, end) = text.split_at(text.len() / 2);
        let members = [gzip(begin.as_bytes()), gzip(end.as_bytes())].concat();
        assert!(Input::new("test").read(&members[..], None, |_| {}).unwrap() == graph);
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    for text in ["1 2\n2 3\n", MATRIX] {
        let marked = format!("\u{feff}{text}");
        assert!(read(&marked) == read(text));
        let packed = gzip(marked.as_bytes());
        assert!(Input::new("test").read(&packed[..], None, |_| {}).unwrap() == read(text));
    }
}

#[test]
fn links_may_be_reversed_or_lead_both_ways() {
    let list = "1 2\n3 1\n4 4\n";
    let input = |input: Input| links(&input.read(list.as_bytes(), None, |_| {}).unwrap());
    assert_eq!(input(Input::new("test").reverse(true)), [(1, 3), (2, 1), (4, 4)]);
    assert_eq!(input(Input::new("test").undirected(true)), [(1, 2), (1, 3), (2, 1), (3, 1), (4, 4)]);
}

#[test]
fn entries_are_links_from_rows_to_columns() {
    let graph = read(MATRIX);
    assert_eq!(links(&graph), [(1, 2), (2, 1), (3, 3)]);
    assert_eq!(graph.links().weights, Some(vec![1.0, 0.5, 2.0]));
    let pattern = read("%%matrixmarket MATRIX coordinate Pattern symmetric\n3 3 2\n2 1\n3 3");
    assert_eq!((links(&pattern), &pattern.links().weights), (vec![(1, 2), (2, 1), (3, 3)], &None));
}

#[test]
fn malformed_lines_are_named() {
    let matrix = |lines: &str| format!("%%MatrixMarket matrix coordinate real general\n{lines}");
    for (text, message) in [
        ("1 2\n3\n".into(), "test:2: expected the ids of two pages, found one field: `3`"),
        ("# x\n\n1 b\n".into(), "test:3: expected a number from 0 to 18446744073709551615: `1 b`"),
        ("1 2 3\n".into(), "test:1: expected the ids of two pages, found 3 fields: `1 2 3`"),
        ("1\u{1b}[31m 2".into(), "test:1: expected a number from 0 to 18446744073709551615: `1\\x1b[31m 2`"),
        ("1 99999999999999999999".into(), "test:1: the number is larger than 18446744073709551615: "),
        (matrix("2 2 1\n1 3 1\n"), "test:3: expected a page up to the declared 2, found 3: `1 3 1`"),
        (matrix("2 2 1\n1 0 1\n"), "test:3: expected a page from 1, found 0: `1 0 1`"),
        (matrix("2 2 1\n1 1 -2\n"), "test:3: expected a weight, found -2: `1 1 -2`"),
        (matrix("2 2 1\n1 1 1\n1 2 1"), "test:4: expected no more than the declared 1 entries: `1 2 1`"),
        (matrix("2 2 2\n1 1 1\n"), "test: the file declares 2 entries and ends after 1"),
        (matrix("2 3 1\n"), "test:2: expected a square matrix, found 2 rows and 3 columns: `2 3 1`"),
        (matrix("2 3\n"), "test:2: expected three numbers, found 2: `2 3`"),
        (matrix("% only comments\n"), "test: the file ends before its size"),
        ("%%MatrixMarket matrix array real general\n".into(), "test:1: expected a matrix of coordinates: "),
        (matrix("2 2 2\n1 1 1e-310\n1 2 1e-310"), "the weights of the links of page 1 add up to 2e-310"),
        (matrix("2 2 2\n1 1 1e308\n1 2 1e308"), "the weights of the links of page 1 add up to inf"),
    ] {
        let found = refusal(&Input::new("test"), text.as_bytes());
        assert!(found.starts_with(message) && found.contains("\nhelp: "), "{found}\nexpected: {message}");
    }
}

#[test]
fn options_make_lines_legal() {
    let list =
        Input::new("test").extra_columns(true).read(&b"1 2 0.5 1217567877\n"[..], None, |_| {}).unwrap();
    assert_eq!(links(&list), [(1, 2)]);
    let text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 -1\n2 1 0\n";
    let graph = Input::new("test").weights(false).read(text.as_bytes(), None, |_| {}).unwrap();
    assert_eq!((links(&graph), &graph.links().weights), (vec![(1, 2), (2, 1)], &None));
}

#[test]
fn a_link_of_weight_zero_is_none() {
    let graph = read("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 0\n2 1 3\n");
    assert_eq!((links(&graph), graph.dangling()), (vec![(2, 1)], 1));
}

#[test]
fn an_error_of_the_reader_has_the_name_of_the_input() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is on fire"))
        }
    }
    for begin in ["", "1 2\n"] {
        let error = Input::new("test").read(begin.as_bytes().chain(Fails), None, |_| {}).unwrap_err();
        assert_eq!(error.to_string(), "reading test");
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "the disk is on fire");
    }
}
