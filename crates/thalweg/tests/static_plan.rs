//! The policy `static`: each worker runs the segments that the plan gives it, and no others.

use crate::pools::activated_by;
use crate::support;

use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use support::case::{Case, Disturbance, case, run};
use support::disturbed::undisturbed;
use support::item::Counted;
use support::loops::{Ended, any_loop, build, reference as loop_reference};
use support::planning::legal_on;
use support::reference::reference;
use support::runner::for_each;
use support::watchdog::watch;
use thalweg::embed::graph::NodeId;
use thalweg::embed::plan::Assignment;
use thalweg::plan::mappers::{self, Target};
use thalweg::plan::{Plan, Wishes};
use thalweg::prelude::*;
use thalweg::{Error, Output, Report};

/// Source, two parallel nodes, a sequential one and a sink.
fn squares(items: u64) -> Output<'static, Vec<u64>> {
    let source = thalweg::from_iter(0..items).named("read");
    let parallel = source.par_map(|n| n * n).named("square").par_map(|n| n + 1).named("add");
    parallel.map(|n| n * 3).named("triple").collect()
}

fn expected(items: u64) -> impl Iterator<Item = u64> {
    (0..items).map(|n| (n * n + 1) * 3)
}

/// Options for this number of threads whose plan is changed.
fn with(threads: usize, change: impl Fn(&mut Plan) + Send + Sync + 'static) -> Options {
    Options::new().threads(threads).policy("static").plan_with(move |_, mut plan| {
        change(&mut plan);
        Ok(plan)
    })
}

fn ids(nodes: &[u32]) -> Vec<NodeId> {
    nodes.iter().map(|node| NodeId(*node)).collect()
}

/// Source and sink belong to worker 0, the first parallel node to workers 1 to 3, the rest to worker 2.
fn mapped(plan: &mut Plan) {
    *plan.segments_mut() = vec![ids(&[0]), ids(&[1, 2, 3]), ids(&[4])];
    plan.affinity_mut().extend([(NodeId(0), 0), (NodeId(3), 2), (NodeId(4), 0)]);
    plan.pools_mut().insert(NodeId(1), vec![1, 2, 3]);
    plan.shares_mut().insert(NodeId(1), vec![2, 1, 3]);
}

#[test]
fn a_worker_fires_its_segments_and_no_others() {
    let options = with(4, mapped).timeline(1 << 16);
    let (items, report) = watch("static", || squares(100_000).run_with(&options)).unwrap().into_parts();
    assert!(items.into_iter().eq(expected(100_000)));
    assert_eq!((report.threads(), report.policy()), (4, "static"));
    let by = activated_by(&report);
    let own = [vec![0], vec![1, 2, 3], vec![2], vec![2], vec![0]];
    assert_eq!(by.len(), own.len());
    for (workers, own) in by.iter().zip(own) {
        assert!(!workers.is_empty() && workers.iter().all(|worker| own.contains(worker)), "{by:?}");
    }
}

#[test]
fn the_callers_thread_fires_source_and_sink_if_they_are_worker_0s() {
    let here = std::thread::current().id();
    let count = Arc::new(AtomicUsize::new(0));
    let (at_source, at_sink) = (count.clone(), count.clone());
    let note = move |count: &AtomicUsize| {
        assert_eq!(std::thread::current().id(), here);
        count.fetch_add(1, Ordering::Relaxed);
    };
    let source = thalweg::from_iter((0..1000u64).inspect(move |_| note(&at_source)));
    let sink = source.map(|n| n + 1).for_each(move |_| note(&at_sink));
    let options = with(2, |plan| {
        plan.affinity_mut().extend([(NodeId(0), 0), (NodeId(1), 1), (NodeId(2), 0)]);
    });
    sink.run_with(&options).unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 2000);
}

/// As many threads as nodes, fewer and more, and none of the plan's decisions but the policy.
#[test]
fn without_segments_the_nodes_are_dealt() {
    for threads in 1..=8 {
        let options = Options::new().threads(threads).policy("static").timeline(1 << 12);
        let (items, report) = watch("dealt", || squares(3000).run_with(&options)).unwrap().into_parts();
        assert!(items.into_iter().eq(expected(3000)), "{threads} threads");
        assert!(activated_by(&report).iter().all(|workers| workers.len() == 1), "{threads} threads");
    }
}

/// Channels of one item, in which each segment is half ready with one and never for two: each change wakes a worker.
#[test]
fn channels_of_one_item_wake_their_workers() {
    for plan in [mapped as fn(&mut Plan), |_| ()] {
        let options = with(4, plan).capacity(1).claim_length(1);
        let items = watch("one item", || squares(3000).run_with(&options)).unwrap().into_value();
        assert!(items.into_iter().eq(expected(3000)));
    }
}

