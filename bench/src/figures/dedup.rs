//! `dedup.*`: the archiver on real files in memory, against its own sequential build (the same search for duplicates, hash and
//! codec without the engine). The peers are `tar | zstd -3` and `tar | gzip -6` over the same files.

use std::env;
use std::fs::{self, File};
use std::io;

use thalweg::Options;
use thalweg_dedup::{
    Codec, Params, Quiet, Source, pack, pack_sequential, pack_source, pack_source_sequential,
};

use crate::corpus::{Corpus, toolchain};
use crate::line::Measure;
use crate::race::{Contestant, Outcome, Role};
use crate::row::timed;
use crate::session::Session;

/// A codec: its name in figures, the archiver's codec, its level, and the peer's command.
type Compression = (&'static str, Codec, i32, &'static str);

const COMPRESSIONS: [Compression; 2] =
    [("zstd3", Codec::Zstd, 3, "zstd -q -3 -c"), ("gzip6", Codec::Gzip, 6, "gzip -6 -c")];

/// The least number of bytes of input.
const BYTES: usize = 500 << 20;
const BYTES_QUICK: usize = 8 << 20;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    let threads = session.options.threads;
    let mut corpus = None;
    for compression in COMPRESSIONS {
        let overhead = format!("dedup.{}.overhead.t1", compression.0);
        let speedup = format!("dedup.{}.speedup.t{threads}", compression.0);
        for (name, measure, threads) in
            [(overhead, Measure::CpuOverhead, 1), (speedup, Measure::Speed, threads)]
        {
            if session.selects(&name) {
                let bytes = if session.options.quick { BYTES_QUICK } else { BYTES };
                let corpus = corpus.get_or_insert_with(|| Corpus::load(bytes));
                session.figure(&name, measure, threads, contestants(corpus, compression, measure, threads));
            }
        }
    }
    let name = format!("dedup.zstd3.files.t{threads}");
    if session.selects(&name) && !session.options.quick {
        session.figure(&name, Measure::Speed, threads, from_files(threads));
    }
}

/// The whole folder of the toolchain, read from its files and written to a file.
fn from_files<'a>(threads: usize) -> Vec<Contestant<'a>> {
    let params = Params::default();
    let sequential = params.clone();
    let tree = || Source::Tree { root: toolchain(), leave_out: Vec::new(), attributes: false };
    let alone = move || {
        to_file(|out| Ok(pack_source_sequential(tree(), out, &sequential, Box::new(Quiet))?.archive_bytes))
    };
    let ours = move || {
        let options = Options::default().threads(threads);
        to_file(|out| Ok(pack_source(tree(), out, &params, Box::new(Quiet), &options)?.0.archive_bytes))
    };
    vec![
        Contestant::new("sequential", Role::Yardstick, 1, alone),
        Contestant::new("ours", Role::Ours, 1, ours).against("sequential"),
    ]
}

/// Times a function that writes to a temporary file and returns the file's length.
fn to_file(write: impl FnOnce(File) -> thalweg_dedup::Result<u64>) -> Outcome {
    let path = env::temp_dir().join(format!("thalweg-bench-{}", std::process::id()));
    let file = File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut outcome = Ok(());
    let row = timed(|| {
        write(file).unwrap_or_else(|error| {
            outcome = Err(error.to_string());
            0
        })
    });
    // A file that cannot be removed is harmless: it is in the system's folder of temporary files.
    let _ = fs::remove_file(&path);
    outcome.map(|()| Some(row))
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

/// The archiver without the engine, on one thread.
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

/// The archiver on the engine. The checksum is the length of the archive, which must equal that of the sequential one;
/// the archiver's own tests compare the bytes.
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
