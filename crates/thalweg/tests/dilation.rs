//! Dilated time: the schedule of many workers on few cores.
#![cfg(unix)]

use crate::support::disturbed::undisturbed;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use thalweg::prelude::*;
use thalweg::{Error, Report};

/// Computes for about a tenth of a millisecond; the result depends on all of it.
fn work(seed: u64) -> u64 {
    (0..60_000).fold(seed, |state, i| {
        std::hint::black_box(state.rotate_left(5) ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

fn cores() -> usize {
    std::thread::available_parallelism().unwrap().get()
}

const ITEMS: u64 = 160;

/// A source, a stage of which any number of workers may fire, and a sink.
fn run(options: &Options) -> Result<(u64, Report), Error> {
    let stream = thalweg::from_iter(0..ITEMS).par_map(work).named("work");
    Ok(stream.fold(0, |sum: u64, x| sum.rotate_left(1) ^ x).run_with(options)?.into_parts())
}

fn dilated(threads: usize, scale: u32) -> Options {
    Options::new().threads(threads).dilate(scale)
}

#[test]
fn eight_workers_keep_the_schedule_of_eight_cores() {
    let expected = run(&Options::new()).unwrap().0;
    let time = |threads, policy: &str| {
        let (sum, report) = run(&dilated(threads, 32).policy(policy)).unwrap();
        assert_eq!((sum, report.dilation()), (expected, Some(32)), "{threads} threads, {policy}");
        // What the workers sleep counts as the application's, and not as time without a core.
        let [application, _, _, idle, preempted] = report.breakdown();
        assert!(threads > 1 || application > 0.5 && idle + preempted < 0.4, "{report}");
        let firing = report.nodes()[1].service().unwrap().firing().mean() / 1e6;
        assert!(firing > 1.0, "a firing of {firing} ms");
        report.wall().as_secs_f64()
    };
    let alone = time(1, "auto");
    for policy in ["auto", "prs"] {
        let speed_up = alone / time(8, policy);
        assert!(speed_up > 4.0 && speed_up < 10.0, "{policy}: {speed_up}");
    }
}

#[test]
fn the_report_says_that_its_times_are_dilated() {
    let (_, report) = run(&dilated(4, 50)).unwrap();
    let text = report.to_string();
    assert!(text.lines().next().unwrap().ends_with(", time dilated 50 times"), "{text}");
    assert!(report.to_html().contains("time dilated 50 times"));
    assert_eq!(Report::from_json(&report.to_json()).unwrap().dilation(), Some(50));
    let (_, plain) = run(&Options::new()).unwrap();
    assert!(!plain.to_string().contains("dilated") && !plain.to_json().contains("dilation"));
    let short = |report: &Report| report.notes().iter().any(|note| note.contains("claims below 1 ms"));
    let least = 2.max(4_usize.div_ceil(cores()) as u32);
    let sum = thalweg::from_iter(0..1000_u64).map(|n| n ^ 1).fold(0, |sum, n| sum ^ n);
    let shorter = sum.run_with(&dilated(1, least)).unwrap().into_report();
    assert!(!short(&report) && short(&shorter), "{report}\n{shorter}");
}

/// The sleep of a sequential node is the application's time too.
#[test]
fn a_sequential_node_sleeps_in_its_own_time() {
    undisturbed(|| {
        let sum = thalweg::from_iter(0..ITEMS / 4).map(work).fold(0, |sum: u64, x| sum.rotate_left(1) ^ x);
        let (_, report) = sum.run_with(&dilated(1, 32)).unwrap().into_parts();
        let [application, queue, ..] = report.breakdown();
        assert!(application > 0.5 && queue < 0.2, "{report}");
    });
}

#[test]
fn sleeps_end_when_the_run_stops() {
    let start = Instant::now();
    let error = run(&dilated(4, 1_000_000).deadline(Duration::from_millis(50))).unwrap_err();
    assert!(matches!(error, Error::Deadline(_)), "{error}");
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

/// The time from a cancel, while the only firing of a stage sleeps for some hundred seconds, to the end of the run.
fn time_of_cancel(
    stage: impl FnOnce(Stream<'static, u64>, mpsc::Sender<()>) -> Stream<'static, u64>,
) -> Duration {
    let (computed, has_computed) = mpsc::channel();
    let output = stage(thalweg::from_iter(0..1), computed).collect();
    // The source's claims are dilated too: with this scale they last less than a second.
    let prepared = output.prepare(&dilated(2, 10_000)).unwrap();
    let handle = prepared.handle();
    let run = std::thread::spawn(move || prepared.run());
    has_computed.recv_timeout(Duration::from_secs(60)).expect("a firing");
    std::thread::sleep(Duration::from_millis(50));
    assert!(!run.is_finished(), "its claim sleeps");
    let start = Instant::now();
    handle.cancel();
    let failed = run.join().expect("no panic").expect_err("cancelled");
    assert!(matches!(Error::from(failed), Error::Cancelled));
    start.elapsed()
}

/// Computes for some hundredth of a second, and says so.
fn compute(item: u64, computed: &mpsc::Sender<()>) -> u64 {
    let sum = (0..200).fold(item, |sum, _| work(sum));
    computed.send(()).expect("the test waits for it");
    sum
}

#[test]
fn a_cancel_ends_sleeps() {
    let sequential = || time_of_cancel(|items, computed| items.map(move |item| compute(item, &computed)));
    let parallel = || time_of_cancel(|items, computed| items.par_map(move |item| compute(item, &computed)));
    for _ in 0..3 {
        let times = [sequential(), parallel()];
        assert!(times.iter().all(|time| *time < Duration::from_secs(1)), "{times:?}");
    }
}

#[test]
fn what_would_not_keep_its_schedule_is_refused() {
    let refused = |options: &Options| match run(options) {
        Err(Error::Options(why)) => why,
        other => panic!("{other:?}"),
    };
    let cores = cores();
    let least = (4 * 64_usize).div_ceil(cores) as u32;
    let why = refused(&dilated(64, least - 1));
    assert!(why.contains(&format!("at least {least} is needed for 64 threads on {cores} cores")), "{why}");
    assert!(refused(&dilated(1, 1)).contains("at least"), "time is not dilated once");
    assert!(refused(&dilated(2, 8).repeatable()).contains("no clock"));
    let graph = Graph::new();
    let numbers = graph.source(0..3_u64);
    let doubled = graph.kernel("double", thalweg::input("in", numbers), thalweg::output("out"));
    let doubled = doubled.process(|mut numbers, mut out| async move {
        while let Some(n) = numbers.recv().await {
            out.send(2 * n).await;
        }
    });
    let error = doubled.collect().run_with(&dilated(2, 8)).unwrap_err();
    assert!(error.to_string().contains("`double` is a process"), "{error}");
}
