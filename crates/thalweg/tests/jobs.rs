//! What reports and scopes say about the loops and task graphs that were executed.

use crate::support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use support::watchdog::watch;
use thalweg::Report;
use thalweg::embed::trace::{MemberCounts, What};
use thalweg::loops::{Schedule, count_jobs};
use thalweg::machine::Machine;
use thalweg::tasks::{Colour, OnDemand, StaticGraph, TaskGraph, TaskOptions};
use thalweg::trace::{Counts, ReportExt, TimelineExt};
use thalweg::{Error, Graph, Handle, Loop, Options};

/// The report of a graph whose node `work` calls `fire` for each of some items.
fn report_of(items: u64, options: &Options, fire: impl FnMut(u64) + Send) -> Report {
    let graph = Graph::new();
    graph.source(0..items).named("numbers").for_each(fire).named("work");
    let report = graph.run_with(options).unwrap().into_report();
    assert_eq!(Report::from_json(&report.to_json()).unwrap().nodes(), report.nodes());
    report
}

fn jobs(report: &Report) -> &Counts {
    let all: Vec<_> = report.jobs().collect();
    assert!(matches!(all[..], [("work", _)]), "{report}");
    all[0].1
}

/// Whether the flag is set before a time that only a failure takes.
fn comes(flag: &AtomicBool) -> bool {
    let begun = Instant::now();
    while !flag.load(Ordering::Acquire) && begun.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    flag.load(Ordering::Acquire)
}

/// Two ends and two nodes between, with colours of members of two domains, of which the first has member 0.
fn diamond() -> StaticGraph {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3)];
    StaticGraph::from_edges(4, edges).colours(|node| Some(Colour(node % 2)))
}

/// Member 0 computes all nodes. Of node 0 its own data is near; of node 1 its own is remote and that of 0 near; of node 2
/// both are near; of node 3 its own and that of 1 are remote, and that of 2 is near.
const OF_DIAMOND: (u64, u64) = (1 + 2 + 2 + 3, 1 + 2);

#[test]
fn accesses_of_a_known_graph_are_those_computed_by_hand() {
    let alone = TaskOptions::new().members(1).domains([0, 1]);
    let check = |all: MemberCounts, times: u64| {
        let expected = (times, 4 * times, OF_DIAMOND.0 * times, OF_DIAMOND.1 * times);
        assert_eq!((all.graphs(), all.nodes(), all.accesses(), all.remote()), expected);
        assert_eq!((all.loops(), all.joins(), all.steals(), all.attempts()), (0, times, 0, 0));
        assert_eq!(all.remote_share(), Some(0.375));
    };
    let counts = diamond().run_with(&alone, |_| {}).unwrap();
    check(counts.total(), 1);
    let needs = |node: &u32, needs: &mut Vec<u32>| {
        let of: [&[u32]; 4] = [&[], &[0], &[0], &[1, 2]];
        needs.extend(of[*node as usize]);
    };
    let on_demand = OnDemand::new(needs, |_: &u32, _| ()).colour(|node| Some(Colour(node % 2)));
    check(on_demand.run_with(3, &alone).unwrap().counts().total(), 1);
    for threads in [1, 2] {
        let report = report_of(7, &Options::new().threads(threads), |_| {
            let mut graph = diamond();
            graph.run_with(&TaskOptions::new().members(1).domains([0; 2]), |_| {}).unwrap();
        });
        assert_eq!(jobs(&report).total().remote(), 0);
    }
    let report =
        report_of(7, &Options::new().threads(1), |_| _ = diamond().run_with(&alone, |_| {}).unwrap());
    check(jobs(&report).total(), 7);
    let options = Options::new().threads(1).domains([0, 1]);
    let of_run = report_of(7, &options, |_| _ = diamond().run(|_| {}).unwrap());
    assert_eq!(jobs(&of_run), jobs(&report), "the domains of the run");
    let machine = Machine::read("thalweg-machine 1\ndomains 2\ncores 1\n").unwrap();
    let options = Options::new().threads(1).domains(machine.places(2).domains().to_vec());
    let of_machine = report_of(7, &options, |_| _ = diamond().run(|_| {}).unwrap());
    assert_eq!(jobs(&of_machine), jobs(&report), "the domains of a described machine");
    assert_eq!((jobs(&report).members().len(), jobs(&report).helpers()), (1, 1));
    assert!(report.to_string().contains("loops, graphs"), "{report}");
    let json = report.to_json();
    let expected = "\"jobs\": [{\"loops\": 0, \"graphs\": 7, \"joins\": 7, \"iterations\": 0, \"nodes\": 28, \"steals\": 0, \
        \"coloured_steals\": 0, \"attempts\": 0, \"coloured_attempts\": 0, \"accesses\": 56, \"remote\": 21}]";
    assert!(json.contains(expected), "{json}");
}

