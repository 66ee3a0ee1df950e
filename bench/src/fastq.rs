//! A filter of a sequencer's reads (FASTQ), from file to file: on this engine, by hand on threads, and as a loop.
//!
//! A record owns its lines. The filter cuts the part of low quality off the end of a read, and drops reads that are short or of
//! low quality then. Records are written in their order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use thalweg::{Options, Stream, from_iter};

use crate::work::mix;

/// The programs: ours with an item for each record, the same with a blocking source, ours in chunks, threads by hand, a loop.
pub const CONTESTANTS: [&str; 5] = ["ours", "ours(blocking)", "ours(chunks)", "threads", "loop"];

/// The records of a chunk, and of a batch of the threads by hand.
const CHUNK: usize = 256;

/// The bases of a read.
const LENGTH: usize = 150;
/// The quality below which bases are cut off the end.
const BASE: i64 = 20;
/// Minimum mean quality of a read.
const MEAN: u64 = 25;
/// Minimum number of bases of a read.
const SHORTEST: usize = 50;
/// The letter of quality 0.
const ZERO: u8 = b'!';

/// A read with its quality.
struct Record {
    name: String,
    bases: String,
    quality: String,
}

impl Record {
    /// Writes the four lines.
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for line in [&self.name, &self.bases, "+", &self.quality] {
            out.write_all(line.as_bytes())?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// The records of a file. A file that does not end with a whole record ends at its last whole one.
fn records(input: &Path) -> io::Result<impl Iterator<Item = Record> + Send + 'static> {
    let mut lines = BufReader::with_capacity(1 << 16, File::open(input)?).lines();
    let mut line = move || lines.next().map(|line| line.expect("a file of text"));
    Ok(std::iter::from_fn(move || {
        let (name, bases) = (line()?, line()?);
        line()?;
        Some(Record { name, bases, quality: line()? })
    }))
}

/// The filter: the end is cut where the sum of `BASE - quality` behind the cut is largest, as `bwa` and `cutadapt` do.
fn trimmed(mut record: Record) -> Option<Record> {
    let (mut sum, mut largest, mut end) = (0, 0, record.quality.len());
    for (at, letter) in record.quality.bytes().enumerate().rev() {
        sum += BASE - i64::from(letter - ZERO);
        if sum < 0 {
            break;
        }
        if sum > largest {
            (largest, end) = (sum, at);
        }
    }
    record.bases.truncate(end);
    record.quality.truncate(end);
    let total: u64 = record.quality.bytes().map(|letter| u64::from(letter - ZERO)).sum();
    (end >= SHORTEST && total >= MEAN * end as u64).then_some(record)
}

/// Writes a file of about this many bytes.
///
/// # Errors
/// If the file cannot be written.
pub fn generate(path: &Path, bytes: u64) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let count = bytes / (2 * LENGTH as u64 + 50);
    for index in 0..count {
        let seed = mix(index);
        let bases = (0..LENGTH).map(|at| char::from(b"ACGT"[(mix(seed ^ at as u64) % 4) as usize]));
        // Of most reads the quality falls near the end; some are bad from the beginning.
        let good = if seed.is_multiple_of(9) { 20 } else { 60 + seed % LENGTH as u64 };
        let quality = (0..LENGTH as u64).map(|at| {
            let level = if at < good { 32 + mix(seed.wrapping_add(at)) % 8 } else { 2 + mix(seed ^ at) % 22 };
            char::from(ZERO + level as u8)
        });
        let record = Record {
            name: format!("@A00123:45:HXXYLDSX2:1:{}:{}:{} 1:N:0", 1101 + index % 600, seed % 32768, index),
            bases: bases.collect(),
            quality: quality.collect(),
        };
        record.write(&mut out)?;
    }
    out.flush()
}

