//! All pairs: the choice of how they are computed never shows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use thalweg::embed::tasks::MemberCounts;
use thalweg::loops::team_size;
use thalweg::machine::Machine;
use thalweg::{Options, in_team};
use thalweg_align::{
    Aligner, Compare, Error, Found, Gap, Quiet, Schedule, Scoring, Sequence, Watch, compare, work,
};

pub(crate) fn random(seed: u64, count: usize, longest: usize) -> Vec<Sequence> {
    let mut state = seed;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let make = |at| {
        let letters = (0..next(longest + 1)).map(|_| b"ACGT"[next(4)]).collect();
        Sequence { name: format!("s{at}"), description: String::new(), letters }
    };
    (0..count).map(make).collect()
}

fn aligner() -> Aligner {
    Aligner::new(Scoring::dna(2, 3, Gap::Affine { open: 5, extend: 2 }).unwrap())
}

pub(crate) fn found(
    aligner: &Aligner,
    queries: &[Sequence],
    targets: &[Sequence],
    how: &Compare,
) -> Vec<Found> {
    let mut all = Vec::new();
    compare(aligner, queries, targets, how, &Quiet, |found| {
        all.push(found);
        Ok(())
    })
    .unwrap();
    all
}

#[test]
fn pairs_are_those_of_the_aligner() {
    // One target is long, so that some pairs are computed by all threads.
    let (queries, mut targets) = (random(1, 90, 200), random(2, 60, 150));
    targets.extend(random(5, 1, 9000));
    let all = Compare { best: false, least: 30, align: true };
    let expected = found(&aligner().threads(1), &queries, &targets, &all);
    assert_eq!(expected.len(), queries.len());
    for (query, found) in expected.iter().enumerate().step_by(17) {
        assert_eq!(found.query, query);
        let mut hits = found.hits.iter().peekable();
        for (target, letters) in targets.iter().enumerate() {
            let one = aligner().align(&queries[query].letters, &letters.letters).unwrap();
            match one.filter(|one| one.score >= 30) {
                Some(one) => {
                    let hit = hits.next().unwrap();
                    assert_eq!(
                        (hit.target, hit.score, hit.alignment.as_ref()),
                        (target, one.score, Some(&one))
                    );
                }
                None => assert!(hits.peek().is_none_or(|hit| hit.target > target)),
            }
        }
    }
    for threads in [2, 3] {
        // The team may be larger than the number of cores.
        let found = || {
            assert_eq!(team_size(), threads);
            found(&aligner().threads(threads), &queries, &targets, &all)
        };
        assert!(in_team(&Options::new().threads(threads), found).unwrap() == expected);
    }
    let scores = found(&aligner(), &queries, &targets, &Compare { align: false, ..all });
    for (scores, expected) in scores.iter().zip(&expected) {
        assert!(scores.hits.iter().all(|hit| hit.alignment.is_none()));
        let pairs = |found: &Found| found.hits.iter().map(|hit| (hit.target, hit.score)).collect::<Vec<_>>();
        assert_eq!(pairs(scores), pairs(expected));
    }
}

#[test]
fn the_best_target_is_the_first_of_the_highest_score() {
    let (queries, mut targets) = (random(3, 20, 80), random(4, 10, 80));
    targets.extend(targets.clone());
    let all = found(&aligner(), &queries, &targets, &Compare { best: false, least: 0, align: true });
    let best = found(&aligner(), &queries, &targets, &Compare { best: true, least: 0, align: true });
    for (all, best) in all.iter().zip(&best) {
        let most = all.hits.iter().map(|hit| hit.score).max();
        let first = all.hits.iter().find(|hit| Some(hit.score) == most);
        assert_eq!(best.hits.first(), first);
        assert!(best.hits.len() <= 1);
    }
}

#[test]
fn no_queries_or_no_targets() {
    let some = random(6, 3, 50);
    let all = Compare { best: false, least: 0, align: true };
    assert!(found(&aligner(), &[], &some, &all).is_empty());
    let none = found(&aligner(), &some, &[], &all);
    assert!(none.len() == 3 && none.iter().all(|found| found.hits.is_empty()));
}

/// Counts cells, and stops after some of them.
struct Until {
    cells: AtomicU64,
    most: u64,
}