#[test]
fn sums_over_members_are_what_was_executed() {
    for threads in 1..=3 {
        for schedule in
            [Schedule::Static, Schedule::Dynamic, Schedule::Guided, Schedule::Split, Schedule::Hybrid]
        {
            let options = Options::new().threads(threads);
            let report = report_of(5, &options, |_| {
                Loop::new().schedule(schedule).grain(7).for_each(0..1000, |_| ());
                let mut graph = StaticGraph::from_successors(500, |node, after| {
                    after.extend((1..3).map(|next| 2 * node + next).filter(|next| *next < 500));
                });
                graph.run(|_| {}).unwrap();
            });
            let (counts, all) = (jobs(&report), jobs(&report).total());
            assert_eq!(
                (all.loops(), all.iterations(), all.graphs(), all.nodes()),
                (5, 5000, 5, 2500),
                "{report}"
            );
            assert_eq!(counts.members().len(), threads);
            assert!(all.joins() >= 10 && all.steals() <= all.attempts(), "{report}");
            assert_eq!((all.accesses(), all.remote()), (0, 0), "no domains were described");
            if threads == 1 {
                assert_eq!((all.joins(), all.steals(), all.attempts()), (10, 0, 0), "{report}");
            }
        }
    }
}

#[test]
fn a_scope_counts_as_a_report_does() {
    let ((), counts) = count_jobs(|| {
        // One iteration of the outer loop is one inner loop.
        Loop::new().members(1).for_each(0..3, |_| Loop::new().members(1).for_each(0..10, |_| ()));
        diamond().run_with(&TaskOptions::new().members(1).domains([0, 1]), |_| {}).unwrap();
    });
    let all = counts.total();
    assert_eq!((all.loops(), all.iterations(), all.graphs(), all.nodes()), (4, 33, 1, 4));
    assert_eq!((all.joins(), all.accesses(), all.remote()), (5, OF_DIAMOND.0, OF_DIAMOND.1));
    assert_eq!(counts.members().len(), thalweg::loops::team_size());
    // Members that join call loops that count too.
    let (iterations, counts) = count_jobs(|| {
        let done = AtomicUsize::new(0);
        let inner = |_| Loop::new().for_each(0..50, |_| _ = done.fetch_add(1, Ordering::Relaxed));
        Loop::new().schedule(Schedule::Dynamic).for_each(0..200, inner);
        done.into_inner() as u64
    });
    assert_eq!((iterations, counts.total().loops(), counts.total().iterations()), (10_000, 201, 10_200));
    // In a firing both count, and a loop after the scope counts once.
    let mut scoped = MemberCounts::default();
    let report = report_of(3, &Options::new().threads(2), |_| {
        let ((), counts) = count_jobs(|| Loop::new().for_each(0..100, |_| ()));
        scoped = scoped + counts.total();
        Loop::new().for_each(0..10, |_| ());
    });
    assert_eq!((scoped.loops(), scoped.iterations()), (3, 300));
    assert_eq!((jobs(&report).total().loops(), jobs(&report).total().iterations()), (6, 330), "{report}");
}

/// Each of two threads waits in the loop for the other one.
fn meet() {
    let here = [AtomicBool::new(false), AtomicBool::new(false)];
    Loop::new().schedule(Schedule::Dynamic).grain(1).for_each(0..2, |at| {
        here[at].store(true, Ordering::Release);
        assert!(comes(&here[1 - at]), "a second worker helps");
    });
}

#[test]
fn a_member_that_helps_is_in_the_counts_and_on_the_timeline() {
    let options = Options::new().threads(2).timeline(1000);
    let report = watch("two members", || report_of(3, &options, |_| meet()));
    let counts = jobs(&report);
    assert_eq!((counts.helpers(), counts.total().joins(), counts.total().loops()), (2, 6, 3), "{report}");
    assert!(counts.members().iter().all(|member| member.iterations() == 3), "{report}");
    let timeline = report.timeline().unwrap();
    let mut loops = 0;
    for track in &timeline.tracks()[..2] {
        for event in track.events() {
            let What::Loop { node, steals, ns } = event.what() else { continue };
            assert_eq!((report.graph().node(node).name(), steals), ("work", 0));
            let wall = report.wall().as_nanos() as u64;
            assert!(ns > 0 && event.at() + ns <= wall + wall / 10, "{event:?}");
            loops += 1;
        }
        let ends = |at: usize| track.events()[at].at() + track.events()[at].what().length().as_nanos() as u64;
        assert!((1..track.events().len()).all(|at| ends(at - 1) <= ends(at)), "{track:?}");
        assert!(track.events().iter().any(|event| matches!(event.what(), What::Loop { .. })), "{track:?}");
    }
    assert_eq!(loops, 6);
    let text = timeline.to_json(report.graph());
    assert!(text.contains("\"name\": \"loop work\", \"cat\": \"loop\""), "{text}");
    let read = thalweg::trace::Timeline::from_json(&text, report.graph()).unwrap();
    assert_eq!(&read, timeline);
    assert!(report.to_html().contains("Loops and task graphs"));
}

