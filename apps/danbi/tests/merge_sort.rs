//! MergeSort beside a sequential merge sort and the sort of the standard library.

use crate::support::{assert_counts, assert_runs_everywhere};
use thalweg::Options;
use thalweg_danbi::merge_sort::{Parameters, graph, input, sequential, sort};

#[test]
fn the_graph_is_that_of_table_2() {
    assert_counts(&graph(&[2, 1], &mut [0; 2], &Parameters::default()), 5, 9);
}

#[test]
fn keys_are_sorted_under_every_policy() {
    let keys = &input(0.0, 1)[..0];
    let run = |keys: &[u32], piece: usize, options: &Options| {
        sort(keys, &Parameters { piece }, options).expect("a run").0
    };
    assert_runs_everywhere(&Vec::new(), |options| run(keys, 4096, options));
    // Numbers of pieces around powers of two, and a last piece that is not full.
    for pieces in [1, 2, 3, 8, 9, 31] {
        let keys = &input(0.0001, pieces)[..64 * pieces as usize - 5];
        let mut sorted = keys.to_vec();
        sorted.sort();
        assert_eq!(sequential(keys), sorted);
        assert_runs_everywhere(&sorted, |options| run(keys, 64, options));
    }
}

#[test]
fn equal_and_sorted_keys_are_sorted() {
    let increasing: Vec<u32> = (0..5000).collect();
    let decreasing: Vec<u32> = increasing.iter().rev().copied().collect();
    let few: Vec<u32> = increasing.iter().map(|key| key * 7919 % 5).collect();
    for keys in [&increasing, &decreasing, &few] {
        let (sorted, _) = sort(keys, &Parameters { piece: 100 }, &Options::new()).expect("a run");
        let mut expected = keys.clone();
        expected.sort();
        assert_eq!(sorted, expected);
    }
}

#[test]
#[should_panic(expected = "a place for each key")]
fn places_for_fewer_keys_are_refused() {
    let mut places = [0; 1];
    let _output = graph(&[2, 1], &mut places, &Parameters::default());
}
