//! Firings that wait for their tickets: the same results as without, and the waits are measured. Random graphs and loops of
//! which a part waits are in `random_graphs` and `random_loops`.

use crate::support;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use support::section::{Step, run_with_tokens};
use support::watchdog::watch;
use thalweg::embed::graph::NodeId;
use thalweg::embed::trace::{Event as TimelineEvent, Timeline, What};
use thalweg::graph::GraphData;
use thalweg::policy::{Decision, Event, Host, Needs, Policy};
use thalweg::trace::{ReportExt, TimelineExt};
use thalweg::{Error, Graph, Handle, Options, Report, Stream, input, output, window};

/// Waits under every policy of kernels, with these numbers of workers.
fn everywhere(threads: &[usize], mut check: impl FnMut(&Options)) {
    for policy in thalweg::embed::policy::registry::names() {
        for &threads in threads {
            let options = Options::new().policy(policy).threads(threads).wait_for_tickets();
            watch(format!("{options:?}"), || check(&options));
        }
    }
}

fn waiting(threads: usize) -> Options {
    Options::new().policy("qes").threads(threads).wait_for_tickets()
}

/// Some work whose time depends on the item.
fn work(n: u64) -> u64 {
    (0..n * 7919 % 600).fold(n, |state, i| std::hint::black_box(state.rotate_left(5) ^ i))
}

/// A kernel that pushes one item, and none to three.
fn two(numbers: Stream<'_, u64>) -> (Stream<'_, u64>, Stream<'_, u64>) {
    numbers.kernel("two", (output("one").push(1), output("some"))).parallel(|numbers, (one, some)| {
        let n = numbers.pop();
        work(n);
        one.push(n + 1);
        some.extend((0..n % 4).map(|i| 10 * n + i));
    })
}

/// Kernels with two outputs, a peeking one, and a join. The results by the sequential meaning.
fn results(options: &Options) -> (Vec<u64>, Vec<u64>, Report) {
    let graph = Graph::new();
    let (one, some) = two(graph.source(0..500u64));
    let sums =
        graph.kernel("sums", window("in", one).peek(3), output("out").push(1)).parallel(|numbers, out| {
            work(numbers[0]);
            out.push(numbers[0] + numbers[1] + numbers[2]);
        });
    let (sums, some) = (sums.collect(), some.par_filter_map(|n| (n % 3 > 0).then_some(n)).collect());
    let run = graph.run_with(options).unwrap();
    let report = run.report().clone();
    (run.take(sums).unwrap(), run.take(some).unwrap(), report)
}

#[test]
fn results_are_those_of_other_runs() {
    let sums: Vec<u64> = (0..498).map(|n| 3 * n + 6).collect();
    let some: Vec<u64> =
        (0..500).flat_map(|n| (0..n % 4).map(move |i| 10 * n + i)).filter(|n| n % 3 > 0).collect();
    everywhere(&[1, 2, 8], |options| {
        for capacity in [1, 2, 1000] {
            let (got_sums, got_some, report) = results(&options.clone().capacity(capacity));
            assert!(got_sums == sums && got_some == some, "{options:?}");
            assert!(report.tickets().is_some());
        }
    });
}

/// A firing. The first one begins to sleep when the second one is computed, so that another worker has that one meanwhile.
fn slow(n: u64, second: &AtomicBool, sleep: Duration) -> u64 {
    let began = Instant::now();
    match n {
        0 => {
            while !second.load(Ordering::Relaxed) && began.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_micros(200));
            }
            std::thread::sleep(sleep);
        }
        1 => second.store(true, Ordering::Relaxed),
        _ => {}
    }
    n
}

/// A run of 40 firings, of which the first one sleeps.
fn slow_first(options: &Options, sleep: Duration) -> Result<Report, Error> {
    let second = &AtomicBool::new(false);
    let numbers = thalweg::from_iter(0..40u64).par_map(move |n| slow(n, second, sleep));
    let run = watch(format!("{options:?}"), || numbers.collect().run_with(options))?;
    assert!(run.iter().copied().eq(0..40), "{options:?}");
    Ok(run.into_report())
}