/// The source publishes all items at once, and each firing waits until all have begun. Each worker has a segment of its own
/// beside the replica, so the one that is woken may find other work first.
#[test]
fn one_change_wakes_the_workers_of_all_replicas() {
    const ITEMS: usize = 4;
    let begun = Arc::new(AtomicUsize::new(0));
    let wait = move |item: usize| {
        begun.fetch_add(1, Ordering::SeqCst);
        while begun.load(Ordering::SeqCst) < ITEMS {
            std::thread::sleep(Duration::from_micros(100));
        }
        item
    };
    let options = with(ITEMS, |plan| {
        (plan.claim_lengths_mut()[0], plan.claim_lengths_mut()[1]) = (ITEMS, 1);
        plan.affinity_mut().extend([(NodeId(0), 0), (NodeId(2), 1)]);
        plan.pools_mut().insert(NodeId(1), vec![3, 0, 1, 2]);
    });
    let sum = thalweg::from_iter(0..ITEMS).par_map(wait).fold(0, |sum, item| sum + item);
    assert_eq!(*watch("one change", || sum.run_with(&options.repeatable())).unwrap(), 6);
}

/// Two workers take claims of two and of one firing that sleep for a millisecond, and are not busy otherwise. Without shares their
/// firings would take turns.
#[test]
fn claims_of_long_firings_follow_shares() {
    let run = |shares: [u32; 2]| {
        let options = with(3, move |plan| {
            plan.affinity_mut().extend([(NodeId(0), 0), (NodeId(2), 0)]);
            plan.pools_mut().insert(NodeId(1), vec![1, 2]);
            plan.shares_mut().insert(NodeId(1), shares.to_vec());
        });
        let source = thalweg::from_iter(0..200u64);
        let slow = source.par_map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            std::thread::current().id()
        });
        let by = watch("shares", || slow.collect().run_with(&options)).unwrap().into_value();
        by.chunk_by(|a, b| a == b).count()
    };
    undisturbed(|| {
        let (equal, unequal) = (run([1, 1]), run([4, 1]));
        assert!(unequal * 2 < equal, "{equal} and {unequal} stretches of items");
    });
}

#[test]
fn a_list_that_does_not_fit_is_refused() {
    let refused = |edit: fn(&mut Plan)| squares(1).run_with(&with(2, edit)).unwrap_err().to_string();
    let error = refused(|plan| _ = plan.pools_mut().insert(NodeId(1), vec![1, 7]));
    assert!(error.contains("node `square` belongs to worker 7 in the plan"), "{error}");
    let error = refused(|plan| _ = plan.shares_mut().insert(NodeId(1), vec![1]));
    assert!(error.contains("node `square` has 1 shares in the plan and 0 workers"), "{error}");
}

/// The source and the sink belong to worker 0, which has nothing to do while worker 1 computes.
#[test]
fn a_worker_that_helps_fires_nodes_of_others() {
    let options = |policy: &str| {
        with(2, |plan| {
            plan.affinity_mut().extend([(NodeId(0), 0), (NodeId(3), 1), (NodeId(4), 0)]);
            plan.pools_mut().extend([(NodeId(1), vec![1]), (NodeId(2), vec![1])]);
        })
        .policy(policy)
        .capacity(16)
        .timeline(1 << 16)
    };
    let slow = |n: u64| (0..2000).fold(n, |n, _| std::hint::black_box(n));
    let fired = |policy: &str| {
        let options = options(policy);
        let source = thalweg::from_iter(0..3000u64).par_map(slow).par_map(slow);
        let output = source.map(|n| n * 3).collect();
        let (items, report) = watch("help", || output.run_with(&options)).unwrap().into_parts();
        assert!(items.into_iter().eq((0..3000).map(|n: u64| n * 3)), "{policy}");
        activated_by(&report)
    };
    assert_eq!(fired("static")[1], BTreeSet::from([1]));
    assert_eq!(fired("static:spare=help")[1], BTreeSet::from([0, 1]));
}

/// A policy that the caller names runs by any plan.
#[test]
fn it_runs_under_a_plan_of_another_policy() {
    let options = Options::new().threads(3);
    let (items, report) = watch("under", || {
        let output = squares(500);
        output.graph().run_under(&thalweg::embed::policy::Static::default(), &options).map(|run| {
            let report = run.report().clone();
            (run.take(output).unwrap(), report)
        })
    })
    .unwrap();
    assert!(items.into_iter().eq(expected(500)));
    assert_eq!(report.policy(), "Static");
}

