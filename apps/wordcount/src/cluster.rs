//! Counting by several processes.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use serde_bytes::ByteBuf;
use thalweg::{Options, Report};
use thalweg_cluster::{Cluster, Error};

use crate::network::count;
use crate::range::Range;
use crate::ranking::{Ranked, Ranking};
use crate::words::Case;

/// Counts the words of files with the processes of a cluster. Each process counts an equal share of the bytes with
/// [`count`] and these options, and the words of its table go to the processes in which they live. Returns
/// the ranking in process 0, which does not depend on the number of processes, and the report of this process's share.
///
/// `lengths` has the bytes of the files, which process 0 says, or why it cannot. `open` opens one of them; it must have as
/// many bytes in all processes.
///
/// # Errors
/// A process failed, in opening or reading a file for example, or could not be reached.
pub fn count_on<R: Read + Seek + Send>(
    cluster: &Cluster,
    lengths: impl FnOnce() -> Result<Vec<u64>, String> + Send + 'static,
    open: impl Fn(usize) -> io::Result<R> + Send + Sync,
    case: Case,
    options: &Options,
) -> Result<(Option<Ranking>, Option<Report>), Error> {
    let processes = cluster.processes();
    let (lengths, report) = (cluster.shared(lengths), Mutex::new(None));
    let count_share = |share: usize| -> Result<Vec<(ByteBuf, u64)>, Cause> {
        let lengths = lengths.as_ref().map_err(String::as_str)?;
        let ranges = ranges(lengths, share, processes);
        let inputs = ranges.into_iter().map(|(file, range)| {
            let mut input = open(file)?;
            check_length(input.seek(SeekFrom::End(0))?, lengths[file])?;
            Range::new(input, range)
        });
        let (ranking, its_report) = count(inputs, case, options).map_err(cause)?;
        *report.lock().unwrap_or_else(PoisonError::into_inner) = Some(its_report);
        Ok(ranking.iter().map(|(word, count)| (ByteBuf::from(word), count)).collect())
    };
    let counted = cluster
        .clone()
        .job(format!("wordcount {case:?}"))
        .from_parts(processes, |share| [share])
        .try_par_map(count_share)
        .named("count")
        .par_flat_map(|words| words)
        .key_by(|(word, _)| word.clone())
        .combine(|| 0, |all, (_, count)| *all += count, |all, more| *all += more)
        .collect()
        // The threads are those of the count.
        .run_with(&Options::new().threads(1))?;
    let ranking = counted.map(|words| {
        let mut words: Vec<_> = words.into_iter().map(|(word, count)| Ranked::new(&word, count)).collect();
        words.sort_unstable();
        Ranking::merge(vec![words])
    });
    Ok((ranking, report.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The error of an input without the engine's words around it.
fn cause(error: thalweg::Error) -> Cause {
    match error {
        thalweg::Error::Node { cause, .. } => cause,
        other => other.into(),
    }
}

fn check_length(here: u64, in_process_0: u64) -> io::Result<()> {
    let differs = || format!("a file has {here} bytes here and {in_process_0} in process 0");
    if here == in_process_0 { Ok(()) } else { Err(io::Error::other(differs())) }
}

/// The ranges of files that one of several shares of all bytes has.
fn ranges(lengths: &[u64], share: usize, shares: usize) -> Vec<(usize, std::ops::Range<u64>)> {
    let all: u64 = lengths.iter().sum();
    let place = |share: usize| (u128::from(all) * share as u128 / shares as u128) as u64;
    let (from, to) = (place(share), place(share + 1));
    let mut before = 0;
    let mut ranges = Vec::new();
    for (file, length) in lengths.iter().enumerate() {
        let range = from.saturating_sub(before).min(*length)..to.saturating_sub(before).min(*length);
        if !range.is_empty() {
            ranges.push((file, range));
        }
        before += length;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_all_bytes_once() {
        let lengths = [5, 0, 1, 94];
        for shares in 1..12 {
            let mut next = [0; 4];
            for share in 0..shares {
                for (file, range) in ranges(&lengths, share, shares) {
                    assert_eq!(range.start, next[file]);
                    next[file] = range.end;
                }
            }
            assert_eq!(next, lengths);
        }
    }
}
