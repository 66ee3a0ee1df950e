//! `wordcount.*`: 100 MB of generated text with the word frequencies of Zipf's law, from memory, against the same
//! table on one thread. A table of `std` with the same words stands beside it.

use std::collections::HashMap;

use thalweg::Options;
use thalweg_wordcount::{Case, Ranking, count, sequential};

use crate::line::Measure;
use crate::race::{Contestant, Outcome, Role};
use crate::row::timed;
use crate::session::Session;
use crate::work::{fold, mix};

const BYTES: usize = 100_000_000;
const BYTES_QUICK: usize = 4_000_000;
/// Different words.
const WORDS: usize = 200_000;

/// Runs the figures of this family that were asked for.
pub fn run(session: &mut Session) {
    let threads = session.options.threads;
    let name = format!("wordcount.flex.t{threads}");
    if !session.wants(&name) {
        return;
    }
    let text = zipf(if session.options.quick { BYTES_QUICK } else { BYTES });
    let (sum, bytes) = (checksum(&sequential(&text, Case::Kept)), text.len() as u64);
    let text = &text;
    let contestants = vec![
        Contestant::new("sequential", Role::Yardstick, bytes, || {
            Ok(Some(timed(|| checksum(&sequential(text, Case::Kept)))))
        }),
        Contestant::new("ours", Role::Ours, bytes, || network(text, threads)),
        Contestant::new("ours(1)", Role::Aside, bytes, || network(text, 1)),
        Contestant::new("std-map", Role::Peer, bytes, || Ok(Some(timed(|| plain(text))))),
    ];
    let contestants =
        contestants.into_iter().map(|contestant| contestant.expecting(sum).against("sequential")).collect();
    session.figure(&name, Measure::Speed, threads, contestants);
}

fn network(text: &[u8], threads: usize) -> Outcome {
    let mut outcome = Ok(());
    let row = timed(|| match count([Ok(text)], Case::Kept, &Options::new().threads(threads).pinned()) {
        Ok((ranking, _)) => checksum(&ranking),
        Err(error) => {
            outcome = Err(error.to_string());
            0
        }
    });
    outcome.map(|()| Some(row))
}

fn checksum(ranking: &Ranking) -> u64 {
    ranking.iter().fold(0, |sum, (word, count)| line(sum, word, count))
}

fn line(sum: u64, word: &[u8], count: u64) -> u64 {
    fold(word.iter().fold(sum, |sum, byte| fold(sum, u64::from(*byte))), count)
}

/// The same with what everybody would use.
fn plain(text: &[u8]) -> u64 {
    let mut counts: HashMap<&[u8], u64> = HashMap::new();
    text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte > 127))
        .filter(|word| !word.is_empty())
        .for_each(|word| *counts.entry(word).or_default() += 1);
    let mut order: Vec<(&[u8], u64)> = counts.into_iter().collect();
    order.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    order.into_iter().fold(0, |sum, (word, count)| line(sum, word, count))
}

/// Text whose word of rank `r` is as frequent as 1 / `r`.
fn zipf(bytes: usize) -> Vec<u8> {
    let words: Vec<Vec<u8>> = (0..WORDS as u64).map(word).collect();
    let mut upto = Vec::with_capacity(WORDS);
    let mut all = 0.0;
    for rank in 1..=WORDS {
        all += 1.0 / rank as f64;
        upto.push(all);
    }
    let mut text = Vec::with_capacity(bytes + 64);
    let mut at = 0;
    while text.len() < bytes {
        let point = mix(at) as f64 / u64::MAX as f64 * all;
        let rank = upto.partition_point(|upto| *upto < point).min(WORDS - 1);
        text.extend_from_slice(&words[rank]);
        text.push(if at % 12 == 11 { b'\n' } else { b' ' });
        at += 1;
    }
    text
}

/// A word of its own for each rank, the frequent ones shorter.
fn word(rank: u64) -> Vec<u8> {
    let letters = 2 + (rank as f64).powf(0.17) as u64 + mix(rank) % 4;
    let mut word: Vec<u8> = (0..letters).map(|at| b'a' + (mix(rank * 31 + at) % 26) as u8).collect();
    // So that no two are the same: the rank in letters.
    let mut left = rank;
    while left > 0 {
        word.push(b'a' + (left % 26) as u8);
        left /= 26;
    }
    word
}
