//! Counting by several processes.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_bytes::ByteBuf;
use thalweg::{Options, Report};
use thalweg_cluster::{Chain, Cluster, Error};

use crate::blocks::{BLOCK, Blocks};
use crate::network::count_files;
use crate::range::Range;
use crate::ranking::{Ranked, Ranking, sorted};
use crate::table::{Table, part_of};
use crate::words::{Case, CaseFolder};

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
            Ok(Ending { input: Range::new(input, range)?, cluster })
        });
        let divide = |table: &Table| divide(table, bits);
        let (parts, its_report) = count_files(inputs, case, options, divide).map_err(cause)?;
        *report.lock().unwrap_or_else(PoisonError::into_inner) = Some(its_report);
        Ok(parts.concat())
    };
    let bits = bits(processes);
    let counted = cluster
        .clone()
        .job(format!("wordcount {case:?}"))
        .from_parts(processes, |share| [share])
        .try_par_map(|share| count_share(share, bits))
        .named("count");
    // The threads are those of the count.
    let ranking = rank(counted, processes, 1)?;
    Ok((ranking, report.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

/// As [`count_on`], of inputs that process 0 reads one after the other, such as pipes: each process gets blocks of the text, and counts with
/// this many threads. The other processes drop the inputs.
///
/// # Errors
/// Opening or reading an input failed, or a process could not be reached.
pub fn count_read_on<I, R>(
    cluster: &Cluster,
    inputs: I,
    case: Case,
    threads: usize,
) -> Result<Option<Ranking>, Error>
where
    I: IntoIterator<Item = io::Result<R>>,
    I::IntoIter: Send,
    R: Read + Send,
{
    let (share, bits) = (Mutex::new(Share::default()), bits(cluster.processes()));
    let lock = || -> MutexGuard<'_, Share> { share.lock().unwrap_or_else(PoisonError::into_inner) };
    let count = |(text, all): (ByteBuf, Option<u64>)| {
        if all.is_none() {
            let mut table = lock().tables.pop().unwrap_or_default();
            table.add_text(CaseFolder::default().fold(&text, case));
            lock().tables.push(table);
        }
        lock().add(all, bits)
    };
    let counted = cluster
        .clone()
        .job(format!("wordcount {case:?}"))
        .batch(1)
        .try_from_iter(texts(inputs.into_iter(), cluster.processes()))
        .par_map(count)
        .named("count");
    rank(counted, cluster.processes(), threads)
}

/// The blocks of the inputs, which the processes get in turn, and behind them for each process how many it has got.
fn texts<I, R>(inputs: I, processes: usize) -> impl Iterator<Item = io::Result<(ByteBuf, Option<u64>)>>
where
    I: Iterator<Item = io::Result<R>>,
    R: Read,
{
    let (mut sent, mut counted, processes) = (0, 0, processes as u64);
    let mut blocks = inputs.flat_map(blocks).fuse();
    std::iter::from_fn(move || match blocks.next() {
        Some(block) => {
            sent += 1;
            Some(block.map(|block| (ByteBuf::from(block), None)))
        }
        None if counted < processes => {
            let to = (sent + counted) % processes;
            counted += 1;
            Some(Ok((ByteBuf::new(), Some((sent + processes - 1 - to) / processes))))
        }
        None => None,
    })
}

/// The blocks of an input.
fn blocks<R: Read>(input: io::Result<R>) -> impl Iterator<Item = io::Result<Vec<u8>>> {
    let (input, failed) = match input {
        Ok(input) => (Some(input), None),
        Err(error) => (None, Some(Err(error))),
    };
    let read = input.into_iter().flat_map(|input| {
        let mut blocks = Blocks::new(input, BLOCK);
        std::iter::from_fn(move || blocks.next().transpose())
    });
    read.chain(failed)
}

/// What a process has counted of the texts that it gets.
#[derive(Default)]
struct Share {
    tables: Vec<Table>,
    /// Texts that are counted.
    counted: u64,
    /// Texts that it gets, once this is known.
    all: Option<u64>,
}

impl Share {
    /// Another text is counted, or it is known how many there are. Returns the words once all are counted.
    fn add(&mut self, all: Option<u64>, bits: u32) -> Vec<(u32, ByteBuf)> {
        match all {
            Some(all) => self.all = Some(all),
            None => self.counted += 1,
        }
        if self.all != Some(self.counted) {
            return Vec::new();
        }
        let tables = std::mem::take(&mut self.tables);
        tables.iter().flat_map(|table| divide(table, bits)).collect()
    }
}

/// The parts of all words, as a power of two.
fn bits(processes: usize) -> u32 {
    (PARTS * processes).next_power_of_two().trailing_zeros()
}

/// The ranking of words that all processes have counted, by part, in process 0.
fn rank(
    counted: Chain<'_, Vec<(u32, ByteBuf)>>,
    processes: usize,
    threads: usize,
) -> Result<Option<Ranking>, Error> {
    let bits = bits(processes);
    let counted = counted
        .par_flat_map(|parts| parts)
        .key_by(|(part, _)| *part)
        .fold(Table::new, move |table, (_, words)| add(table, bits, processes, &words))
        .par_map(|(_, table)| ByteBuf::from(encode(sorted(&table).iter())))
        .collect()
        .run_with(&Options::new().threads(threads))?;
    Ok(counted.map(|parts| {
        let words = |part: &ByteBuf| decode(part).map(|(word, count)| Ranked::new(word, count)).collect();
        Ranking::merge(parts.iter().map(words).collect())
    }))
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

/// Adds words of a process to the table of their part. Most processes have the same words, so there is room for those of two at
/// first: of as many as all processes may have, the table would be several times as large.
fn add(table: &mut Table, bits: u32, processes: usize, words: &[u8]) {
    let count = decode(words).count();
    if table.is_empty() {
        *table = Table::of_part(bits, processes.min(2) * count);
    }
    table.make_room(count);
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

/// An input that fails when the run ends, which does not wait for the rest.
struct Ending<'a, R> {
    input: R,
    cluster: &'a Cluster,
}

impl<R: Read> Read for Ending<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.cluster.is_ending() {
            return Err(io::Error::other("the run has ended"));
        }
        self.input.read(bytes)
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
    fn each_process_gets_its_texts_and_then_their_number() {
        let text = "word ".repeat(BLOCK);
        for (inputs, processes) in [(0, 3), (1, 1), (1, 2), (2, 3), (3, 4), (1, 9)] {
            let inputs = (0..inputs).map(|_| Ok(text.as_bytes()));
            let mut shares: Vec<(u64, Option<u64>)> = vec![(0, None); processes];
            for (number, sent) in texts(inputs, processes).enumerate() {
                let (got, number_of_all) = &mut shares[number % processes];
                assert!(number_of_all.is_none());
                match sent.unwrap() {
                    (_, None) => *got += 1,
                    (text, all) => {
                        assert!(text.is_empty());
                        *number_of_all = all;
                    }
                }
            }
            assert!(shares.iter().all(|(got, all)| Some(*got) == *all), "{shares:?}");
        }
        let failing = [Ok(&b"a "[..]), Err(io::Error::other("lost"))];
        let sent: Vec<_> = texts(failing.into_iter(), 2).take(2).collect();
        assert!(sent[0].is_ok() && sent[1].as_ref().is_err_and(|error| error.to_string() == "lost"));
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