/// Executes a program.
///
/// # Errors
/// There is no such program, a file cannot be opened or written, or the run fails.
pub fn run(contestant: &str, input: &Path, output: &Path, threads: usize) -> Result<(), String> {
    let records = records(input).map_err(|error| error.to_string())?;
    let out = BufWriter::with_capacity(1 << 16, File::create(output).map_err(|error| error.to_string())?);
    let mut out = match contestant {
        "ours" => ours(from_iter(records).par_filter_map(trimmed), out, threads)?,
        "ours(blocking)" => ours(from_iter(records).blocking().par_filter_map(trimmed), out, threads)?,
        "ours(chunks)" => {
            let chunks = from_iter(records).batch(CHUNK).par_map(filtered);
            let run = chunks.fold(out, |out, chunk: Vec<Record>| chunk.iter().fold(out, written));
            run.run_with(&Options::new().threads(threads)).map_err(|error| error.to_string())?.into_value()
        }
        "threads" => by_hand(records, out, threads),
        "loop" => records.filter_map(trimmed).fold(out, |out, record| written(out, &record)),
        _ => return Err(format!("{contestant}: no such program")),
    };
    out.flush().map_err(|error| error.to_string())
}

fn ours(
    records: Stream<'static, Record>,
    out: BufWriter<File>,
    threads: usize,
) -> Result<BufWriter<File>, String> {
    let run = records.fold(out, |out, record: Record| written(out, &record));
    Ok(run.run_with(&Options::new().threads(threads)).map_err(|error| error.to_string())?.into_value())
}

fn written(mut out: BufWriter<File>, record: &Record) -> BufWriter<File> {
    record.write(&mut out).expect("room for the output");
    out
}

fn filtered(records: Vec<Record>) -> Vec<Record> {
    records.into_iter().filter_map(trimmed).collect()
}

/// A batch of records with its number.
type Batch = (usize, Vec<Record>);

/// A thread that reads, `threads` that filter, and the calling one, which restores the order and writes.
fn by_hand(
    mut records: impl Iterator<Item = Record> + Send,
    out: BufWriter<File>,
    threads: usize,
) -> BufWriter<File> {
    let (to_filter, to_write) = (sync_channel::<Batch>(2 * threads), sync_channel::<Batch>(2 * threads));
    let ((read, batches), (done, results)) = (to_filter, to_write);
    let batches = Mutex::new(batches);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let batches = std::iter::from_fn(|| Some(records.by_ref().take(CHUNK).collect::<Vec<_>>()));
            let mut batches = batches.take_while(|batch| !batch.is_empty()).enumerate();
            batches.all(|batch| read.send(batch).is_ok())
        });
        for _ in 0..threads {
            let (batches, done) = (&batches, done.clone());
            scope.spawn(move || filter_batches(batches, &done));
        }
        drop(done);
        in_order(results, out)
    })
}

fn filter_batches(batches: &Mutex<Receiver<Batch>>, done: &SyncSender<Batch>) {
    let next = || batches.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok((number, batch)) = next() {
        if done.send((number, filtered(batch))).is_err() {
            return;
        }
    }
}

fn in_order(results: Receiver<Batch>, mut out: BufWriter<File>) -> BufWriter<File> {
    let (mut waiting, mut next) = (BTreeMap::new(), 0);
    for (number, batch) in results {
        waiting.insert(number, batch);
        while let Some(batch) = waiting.remove(&next) {
            out = batch.iter().fold(out, written);
            next += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(quality: &str) -> Record {
        Record { name: "@a".into(), bases: "A".repeat(quality.len()), quality: quality.into() }
    }

    #[test]
    fn the_end_is_cut_where_its_quality_falls() {
        let good = "I".repeat(60);
        let kept = trimmed(record(&format!("{good}###I##"))).unwrap();
        assert_eq!((kept.quality, kept.bases.len()), (good, 60));
    }

    #[test]
    fn short_and_bad_reads_are_dropped() {
        assert!(trimmed(record(&"I".repeat(49))).is_none());
        assert!(trimmed(record(&"8".repeat(100))).is_none());
    }

    #[test]
    fn all_programs_write_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in"), folder.path().join("out"));
        generate(&input, 2_000_000).unwrap();
        let mut written = CONTESTANTS.map(|contestant| {
            run(contestant, &input, &output, 2).unwrap();
            std::fs::read(&output).unwrap()
        });
        let [first, others @ ..] = &mut written;
        assert!(first.len() > 500_000 && first.len() < 1_900_000, "{}", first.len());
        assert!(others.iter().all(|other| other == first));
    }
}