#[test]
fn cancel_failure_and_early_ends_reach_sleeping_workers() {
    let options = || with(4, mapped).capacity(8);
    let endless = || {
        let source = thalweg::from_iter(0u64..).par_map(|n| n * n).par_map(|n| n + 1);
        source.map(|n| {
            assert_ne!(n, u64::MAX);
            n
        })
    };
    let mut left = 100;
    let leaves = endless().for_each(move |_| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    watch("leaves", || leaves.run_with(&options())).unwrap();

    let cancelled = options().on_start(|run| {
        let run = run.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            run.cancel();
        });
    });
    let error = watch("cancel", || endless().for_each(|_| ()).run_with(&cancelled)).unwrap_err().into_error();
    assert!(matches!(error, Error::Cancelled), "{error:?}");

    let failing = endless().for_each(|n| assert_ne!(n, 70 * 70 + 1));
    let error = watch("failure", || failing.run_with(&options())).unwrap_err().into_error();
    assert!(matches!(error, Error::Panic { .. }), "{error:?}");
}

/// Random plans for one to eight workers: those of [`legal_on`], in which all nodes have workers. In half of them workers help.
fn planned(options: Options, threads: usize, seed: u64) -> Options {
    let policy = if seed.is_multiple_of(2) { "static" } else { "static:spare=help" };
    options.threads(threads).policy(policy).plan_with(move |graph, made| {
        let plan = legal_on(made.threads(), graph, &made, seed);
        plan.check(graph).map_err(|error| error.to_string())?;
        let assignment: Assignment = plan.assignment(graph);
        let is_run =
            |node: &NodeId| plan.own_threads().contains(node) || !assignment.workers_of(*node).is_empty();
        assert!(graph.node_ids().all(|node| is_run(&node)));
        Ok(plan)
    })
}

#[test]
fn random_graphs_have_the_items_of_the_reference() {
    for_each(10, (case(), 1..=8usize, any::<u64>()), |(case, threads, seed): (Case, _, _)| {
        let Some(expected) = reference(&case.spec) else { return Ok(()) };
        let options = planned(case.config.options(), threads, seed);
        let outcome = watch(format!("plan {seed}, {case:#?}"), || {
            run::<Counted>(&case, Disturbance::default(), &options)
        });
        let whole = outcome.end.is_ok();
        prop_assert!(whole || outcome.is_over_budget(), "the run failed: {:?}", outcome.end.err());
        for (sink, (got, expected)) in outcome.got.iter().zip(&expected).enumerate() {
            let same = got.len() <= expected.len() && got[..] == expected[..got.len()];
            prop_assert!(same && (!whole || got.len() == expected.len()), "sink {}", sink);
        }
        prop_assert_eq!(outcome.lost, 0);
        Ok(())
    });
}

/// Work-lists: loops without an input from outside, cut into segments or inside one, which end or are deadlocks.
#[test]
fn random_loops_end_as_the_reference_does() {
    let capacity = prop::sample::select(vec![1usize, 3, 1000]);
    for_each(8, (any_loop(), 1..=8usize, any::<u64>(), capacity), |(case, threads, seed, capacity)| {
        let Some(expected) = loop_reference(&case) else { return Ok(()) };
        let options = planned(Options::new().capacity(capacity), threads, seed);
        let graph = Graph::new();
        let all = build(&graph, &case).collect();
        let run = watch(format!("plan {seed}, {case:#?}"), || graph.run_with(&options));
        match (run.map_err(Error::from), expected) {
            (Ok(run), Ended::Well { done, .. }) => prop_assert_eq!(run.take(all).unwrap(), done),
            (Err(Error::Deadlock(_)), Ended::Stuck) => {}
            (end, expected) => {
                let end = end.map(|_| "it ended");
                return Err(TestCaseError::fail(format!("expected {expected:?}, got {end:?}")));
            }
        }
        Ok(())
    });
}

/// Workers that run a node, in the graph of [`squares`].
#[test]
fn a_plan_with_lists_prints_and_replays() {
    let graph = squares(1).graph().build().unwrap().graph().clone();
    let prepared = squares(1).graph().build().unwrap().prepare(&with(4, mapped)).unwrap();
    let text = prepared.plan().on(&graph).to_string();
    assert!(text.contains(" workers 1 2 3 shares 2 1 3  # square"), "{text}");
    let plan = Plan::read(&text, &graph).unwrap();
    let assignment = plan.assignment(&graph);
    let workers: Vec<&[u32]> = graph.node_ids().map(|node| assignment.workers_of(node)).collect();
    assert_eq!(workers, [&[0][..], &[1, 2, 3], &[2], &[2], &[0]]);
    let options = Options::new().plan(plan).timeline(1 << 12);
    let (items, report) = watch("replay", || squares(500).run_with(&options)).unwrap().into_parts();
    assert!(items.into_iter().eq(expected(500)));
    assert_eq!(activated_by(&report)[4], BTreeSet::from([0]));
}

