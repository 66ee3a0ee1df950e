//! Several processes, as threads here, find what one does.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use thalweg_align::{Aligner, Compare, Found, Gap, Pairs, Quiet, Scoring, Sequence, Watch, compare_on};
use thalweg_cluster::{Cluster, Error};

use crate::clusters::clusters;
use crate::compare::{found, random};

/// What process 0 gets, up to a number of queries, and how each process ends.
fn run(
    processes: usize,
    most: usize,
    pairs: impl Fn(usize) -> Result<Pairs<'static>, String> + Sync,
    how: &Compare,
    watch: &dyn Watch,
) -> (Vec<Found>, Vec<Result<bool, Error>>) {
    let all = Mutex::new(Vec::new());
    let run = |cluster: Cluster| {
        let process = cluster.process();
        let sink = |found| {
            assert_eq!(process, 0);
            let mut all = all.lock().unwrap();
            all.push(found);
            Ok(if all.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        };
        compare_on(&cluster, || pairs(process).map_err(Into::into), how, watch, sink)
    };
    let ended = thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> =
            clusters(processes).into_iter().map(|cluster| scope.spawn(move || run(cluster))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    (all.into_inner().unwrap(), ended)
}

fn pairs(gap: Gap, queries: Vec<Sequence>, targets: Vec<Sequence>) -> Pairs<'static> {
    let aligner = Aligner::new(Scoring::dna(2, 3, gap).unwrap()).threads(2);
    Pairs { aligner: Box::leak(Box::new(aligner)), queries: queries.leak(), targets: targets.leak() }
}

/// Counts cells.
struct Cells(AtomicU64);

impl Watch for Cells {
    fn cells(&self, count: u64) {
        self.0.fetch_add(count, Relaxed);
    }
}

#[test]
fn several_processes_find_what_one_does() {
    let affine = Gap::Affine { open: 5, extend: 2 };
    // Shares of several queries, and of a part of the targets: a long query, and many targets.
    let long = || random(9, 3, 12_000);
    let cases = [
        pairs(affine.clone(), random(1, 60, 200), random(2, 40, 150)),
        pairs(affine.clone(), long(), long()),
        pairs(affine.clone(), random(3, 2, 30), random(4, 9000, 12)),
        pairs(Gap::log(5, 2), random(5, 8, 90), random(6, 9, 80)),
        pairs(affine, random(7, 3, 50), Vec::new()),
    ];
    for (at, pairs) in cases.into_iter().enumerate() {
        for how in [
            Compare { best: false, least: 20, align: true },
            Compare { best: true, least: 0, align: at != 1 },
            Compare { best: false, least: 0, align: false },
        ] {
            let expected = found(pairs.aligner, pairs.queries, pairs.targets, &how);
            for processes in 1..=3 {
                let watch = Cells(AtomicU64::new(0));
                let (all, ended) = run(processes, usize::MAX, |_| Ok(pairs), &how, &watch);
                assert!(all == expected, "case {at}, {processes} processes, {how:?}");
                for (process, ended) in ended.into_iter().enumerate() {
                    assert_eq!(ended.unwrap(), process == 0);
                }
                let letters = |all: &[Sequence]| all.iter().map(|one| one.letters.len() as u64).sum::<u64>();
                assert_eq!(watch.0.into_inner(), letters(pairs.queries) * letters(pairs.targets));
            }
        }
    }
}

#[test]
fn a_sink_that_wants_no_more_ends_the_run_in_all_processes() {
    let pairs = pairs(Gap::Affine { open: 5, extend: 2 }, random(1, 300, 60), random(2, 3000, 20));
    let how = Compare { best: true, least: 0, align: false };
    let (all, ended) = run(3, 2, |_| Ok(pairs), &how, &Quiet);
    assert_eq!(all.len(), 2);
    assert!(ended.into_iter().all(|ended| ended.is_ok()));
}

#[test]
fn all_processes_return_the_first_failure() {
    let pairs = pairs(Gap::Affine { open: 5, extend: 2 }, random(1, 9, 20), random(2, 9000, 20));
    let how = Compare { best: true, least: 0, align: false };
    for (failing, stage) in [(0, "stage source"), (1, "stage align")] {
        let fails = |process| if process == failing { Err("no pairs".to_owned()) } else { Ok(pairs) };
        let (all, ended) = run(3, usize::MAX, fails, &how, &Quiet);
        for ended in ended {
            let error = ended.unwrap_err().to_string();
            let why = error.contains(stage) && error.ends_with("failed: no pairs");
            assert!(error.starts_with(&format!("process {failing} (")) && why, "{error}");
        }
        assert!(failing > 0 || all.is_empty());
    }
    struct Stopped;
    impl Watch for Stopped {
        fn stopped(&self) -> bool {
            true
        }
    }
    let (_, ended) = run(2, usize::MAX, |_| Ok(pairs), &how, &Stopped);
    assert!(ended.into_iter().all(|ended| ended.unwrap_err().to_string().contains("stopped before the end")));
}
