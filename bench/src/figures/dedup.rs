//! `dedup.*`: the archiver on real files in memory, against its own sequential build (the same chunker, hash and
//! codec without the engine). `tar | zstd -3` and `tar | gzip -6` over the same files stand beside it.

use std::io;

use thalweg::Options;
use thalweg_dedup::{Codec, Params, pack, pack_sequential};

use crate::corpus::Corpus;
use crate::line::Measure;
use crate::race::{Contestant, Outcome, Role};
use crate::row::timed;
use crate::session::Session;

/// A codec: its name in figures, ours, its level, and the command beside it.
type Compression = (&'static str, Codec, i32, &'static str);

const COMPRESSIONS: [Compression; 2] =
    [("zstd3", Codec::Zstd, 3, "zstd -q -3 -c"), ("gzip6", Codec::Gzip, 6, "gzip -6 -c")];

/// Bytes of input, at least.
const BYTES: usize = 500 << 20;
const BYTES_QUICK: usize = 8 << 20;

/// Runs the figures of this family that were asked for.
pub fn run(session: &mut Session) {
    let threads = session.options.threads;
    let mut corpus = None;
    for compression in COMPRESSIONS {
        let overhead = format!("dedup.{}.overhead.t1", compression.0);
        let speedup = format!("dedup.{}.speedup.t{threads}", compression.0);
        for (name, measure, threads) in
            [(overhead, Measure::CpuOverhead, 1), (speedup, Measure::Speed, threads)]
        {
            if session.wants(&name) {
                let bytes = if session.options.quick { BYTES_QUICK } else { BYTES };
                let corpus = corpus.get_or_insert_with(|| Corpus::load(bytes));
                session.figure(&name, measure, threads, contestants(corpus, compression, measure, threads));
            }
        }
    }
}

fn contestants<'a>(
    corpus: &'a Corpus,
    (name, codec, level, command): Compression,
    measure: Measure,
    threads: usize,
) -> Vec<Contestant<'a>> {
    let mut params = Params::default();
    (params.codec, params.level) = (codec, level);
    let bytes = corpus.bytes.len() as u64;
    let expected = sequential(corpus, &params).ok().flatten().map(|row| row.checksum);
    let parallel = params.clone();
    let mut all = vec![
        Contestant::new("sequential", Role::Yardstick, bytes, move || sequential(corpus, &params)),
        Contestant::new("ours", Role::Ours, bytes, move || engine(corpus, &parallel, threads)),
    ];
    all.iter_mut().for_each(|contestant| contestant.expected = expected);
    if measure == Measure::Speed {
        let name = if name == "zstd3" { "tar|zstd-3" } else { "tar|gzip-6" };
        all.push(Contestant::new(name, Role::Peer, bytes, move || corpus.tar(command)));
    }
    all.into_iter().map(|contestant| contestant.against("sequential")).collect()
}

/// The archiver in one loop on one thread.
fn sequential(corpus: &Corpus, params: &Params) -> Outcome {
    let mut outcome = Ok(());
    let row = timed(|| match pack_sequential(&corpus.bytes[..], io::sink(), params) {
        Ok(summary) => summary.archive_bytes,
        Err(error) => {
            outcome = Err(error.to_string());
            0
        }
    });
    outcome.map(|()| Some(row))
}

/// The archiver on the engine. Its archive must be as long as the sequential one, whose bytes it
/// equals (the archiver's own tests compare them).
fn engine(corpus: &Corpus, params: &Params, threads: usize) -> Outcome {
    let options = Options::default().threads(threads);
    let mut outcome = Ok(());
    let row = timed(|| match pack(&corpus.bytes[..], io::sink(), params, &options) {
        Ok((summary, _)) => summary.archive_bytes,
        Err(error) => {
            outcome = Err(error.to_string());
            0
        }
    });
    outcome.map(|()| Some(row))
}
