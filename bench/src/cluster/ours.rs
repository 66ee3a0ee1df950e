//! The jobs on a cluster.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use serde_bytes::ByteBuf;
use thalweg_cluster::Cluster;
use thalweg_wordcount::{Case, count_on};

use super::{Blocks, KeyedJob, Seat, Word, lines_of_counts, pack, report, words};

/// Runs the share of this process.
///
/// # Errors
/// There is no such job, or it fails.
pub fn run(seat: &Seat, job: &str, arguments: &[OsString]) -> Result<(), String> {
    let cluster = seat.cluster()?;
    let done = match (job, arguments) {
        ("compress", [input, output]) => compress(seat, &cluster, input.as_ref(), output.as_ref()),
        ("words", [input, output]) => words_by_process(seat, &cluster, input.as_ref(), output.as_ref()),
        ("every-word", [input, output]) => every_word(seat, &cluster, input.as_ref(), output.as_ref()),
        ("keyed", [output, numbers @ ..]) => keyed(seat, &cluster, output.as_ref(), KeyedJob::read(numbers)?),
        ("empty", []) => empty(seat, &cluster),
        ("endless", []) => endless(seat, cluster.clone()),
        _ => return Err(format!("{job} {arguments:?}: no job")),
    };
    done.map_err(|error| error.to_string())?;
    match arguments {
        [.., output] if job != "keyed" => report(&cluster, output.as_ref()),
        [output, ..] => report(&cluster, output.as_ref()),
        [] => Ok(()),
    }
}

type Done = Result<(), Box<dyn std::error::Error>>;

/// A file that process 0 writes.
fn file(seat: &Seat, path: &Path) -> io::Result<Option<BufWriter<File>>> {
    (seat.process == 0).then(|| Ok(BufWriter::with_capacity(1 << 16, File::create(path)?))).transpose()
}

/// Compresses blocks, and writes them in order.
fn compress(seat: &Seat, cluster: &Cluster, input: &Path, output: &Path) -> Done {
    let blocks = Blocks::open(input, 1 << 20)?;
    let mut file = file(seat, output)?;
    let written = cluster
        .from_parts(blocks.count(), |block| [block])
        .try_par_map(|block| pack(&blocks.bytes(block)?).map(ByteBuf::from))
        .try_for_each(|block| file.as_mut().map_or(Ok(()), |file| file.write_all(&block)))
        .run_with(&seat.options())?;
    match written {
        Some(()) => Ok(file.as_mut().map_or(Ok(()), Write::flush)?),
        None => Ok(()),
    }
}

/// Counts words: a table of each process.
fn words_by_process(seat: &Seat, cluster: &Cluster, input: &Path, output: &Path) -> Done {
    let length = File::open(input)?.metadata()?.len();
    let open = |_| File::open(input);
    let (ranking, _) = count_on(cluster, move || Ok(vec![length]), open, Case::Kept, &seat.options())?;
    match ranking {
        Some(ranking) => Ok(lines_of_counts(output, ranking.iter().collect())?),
        None => Ok(()),
    }
}

/// Counts words: each one goes to the process in which it lives.
fn every_word(seat: &Seat, cluster: &Cluster, input: &Path, output: &Path) -> Done {
    let blocks = Blocks::open(input, 1 << 16)?;
    let counts = cluster
        .from_parts(blocks.count(), |block| [block])
        .try_par_map(|block| blocks.text(block))
        .par_flat_map(|text| words(&text).collect::<Vec<Word>>())
        .key_by(|word| *word)
        .fold(|| 0u64, |count, _| *count += 1)
        .par_map(|(word, count)| (word, count))
        .collect()
        .run_with(&seat.options())?;
    match &counts {
        Some(counts) => {
            let lines = counts.iter().map(|(word, count)| (word.bytes(), *count));
            Ok(lines_of_counts(output, lines.collect())?)
        }
        None => Ok(()),
    }
}

/// Numbers become keys, which are counted, in order.
fn keyed(seat: &Seat, cluster: &Cluster, output: &Path, job: KeyedJob) -> Done {
    let mut file = file(seat, output)?;
    // A part is a batch. With room for one item more, its end is known.
    let cluster = cluster.clone().window(job.window).epoch(job.epoch).batch(job.batch as usize + 1);
    let written = cluster
        .from_parts(job.parts(), |part| job.part(part))
        .par_map(KeyedJob::key)
        .key_by(|key| *key)
        .scan(
            |_| 0u32,
            |count, key| {
                *count += 1;
                (key, *count)
            },
        )
        .try_for_each(|(key, count)| {
            let line = KeyedJob::line(key, count);
            file.as_mut().map_or(Ok(()), |file| file.write_all(&line))
        })
        .run_with(&seat.options())?;
    match written {
        Some(()) => Ok(file.as_mut().map_or(Ok(()), Write::flush)?),
        None => Ok(()),
    }
}

fn empty(seat: &Seat, cluster: &Cluster) -> Done {
    cluster.from_parts(0, |part| [part]).par_map(|n| n).collect().run_with(&seat.options())?;
    Ok(())
}

/// Works until a process fails.
fn endless(seat: &Seat, cluster: Cluster) -> Done {
    let count = cluster
        .silence(Duration::from_secs(2))
        .from_parts(1 << 31, |part| [part])
        .par_map(|n| (0..1000).fold(n as u64, |all, n| crate::work::mix(all + n)))
        .end(|stream| stream.fold(0, |all, n| all ^ n))
        .run_with(&seat.options())?;
    Err(format!("it has ended: {count:?}").into())
}