/// Also: without a timeline there are no events.
#[test]
fn task_graphs_are_on_the_timeline_with_their_nodes() {
    let fire = |_| _ = diamond().run_with(&TaskOptions::new().members(1), |_| {}).unwrap();
    let report = report_of(4, &Options::new().threads(1).timeline(1000), fire);
    let events = report.timeline().unwrap().tracks().iter().flat_map(|track| track.events());
    let graphs = events.filter(|event| matches!(event.what(), What::TaskGraph { steals: 0, .. }));
    assert_eq!(graphs.count(), 4);
    assert!(report_of(4, &Options::new().threads(1), fire).timeline().is_none());
}

#[test]
fn a_node_with_a_thread_of_its_own_has_counts_and_a_timeline() {
    let graph = Graph::new();
    let fire = |_: u64| Loop::new().members(1).for_each(0..10, |_| ());
    graph.source(0..5u64).named("numbers").for_each(fire).named("work").blocking();
    let report = graph.run_with(&Options::new().threads(2).timeline(100)).unwrap().into_report();
    let all = jobs(&report).total();
    assert_eq!(
        (all.loops(), all.iterations(), jobs(&report).members()[0].iterations()),
        (5, 50, 50),
        "{report}"
    );
    let tracks = report.timeline().unwrap().tracks();
    let track = tracks.iter().find(|track| track.name() == "work").unwrap();
    let loops = track.events().iter().filter(|event| matches!(event.what(), What::Loop { .. }));
    assert_eq!(loops.count(), 5);
}

#[test]
fn counts_are_consistent_after_a_panic() {
    for threads in [1, 2] {
        let report = report_of(6, &Options::new().threads(threads).timeline(1000), |item| {
            let body = |at: usize| assert!(at != 55 || item % 2 == 1, "planted");
            let ended = catch_unwind(AssertUnwindSafe(|| {
                Loop::new().schedule(Schedule::Dynamic).grain(10).for_each(0..100, body);
            }));
            assert_eq!(ended.is_err(), item % 2 == 0);
            let compute = |node: u32| assert!(node != 3 || item % 2 == 1, "planted");
            let result = diamond().run_with(&TaskOptions::new().domains([0]), compute);
            assert_eq!(result.is_err(), item % 2 == 0);
        });
        let (counts, all) = (jobs(&report), jobs(&report).total());
        assert_eq!((all.loops(), all.graphs(), all.nodes()), (6, 6, 3 * 4 + 3 * 3), "{report}");
        // The loops that panic lack at least the range with iteration 55.
        assert!((300..=570).contains(&all.iterations()) && all.iterations() % 10 == 0, "{report}");
        assert!(all.remote() <= all.accesses() && counts.members().len() == threads, "{report}");
        let events = report.timeline().unwrap().tracks().iter().flat_map(|track| track.events());
        let (mut parts, mut stolen) = (0, 0);
        for event in events {
            if let What::Loop { steals, .. } | What::TaskGraph { steals, .. } = event.what() {
                (parts, stolen) = (parts + 1, stolen + u64::from(steals));
            }
        }
        assert_eq!((parts, stolen), (all.joins(), all.steals()), "the timeline has the same parts");
    }
}

#[test]
fn a_run_without_accounts_counts_nothing() {
    let report = report_of(3, &Options::new().threads(2).untimed(), |_| Loop::new().for_each(0..10, |_| ()));
    assert_eq!(report.jobs().count(), 0);
}

/// A firing is not interrupted, nor is what it executes.
#[test]
fn loops_and_graphs_in_a_firing_go_on_after_a_cancel() {
    watch("cancel", || {
        let (executed, run) = (AtomicUsize::new(0), Arc::new(OnceLock::<Handle>::new()));
        let handle = run.clone();
        let options = Options::new().threads(2).on_start(move |started| _ = handle.set(started.clone()));
        let execute = || _ = executed.fetch_add(1, Ordering::Relaxed);
        let graph = Graph::new();
        graph.source(0..1u8).for_each(|_| {
            Loop::new().grain(1).for_each(0..200, |at| {
                if at == 0 {
                    let run = run.get().expect("the run has begun");
                    run.cancel();
                    assert!(run.is_over());
                }
                execute();
            });
            diamond().run(|_| execute()).unwrap();
        });
        assert!(matches!(graph.run_with(&options).map_err(Error::from), Err(Error::Cancelled)));
        assert_eq!(executed.into_inner(), 204);
    });
}
