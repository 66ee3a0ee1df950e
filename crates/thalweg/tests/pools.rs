//! The policy `pools`: each worker serves one node, and a parallel node has several.

use crate::support::watchdog::watch;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use thalweg::embed::graph::NodeId;
use thalweg::embed::runtime::EmbedOptions;
use thalweg::embed::trace::What;
use thalweg::plan::Plan;
use thalweg::prelude::*;
use thalweg::{Error, Output};

/// Source, parallel node, sequential node and sink.
fn squares(items: u64) -> Output<'static, Vec<u64>> {
    let source = thalweg::from_iter(0..items).named("read");
    source.par_map(|n| n * n).named("square").map(|n| n + 1).named("add").collect()
}

fn expected(items: u64) -> impl Iterator<Item = u64> {
    (0..items).map(|n| n * n + 1)
}

/// By node: the workers whose timelines have an activation of it.
pub fn activated_by(report: &thalweg::Report) -> Vec<BTreeSet<usize>> {
    let mut by = vec![BTreeSet::new(); report.nodes().len()];
    let timeline = report.timeline().expect("it was recorded");
    for (worker, track) in timeline.tracks().iter().enumerate().take(report.threads()) {
        for event in track.events() {
            if let What::Activation { node, .. } = event.what() {
                by[node.index()].insert(worker);
            }
        }
    }
    by
}

#[test]
fn a_worker_fires_its_node_and_no_other() {
    let options = Options::new().pools(3).timeline(1 << 16);
    let (items, report) = watch("pools", || squares(200_000).run_with(&options)).unwrap().into_parts();
    assert!(items.into_iter().eq(expected(200_000)));
    assert_eq!((report.threads(), report.policy()), (6, "pools"));
    let by = activated_by(&report);
    let pools = [vec![0], vec![1, 2, 3], vec![4], vec![5]];
    assert_eq!(by.len(), pools.len());
    for (workers, pool) in by.iter().zip(pools) {
        assert!(!workers.is_empty() && workers.iter().all(|worker| pool.contains(worker)), "{by:?}");
    }
}

/// Items for each worker of a pool that sleeps.
const EACH: usize = 80;
const SLEEP: Duration = Duration::from_millis(2);

/// The time that a pool of `workers` takes for its items, in terms of that of its sleep, and how many slept at a time at most.
fn sleeping(workers: usize) -> (f64, usize) {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let peak = most.clone();
    let sleep = move |item: usize| {
        peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(SLEEP);
        now.fetch_sub(1, Ordering::SeqCst);
        item
    };
    let items = EACH * workers;
    let output = thalweg::from_iter(0..items).par_map(sleep).fold(0, |sum, item| sum + item);
    let began = Instant::now();
    let options = Options::new().pools(workers);
    let (sum, report) = watch(format!("{workers} sleep"), || output.run_with(&options)).unwrap().into_parts();
    let took = began.elapsed();
    assert_eq!((sum, report.threads()), (items * (items - 1) / 2, workers + 2));
    (took.as_secs_f64() / SLEEP.as_secs_f64(), most.load(Ordering::SeqCst))
}

/// c workers that take T for a firing do c / T, whatever the number of cores. A sleep takes longer than asked for, 64 threads need
/// some milliseconds to start, and another program may take the cores: the first of five runs that is fast enough counts.
#[test]
fn a_pool_of_sleepers_does_its_workers_over_the_time_of_a_firing() {
    for workers in [8, 64] {
        let runs: Vec<(f64, usize)> = (0..5).map(|_| sleeping(workers)).collect();
        assert!(runs.iter().all(|(took, _)| *took >= EACH as f64), "{workers}: {runs:?}");
        let is_fast = |(took, most): &(f64, usize)| *took < 1.35 * EACH as f64 && *most == workers;
        assert!(runs.iter().any(is_fast), "{workers} workers took {runs:?} firings for {EACH} each");
    }
}

#[test]
fn a_node_has_no_more_workers_than_its_own_limit() {
    let squares = || thalweg::from_iter(0..1000u64).par_map(|n| n * n).workers(2);
    for (pools, threads) in [(1, 3), (2, 4), (9, 4)] {
        let sum = squares().fold(0, |sum, n| sum + n);
        let (sum, report) = sum.run_with(&Options::new().pools(pools)).unwrap().into_parts();
        assert_eq!((sum, report.threads()), (332_833_500, threads), "{pools}");
    }
}

#[test]
fn the_threads_are_divided_where_no_number_is_given() {
    for (threads, workers) in [(1, 4), (3, 4), (4, 4), (5, 5), (9, 9)] {
        let options = Options::new().policy("pools").threads(threads);
        let report = watch("divided", || squares(100).run_with(&options)).unwrap().into_report();
        assert_eq!(report.threads(), workers, "{threads} threads");
    }
}

