//! The same bits at any number of threads.

use std::ops::ControlFlow;

use thalweg_pagerank::{Graph, Input, PageRank, Ranking, Rmat};

/// Weights between pages of a random graph.
fn weighted(graph: &Graph) -> String {
    let mut text = format!(
        "%%MatrixMarket matrix coordinate real general\n{0} {0} {1}\n",
        graph.pages(),
        graph.links().len()
    );
    for target in 0..graph.pages() {
        for source in graph.links().sources_of(target) {
            text += &format!("{} {} {}\n", source + 1, target + 1, f64::from(source % 97) / 7.0);
        }
    }
    text
}

fn rank(graph: &Graph, threads: usize) -> Ranking {
    let settings = PageRank::new().threads(threads).pages_per_task(100);
    settings.run(graph, |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn ranks_are_the_same_at_any_number_of_threads() {
    let graph = Rmat::new(11).graph(|_| {}).unwrap();
    let weighted = Input::new("weighted").read(weighted(&graph).as_bytes(), None, |_| {}).unwrap();
    for graph in [graph, weighted] {
        let one = rank(&graph, 1);
        for threads in [2, 3, 8] {
            assert!(rank(&graph, threads) == one, "{threads} threads");
        }
    }
}

#[test]
fn a_random_graph_is_a_function_of_its_parameters() {
    // More links than a chunk has, so several threads draw them.
    let rmat = Rmat::new(14).edge_factor(20).seed(5);
    let one = rmat.clone().threads(1).graph(|_| {}).unwrap();
    assert!(rmat.clone().threads(4).graph(|_| {}).unwrap() == one);
    assert!(rmat.seed(6).graph(|_| {}).unwrap() != one);
    // Known since the first version, so that measurements of different versions have the same graph.
    let sum = one
        .links()
        .sources
        .iter()
        .fold(0u64, |sum, source| sum.wrapping_mul(31).wrapping_add(u64::from(*source)));
    assert_eq!((one.pages(), one.links().len(), sum), (16_384, 279_734, 5_820_654_574_665_932_599));
}

#[test]
fn random_graphs_have_a_scale_from_1_to_31() {
    assert_eq!(Rmat::new(1).graph(|_| {}).unwrap().pages(), 2);
    for scale in [0, 32] {
        assert!(Rmat::new(scale).graph(|_| {}).unwrap_err().to_string().contains("scale"));
    }
}
