//! Small graphs whose ranks follow from a few equations.

use std::ops::ControlFlow;

use thalweg_pagerank::{Error, PageRank};

use crate::{rank, read, run};

/// The ranks of a graph, compared with expected ones.
fn check(text: &str, expected: &[(u64, f64)]) {
    let graph = read(text);
    let ranking = rank(&graph);
    let mut found = ranking.top(&graph, usize::MAX);
    found.sort_by_key(|(page, _)| *page);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((page, rank), (expected_page, expected)) in found.iter().zip(expected) {
        assert!(page == expected_page && (rank - expected).abs() < 1e-12, "{found:?}, expected {expected}");
    }
}

#[test]
fn a_page_that_links_to_another() {
    // Page 1 is followed with the damping; page 2 links to both, as a dangling page.
    // r1 = 0.075 + 0.425 r2 and r1 + r2 = 1
    let first = 0.5 / 1.425;
    check("1 2", &[(1, first), (2, 1.0 - first)]);
}

#[test]
fn all_pages_of_a_cycle_are_equal() {
    check("10 20\n20 30\n30 40\n40 10", &[(10, 0.25), (20, 0.25), (30, 0.25), (40, 0.25)]);
}

#[test]
fn the_centre_of_a_star_has_the_rank_of_its_leaves() {
    // Leaves: l = base, centre: c = base + 0.85 * 4 l, with base = (0.15 + 0.85 c) / 5 and 4 l + c = 1.
    let leaf = 1.0 / (5.0 + 4.0 * 0.85);
    check("1 9\n2 9\n3 9\n4 9", &[(1, leaf), (2, leaf), (3, leaf), (4, leaf), (9, leaf * 4.4)]);
}

#[test]
fn a_graph_of_self_loops_or_of_dangling_pages_is_uniform() {
    check("1 1\n2 2", &[(1, 0.5), (2, 0.5)]);
    check(
        "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n",
        &[1, 2, 3].map(|page| (page, 1.0 / 3.0)),
    );
}

#[test]
fn a_self_loop_keeps_rank() {
    // Page 1 links to itself and to 2; page 2 is dangling. r1 = 0.075 + 0.425 r1 + 0.425 r2 = 0.5
    check("1 1\n1 2", &[(1, 0.5), (2, 0.5)]);
}

#[test]
fn links_that_occur_twice_count_once() {
    let once = rank(&read("1 2\n1 3\n3 1\n"));
    let twice = rank(&read("1 2\n1 3\n1 2\n3 1\n1 2\n"));
    assert_eq!(once, twice);
}

#[test]
fn a_graph_without_pages_has_no_ranks() {
    check("# nothing\n", &[]);
}

#[test]
fn without_damping_all_pages_are_equal_after_one_iteration() {
    let ranking = run(&PageRank::new().damping(0.0), &read("1 2\n2 3\n1 3"));
    assert!(ranking.ranks.iter().all(|rank| (rank - 1.0 / 3.0).abs() < 1e-15));
    assert_eq!(ranking.residuals.len(), 1);
}

#[test]
fn too_few_iterations_are_an_error_unless_the_tolerance_is_zero() {
    let graph = read("1 2\n2 3\n1 3\n4 1");
    let few = PageRank::new().max_iterations(3);
    let error = few.run(&graph, |_| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(error, Error::NotConverged { iterations: 3, .. }), "{error}");
    assert_eq!(run(&few.tolerance(0.0), &graph).residuals.len(), 3);
    // Also where nothing changes.
    assert_eq!(run(&PageRank::new().tolerance(0.0), &read("1 2\n2 1")).residuals, [0.0; 200]);
}

#[test]
fn the_observer_sees_each_iteration_and_stops_them() {
    let graph = read("1 2\n2 3\n1 3\n4 1");
    let mut seen = Vec::new();
    let stopped = PageRank::new().run(&graph, |iteration| {
        seen.push(iteration.number);
        if iteration.number == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(Error::Stopped)) && seen == [1, 2, 3, 4, 5], "{seen:?}");
}

#[test]
fn settings_outside_their_ranges_are_refused() {
    for (settings, value) in [
        (PageRank::new().damping(1.0), "1"),
        (PageRank::new().damping(-0.5), "-0.5"),
        (PageRank::new().damping(f64::NAN), "NaN"),
        (PageRank::new().tolerance(-1.0), "-1"),
        (PageRank::new().tolerance(f64::INFINITY), "inf"),
        (PageRank::new().max_iterations(0), "0"),
        (PageRank::new().pages_per_task(0), "0"),
        (PageRank::new().threads(0), "0"),
    ] {
        let error = settings.check().unwrap_err().to_string();
        assert!(error.contains(&format!("it is {value}\nhelp: ")), "{error}");
    }
}

#[test]
fn pages_of_equal_rank_are_ordered_by_id() {
    let graph = read("9 1\n7 1\n8 1\n300 1\n1 300");
    let ranking = rank(&graph);
    let order: Vec<u64> = ranking.top(&graph, usize::MAX).into_iter().map(|(page, _)| page).collect();
    assert_eq!(order, [1, 300, 7, 8, 9]);
    for count in 0..=5 {
        let top: Vec<u64> = ranking.top(&graph, count).into_iter().map(|(page, _)| page).collect();
        assert_eq!(top, order[..count]);
    }
}