#[test]
fn nodes_with_threads_of_their_own_get_no_worker() {
    let source = thalweg::from_iter(0..3000u64).blocking();
    let output = source.par_map(|n| n * n).map(|n| n + 1).collect();
    let (items, report) =
        watch("blocking", || output.run_with(&Options::new().pools(2))).unwrap().into_parts();
    assert!(items.into_iter().eq(expected(3000)));
    assert_eq!(report.threads(), 4);
}

#[test]
fn a_printed_plan_has_the_workers_and_replays() {
    let graph = squares(1).graph().build().unwrap().graph().clone();
    let prepared = squares(1).graph().build().unwrap().prepare(&Options::new().pools(2)).unwrap();
    let text = prepared.plan().on(&graph).to_string();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(" worker")).collect();
    let ends = [" worker 0  # read", " workers 1 2  # square", " worker 3  # add", " worker 4  # "];
    assert!(lines.iter().zip(ends).all(|(line, end)| line.contains(end)), "{text}");

    // The source moves to worker 4, the sink to worker 0.
    let edited = text.replace(" worker 0  # read", " worker 9").replace(" worker 4 ", " worker 0 ");
    let plan = Plan::read(&edited.replace(" worker 9", " worker 4"), &graph).unwrap();
    let options = Options::new().plan(plan).timeline(1000);
    let (items, report) = watch("replay", || squares(500).run_with(&options)).unwrap().into_parts();
    assert!(items.into_iter().eq(expected(500)));
    let by = activated_by(&report);
    assert_eq!((&by[0], &by[3]), (&BTreeSet::from([4]), &BTreeSet::from([0])));
}

#[test]
fn plans_that_share_a_worker_or_leave_a_node_out_are_refused() {
    let refused = |edit: fn(&mut Plan)| {
        let options = Options::new().pools(2).plan_with(move |_, mut plan| {
            edit(&mut plan);
            Ok(plan)
        });
        squares(1).run_with(&options).unwrap_err().to_string()
    };
    let error = refused(|plan| _ = plan.affinity_mut().insert(NodeId(2), 1));
    assert!(error.contains("worker 1 serves node `add` and node `square`"), "{error}");
    let error = refused(|plan| _ = plan.affinity_mut().remove(&NodeId(2)));
    assert!(error.contains("node `add` has no worker in the plan"), "{error}");
    let error = refused(|plan| _ = plan.pools_mut().insert(NodeId(1), vec![1, 7]));
    assert!(
        error.contains("node `square` belongs to worker 7 in the plan, the plan has 5 threads"),
        "{error}"
    );
    let error = refused(|plan| _ = plan.pools_mut().insert(NodeId(1), vec![1, 1]));
    assert!(error.contains("worker 1 is twice in the list of node `square`"), "{error}");
    let error = refused(|plan| _ = plan.pools_mut().insert(NodeId(1), Vec::new()));
    assert!(error.contains("node `square` has `workers` without a number"), "{error}");
    let error = refused(|plan| _ = plan.pools_mut().insert(NodeId(2), vec![1]));
    assert!(error.contains("node `add` has `workers` in the plan and is not parallel"), "{error}");
    let error = refused(|plan| _ = plan.replicas_mut().insert(NodeId(1), 1));
    assert!(error.contains("node `square` has 2 workers in the plan, at most 1 may fire it"), "{error}");
}

