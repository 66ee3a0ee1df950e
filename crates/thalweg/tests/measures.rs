//! What a report says about times, against what the nodes did.

use crate::support::disturbed::undisturbed;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use thalweg::Report;
use thalweg::embed::trace::{Ended, What};
use thalweg::trace::{Cause, WorkerReport};
use thalweg::{Graph, Options};

/// Computes for this long.
fn spin(time: Duration) {
    let from = Instant::now();
    while from.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Four nodes in a row, of which the third takes `slow` for each item, the others next to nothing.
fn chain(items: u64, slow: Duration, options: &Options) -> Report {
    let graph = Graph::new();
    graph
        .source(0..items)
        .named("numbers")
        .map(|number: u64| number + 1)
        .named("add")
        .map(move |number| {
            spin(slow);
            number
        })
        .named("slow")
        .for_each(drop)
        .named("sink");
    graph.run_with(options).unwrap().into_report()
}

fn node(report: &Report, name: &str) -> thalweg::embed::graph::NodeId {
    let found = report.graph().node_ids().find(|id| report.graph().node(*id).name() == name);
    found.unwrap_or_else(|| panic!("no node `{name}`"))
}

/// `value` is `wanted` up to a share of it, and a millisecond.
#[track_caller]
fn assert_near(value: Duration, wanted: Duration, share: f64) {
    let off = value.abs_diff(wanted);
    let most = wanted.mul_f64(share) + Duration::from_millis(1);
    assert!(off <= most, "{value:?} is not {wanted:?} within {most:?}");
}

/// The busy time of a node and its waits are its time in the run, up to its last activation.
#[test]
fn busy_time_and_waits_add_up_to_the_run() {
    for options in [Options::new().threads(1), Options::new().threads(2), Options::new().thread_per_node()] {
        let report = chain(20_000, Duration::from_micros(5), &options);
        for id in report.graph().node_ids() {
            let (busy, waited) = (report.nodes()[id.index()].busy(), report.total_wait(id));
            // The nodes before the slow one end before the run does, by what the channels hold.
            let early = if id < node(&report, "slow") { 0.5 } else { 0.1 };
            let sum = busy + waited;
            // A worker that is preempted between two activations adds that time to the second one's.
            let preempted: Duration = report.workers().iter().map(|worker| worker.preempted()).sum();
            let most = report.wall().mul_f64(1.05) + preempted + Duration::from_millis(1);
            assert!(sum <= most, "{sum:?} of {report}");
            assert!(sum >= report.wall().mul_f64(1.0 - early), "{sum:?} of {report}");
        }
    }
}

/// The nodes' busy times are what the workers' accounts say that they did.
#[test]
fn busy_times_of_nodes_and_workers_agree() {
    for threads in 1..=2 {
        let report = chain(20_000, Duration::from_micros(5), &Options::new().threads(threads));
        let nodes: Duration = report.nodes().iter().map(|node| node.busy()).sum();
        let on_cpu = |w: &thalweg::trace::WorkerReport| w.application() + w.queue() + w.scheduler();
        let workers: Duration = report.workers().iter().map(on_cpu).sum();
        let preempted: Duration = report.workers().iter().map(|worker| worker.preempted()).sum();
        let slack = nodes.mul_f64(0.05) + Duration::from_millis(1);
        assert!(workers <= nodes + slack, "{workers:?} of {nodes:?}: {report}");
        assert!(workers + preempted + slack >= nodes, "{workers:?} of {nodes:?}: {report}");
        let total: Duration = report.workers().iter().map(|worker| worker.total()).sum();
        assert_near(total, report.wall() * threads as u32, 0.1);
    }
}

/// On threads of their own, the nodes around a slow one wait for it, and say so.
#[test]
fn nodes_wait_for_the_slow_one() {
    let report = chain(5_000, Duration::from_micros(20), &Options::new().thread_per_node());
    let (add, slow, sink) = (node(&report, "add"), node(&report, "slow"), node(&report, "sink"));
    assert!(report.nodes()[slow.index()].busy() > report.wall() / 3, "{report}");
    let output = report.graph().node(add).outputs()[0].channel().unwrap();
    let (cause, time) = report.waits(add)[0];
    assert_eq!(cause, Cause::Room(output), "{report}");
    assert!(time > report.wall() / 4, "{time:?} of {report}");
    let input = report.graph().node(sink).inputs()[0].channel().unwrap();
    let (cause, time) = report.waits(sink)[0];
    assert_eq!(cause, Cause::Items(input), "{report}");
    assert!(time > report.wall() / 4, "{time:?} of {report}");
}

/// On one worker nodes wait for that worker.
#[test]
fn nodes_wait_for_the_only_worker() {
    let graph = Graph::new();
    for name in ["one", "two", "three"] {
        let sink = graph.source(0..400).named(name).for_each(|_| spin(Duration::from_micros(50)));
        sink.named(&format!("{name}-sink"));
    }
    let report = graph.run_with(&Options::new().threads(1)).unwrap().into_report();
    let waits: Duration = ["one-sink", "two-sink", "three-sink"]
        .map(|name| report.nodes()[node(&report, name).index()].other_waits().worker())
        .iter()
        .sum();
    assert!(waits > report.wall(), "{waits:?} of {report}");
}

/// The distribution of firings that take 20 and 180 microseconds in turn.
#[test]
fn service_times_have_mean_and_variance() {
    undisturbed(|| {
        let graph = Graph::new();
        let mut turn = 0;
        let work = graph.source(0..4000).for_each(move |_| {
            turn += 1;
            spin(Duration::from_micros(if turn % 2 == 0 { 20 } else { 180 }));
        });
        work.named("work");
        let report = graph.run_with(&Options::new().threads(1)).unwrap().into_report();
        let service = report.nodes()[node(&report, "work").index()].service().unwrap();
        let firing = service.firing();
        assert!(firing.samples() > 20, "{firing:?}");
        // Half of them take 20 us, half 180 us, unless the thread is preempted meanwhile.
        assert!(firing.buckets()[14] > firing.count() / 4, "{firing:?}");
        assert!(firing.buckets()[17] > firing.count() / 4, "{firing:?}");
        assert!(firing.mean() > 95_000.0 && firing.variance().sqrt() > 70_000.0, "{firing:?}");
        let activations = report.nodes()[node(&report, "work").index()].activations();
        assert!(service.activation().count() <= activations, "{activations} {service:?}");
    });
}

/// Short firings are measured too, and their mean is that of all firings.
/// Firings of 1 and of 20 us in turn, whose mean is in neither's bucket: single firings are measured, not claims of many.
#[test]
fn firings_of_a_parallel_node_are_measured_one_by_one() {
    let work = |number: u64| spin(Duration::from_micros(if number.is_multiple_of(2) { 1 } else { 20 }));
    for is_weighed in [false, true] {
        let done = thalweg::from_iter(0..40_000u64).par_map(work);
        let done = if is_weighed { done.weigh(|()| 1) } else { done };
        let report = done.for_each(drop).run_with(&Options::new().threads(1)).unwrap().into_report();
        let firing = report.nodes()[1].service().unwrap().firing();
        let within = |range: std::ops::Range<usize>| {
            let buckets = firing.buckets().iter().enumerate().filter(|(bucket, _)| range.contains(bucket));
            buckets.map(|(_, count)| count).sum::<u64>() as f64 / firing.count() as f64
        };
        // 1 us is in bucket 9 or 10, 20 us in bucket 14.
        let (short, between, long) = (within(9..12), within(12..14), within(14..16));
        assert!(short > 0.25 && long > 0.25 && between < 0.1, "{short} {between} {long}: {firing:?}");
        let profile = report.profile().nodes()[1];
        assert_eq!(profile.variance(), Some(firing.variance()));
    }
}

#[test]
fn short_firings_are_sampled() {
    undisturbed(|| {
        let report = chain(2_000_000, Duration::ZERO, &Options::new().threads(1));
        let add = &report.nodes()[node(&report, "add").index()];
        let firing = add.service().unwrap().firing();
        assert!(!firing.is_empty(), "{firing:?}");
        let mean = add.busy().as_nanos() as f64 / add.firings() as f64;
        assert!((mean / 10.0..mean * 10.0).contains(&firing.mean()), "{mean} {firing:?}");
    });
}

/// The activations of a timeline are those of the report, in order and without overlap.
#[test]
fn a_timeline_has_all_activations() {
    let report = chain(2_000, Duration::from_micros(20), &Options::new().threads(2).timeline(1 << 16));
    let timeline = report.timeline().unwrap();
    assert_eq!(timeline.tracks().len(), 3, "two workers, and the growths");
    let mut busy = vec![0; report.nodes().len()];
    for track in timeline.tracks() {
        assert_eq!(track.lost(), 0);
        let mut end = 0;
        for event in track.events() {
            let What::Activation { node, ns, .. } = event.what() else { continue };
            busy[node.index()] += ns;
            assert!(event.at() + 1 >= end, "{} begins before {end}", event.at());
            end = event.at() + ns;
        }
        assert!(Duration::from_nanos(end) <= report.wall() + Duration::from_millis(1));
    }
    for (busy, node) in busy.iter().zip(report.nodes()) {
        assert_near(Duration::from_nanos(*busy), node.busy(), 0.01);
    }
    let fills = timeline.tracks().iter().flat_map(|track| track.events());
    assert!(fills.clone().any(|event| matches!(event.what(), What::Fill { .. })));
    let empty = |what: &What| matches!(what, What::Activation { ended: Ended::Empty(_), .. });
    assert!(fills.clone().any(|event| empty(&event.what())));
}

/// A thread's track keeps its latest events.
#[test]
fn a_timeline_is_bounded() {
    let report = chain(20_000, Duration::from_micros(1), &Options::new().threads(1).timeline(16));
    let track = &report.timeline().unwrap().tracks()[0];
    assert_eq!(track.events().len(), 16);
    assert!(track.lost() > 100, "{}", track.lost());
    let last = track.events().last().unwrap();
    assert!(Duration::from_nanos(last.at()) > report.wall() / 2);
    assert!(chain(10, Duration::ZERO, &Options::new()).timeline().is_none());
}

/// A parallel node waits while no worker is in it, however many workers come to it.
#[test]
fn a_parallel_node_waits_once() {
    let graph = Graph::new();
    let numbers = graph.source((0..300).inspect(|_| spin(Duration::from_micros(100))));
    let squares = numbers.named("numbers").par_map(|number: u64| {
        spin(Duration::from_micros(50));
        number * number
    });
    squares.named("square").for_each(drop).named("sink");
    let report = graph.run_with(&Options::new().threads(4)).unwrap().into_report();
    for (id, channel) in report.graph().channel_ids().zip(report.channels()) {
        let most = report.wall().mul_f64(1.02) + Duration::from_millis(1);
        assert!(channel.consumer_waited() <= most, "{}: {report}", report.graph().channel_name(id));
        assert!(channel.producer_waited() <= most, "{}: {report}", report.graph().channel_name(id));
    }
}

/// A parallel node before a slow one waits for room, also where each of its claims was granted.
#[test]
fn a_parallel_node_waits_for_room() {
    let graph = Graph::new();
    let squares = graph.source(0..3000).named("numbers").par_map(|number: u64| number * number);
    let slow = |_| spin(Duration::from_micros(20));
    squares.named("square").capacity(64).for_each(slow).named("sink");
    let report = graph.run_with(&Options::new().threads(2)).unwrap().into_report();
    let square = node(&report, "square");
    let output = report.graph().node(square).outputs()[0].channel().unwrap();
    let waits = report.waits(square);
    let room =
        waits.iter().find(|(cause, _)| *cause == Cause::Room(output)).map_or(Duration::ZERO, |at| at.1);
    assert!(room > report.wall() / 4, "{waits:?} of {report}");
}

/// In the first milliseconds of a process, too, what a thread does follows what it did before.
#[test]
fn timelines_of_short_runs_do_not_overlap() {
    for _ in 0..50 {
        let report = chain(20, Duration::ZERO, &Options::new().threads(2).timeline(1000));
        for track in report.timeline().unwrap().tracks() {
            let mut end = 0;
            for event in track.events().iter().filter(|event| !event.what().length().is_zero()) {
                assert!(event.at() >= end, "{event:?} begins before {end}");
                end = event.at() + event.what().length().as_nanos() as u64;
            }
        }
    }
}

/// The firings of a slow source count while it runs.
#[test]
fn a_slow_source_is_seen_to_fire() {
    let (started, runs) = std::sync::mpsc::channel();
    let graph = Graph::new();
    let numbers = graph.source((0..60).inspect(|_| std::thread::sleep(Duration::from_millis(5))));
    numbers.blocking().for_each(drop);
    let options = Options::new().threads(1).on_start(move |run| _ = started.send(run.clone()));
    let most = std::thread::spawn(move || {
        let run = runs.recv().unwrap();
        let mut most = 0;
        while let Some(snapshot) = run.snapshot() {
            most = most.max(snapshot.nodes()[0].firings());
            std::thread::sleep(Duration::from_millis(1));
        }
        most
    });
    graph.run_with(&options).unwrap();
    assert!(most.join().unwrap() >= 16);
}

/// Under `partition` a worker takes no work of others, and the report says so.
#[test]
fn a_partitioned_run_reports_no_steals() {
    for threads in [2, 4] {
        let report = chain(20_000, Duration::ZERO, &Options::new().threads(threads).policy("partition"));
        assert_eq!(report.workers().iter().map(|worker| worker.steals()).sum::<u64>(), 0, "{report}");
        let report = chain(20_000, Duration::ZERO, &Options::new().threads(threads).policy("ws-last"));
        assert!(report.workers().iter().all(|worker| worker.steals() <= worker.steal_attempts()), "{report}");
    }
}

/// Under work stealing, tries to steal take time, which is a part of the scheduler's; under `partition` and on one worker there
/// are none.
#[test]
fn time_in_steals_is_measured() {
    let times = |options: &Options| {
        let report = chain(20_000, Duration::ZERO, options);
        let workers = report.workers();
        assert!(workers.iter().all(|worker| worker.stealing() <= worker.scheduler()), "{report}");
        let tried = |worker: &&WorkerReport| worker.steal_attempts() > 0;
        assert!(workers.iter().filter(|worker| !tried(worker)).all(|worker| worker.stealing().is_zero()));
        workers.iter().map(|worker| worker.stealing()).sum::<Duration>()
    };
    for options in [Options::new().threads(1), Options::new().threads(4).policy("partition")] {
        assert_eq!(times(&options), Duration::ZERO, "{options:?}");
    }
    // Of a sample: a run in which no steal was in it is possible.
    let stealing = Options::new().threads(4).policy("ws-last").capacity(8);
    assert!((0..20).any(|_| times(&stealing) > Duration::ZERO));
}

/// The mean of a channel's items is over time: by Little's law the times of all items in it, by the run's. Over activations it
/// would be twice as large here: both ends look at times that depend on the items, the consumer just after one has come. The mean
/// is of a sample: an activation of a run may count 64 times, and on a loaded machine its thread may lose its core in that one.
#[test]
fn a_channel_that_is_empty_most_of_the_time_holds_few_items_in_the_mean() {
    let nap = |ms| {
        std::thread::sleep(Duration::from_millis(ms));
        Instant::now()
    };
    let check = |options: &Options| {
        let spent = [Mutex::new(Duration::ZERO), Mutex::new(Duration::ZERO)];
        let [first, second] = &spent;
        let graph = Graph::new();
        let items = graph.source((0..80).map(|_| nap(4))).capacity(16);
        let worked = items.par_map(|pushed| {
            let now = nap(1);
            *first.lock().unwrap() += now - pushed;
            now
        });
        worked.capacity(16).for_each(|pushed| *second.lock().unwrap() += nap(1) - pushed);
        let report = graph.run_with(options).unwrap().into_report();
        for (channel, spent) in report.channels().iter().zip(spent) {
            let expected = spent.into_inner().unwrap().as_secs_f64() / report.wall().as_secs_f64();
            let mean = channel.mean().expect("long activations are sampled");
            assert!(
                (0.7 * expected..1.4 * expected).contains(&mean),
                "{mean} items, {expected} expected: {options:?}\n{report}"
            );
        }
    };
    for options in [Options::new().threads(3), Options::new().thread_per_node(), Options::new().pools(1)] {
        undisturbed(|| check(&options));
    }
}