/// While the first firing sleeps, the other worker has the second one, and stalls.
#[test]
fn stalls_are_measured() {
    const SLEEP: Duration = Duration::from_millis(60);
    let report = slow_first(&waiting(2), SLEEP).unwrap();
    let stall: Duration = report.workers().iter().map(|worker| worker.stall()).sum();
    // A worker that stalls yields its core: on a busy machine it is preempted for most of the time.
    let preempted: Duration = report.workers().iter().map(|worker| worker.preempted()).sum();
    assert!(stall > Duration::ZERO && stall < report.wall() * 2, "{stall:?}\n{report}");
    assert!(stall + preempted > SLEEP / 4, "{stall:?} and {preempted:?}\n{report}");
    assert!(report.workers().iter().all(|worker| worker.stall() <= worker.queue()), "{report}");
    let total: Duration = report.workers().iter().map(|worker| worker.total()).sum();
    assert!(total < report.wall().mul_f64(2.2), "{total:?}\n{report}");
    let tickets = report.tickets().unwrap();
    assert!(tickets.waits() > 0 && tickets.max_under_way() >= 2 && tickets.mean_under_way() >= 2.0);
    assert!(report.with_kernel()[3] > 0.0);
    let text = report.to_string();
    assert!(text.contains("firings waited for their tickets") && !text.contains("by construction"), "{text}");
    let again = Report::from_json(&report.to_json()).unwrap();
    assert_eq!((again.tickets(), again.workers()), (report.tickets(), report.workers()));
    assert!(report.to_html().contains("firings waited for their tickets"));
}

/// The stalls of a timeline are those of the report, and parts of activations of their nodes.
#[test]
fn a_timeline_has_the_stalls() {
    let report = slow_first(&waiting(2).timeline(1 << 16), Duration::from_millis(60)).unwrap();
    let (mut stalled, mut busy) = (Duration::ZERO, Duration::ZERO);
    for track in report.timeline().unwrap().tracks() {
        assert_eq!(track.lost(), 0);
        let activations = || {
            let events = track.events().iter().enumerate();
            events.filter(|(_, event)| matches!(event.what(), What::Activation { .. }))
        };
        for (at, stall) in track.events().iter().enumerate() {
            let What::Stall { node: of, .. } = stall.what() else { continue };
            stalled += stall.what().length();
            let contains = |event: &TimelineEvent| {
                let What::Activation { node, .. } = event.what() else { return false };
                node == of && event.at() <= stall.at() && event.end() >= stall.end()
            };
            assert!(activations().any(|(behind, event)| behind > at && contains(event)), "{stall:?}");
        }
        busy += activations().map(|(_, event)| event.what().length()).sum::<Duration>();
    }
    let nodes: Duration = report.nodes().iter().map(|node| node.busy()).sum();
    // Activations have their stalls, which the busy time of nodes leaves out.
    assert!(stalled > Duration::ZERO && (nodes + stalled).abs_diff(busy) < busy / 20, "{busy:?}\n{report}");
    // The part of them in which the worker had a core.
    let stall: Duration = report.workers().iter().map(|worker| worker.stall()).sum();
    assert!(stalled >= stall.mul_f64(0.99), "{stalled:?}\n{report}");
    let text = report.timeline().unwrap().to_json(report.graph());
    assert_eq!(Timeline::from_json(&text, report.graph()).as_ref(), Ok(report.timeline().unwrap()));
}

#[test]
fn other_runs_have_no_stall() {
    let report = slow_first(&Options::new().policy("qes").threads(2), Duration::from_millis(20)).unwrap();
    assert!(report.tickets().is_none() && report.workers().iter().all(|worker| worker.stall().is_zero()));
    assert!(report.to_string().contains("stall 0 % by construction"));
    assert!(!report.to_json().contains("tickets") && !report.to_json().contains("stall"));
}

/// A policy that notes the waits of each firing that has ended.
struct Waits<P>(P, Mutex<Vec<Option<u64>>>);

impl<P: Policy> Policy for Waits<P> {
    type Local = P::Local;
    type Shared = P::Shared;

    fn needs(&self, graph: &GraphData) -> Needs {
        self.0.needs(graph)
    }

    fn start<H: Host<P::Shared>>(&self, worker: usize, host: &mut H) -> P::Local {
        self.0.start(worker, host)
    }

    fn next<H: Host<P::Shared>>(
        &self,
        me: &mut P::Local,
        last: Option<(NodeId, Event)>,
        host: &mut H,
    ) -> Decision {
        if let Some((NodeId(1), Event::Budget)) = last {
            self.1.lock().unwrap().push(host.ticket_waits());
        }
        self.0.next(me, last, host)
    }
}

/// The waits of all firings of a run, of which the first one sleeps.
fn waits(threads: usize, options: &Options) -> Vec<Option<u64>> {
    let options = &options.clone().threads(threads);
    let (graph, second) = (Graph::new(), &AtomicBool::new(threads == 1));
    let numbers = graph.source(0..40u64).par_map(|n| slow(n, second, Duration::from_millis(40)));
    numbers.for_each(drop);
    let policy = Waits(thalweg::embed::policy::Qes, Mutex::default());
    let prepared = graph.build().unwrap().prepare(options).unwrap();
    watch(format!("{options:?}"), || prepared.run_under(&policy).unwrap());
    policy.1.into_inner().unwrap()
}