impl Watch for Until {
    fn stopped(&self) -> bool {
        self.cells.load(Relaxed) >= self.most
    }

    fn cells(&self, count: u64) {
        self.cells.fetch_add(count, Relaxed);
    }
}

#[test]
fn all_cells_are_counted_and_a_watch_stops_the_computation() {
    let (queries, targets) = (random(7, 6, 900), random(8, 5, 900));
    let how = Compare { best: false, least: 0, align: false };
    for threads in [1, 2] {
        let aligner = aligner().block(64).threads(threads);
        let cells = work(&aligner, &how, &queries, &targets).cells;
        let watch = Until { cells: AtomicU64::new(0), most: u64::MAX };
        compare(&aligner, &queries, &targets, &how, &watch, |_| Ok(())).unwrap();
        assert_eq!(u128::from(watch.cells.into_inner()), cells);
        let watch = Until { cells: AtomicU64::new(0), most: cells as u64 / 2 };
        let stopped = compare(&aligner, &queries, &targets, &how, &watch, |_| Ok(()));
        assert!(matches!(stopped, Err(Error::Stopped)));
        assert!(u128::from(watch.cells.into_inner()) < cells);
    }
}

/// Keeps the counts.
struct Counted(Mutex<Vec<MemberCounts>>);

impl Watch for Counted {
    fn counts(&self, counts: MemberCounts) {
        self.0.lock().unwrap().push(counts);
    }
}

#[test]
fn the_accesses_of_large_pairs_are_counted() {
    // One pair of 24 rows and 30 columns of blocks, and one that is too small for several threads.
    let sequence = |length: usize| {
        let letters = (0..length).map(|at| b"ACGT"[at * at % 7 % 4]).collect();
        Sequence { letters, ..Sequence::default() }
    };
    let (queries, targets) = ([sequence(3000)], [sequence(2390), sequence(10)]);
    let (blocks, edges) = (24 * 30, 23 * 30 + 24 * 29);
    let how = Compare { best: false, least: 0, align: false };
    for schedule in [Schedule::Loops, Schedule::StaticLoops, Schedule::Tasks, Schedule::RandomTasks] {
        let counts = |aligner: Aligner| {
            let watch = Counted(Mutex::default());
            let aligner = aligner.schedule(schedule);
            let compare = || compare(&aligner, &queries, &targets, &how, &watch, |_| Ok(()));
            in_team(&Options::new().threads(2), compare).unwrap().unwrap();
            watch.0.into_inner().unwrap()
        };
        let wide = aligner().block(100).threads(2);
        assert!(counts(wide.clone()).is_empty());
        let one = counts(wide.clone().places(&Machine::uniform(1, 2).places(2)));
        let [near] = one[..] else { panic!("{one:?}") };
        assert_eq!((near.nodes(), near.accesses(), near.remote()), (blocks, blocks + edges, 0));
        let [far] = counts(wide.places(&Machine::uniform(2, 1).places(2)))[..] else {
            panic!("{schedule:?}")
        };
        // Of a block and the one above it, each thread is far from one.
        assert!(far.remote() >= 23 * 30 && far.remote() < near.accesses(), "{far:?}");
    }
}

#[test]
fn work_counts_what_a_cell_looks_at() {
    let general = Aligner::new(Scoring::dna(2, 3, Gap::log(5, 2)).unwrap());
    let how = Compare { best: false, least: 0, align: true };
    let sequences = |lengths: &[usize]| -> Vec<Sequence> {
        let make = |length: &usize| Sequence { letters: vec![b'A'; *length], ..Sequence::default() };
        lengths.iter().map(make).collect()
    };
    let (queries, targets) = (sequences(&[10, 20]), sequences(&[30, 0, 5]));
    let all = work(&general, &how, &queries, &targets);
    let pairs = [(10, 30), (20, 30), (10, 5), (20, 5)].map(|(query, target)| general.work(query, target));
    assert_eq!(all.cells, pairs.iter().map(|work| work.cells).sum::<u128>());
    assert_eq!(all.updates, pairs.iter().map(|work| work.updates).sum::<u128>());
    assert_eq!(aligner().work(131_072, 131_072).cells, 1 << 34);
    assert!(aligner().work(131_072, 131_072).memory < 300 << 20);
}
