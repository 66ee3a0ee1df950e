//! MergeSort beside a sequential merge sort and the sort of the standard library.

use crate::support::{assert_counts, assert_everywhere};
use thalweg_danbi::merge_sort::{Parameters, graph, input, sequential};

#[test]
fn the_graph_is_that_of_table_2() {
    assert_counts(&graph(&[2, 1], &Parameters::default()), 5, 9);
}

#[test]
fn keys_are_sorted_under_every_policy() {
    let keys = &input(0.0, 1)[..0];
    assert_everywhere(&Vec::new(), || graph(keys, &Parameters::default()), |sorted| sorted);
    // Numbers of pieces around powers of two, and a last piece that is not full.
    for pieces in [1, 2, 3, 8, 9, 31] {
        let keys = &input(0.0001, pieces)[..64 * pieces as usize - 5];
        let mut sorted = keys.to_vec();
        sorted.sort();
        assert_eq!(sequential(keys), sorted);
        assert_everywhere(&sorted, || graph(keys, &Parameters { piece: 64 }), |sorted| sorted);
    }
}

#[test]
fn equal_and_sorted_keys_are_sorted() {
    let increasing: Vec<u32> = (0..5000).collect();
    let decreasing: Vec<u32> = increasing.iter().rev().copied().collect();
    let few: Vec<u32> = increasing.iter().map(|key| key * 7919 % 5).collect();
    for keys in [&increasing, &decreasing, &few] {
        let sorted = graph(keys, &Parameters { piece: 100 }).run().expect("a run").into_value();
        let mut expected = keys.clone();
        expected.sort();
        assert_eq!(sorted, expected);
    }
}
