//! Eight programs as a new user writes them, with default options: what each holds. `docs/memory.md` has the figures.
//!
//! Each makes its own input, and takes more of it than it may hold.

use super::{MIB, peak_of};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::time::Duration;
use thalweg::{Graph, ParallelExt, Stream, from_iter, input, output};

/// Maximum number of bytes of a program, without its input.
const MOST: usize = 64_000_000;

/// Checks that a program holds at most `most` bytes.
fn holds_at_most<T>(most: usize, name: &str, program: impl FnOnce() -> T) -> T {
    let (result, peak) = peak_of(program);
    println!("{name}: {:.1} MB", peak as f64 / 1e6);
    assert!(peak <= most, "{name}: {peak} bytes of at most {most}");
    result
}

/// A reader of a repeated text, as standard input would be.
struct Repeated {
    text: &'static [u8],
    /// Bytes that were read.
    at: usize,
    /// Bytes in all.
    bytes: usize,
}

impl Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(self.bytes - self.at);
        let (mut rest, mut text) = (&mut buffer[..count], &self.text[self.at % self.text.len()..]);
        while !rest.is_empty() {
            let (part, behind) = rest.split_at_mut(text.len().min(rest.len()));
            part.copy_from_slice(&text[..part.len()]);
            (rest, text) = (behind, self.text);
        }
        self.at += count;
        Ok(count)
    }
}

/// The lines of a repeated text, of which there are `bytes` bytes.
fn lines(text: &'static str, bytes: usize) -> impl Iterator<Item = String> + Send {
    BufReader::new(Repeated { text: text.as_bytes(), at: 0, bytes }).lines().map(|line| line.expect("text"))
}

/// About a sixth of the bytes, and some work for every fourth one.
fn compress(block: &[u8]) -> Vec<u8> {
    let mut hash = 0u32;
    let mut out = Vec::with_capacity(block.len() / 2);
    for (i, byte) in block.iter().enumerate().step_by(4) {
        for _ in 0..4 {
            hash = hash.wrapping_mul(0x0100_0193) ^ u32::from(*byte);
        }
        if hash.is_multiple_of(3) || i == 0 {
            out.extend([hash as u8, *byte]);
        }
    }
    out
}

#[test]
fn an_ordered_compressor() {
    let mut input =
        Repeated { text: b"the quick brown fox jumps over the lazy dog\n", at: 0, bytes: 200 * MIB };
    let blocks = std::iter::from_fn(move || {
        let mut block = vec![0; MIB];
        let count = input.read(&mut block).expect("no failure");
        block.truncate(count);
        (count > 0).then_some(block)
    });
    let written = holds_at_most(MOST, "ordered compressor", || {
        let packed = from_iter(blocks).blocking().par_map(|block| compress(&block));
        packed.fold(0, |sum, block: Vec<u8>| sum + block.len()).run().unwrap().into_value()
    });
    assert!(written > MIB);
}

const LOG: &str =
    "GET /index.html 200 1043\nGET /missing.png 404 210\nPOST /login 500 87\nGET /about.html 200 977\n";

#[test]
fn a_log_analysis() {
    let paths = holds_at_most(MOST, "log analysis", || {
        let failed = from_iter(lines(LOG, 100 * MIB)).par_filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            let (path, status) = (words.next()?, words.next()?.parse::<u16>().ok()?);
            (status >= 400).then(|| path.to_owned())
        });
        let count = |mut counts: HashMap<String, u64>, path| {
            *counts.entry(path).or_default() += 1;
            counts
        };
        failed.fold(HashMap::new(), count).run().unwrap().into_value()
    });
    assert_eq!(paths.len(), 2);
}

#[test]
fn a_pipeline_with_a_slow_stage() {
    let frames = holds_at_most(MOST, "pipeline with a slow stage", || {
        let frames = from_iter(0..300u32).map(|n| vec![n as u8; MIB]).par_map(|mut frame| {
            frame.iter_mut().for_each(|byte| *byte = byte.rotate_left(1));
            frame
        });
        let slow = frames.map(|frame| {
            std::thread::sleep(Duration::from_millis(2));
            frame[..16].to_vec()
        });
        slow.fold(0, |count, _| count + 1).run().unwrap().into_value()
    });
    assert_eq!(frames, 300);
}

