//! `wordcount.*`: generated text with the word frequencies of Zipf's law, from memory. The network for this problem
//! (KPN-FLEX) against the same table on one thread, with a map of `std` as the peer; MapReduce over processes (KPN-MR)
//! against the same sorting on plain threads; and the two networks against each other, as in the Nornir paper (section
//! 5.4, figure 15: 3 to 6.7, increasing with the text).

use std::collections::HashMap;

use thalweg::embed::runtime::EmbedOptions;
use thalweg::{Error, Options, Report};
use thalweg_wordcount::{Case, Ranking, Shape, count, count_text, map_reduce_text, sequential, sort_based};

use crate::line::Measure;
use crate::race::{Contestant, Outcome, Role};
use crate::row::timed;
use crate::session::Session;
use crate::work::{fold, mix};

/// Megabytes of the figures that have targets.
const SIZE: usize = 100;
const SIZE_QUICK: usize = 4;
/// Megabytes of the paper's texts.
const SIZES: [usize; 3] = [10, 50, 100];
/// The number of different words.
pub(super) const WORDS: usize = 200_000;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    let (threads, quick) = (session.options.threads, session.options.quick);
    let size = if quick { SIZE_QUICK } else { SIZE };
    let flex_name = format!("wordcount.flex.t{threads}");
    if session.selects(&flex_name) {
        figure(session, &flex_name, Measure::Speed, &zipf(size, WORDS), flex);
    }
    let mr_name = format!("wordcount.mr.t{threads}");
    if session.selects(&mr_name) {
        figure(session, &mr_name, Measure::NsPerItem, &zipf(size, WORDS), mr);
    }
    for size in if quick { &[SIZE_QUICK][..] } else { &SIZES[..] } {
        let name = format!("wordcount.flex-mr.{size}mb.t{threads}");
        if session.selects(&name) {
            figure(session, &name, Measure::Speed, &zipf(*size, WORDS), both);
        }
    }
}

/// A race over a text and a number of threads; all contestants must compute the result of one thread.
fn figure<'a>(
    session: &mut Session,
    name: &str,
    measure: Measure,
    text: &'a [u8],
    contestants: fn(&'a [u8], usize) -> Vec<Contestant<'a>>,
) {
    let (sum, threads) = (checksum(&sequential(text, Case::Kept)), session.options.threads);
    let contestants = contestants(text, threads).into_iter().map(|contestant| contestant.expecting(sum));
    session.figure(name, measure, threads, contestants.collect());
}

fn flex(text: &[u8], threads: usize) -> Vec<Contestant<'_>> {
    let contestants = vec![
        plain("sequential", Role::Yardstick, text, || checksum(&sequential(text, Case::Kept))),
        ours("ours", Role::Ours, text, threads, count_text),
        ours("ours(1)", Role::Aside, text, 1, count_text),
        ours("ours(read)", Role::Aside, text, threads, |text, case, options| {
            count([Ok(text)], case, options)
        }),
        plain("std-map", Role::Peer, text, || std_map(text)),
    ];
    contestants.into_iter().map(|contestant| contestant.against("sequential")).collect()
}

/// MapReduce: nanoseconds per byte.
fn mr(text: &[u8], threads: usize) -> Vec<Contestant<'_>> {
    let block = Shape::for_workers(threads).block;
    vec![
        ours("ours", Role::Ours, text, threads, reduced),
        plain("sort-based", Role::Peer, text, move || {
            checksum(&sort_based(text, Case::Kept, block, threads))
        }),
    ]
}

fn both(text: &[u8], threads: usize) -> Vec<Contestant<'_>> {
    let contestants = vec![
        ours("mr", Role::Yardstick, text, threads, reduced),
        ours("ours", Role::Ours, text, threads, count_text),
    ];
    contestants.into_iter().map(|contestant| contestant.against("mr")).collect()
}

/// A contestant without the engine.
fn plain<'a>(name: &'static str, role: Role, text: &[u8], count: impl Fn() -> u64 + 'a) -> Contestant<'a> {
    Contestant::new(name, role, text.len() as u64, move || Ok(Some(timed(&count))))
}

/// A network that counts a text.
type Network = fn(&[u8], Case, &Options) -> Result<(Ranking, Report), Error>;

fn ours<'a>(
    name: &'static str,
    role: Role,
    text: &'a [u8],
    threads: usize,
    network: Network,
) -> Contestant<'a> {
    let options = Options::new().threads(threads).pinned();
    Contestant::new(name, role, text.len() as u64, move || -> Outcome {
        let mut outcome = Ok(());
        let row = timed(|| match network(text, Case::Kept, &options) {
            Ok((ranking, _)) => checksum(&ranking),
            Err(error) => {
                outcome = Err(error.to_string());
                0
            }
        });
        outcome.map(|()| Some(row))
    })
}

fn reduced(text: &[u8], case: Case, options: &Options) -> Result<(Ranking, Report), Error> {
    map_reduce_text(text, case, Shape::for_workers(options.workers()), options)
}

fn checksum(ranking: &Ranking) -> u64 {
    ranking.iter().fold(0, |sum, (word, count)| line(sum, word, count))
}

/// Adds a word and its count to the checksum, eight bytes at a time, since the time of a contestant includes this.
fn line(sum: u64, word: &[u8], count: u64) -> u64 {
    let eight = |bytes: &[u8]| bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
    fold(word.chunks(8).fold(sum, |sum, bytes| fold(sum, eight(bytes))), count)
}

/// The same count with a `HashMap`.
fn std_map(text: &[u8]) -> u64 {
    let mut counts: HashMap<&[u8], u64> = HashMap::new();
    text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte > 127))
        .filter(|word| !word.is_empty())
        .for_each(|word| *counts.entry(word).or_default() += 1);
    let mut order: Vec<(&[u8], u64)> = counts.into_iter().collect();
    order.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    order.into_iter().fold(0, |sum, (word, count)| line(sum, word, count))
}

/// Text of this size, of this many words, in which the frequency of the word of rank `r` is proportional to 1 / `r`.
pub(super) fn zipf(megabytes: usize, count: usize) -> Vec<u8> {
    let bytes = megabytes * 1_000_000;
    let words: Vec<Vec<u8>> = (0..count as u64).map(word).collect();
    let mut upto = Vec::with_capacity(count);
    let mut all = 0.0;
    for rank in 1..=count {
        all += 1.0 / rank as f64;
        upto.push(all);
    }
    let mut text = Vec::with_capacity(bytes + 64);
    let mut at = 0;
    while text.len() < bytes {
        let point = mix(at) as f64 / u64::MAX as f64 * all;
        let rank = upto.partition_point(|upto| *upto < point).min(count - 1);
        text.extend_from_slice(&words[rank]);
        text.push(if at % 12 == 11 { b'\n' } else { b' ' });
        at += 1;
    }
    text
}

/// A unique word for each rank; frequent words are shorter.
fn word(rank: u64) -> Vec<u8> {
    let letters = 2 + (rank as f64).powf(0.17) as u64 + mix(rank) % 4;
    let mut word: Vec<u8> = (0..letters).map(|at| b'a' + (mix(rank * 31 + at) % 26) as u8).collect();
    // The rank in letters makes the word unique.
    let mut left = rank;
    while left > 0 {
        word.push(b'a' + (left % 26) as u8);
        left /= 26;
    }
    word
}
