//! Every node that the sink needs is computed once, after its predecessors, whatever the colours and the workers are.

use std::ops::Range;
use thalweg_policy::tasks::{Colour, ColourSet, Place, group, halves};
use thalweg_sim::tasks::{Colouring, TaskCosts, TaskGraph, TaskSettings, run, shapes};

fn settings(workers: usize, seed: u64) -> TaskSettings {
    let costs = match seed % 3 {
        0 => TaskCosts::UNIT,
        1 => TaskCosts { edge: 0, spawn: 0, attempt: 1, steal: 0, near: 0, far: 0 },
        _ => TaskSettings::default().costs,
    };
    let hierarchical = seed.is_multiple_of(5);
    TaskSettings { workers, domain: 1 + workers / 3, hierarchical, costs, seed, ..TaskSettings::default() }
}

/// Checks an order of computed nodes.
pub fn check(graph: &TaskGraph, order: &[(u32, u32)]) {
    let mut position = vec![None; graph.nodes().len()];
    for (at, &(node, _)) in order.iter().enumerate() {
        assert_eq!(position[node as usize].replace(at), None, "node {node} is computed once");
        for &before in graph.predecessors(node) {
            assert!(position[before as usize].is_some(), "node {node} is computed after {before}");
        }
    }
    let computed: Vec<bool> = position.iter().map(Option::is_some).collect();
    assert_eq!(computed, graph.needed());
}

#[test]
fn each_needed_node_is_computed_once_after_its_predecessors() {
    for seed in 0..120 {
        for workers in [1, 2, 7, 40] {
            let graph = shapes::random(150, workers, seed);
            for colouring in Colouring::ALL {
                let settings = TaskSettings { colouring, ..settings(workers, seed) };
                let report = run(&graph, &settings);
                check(&graph, &report.order);
                let total = report.total();
                assert_eq!(total.computed as usize, report.order.len());
                assert!(total.busy <= report.time * workers as u64);
                let steals = total.random.stole + total.coloured.stole;
                assert!(workers > 1 || steals == 0);
            }
        }
    }
}

#[test]
fn graphs_of_the_paper_have_its_numbers_of_nodes_and_are_computed_whole() {
    let graphs = [
        (shapes::stencil(8, 10, 5, 20), 5 * 80),
        (shapes::multigrid(16, 20), 2 * (256 + 64 + 16 + 4) + 1),
        (shapes::pages(30, 10, shapes::Links::SOCIAL, 20, 1), 300),
        (shapes::layers(10, 4, 3, 5, 20, 1), 40),
        (shapes::fan(50, 5, 20), 50),
        (shapes::wavefront(12, 9, true, 20), 12 * 9 - 1),
        (shapes::chain(30, 5), 29),
    ];
    for (graph, nodes) in graphs {
        // All but the sink, or the last node of a graph that ends in one.
        assert_eq!(graph.nodes().len(), nodes + 1);
        let report = run(&graph, &settings(20, 2));
        check(&graph, &report.order);
    }
}

#[test]
fn a_run_is_a_function_of_graph_and_settings() {
    let graph = shapes::random(400, 9, 4);
    let with_seed = |seed| run(&graph, &TaskSettings { seed, ..settings(9, 2) });
    assert_eq!(with_seed(2), with_seed(2));
    assert_ne!(with_seed(2), with_seed(3));
}

/// The nodes in depth-first order: a worker computes all that a predecessor needs before it visits the next one.
fn depth_first(graph: &TaskGraph, node: u32, seen: &dyn Fn(u32) -> Colour, place: &Place) -> Vec<u32> {
    fn visit(
        graph: &TaskGraph,
        node: u32,
        seen: &dyn Fn(u32) -> Colour,
        place: &Place,
        done: &mut (Vec<bool>, Vec<u32>),
    ) {
        if std::mem::replace(&mut done.0[node as usize], true) {
            return;
        }
        let mut before = graph.predecessors(node).to_vec();
        group(&mut before, |&node| seen(node));
        for other in in_order(&before, seen, place) {
            visit(graph, other, seen, place, done);
        }
        done.1.push(node);
    }
    let mut done = (vec![false; graph.nodes().len()], Vec::new());
    visit(graph, node, seen, place, &mut done);
    done.1
}

/// A grouped list in the order in which one worker runs it.
fn in_order(list: &[u32], seen: &dyn Fn(u32) -> Colour, place: &Place) -> Vec<u32> {
    if list.len() < 2 {
        return list.to_vec();
    }
    let halves = halves(list, |&node| seen(node), place);
    let half = |range: Range<usize>| in_order(&list[range], seen, place);
    [half(halves.first), half(halves.rest)].concat()
}

#[test]
fn one_worker_computes_in_depth_first_order() {
    for seed in 0..60 {
        // The data of some nodes has colours of workers that do not take part.
        let graph = shapes::random(200, 12, seed);
        for colouring in Colouring::ALL {
            let settings = TaskSettings { colouring, hierarchical: false, ..settings(1, seed) };
            let seen = |node: u32| colouring.seen(graph.nodes()[node as usize].data, 1);
            let place = match colouring {
                Colouring::Uncoloured => Place::default(),
                _ => Place::new([ColourSet::of(Colour(0))]),
            };
            let order = run(&graph, &settings).order;
            let order: Vec<u32> = order.into_iter().map(|(node, _)| node).collect();
            assert_eq!(order, depth_first(&graph, graph.sink(), &seen, &place));
        }
    }
}