const READS: &str = "@SRR001.1 length=100\n\
    ACGTTGCAAGGCTTAACCGATCGGATTACAGGCATTACGGATCCAGTTACGGACTTGACCAGTCATGCATCGATTGCAACGTTAGGCCATTAGCATCGAT\n\
    +\n\
    IIIIIIIIIIIIHHHHHHHGGGGGGFFFFFFFEEEEEEDDDDDCCCCCBBBBBAAAAA@@@@@?????>>>>>=====<<<<<;;;;;:::::99999888\n";

/// A read of a sequencer, as four lines.
struct Record([String; 4]);

#[test]
fn a_fastq_filter() {
    let mut lines = lines(READS, 200 * MIB);
    let records = std::iter::from_fn(move || {
        let record = [lines.next()?, lines.next()?, lines.next()?, lines.next()?];
        Some(Record(record))
    });
    let bases = holds_at_most(20_000_000, "FASTQ filter", || {
        let good = from_iter(records).blocking().par_filter_map(|record| {
            let quality: u64 = record.0[3].bytes().map(|byte| u64::from(byte - 33)).sum();
            (quality / record.0[3].len().max(1) as u64 >= 20).then_some(record)
        });
        good.fold(0, |sum, record: Record| sum + record.0[1].len()).run().unwrap().into_value()
    });
    assert!(bases > 40 * MIB);
}

/// Pages link to the pages with twice their number, and one more.
#[test]
fn a_crawler_by_feedback() {
    const PAGES: u64 = 400;
    let fetched = holds_at_most(MOST, "crawler by feedback", || {
        let graph = Graph::new();
        let (back, found) = graph.feedback([]);
        let start = graph.source([vec![1u64]]);
        let visit = graph.kernel("visit", (input("start", start), input("found", found)), output("pages"));
        let visit = visit.framed(|(start, found)| match start.peek(0)? {
            Some(_) => Ok(Some([1, 0])),
            None => Ok(found.peek(0)?.map(|_| [0, 1])),
        });
        let pages = visit.sequential(|(start, found), pages| {
            let links = start.try_pop().or_else(|| found.try_pop()).unwrap_or_default();
            pages.extend(links.into_iter().filter(|page| *page <= PAGES));
        });
        let fetch = graph.kernel("fetch", pages, (output("body").push(1), output("links").push(1)));
        let (bodies, links) = fetch.parallel(|pages, (bodies, links)| {
            let page = pages.pop();
            std::thread::sleep(Duration::from_micros(500));
            bodies.push(vec![page as u8; MIB]);
            links.push(vec![2 * page, 2 * page + 1]);
        });
        links.feed(back);
        bodies.fold(0, |count, _| count + 1).run().unwrap().into_value()
    });
    assert_eq!(fetched, PAGES);
}

#[test]
fn thumbnails() {
    /// Pixels of a side.
    const SIDE: usize = 1200;
    let pixels = holds_at_most(MOST, "thumbnails", || {
        let pictures = from_iter(0..40usize).par_map(|n| vec![n as u8; SIDE * SIDE * 3]);
        let small = pictures.par_map(|picture| {
            let rows = picture.chunks(SIDE * 3 * 8);
            rows.flat_map(|rows| rows[..SIDE * 3].chunks(24)).map(|pixel| pixel[0]).collect::<Vec<u8>>()
        });
        small.fold(0, |sum, picture: Vec<u8>| sum + picture.len()).run().unwrap().into_value()
    });
    assert_eq!(pixels, 40 * (SIDE / 8) * (SIDE / 8));
}

#[test]
fn batches_of_lines() {
    let words = holds_at_most(MOST, "batches of lines", || {
        let batches: Stream<'static, Vec<String>> = from_iter(lines(LOG, 100 * MIB)).batch(1000);
        let counts = batches.par_map(|lines| lines.iter().map(|line| line.split(' ').count()).sum::<usize>());
        counts.fold(0, |sum, count| sum + count).run().unwrap().into_value()
    });
    assert!(words > MIB);
}

#[test]
fn an_adaptor_over_large_items() {
    let sum = holds_at_most(MOST, "adaptor over large items", || {
        let blocks = (0..300u32).map(|n| vec![n as u8; MIB]);
        blocks.par_map(|block| compress(&block)).map(|packed| packed.len()).sum::<usize>()
    });
    assert!(sum > MIB);
}
