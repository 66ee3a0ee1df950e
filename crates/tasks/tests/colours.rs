//! Colours decide where nodes are computed, and the counts say so; results do not depend on them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use thalweg_tasks::{Colour, Counts, OnDemand, SearchSettings, StaticGraph, TaskGraph, TaskOptions};

/// Which of two members computes each of these nodes, which a sink needs, and which have the colours 0 and 1 in turns. No
/// member gets ahead of the other by more than three nodes, unless the other does not come for seconds.
fn members_of(nodes: u32, search: SearchSettings) -> (Vec<usize>, Counts) {
    let computed = [AtomicU32::new(0), AtomicU32::new(0)];
    let graph = OnDemand::new(
        |&n: &u32, needs: &mut Vec<u32>| {
            if n == u32::MAX {
                std::thread::sleep(Duration::from_millis(30)); // The other member begins meanwhile.
                needs.extend(0..nodes);
            }
        },
        |&n: &u32, context| {
            let (me, start) = (context.member(), Instant::now());
            let own = computed[me].fetch_add(1, Ordering::Relaxed);
            let is_ahead = || own > computed[1 - me].load(Ordering::Relaxed) + 2;
            std::thread::sleep(Duration::from_millis(1));
            while n != u32::MAX && is_ahead() && start.elapsed() < Duration::from_secs(3) {
                std::thread::yield_now();
            }
            me
        },
    )
    .colour(|n| (*n != u32::MAX).then(|| Colour(n % 2)));
    let options = TaskOptions::new().members(2).search(search).domains([0, 1]);
    let finished = graph.run_with(u32::MAX, &options).expect("no cycle");
    ((0..nodes).map(|node| finished[&node]).collect(), finished.counts().clone())
}

#[test]
fn each_member_computes_the_nodes_of_its_colour() {
    crate::in_team(|| {
        let (members, counts) = members_of(40, SearchSettings::new(4, u32::MAX));
        // The last nodes may go to the member that is the first to have none.
        let remote = members.iter().enumerate().filter(|(node, member)| node % 2 != **member).count();
        assert!(remote <= 4, "{members:?}");
        let total = counts.total();
        assert_eq!((total.nodes(), total.accesses()), (41, 80));
        assert!(
            (20..=24).contains(&total.remote()),
            "the sink's predecessors of the other colour are remote: {counts}"
        );
    });
}

#[test]
fn counts_add_up() {
    crate::in_team(|| {
        let (_, counts) = members_of(10, SearchSettings::RANDOM);
        let total = counts.total();
        assert_eq!((total.nodes(), total.accesses()), (11, 20));
        assert_eq!((total.coloured_steals(), total.coloured_attempts()), (0, 0));
        assert!(total.steals() >= 1 && total.attempts() >= total.steals());
        let text = counts.to_string();
        assert_eq!(text.lines().count(), 4, "{text}");
    });
}

#[test]
fn one_member_counts_what_belongs_to_other_domains() {
    crate::in_team(|| {
        // Member 0 is in a domain with member 1. Nodes 0 to 7 have the colours 0 to 3, twice, and a chain of edges.
        let mut graph = StaticGraph::from_edges(8, (1..8).map(|node| (node - 1, node)))
            .colours(|node| Some(Colour(node / 2)));
        let counts =
            graph.run_with(&TaskOptions::new().members(1).domains([5, 5, 6, 6]), |_| {}).expect("no cycle");
        // Nodes 4 to 7 are remote, and as predecessors 4 to 6.
        assert_eq!((counts.total().accesses(), counts.total().remote()), (15, 7));
        // One domain has no remote accesses, and without a description none are counted.
        let counts =
            graph.run_with(&TaskOptions::new().members(1).domains([0; 4]), |_| {}).expect("no cycle");
        assert_eq!((counts.total().accesses(), counts.total().remote()), (15, 0));
        let counts = graph.run_with(&TaskOptions::new().members(1), |_| {}).expect("no cycle");
        assert_eq!(counts.total().accesses(), 0);
    });
}

#[test]
fn invalid_colours_change_no_result() {
    crate::in_team(|| {
        for members in 1..=3 {
            let mut graph = StaticGraph::from_edges(500, (1..500).map(|node| (node / 2, node)));
            graph = graph.colours(|_| Some(Colour(5000)));
            let counts = graph.run_with(&TaskOptions::new().members(members), |_| {}).expect("no cycle");
            assert_eq!((counts.total().nodes(), counts.total().coloured_steals()), (500, 0));
        }
    });
}
