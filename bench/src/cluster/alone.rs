//! The jobs without a cluster, on two threads of one process.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use thalweg::{Options, from_iter};
use thalweg_wordcount::{Case, count};

use super::{Blocks, lines_of_counts, pack};

const THREADS: usize = 2;

/// Runs a job.
///
/// # Errors
/// There is no such job, or it fails.
pub fn run(job: &str, arguments: &[OsString]) -> Result<(), String> {
    let done = match (job, arguments) {
        ("compress", [input, output]) => compress(input.as_ref(), output.as_ref()),
        ("words", [input, output]) => words(input.as_ref(), output.as_ref()),
        _ => return Err(format!("{job} {arguments:?}: no job")),
    };
    done.map_err(|error| error.to_string())
}

type Done = Result<(), Box<dyn std::error::Error>>;

fn compress(input: &Path, output: &Path) -> Done {
    let blocks = Blocks::open(input, 1 << 20)?;
    let mut file = BufWriter::with_capacity(1 << 16, File::create(output)?);
    from_iter(0..blocks.count())
        .try_par_map(|block| pack(&blocks.bytes(block)?))
        .for_each(|block| file.write_all(&block))
        .run_with(&Options::new().threads(THREADS))?;
    Ok(file.flush()?)
}

fn words(input: &Path, output: &Path) -> Done {
    let (ranking, _) = count([File::open(input)], Case::Kept, &Options::new().threads(THREADS))?;
    Ok(lines_of_counts(output, ranking.iter().collect())?)
}
