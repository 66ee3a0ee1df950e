//! No input makes the readers panic, and no graph makes the ranks anything but a distribution.

use std::io::Write;
use std::ops::ControlFlow;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use thalweg_pagerank::{Graph, Input, PageRank};

use crate::refusal;

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Reads with little memory, and ranks what could be read.
fn survive(bytes: &[u8]) {
    for input in [Input::new("test"), Input::new("test").undirected(true).extra_columns(true).weights(false)]
    {
        match input.memory(1 << 20).read(bytes, Some(bytes.len() as u64), |_| {}) {
            Ok(graph) => check_distribution(&graph),
            Err(error) => {
                assert!(error.to_string().chars().all(|c| c == '\n' || !c.is_control()), "{error:?}")
            }
        }
    }
}

fn check_distribution(graph: &Graph) {
    let settings = PageRank::new().tolerance(0.0).max_iterations(5);
    let ranking = settings.run(graph, |_| ControlFlow::Continue(())).unwrap();
    let sum: f64 = ranking.ranks.iter().sum();
    assert!(graph.pages() == 0 || (sum - 1.0).abs() < 1e-6, "{sum}");
    assert!(ranking.ranks.iter().all(|rank| *rank > 0.0));
}

/// Lines that are almost those of a graph.
fn lines() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof!["[0-9]{1,2}", "[0-9]{18,22}", "[-+.eE0-9]{1,6}", "[ -~]{0,4}", "1e-?[0-9]{1,3}"];
    let line = prop::collection::vec(field, 0..5).prop_map(|fields| fields.join(" "));
    let header = prop_oneof![
        Just(String::new()),
        "%%MatrixMarket matrix coordinate (real|integer|pattern) (general|symmetric)\n[0-9]{1,2} [0-9]{1,2} [0-9]{1,2}",
        "%%MatrixMarket matrix coordinate real general\n9 9 [1-9]",
        "%%MatrixMarket [ -~]{0,40}",
    ];
    (header, prop::collection::vec(line, 0..12))
        .prop_map(|(header, lines)| format!("{header}\n{}", lines.join("\n")).into_bytes())
}

/// Entries with any weights, in a valid file.
fn matrix() -> impl Strategy<Value = Vec<u8>> {
    let entry = (1..9u8, 1..9u8, prop_oneof![0.0..2.0, 0.0..f64::MAX, 0.0..f64::MIN_POSITIVE]);
    prop::collection::vec(entry, 0..40).prop_map(|entries| {
        let mut text = format!("%%MatrixMarket matrix coordinate real general\n9 9 {}\n", entries.len());
        entries.iter().for_each(|(row, column, weight)| text += &format!("{row} {column} {weight:e}\n"));
        text.into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_no_graph_or_a_small_one(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        survive(&bytes);
        survive(&gzip(&bytes));
        survive(&[&[0x1f, 0x8b][..], &bytes].concat());
    }

    #[test]
    fn lines_that_look_like_a_graph(bytes in lines()) {
        survive(&bytes);
    }

    #[test]
    fn matrices_with_any_weights(bytes in matrix()) {
        survive(&bytes);
    }
}

#[test]
fn truncated_gzip_data_is_an_error_at_every_length() {
    let text: String = (0..200).map(|i| format!("{}\t{}\n", i * i % 97, i)).collect();
    let whole = gzip(text.as_bytes());
    for length in 2..whole.len() {
        let message = refusal(&Input::new("links.gz"), &whole[..length]);
        assert!(message.starts_with("links.gz is truncated or damaged gzip data"), "{length}: {message}");
    }
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0x10;
    assert!(Input::new("links.gz").read(&damaged[..], None, |_| {}).is_err());
}