#[test]
fn policies_see_the_waits_of_a_firing() {
    let seen = waits(2, &Options::new().wait_for_tickets());
    assert!(seen.iter().all(Option::is_some), "{seen:?}");
    assert!(seen.iter().flatten().any(|waits| *waits > 0), "{seen:?}");
    assert!(waits(2, &Options::new()).iter().all(Option::is_none));
    // One worker has no other one to wait for.
    assert!(waits(1, &Options::new().wait_for_tickets()).iter().all(|waits| *waits == Some(0)));
}

/// The consumer is slower than the kernel: firings are suspended, no more than the window holds.
#[test]
fn firings_without_room_are_suspended() {
    everywhere(&[4], |options| {
        let slow = |n: u64| std::thread::sleep(Duration::from_micros(50 * (n % 2)));
        let sink = thalweg::from_iter(0..400u64).par_map(|n| n).for_each(slow);
        let report = sink.run_with(&options.clone().capacity(1)).unwrap().into_report();
        let tickets = report.tickets().unwrap();
        assert!(tickets.suspensions() > 0, "{report}");
        let most = (report.threads() + report.plan().unwrap().window()) as u64;
        assert!(
            tickets.max_under_way() > report.threads() as u64 && tickets.max_under_way() <= most,
            "{report}"
        );
    });
}

/// Whatever ends a run while a worker stalls: it ends soon after the firing that the worker waits for.
#[test]
fn runs_that_fail_end() {
    const SLEEP: Duration = Duration::from_millis(100);
    let ends = |options: &Options, first: fn() -> Result<(), &'static str>| {
        let began = Instant::now();
        let numbers = thalweg::from_iter(0..1_000_000u64).kernel("first", output("out").push(1));
        let numbers = numbers.parallel(move |numbers, out| {
            let n = numbers.pop();
            out.push(n);
            if n == 0 {
                std::thread::sleep(SLEEP);
                return first();
            }
            Ok(())
        });
        let failed = watch(format!("{options:?}"), || numbers.for_each(drop).run_with(options).unwrap_err());
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        Error::from(failed)
    };
    everywhere(&[2, 8], |options| {
        assert!(matches!(ends(options, || Err("injected")), Error::Node { .. }));
        assert!(matches!(ends(options, || panic!("injected")), Error::Panic { .. }));
        let late = options.clone().deadline(SLEEP / 2);
        assert!(matches!(ends(&late, || Ok(())), Error::Deadline(_)));
        let cancelled = options.clone().on_start(|run: &Handle| {
            let run = run.clone();
            std::thread::spawn(move || {
                std::thread::sleep(SLEEP / 2);
                run.cancel();
            });
        });
        assert!(matches!(ends(&cancelled, || Ok(())), Error::Cancelled));
    });
}

/// The consumer needs eight items of both outputs. The first one gets three times as many, and its channel holds eight.
#[test]
fn full_channels_grow() {
    everywhere(&[1, 2, 4], |options| {
        // A load that ends only when the channels have grown.
        let over = &AtomicBool::new(false);
        let graph = Graph::new();
        graph.source((0u64..).take_while(|_| !over.load(Ordering::Relaxed))).blocking().for_each(|_| {
            std::thread::sleep(Duration::from_micros(100));
        });
        let three = graph.source(1..9u64).kernel("three", (output("three"), output("one").push(1)));
        let (three, one) = three.parallel(|numbers, (three, one)| {
            let n = numbers.pop();
            three.extend([n; 3]);
            one.push(n + 1);
        });
        let ins = (input("one", one).pop(8), input("three", three).pop(8));
        let sum = graph.kernel("both", ins, output::<u64>("sum").push(1)).sequential(|(one, three), out| {
            (0..8).for_each(|_| _ = three.pop());
            over.store(true, Ordering::Relaxed);
            out.push((0..8).map(|_| one.pop()).sum());
        });
        let sum = sum.collect();
        let run = graph.run_with(&options.clone().capacity(1)).unwrap();
        assert!(!run.report().growths().is_empty());
        assert_eq!(run.take(sum).unwrap(), [44]);
    });
}

/// The results that weigh this exceed the budget of the tests below.
const BIG: usize = 150_000;
const BUDGET: usize = 1 << 17;

/// A budget that each result exceeds.
#[test]
fn results_do_not_depend_on_the_budget() {
    everywhere(&[1, 2, 8], |options| {
        let big = thalweg::from_iter(0..60u8).par_map(|n| vec![n; BIG]).weigh(Vec::len);
        let run = big.fold(0, |sum, big| sum + big.len()).run_with(&options.clone().budget(BUDGET)).unwrap();
        assert_eq!(*run, 60 * BIG);
    });
}