/// A chain with a split and a join, whose first branch is parallel.
fn branches(items: u64) -> Output<'static, Vec<u64>> {
    let (left, right) = thalweg::from_iter(0..items).named("read").state_bytes(20 << 10).tee();
    let left = left.par_map(|n| n * n).named("square").state_bytes(90 << 10);
    let right = right.map(|n| n ^ n >> 3).named("mix").state_bytes(60 << 10);
    let both = left.zip(right).map(|(a, b)| a ^ b).named("join").state_bytes(30 << 10);
    both.par_map(|n| n + 1).named("add").state_bytes(10 << 10).collect()
}

/// Items dealt to two branches, of which one is parallel, and joined in order.
fn dealt(items: u64) -> Output<'static, Vec<u64>> {
    let graph = Graph::new();
    let [most, rest] = graph.source(0..items).named("read").deal([2, 1]);
    let most = most.par_map(|n| n * n).named("square").state_bytes(100 << 10);
    let rest = rest.map(|n| n ^ n >> 2).named("mix").state_bytes(50 << 10);
    graph.interleave([2, 1], [most, rest]).map(|n| n + 7).named("add").state_bytes(50 << 10).collect()
}

/// A loop between parallel nodes: each item depends on the one before.
fn looped(items: u64) -> Output<'static, Vec<u64>> {
    let graph = Graph::new();
    let (end, before) = graph.feedback([0u64]);
    let source =
        graph.source(0..items).named("read").par_map(|n| n * 3).named("triple").state_bytes(90 << 10);
    let mixed =
        source.zip(before).map(|(n, before)| n ^ before.rotate_left(7)).named("mix").state_bytes(60 << 10);
    let (out, next) = mixed.tee();
    next.map(|n| n + 1).named("next").feed(end);
    out.par_map(|n| n ^ 5).named("last").state_bytes(40 << 10).collect()
}

/// The plan of a mapper from a run of the graph, with the mapper's own policy.
fn by_mapper(name: &str, threads: usize, report: &Report) -> Plan {
    let (graph, target) = (report.graph(), Target::default().with_cache(128 << 10));
    let plan = Plan::new(graph, &Wishes::default().threads(threads));
    let pipeline = plan.pipeline(graph, &report.profile(), &target);
    let mapping = mappers::named(name).unwrap().map(&pipeline);
    let mut plan = plan.with_mapping(graph, &pipeline, name, &mapping).unwrap();
    *plan.policy_mut() = mapping.policy().to_owned();
    plan
}

type Make = fn(u64) -> Output<'static, Vec<u64>>;

/// Runs a graph by the plan of each mapper, on 1 to 8 workers.
fn runs_by_all_mappers(make: Make, items: u64, expected: &[u64]) {
    let report = make(items).run_with(&Options::new().threads(1)).unwrap().into_report();
    for (name, _) in mappers::names() {
        for threads in 1..=8 {
            let plan = by_mapper(name, threads, &report);
            let what = format!("{name} on {threads}:\n{}", plan.on(report.graph()));
            let run = watch(what.clone(), || make(items).run_with(&Options::new().plan(plan)));
            let (items, report) = run.unwrap().into_parts();
            assert!(items == expected, "{what}");
            assert_eq!(report.policy(), if name == "best" { "static:spare=help" } else { "static" });
        }
    }
}

#[test]
fn every_mapper_gives_the_same_output_on_any_number_of_workers() {
    let expected: Vec<u64> = (0..500).map(|n: u64| ((n * n) ^ (n ^ n >> 3)) + 1).collect();
    runs_by_all_mappers(branches, 500, &expected);
    let branch = |n: u64| if n % 3 < 2 { n * n } else { n ^ n >> 2 };
    runs_by_all_mappers(dealt, 500, &(0..500).map(|n| branch(n) + 7).collect::<Vec<_>>());
}

#[test]
fn every_mapper_gives_the_same_output_of_a_loop() {
    let mut before = 0_u64;
    let next = |n: u64| {
        let item = (n * 3) ^ before.rotate_left(7);
        before = item + 1;
        item ^ 5
    };
    runs_by_all_mappers(looped, 40, &(0..40).map(next).collect::<Vec<_>>());
}
