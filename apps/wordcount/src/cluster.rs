//! Counting by several processes.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use serde_bytes::ByteBuf;
use thalweg::{Options, Report};
use thalweg_cluster::{Cluster, Error};

use crate::network::count_files;
use crate::range::Range;
use crate::ranking::{Ranked, Ranking, sorted};
use crate::table::{Table, part_of};
use crate::words::Case;

/// Parts of all words for each process: a part lives in a process by its hash, so each one gets about as many.
const PARTS: usize = 8;

/// Counts the words of files with the processes of a cluster. Each process counts an equal share of the bytes with
/// [`count`](crate::count) and these options, and the parts of its table go to the processes in which they live. Returns
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
    let count_share = |share: usize, bits: u32| -> Result<Vec<(u32, ByteBuf)>, Cause> {
        let lengths = lengths.as_ref().map_err(String::as_str)?;
        let ranges = ranges(lengths, share, processes);
        let inputs = ranges.into_iter().map(|(file, range)| {
            let mut input = open(file)?;
            check_length(input.seek(SeekFrom::End(0))?, lengths[file])?;
            Range::new(input, range)
        });
        let divide = |table: &Table| divide(table, bits);
        let (parts, its_report) = count_files(inputs, case, options, divide).map_err(cause)?;
        *report.lock().unwrap_or_else(PoisonError::into_inner) = Some(its_report);
        Ok(parts.concat())
    };
    let bits = (PARTS * processes).next_power_of_two().trailing_zeros();
    let counted = cluster
        .clone()
        .job(format!("wordcount {case:?}"))
        .from_parts(processes, |share| [share])
        .try_par_map(|share| count_share(share, bits))
        .named("count")
        .par_flat_map(|parts| parts)
        .key_by(|(part, _)| *part)
        // As many words may come of each process as of the first.
        .fold(Table::new, |table, (_, words)| add(table, bits, processes, &words))
        .par_map(|(_, table)| ByteBuf::from(encode(sorted(&table).iter())))
        .collect()
        // The threads are those of the count.
        .run_with(&Options::new().threads(1))?;
    let ranking = counted.map(|parts| {
        let words = |part: &ByteBuf| decode(part).map(|(word, count)| Ranked::new(word, count)).collect();
        Ranking::merge(parts.iter().map(words).collect())
    });
    Ok((ranking, report.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The words of a table in those of `2^bits` parts that have some, each with its number.
fn divide(table: &Table, bits: u32) -> Vec<(u32, ByteBuf)> {
    let mut parts: Vec<Vec<Ranked>> = (0..1 << bits).map(|_| Vec::new()).collect();
    for word in table.entries() {
        parts[part_of(&word, bits)].push(word);
    }
    let encoded = |(part, words): (usize, Vec<Ranked>)| (part as u32, ByteBuf::from(encode(words.iter())));
    parts.into_iter().enumerate().filter(|(_, words)| !words.is_empty()).map(encoded).collect()
}

/// Adds words of a process to the table of their part.
fn add(table: &mut Table, bits: u32, processes: usize, words: &[u8]) {
    if table.is_empty() {
        *table = Table::of_part(bits, processes * decode(words).count());
    }
    decode(words).for_each(|(word, count)| table.add(word, count));
}

/// Words with their counts as bytes: for each the count, the length, and the word.
fn encode<'a>(words: impl Iterator<Item = &'a Ranked>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in words {
        number(&mut bytes, word.count);
        number(&mut bytes, word.word().len() as u64);
        bytes.extend_from_slice(word.word());
    }
    bytes
}

/// A number, seven bits in a byte, the lowest first; the eighth bit says that more follow.
fn number(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The words with their counts. The bytes are those of a process of this run.
fn decode(mut bytes: &[u8]) -> impl Iterator<Item = (&[u8], u64)> {
    let number = |bytes: &mut &[u8]| {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = *bytes.split_off_first()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
            shift += 7;
        }
    };
    std::iter::from_fn(move || {
        let count = number(&mut bytes)?;
        let length = number(&mut bytes)? as usize;
        Some((bytes.split_off(..length)?, count))
    })
}

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
    fn parts_of_several_tables_have_all_words() {
        let texts = ["to be or not to be", "a word of more than sixteen bytes: incomprehensibilities to"];
        let tables = texts.map(|text| {
            let mut table = Table::new();
            table.add_text(text.as_bytes());
            table
        });
        let mut counts = Vec::new();
        for bits in [0, 3] {
            let shares = tables.each_ref().map(|table| divide(table, bits));
            let mut parts: Vec<_> = (0..1 << bits).map(|_| Table::new()).collect();
            shares.iter().flatten().for_each(|(part, words)| add(&mut parts[*part as usize], bits, 2, words));
            let ranking = Ranking::merge(parts.iter().map(sorted).collect());
            counts.push(ranking.iter().map(|(word, count)| (word.to_vec(), count)).collect::<Vec<_>>());
        }
        assert_eq!((counts[0][0].clone(), counts[0].len()), ((b"to".to_vec(), 3), 12));
        assert_eq!(counts[0], counts[1]);
    }

    #[test]
    fn words_and_counts_of_any_size_are_read_back() {
        let words = [Ranked::new(b"a", 1), Ranked::new(&[b'x'; 1000], u64::MAX), Ranked::new(b"b", 128)];
        let bytes = encode(words.iter());
        assert!(decode(&bytes).eq(words.iter().map(|word| (word.word(), word.count))));
    }

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