/// While the first firing sleeps, the second one is computed, waits for its ticket and exceeds the budget. So no other one
/// begins before the first has left, although workers and items are there.
#[test]
fn computed_firings_count_for_the_budget() {
    const SLEEP: Duration = Duration::from_millis(400);
    for (policy, threads) in [("qes", 4), ("auto", 4), ("ws-last", 8)] {
        let options = Options::new().policy(policy).threads(threads).wait_for_tickets();
        let early = |options: &Options| {
            let (second, left, early) =
                (&AtomicBool::new(false), &AtomicBool::new(false), &AtomicUsize::new(0));
            let later = |n: &u64| {
                while *n == 2 && !second.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_micros(200));
                }
                // The second firing has ended, and is counted soon.
                std::thread::sleep(if *n == 2 { SLEEP / 4 } else { Duration::ZERO });
            };
            let big = Graph::new().source((0..20u64).inspect(later)).blocking().par_map(|n| {
                early.fetch_add(usize::from(n > 1 && !left.load(Ordering::Relaxed)), Ordering::Relaxed);
                slow(n, second, SLEEP);
                left.fetch_or(n == 0, Ordering::Relaxed);
                vec![0u8; BIG]
            });
            let sum = big.weigh(Vec::len).fold(0, |sum, big| sum + big.len());
            assert_eq!(*watch(format!("{options:?}"), || sum.run_with(options)).unwrap(), 20 * BIG);
            early.load(Ordering::Relaxed)
        };
        assert_eq!(early(&options.clone().budget(BUDGET)), 0, "{options:?}");
        // Where the budget allows it, other firings begin.
        assert!(early(&options) > 0, "{options:?}");
    }
}

#[test]
fn items_in_flight_are_limited() {
    let (steps, mut reached) = ([Step::Many { most: 3, workers: None }, Step::Map { parallel: true }], 0);
    everywhere(&[1, 2, 8], |options| {
        let run = run_with_tokens(&steps, (300, 7), 3, None, options);
        assert_eq!(run.results, run.expected, "{options:?}");
        assert!(run.most <= 3 && !run.has_grown(), "{} in flight: {options:?}", run.most);
        assert!(run.report.tickets().is_some(), "{options:?}");
        reached = reached.max(run.most);
    });
    assert_eq!(reached, 3, "the tokens are used");
}

/// Each item goes round until it has its result, and then the loop ends and has kept nothing.
#[test]
fn loops_end() {
    everywhere(&[1, 2, 8], |options| {
        let rounds = thalweg::from_iter(0..100u64).par_iterate(8, |n| match n % 7 {
            0 => std::ops::ControlFlow::Break(n),
            _ => std::ops::ControlFlow::Continue(n + 1),
        });
        let run = rounds.collect().run_with(&options.clone().capacity(2)).unwrap();
        assert!(run.report().channels().iter().all(|channel| channel.leftover() == 0), "{}", run.report());
        assert!(run.into_value().into_iter().eq((0..100u64).map(|n| n.next_multiple_of(7))), "{options:?}");
    });
}

#[test]
fn a_kernel_with_one_thread_has_nothing_to_wait_for() {
    let options = Options::new().thread_per_node().wait_for_tickets();
    let error = thalweg::from_iter(0..3u64).collect().run_with(&options).unwrap_err();
    assert!(error.to_string().contains("`Options::thread_per_node` are both set"), "{error}");
}

/// Waits have the unit of dilated time, and a dilated stall ends with the run.
#[cfg(unix)]
#[test]
fn dilated_waits_are_those_of_the_dilated_time() {
    let scale = 4 * 8 + 100;
    let options = waiting(8).dilate(scale);
    let spin = |n: u64| {
        let from = Instant::now();
        while n == 0 && from.elapsed() < Duration::from_micros(300) {}
        n
    };
    let sum = thalweg::from_iter(0..40u64).par_map(spin).fold(0, |sum, n| sum + n);
    let report = watch("dilated", || sum.run_with(&options)).unwrap().into_report();
    let stall: Duration = report.workers().iter().map(|worker| worker.stall()).sum();
    let waits = report.tickets().unwrap().waits() as f64;
    // 100 ns in the paper's time for each wait.
    let each = stall.as_secs_f64() * 1e9 / f64::from(scale) / waits;
    assert!(
        stall > Duration::from_millis(20) && each > 30.0 && each < 300.0,
        "{each} ns, {stall:?}\n{report}"
    );
    let began = Instant::now();
    let error =
        slow_first(&options.deadline(Duration::from_millis(50)), Duration::from_millis(200)).unwrap_err();
    assert!(matches!(error, Error::Deadline(_)) && began.elapsed() < Duration::from_secs(5), "{error}");
}
