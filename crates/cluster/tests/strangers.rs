//! Bytes of strangers and damaged bytes of processes: none panics, and none makes the process allocate more than 64 KiB. A program
//! without a test harness, since it counts what all its threads allocate.
//!
//! 4,000 cases of each kind; `THALWEG_CASES=N` runs N, `THALWEG_SEED=N` begins with seed N.

#[allow(unused)]
#[path = "../src/mesh/frame.rs"]
mod frame;
#[allow(unused)]
#[path = "../src/mesh/hello.rs"]
mod hello;
#[allow(unused)]
#[path = "../src/mesh/track.rs"]
mod track;

use std::io::{self, Cursor, Read, Write};

use frame::{Early, Word, frame, read};
use hello::{Identity, Kind, accept, connect, key_of};
use peak_alloc::PeakAlloc;
use track::{Ends, Track};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Maximum number of bytes that one damaged message may make the process allocate.
const MOST: usize = 64 << 10;

/// A generator of numbers (splitmix64), the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    /// Changes, removes, doubles or adds bytes.
    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(6) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, self.below(256) as u8),
                2 => bytes.extend_from_within(at..),
                3 => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xff),
                _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
    }
}

/// A connection on which these bytes come.
struct Played {
    input: Cursor<Vec<u8>>,
    output: Vec<u8>,
}

impl Played {
    fn new(bytes: &[u8]) -> Played {
        Played { input: Cursor::new(bytes.to_vec()), output: Vec::new() }
    }
}

impl Read for Played {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.input.read(into)
    }
}

impl Write for Played {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a call returns, which may allocate little.
fn frugal<T>(seed: u64, call: impl FnOnce() -> T) -> T {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let result = call();
    let most = ALLOCATOR.peak_usage().saturating_sub(before);
    assert!(most <= MOST, "seed {seed}: {most} bytes");
    result
}

fn identity(process: u32) -> Identity {
    Identity { process, processes: 2, program: [9; 32], key: key_of(b"secret") }
}

/// The hello of a process that connects, and the answer to it.
fn hellos() -> (Vec<u8>, Vec<u8>) {
    let mut silent = Played::new(&[]);
    assert!(connect(&mut silent, &identity(1), 0, Kind::Data).is_err());
    let mut waiting = Played::new(&silent.output);
    assert!(accept(&mut waiting, &identity(0)).is_err());
    (silent.output, waiting.output)
}

fn hello_case(seed: u64, random: &mut Random) {
    let (mut hello, mut answer) = hellos();
    random.mutate(&mut hello);
    hello.extend([7; 40]);
    let mut stream = Played::new(&hello);
    let result = frugal(seed, || accept(&mut stream, &identity(0)));
    assert!(result.is_err(), "seed {seed}: a stranger is greeted");
    random.mutate(&mut answer);
    answer.extend([0; 40]);
    let mut stream = Played::new(&answer);
    let result = frugal(seed, || connect(&mut stream, &identity(1), 0, Kind::Data));
    assert!(result.is_err(), "seed {seed}: a stranger is believed");
}

/// Longest body of a message below.
const LONGEST: usize = 72;

/// Messages of the dataflow: a header that was changed passes at no place, so a process never waits for more bytes than were sent to it,
/// and timely makes no room for them.
fn header_case(seed: u64, random: &mut Random) {
    let mut bytes = Vec::new();
    for _ in 0..=random.below(4) {
        let length = 8 * (1 + random.below(LONGEST / 8));
        bytes.extend([7, 1, 0, 1, length as u64, 0].iter().flat_map(|word: &u64| word.to_be_bytes()));
        bytes.extend(vec![3; length]);
    }
    let ends = Ends { from: 1, to: 0 };
    Track::new(ends).seal(&mut bytes).unwrap();
    random.mutate(&mut bytes);
    let mut track = Track::new(ends);
    frugal(seed, || {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(1 + random.below(rest.len()));
            if track.pass(now).is_err() {
                break;
            }
            assert!((1..=LONGEST).contains(&track.missing()), "seed {seed}");
            rest = later;
        }
    });
}

fn frame_case(seed: u64, random: &mut Random) {
    let words = [Word::Alive, Word::Failed, Word::Done, Word::Enough, Word::Shared];
    let mut bytes = Vec::new();
    for _ in 0..=random.below(4) {
        bytes.extend(frame(words[random.below(5)], &vec![5; random.below(200)]));
    }
    random.mutate(&mut bytes);
    frugal(seed, || {
        let mut rest = &bytes[..];
        while read(&mut rest).is_ok() {}
        let mut early = Early::default();
        let mut at = 0;
        while at < bytes.len() {
            let next = at + 1 + random.below(bytes.len() - at);
            match early.add(&bytes[at..next]) {
                Ok(None) => at = next,
                Ok(Some(_)) | Err(_) => break,
            }
        }
        let mut whole = early.before(&bytes[at..]);
        while read(&mut whole).is_ok() {}
    });
}

fn main() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("THALWEG_SEED").unwrap_or(1);
    for seed in first..first + number("THALWEG_CASES").unwrap_or(4000) {
        hello_case(seed, &mut Random(seed));
        header_case(seed, &mut Random(seed));
        frame_case(seed, &mut Random(seed));
    }
}
