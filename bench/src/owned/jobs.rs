//! The jobs, each with one parallel stage.

use std::cell::RefCell;

use serde_json::Value;
use zstd::bulk::Compressor;

use super::{Job, Sum, text};
use crate::work::{Work, fold};

/// Lines in capital letters, with underscores between words.
#[derive(Clone, Copy)]
pub struct Upper;

impl Job for Upper {
    type Item = String;
    type Mapped = String;

    fn item(self, index: u64) -> String {
        text::line(index)
    }
    fn map(self, line: String) -> String {
        underscored(capital(line))
    }
    fn add(self, sum: &mut Sum, line: String) {
        sum.value(length(line));
    }
}

/// The first stage of [`Upper`].
pub fn capital(line: String) -> String {
    line.to_uppercase()
}

/// The second stage of [`Upper`].
pub fn underscored(line: String) -> String {
    line.replace(' ', "_")
}

/// The length of a line, which ends here.
pub fn length(line: String) -> u64 {
    line.len() as u64
}

/// Lines split into words, which are counted.
#[derive(Clone, Copy)]
pub struct Words;

impl Job for Words {
    type Item = String;
    type Mapped = Vec<String>;

    fn item(self, index: u64) -> String {
        text::line(index)
    }
    fn map(self, line: String) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }
    fn add(self, sum: &mut Sum, words: Vec<String>) {
        sum.value(words.iter().map(|word| word.len() as u64).sum());
        words.into_iter().for_each(|word| sum.count(word, 1));
    }
}

/// Lines of JSON, parsed.
#[derive(Clone, Copy)]
pub struct Json;

impl Job for Json {
    type Item = String;
    type Mapped = Value;

    fn item(self, index: u64) -> String {
        text::json(index)
    }
    fn map(self, line: String) -> Value {
        serde_json::from_str(&line).unwrap_or_default()
    }
    fn add(self, sum: &mut Sum, value: Value) {
        let id = value["id"].as_u64().unwrap_or_default();
        let user = value["user"].as_str().unwrap_or_default().len() as u64;
        sum.value(id + user + value["value"].as_f64().unwrap_or_default() as u64);
    }
}

/// Lines split into words, which are joined again.
#[derive(Clone, Copy)]
pub struct Vectors;

impl Job for Vectors {
    type Item = String;
    type Mapped = Vec<String>;

    fn item(self, index: u64) -> String {
        text::line(index)
    }
    fn map(self, line: String) -> Vec<String> {
        Words.map(line)
    }
    fn add(self, sum: &mut Sum, words: Vec<String>) {
        sum.value(length(words.join("_")));
    }
}

/// The last number of each line, added up by the line's first word and number.
#[derive(Clone, Copy)]
pub struct Keyed;

impl Job for Keyed {
    type Item = String;
    type Mapped = (String, u64);

    fn item(self, index: u64) -> String {
        text::line(index)
    }
    fn map(self, line: String) -> (String, u64) {
        let mut words = line.split_whitespace();
        let key = [words.next(), words.next()].map(Option::unwrap_or_default).join(" ");
        (key, words.last().and_then(|word| word.parse().ok()).unwrap_or_default())
    }
    fn add(self, sum: &mut Sum, (key, number): (String, u64)) {
        sum.value(number);
        sum.count(key, number);
    }
}

/// Lines of which each costs the same work.
#[derive(Clone, Copy)]
pub struct Calibrated(pub Work);

impl Job for Calibrated {
    type Item = String;
    type Mapped = String;

    fn item(self, index: u64) -> String {
        text::line(index)
    }
    fn map(self, mut line: String) -> String {
        let result = self.0.stage().run(line.len() as u64);
        line.push(char::from(b'a' + (result % 26) as u8));
        line
    }
    fn add(self, sum: &mut Sum, line: String) {
        sum.value(line.bytes().next_back().map_or(0, u64::from) + length(line));
    }
}

/// Blocks of text of this many bytes, with checksums, compressed.
#[derive(Clone, Copy)]
pub struct Blocks(usize);

impl Blocks {
    /// The blocks of a row: `blocks.k16` has blocks of 16 KiB.
    pub fn named(row: &str) -> Option<Blocks> {
        let size: usize = row.strip_prefix("blocks.k")?.parse().ok()?;
        Some(Blocks(size << 10))
    }
}

impl Job for Blocks {
    type Item = Vec<u8>;
    type Mapped = (u64, Vec<u8>);

    fn item(self, index: u64) -> Vec<u8> {
        text::block(index, self.0)
    }
    fn map(self, block: Vec<u8>) -> (u64, Vec<u8>) {
        compressed(with_checksum(block))
    }
    fn add(self, sum: &mut Sum, (checksum, block): (u64, Vec<u8>)) {
        sum.value(checksum ^ block.len() as u64);
    }
    fn stage(self, blocks: thalweg::Stream<'static, Vec<u8>>) -> thalweg::Stream<'static, (u64, Vec<u8>)> {
        blocks.par_map(with_checksum).par_map(compressed)
    }
}

fn with_checksum(block: Vec<u8>) -> (u64, Vec<u8>) {
    let (words, _) = block.as_chunks::<8>();
    (words.iter().fold(0, |sum, word| fold(sum, u64::from_le_bytes(*word))), block)
}

fn compressed((checksum, block): (u64, Vec<u8>)) -> (u64, Vec<u8>) {
    thread_local! {
        static ZSTD: RefCell<Compressor<'static>> = RefCell::new(Compressor::new(1).expect("a valid level"));
    }
    let compressed = ZSTD.with_borrow_mut(|zstd| zstd.compress(&block));
    (checksum, compressed.expect("the output has room for the block"))
}