#[test]
fn numbers_and_options_that_do_not_fit_are_refused() {
    let refused = |options: Options| match options.check() {
        Err(Error::Options(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(Options::new().pools(0)).contains("pools 0: at least 1 is needed"));
    assert!(
        refused(Options::new().pools(4097)).contains("4097 workers for each parallel node: at most 4096")
    );
    let both = refused(Options::new().pools(2).threads(2));
    assert!(both.contains("`Options::pools` and `Options::threads` are both set"), "{both}");
    let other = refused(Options::new().pools(2).policy("qes"));
    assert!(other.contains("`Options::pools` and policy `qes` are both set"), "{other}");
    assert!(Options::new().pools(2).policy("pools").check().is_ok());

    // With one for each of the three other nodes.
    let error = squares(10).run_with(&Options::new().pools(4094)).unwrap_err().into_error();
    assert!(matches!(error, Error::Plan(_)), "{error:?}");
    assert!(error.to_string().contains("the nodes need 4097 workers, at most 4096 can run"), "{error}");
}

/// A policy with pools that the caller names, on a plan without.
#[test]
fn a_plan_without_pools_is_refused() {
    let error = squares(1).graph().run_under(&thalweg::embed::policy::Pools, &Options::new()).unwrap_err();
    assert!(error.to_string().contains("the policy has pools, and the plan of the run none"), "{error}");
}

/// Two sources, of which the caller's worker serves the first: its first firing waits for the other source, which no change makes
/// ready.
#[test]
fn a_source_of_another_worker_begins_at_once() {
    let begun = Arc::new(AtomicUsize::new(0));
    let seen = begun.clone();
    let first = move |n: &u64| {
        while *n == 0 && seen.load(Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_micros(100));
        }
    };
    let graph = Graph::new();
    let a = graph.source((0..10u64).inspect(first));
    let b = graph.source((0..10u64).inspect(move |_| _ = begun.fetch_add(1, Ordering::SeqCst)));
    let sum = a.zip(b).fold(0, |sum, (a, b)| sum + a + b);
    assert_eq!(*watch("other source", || sum.run_with(&Options::new().pools(1))).unwrap(), 90);
}

/// The source publishes all items at once, which wakes one worker, and each firing waits until all have begun: the worker that
/// claims one wakes the next, and a looker would after a while. (The model `loom_pools_wake_a_second_worker` has no looker.)
#[test]
fn one_change_wakes_as_many_workers_as_have_work() {
    const ITEMS: usize = 8;
    let begun = Arc::new(AtomicUsize::new(0));
    let wait = move |item: usize| {
        begun.fetch_add(1, Ordering::SeqCst);
        while begun.load(Ordering::SeqCst) < ITEMS {
            std::thread::sleep(Duration::from_micros(100));
        }
        item
    };
    let options = Options::new().pools(ITEMS).repeatable().plan_with(|_, mut plan| {
        (plan.claim_lengths_mut()[0], plan.claim_lengths_mut()[1]) = (ITEMS, 1);
        Ok(plan)
    });
    let sum = thalweg::from_iter(0..ITEMS).par_map(wait).fold(0, |sum, item| sum + item);
    assert_eq!(*watch("one change", || sum.run_with(&options)).unwrap(), 28);
}

#[test]
fn all_sources_begin() {
    for round in 0..50u64 {
        let graph = Graph::new();
        let (a, b) = (graph.source(0..round), graph.source(0..round));
        let sum = a.zip(b).fold(0, |sum, (a, b)| sum + a + b);
        let options = Options::new().pools(1).capacity(1);
        assert_eq!(
            *watch("two sources", || sum.run_with(&options)).unwrap(),
            round * round.saturating_sub(1)
        );
    }
}

/// A slow parallel node between a source that fills its channel at once and a sink: the channel has room for one item, so each
/// item wakes a worker.
#[test]
fn channels_of_one_item_wake_their_workers() {
    for workers in [1, 2, 7] {
        let options = Options::new().pools(workers).capacity(1).claim_length(1);
        let items = watch(format!("{workers} workers"), || squares(3000).run_with(&options)).unwrap();
        assert!(items.into_value().into_iter().eq(expected(3000)), "{workers}");
    }
}

/// Firings whose results matter only after a sleeping worker of another pool has begun: a worker of the parallel node sleeps on
/// a channel of room while the others end.
#[test]
fn cancel_ends_a_run_whose_workers_sleep() {
    let options = Options::new().pools(8).on_start(|run| {
        let run = run.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            run.cancel();
        });
    });
    let sleepy = thalweg::from_iter(0..u64::MAX).par_map(|n| {
        std::thread::sleep(Duration::from_millis(1));
        n
    });
    let error = watch("cancel", || sleepy.for_each(|_| ()).run_with(&options)).unwrap_err().into_error();
    assert!(matches!(error, Error::Cancelled), "{error:?}");
}

#[test]
fn the_first_failure_ends_all_pools() {
    let failing = thalweg::from_iter(0..1_000_000u64).par_map(|n| {
        assert_ne!(n, 5000);
        n
    });
    let error = watch("failure", || failing.for_each(|_| ()).run_with(&Options::new().pools(4)));
    let error = error.unwrap_err().into_error();
    assert!(matches!(error, Error::Panic { .. }), "{error:?}");
}

/// A sink that leaves early ends all nodes, those with sleeping workers too.
#[test]
fn a_sink_that_leaves_ends_the_run() {
    let mut left = 100;
    let sink = thalweg::from_iter(0u64..).par_map(|n| n + 1).for_each(move |_| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    watch("leaves", || sink.run_with(&Options::new().pools(3))).unwrap();
}

/// A source that sleeps 1 ms for an item and a sink that sleeps 3 ms, as in the schedules of `crates/sim/tests/planned.rs`: the item
/// that the sink works on keeps its place, and the source begins only where its result has one. With room for one item it begins
/// when the sink has ended all items before, with room for two also while the sink works on one.
#[test]
fn a_channel_holds_the_item_that_its_consumer_works_on() {
    // The greatest number of earlier items that the sink had not ended when the source began another.
    let most_left = |capacity: usize| {
        let (ended, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let sleep = |ms| std::thread::sleep(Duration::from_millis(ms));
        let source = thalweg::from_iter((0..60usize).inspect(|item| {
            most.fetch_max(item - ended.load(Ordering::SeqCst), Ordering::SeqCst);
            sleep(1);
        }));
        let sink = source.for_each(|_| {
            sleep(3);
            ended.fetch_add(1, Ordering::SeqCst);
        });
        let options = Options::new().pools(1).capacity(capacity).claim_length(1);
        watch(format!("room {capacity}"), || sink.run_with(&options)).unwrap();
        most.into_inner()
    };
    assert_eq!([most_left(1), most_left(2)], [0, 1]);
}
