//! One pair: the blocks compute what whole matrices have, and an alignment has the score that it claims.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use proptest::prelude::*;
use thalweg::loops::team_size;
use thalweg::{Options, in_team};
use thalweg_align::{Aligner, Alignment, Alphabet, Gap, Schedule, Scoring};

use crate::reference::{affine, best, pair, scoring};

fn other_gap() -> impl Strategy<Value = Gap> {
    (0..9i32, 0..5i32, 0..4usize).prop_map(|(open, factor, kind)| match kind {
        0 => Gap::log(open, factor),
        1 => Gap::Cost(std::sync::Arc::new(move |k| open + factor * (k % 5) as i32)),
        2 => Gap::Cost(std::sync::Arc::new(move |k| if k % 3 == 0 { 1 } else { open + factor * k as i32 })),
        _ => Gap::Cost(std::sync::Arc::new(move |k| open - k as i32)), // negative costs count as 0
    })
}

const SCHEDULES: [Schedule; 4] =
    [Schedule::Loops, Schedule::StaticLoops, Schedule::Tasks, Schedule::RandomTasks];

/// The alignment that a team of this size finds, which may be larger than the number of cores.
fn align(aligner: &Aligner, query: &[u8], target: &[u8], size: usize) -> Option<Alignment> {
    let align = || {
        assert_eq!(team_size(), size);
        aligner.clone().threads(size).align(query, target)
    };
    in_team(&Options::new().threads(size), align).unwrap().unwrap()
}

fn check(
    query: &[u8],
    target: &[u8],
    scoring: &Scoring,
    block: usize,
    (threads, schedule): (usize, Schedule),
) {
    let aligner = Aligner::new(scoring.clone()).block(block).schedule(schedule);
    let (score, end) = best(query, target, scoring);
    assert_eq!(i64::from(aligner.score(query, target).unwrap()), score);
    let found = align(&aligner, query, target, threads);
    assert_eq!(found.is_some(), score > 0);
    let Some(found) = found else { return };
    assert_eq!((i64::from(found.score), (found.target.end - 1, found.query.end - 1)), (score, end));
    assert_eq!(found.rescore(query, target, scoring), score);
    let count =
        |side: fn(&(Option<u8>, Option<u8>)) -> bool| found.letters(query, target).filter(side).count();
    assert_eq!(count(|pair| pair.0.is_some()), found.query.len());
    assert_eq!(count(|pair| pair.1.is_some()), found.target.len());
}

