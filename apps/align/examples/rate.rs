//! Measures cells per second on random sequences: `cargo run --release -p thalweg-align --example rate -- 16384 5`.
//! Each line is one of as many rounds as the second argument says; in a round the cases follow each other, so that
//! their ratios hold on a machine that does other work too.

use std::time::Instant;

use thalweg_align::{Aligner, Gap, Schedule, Scoring};

fn random(letters: &[u8], count: usize, mut state: u64) -> Vec<u8> {
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        letters[(state >> 33) as usize % letters.len()]
    };
    (0..count).map(|_| next()).collect()
}

fn main() -> Result<(), thalweg_align::Error> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let (length, rounds) = (numbers.first().copied().unwrap_or(16_384), numbers.get(1).copied().unwrap_or(5));
    let dna = Scoring::dna(2, 3, Gap::Affine { open: 5, extend: 2 })?;
    let protein = Scoring::protein(Gap::Affine { open: 11, extend: 1 })?;
    for _ in 0..rounds {
        for (name, letters, scoring) in
            [("dna", &b"ACGT"[..], &dna), ("protein", b"ARNDCQEGHILKMFPSTWYV", &protein)]
        {
            let (query, target) = (random(letters, length, 1), random(letters, length, 2));
            for (threads, schedule) in [(1, Schedule::Tasks), (2, Schedule::Tasks), (2, Schedule::Loops)] {
                let aligner = Aligner::new(scoring.clone()).threads(threads).schedule(schedule);
                let started = Instant::now();
                let score = aligner.score(&query, &target)?;
                let rate = (length * length) as f64 / started.elapsed().as_secs_f64() / 1e9;
                print!("{name} x{threads} {schedule:?} {rate:.3} G cells/s (score {score})   ");
            }
        }
        println!();
    }
    Ok(())
}