fn pairs_with_scoring(
    gap: impl Strategy<Value = Gap>,
    most: usize,
) -> impl Strategy<Value = (Scoring, (Vec<u8>, Vec<u8>))> {
    scoring(gap).prop_flat_map(move |scoring| {
        let pairs = pair(scoring.alphabet(), most);
        (Just(scoring), pairs)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn blocks_with_affine_gaps_equal_whole_matrices(
        (scoring, (query, target)) in pairs_with_scoring(affine(), 60),
        block in prop_oneof![1..12usize, Just(16), Just(1000)],
        how in (1..5usize, prop::sample::select(&SCHEDULES[..])),
    ) {
        check(&query, &target, &scoring, block, how);
    }

    #[test]
    fn blocks_with_other_gaps_equal_whole_matrices(
        (scoring, (query, target)) in pairs_with_scoring(other_gap(), 45),
        block in prop_oneof![1..12usize, Just(16), Just(1000)],
        how in (1..5usize, prop::sample::select(&SCHEDULES[..])),
    ) {
        check(&query, &target, &scoring, block, how);
    }
}

#[test]
fn the_alignment_depends_neither_on_blocks_nor_on_threads_nor_on_the_schedule() {
    let mut state = 1u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b"ACGT"[(state >> 62) as usize]
    };
    let query: Vec<u8> = (0..700).map(|_| letter()).collect();
    let target: Vec<u8> =
        query.iter().enumerate().map(|(at, same)| if at % 11 == 0 { letter() } else { *same }).collect();
    for gap in [Gap::Affine { open: 5, extend: 2 }, Gap::log(5, 2)] {
        let aligner = Aligner::new(Scoring::dna(2, 3, gap).unwrap());
        let first = align(&aligner, &query, &target, 1);
        assert!(first.as_ref().is_some_and(|found| found.score > 900));
        // Blocks of one cell take long with gaps that look at all others.
        let smallest = if matches!(aligner.scoring().gap(), Gap::Affine { .. }) { 1 } else { 20 };
        for (block, threads) in [(smallest, 2), (30, 1), (64, 3), (100, 2), (1 << 16, 2)] {
            // Blocks of one cell are many.
            for schedule in SCHEDULES.into_iter().filter(|schedule| block > 1 || *schedule == Schedule::Tasks)
            {
                let aligner = aligner.clone().block(block).schedule(schedule);
                let other = align(&aligner, &query, &target, threads);
                assert_eq!(first, other, "block {block}, threads {threads}, {schedule:?}");
            }
            // Another system's loops, in another order.
            let blocks = AtomicUsize::new(0);
            let each = |count: usize, one: &(dyn Fn(usize) + Sync)| {
                blocks.fetch_add(count, Relaxed);
                (0..count).rev().for_each(one);
            };
            let score = aligner.clone().block(block).score_by(&query, &target, &each).unwrap();
            assert_eq!(first.as_ref().map(|found| found.score), Some(score), "block {block}");
            assert_eq!(blocks.into_inner(), 700usize.div_ceil(block).pow(2));
        }
    }
}

#[test]
fn scores_above_16_bits_are_exact() {
    // Each pair of tryptophans scores 11, so the score passes 2^15 and 2^16 within rows of several blocks.
    let query = vec![b'W'; 7000];
    let mut target = query.clone();
    target[3000] = b'A';
    target.remove(5000);
    let scoring = Scoring::protein(Gap::Affine { open: 11, extend: 1 }).unwrap();
    let found = Aligner::new(scoring.clone()).align(&query, &target).unwrap().unwrap();
    assert_eq!(found.score, 6998 * 11 - 3);
    assert_eq!(found.rescore(&query, &target, &scoring), 6998 * 11 - 3);
}

#[test]
fn a_long_gap_crosses_blocks() {
    let gap = Gap::Affine { open: 3, extend: 0 };
    let aligner = Aligner::new(Scoring::dna(1, 9, gap).unwrap()).block(8);
    let (left, right) = (b"ACGTTGCAAC".as_slice(), b"GGATCCTTAG".as_slice());
    let (short, long) = ([left, right].concat(), [left, &[b'N'; 200], right].concat());
    for (query, target) in [(&short, &long), (&long, &short)] {
        let found = aligner.align(query, target).unwrap().unwrap();
        assert_eq!((found.score, found.length()), (17, 220));
    }
}

#[test]
fn empty_and_short_sequences() {
    for gap in [Gap::Affine { open: 5, extend: 2 }, Gap::log(5, 2)] {
        let aligner = Aligner::new(Scoring::dna(2, 3, gap).unwrap());
        for (query, target, score) in [
            ("", "", 0),
            ("A", "", 0),
            ("", "A", 0),
            ("A", "A", 2),
            ("A", "C", 0),
            ("N", "A", 0),
            ("a", "CCA", 2),
        ] {
            let (query, target) = (query.as_bytes(), target.as_bytes());
            assert_eq!(aligner.score(query, target).unwrap(), score);
            let found = aligner.align(query, target).unwrap();
            assert_eq!(found.map_or(0, |found| found.score), score);
        }
    }
}

#[test]
fn scores_that_may_exceed_32_bits_are_refused() {
    let aligner = Aligner::new(Scoring::dna(10_000, 0, Gap::Affine { open: 1, extend: 1 }).unwrap());
    let long = vec![b'A'; 60_000];
    let message = aligner.score(&long, &long).unwrap_err().to_string();
    assert!(
        message.contains("600000000") && message.contains("536870912") && message.contains("help: "),
        "{message}"
    );
}

#[test]
fn gaps_across_any_number_of_lanes_have_the_same_scores() {
    let mut state = 1u64;
    let mut letter = |letters: &[u8]| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        letters[(state >> 33) as usize % letters.len()]
    };
    let mut sequence =
        |letters: &[u8], count: usize| -> Vec<u8> { (0..count).map(|_| letter(letters)).collect() };
    let costs = [(3, 0), (2, 1), (5, 2), (11, 1), (20, 20)];
    for (open, extend) in costs {
        let gap = || Gap::Affine { open, extend };
        // Values below 256, of 16 bits, and of 32 bits.
        let scorings = [(1, 1), (2, 3), (9, 2), (300, 200)].map(|(a, b)| Scoring::dna(a, b, gap()).unwrap());
        for scoring in scorings.into_iter().chain([Scoring::protein(gap()).unwrap()]) {
            let letters: &[u8] =
                if scoring.alphabet() == Alphabet::Dna { b"ACGT" } else { b"ARNDCQEGHILKMFPSTWYV" };
            let query = sequence(letters, 1500);
            // Random, with a part of the query whose middle is missing.
            let target =
                [&sequence(letters, 300), &query[200..260], &query[900..980], &sequence(letters, 300)]
                    .concat();
            for (query, target) in [(&query, &target), (&target, &query)] {
                let score = |block| Aligner::new(scoring.clone()).block(block).score(query, target).unwrap();
                let expected = score(8);
                for block in [2048, 700, 65, 33] {
                    assert_eq!(score(block), expected, "block {block}, gap {open} {extend}");
                }
            }
        }
    }
}
