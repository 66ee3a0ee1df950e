//! Helpers of the tests.
#![allow(dead_code, missing_docs)]

use std::io::{self, Read};

use thalweg_dedup::{Codec, Limits, Matching, Params, pack_sequential, unpack_stream};

pub const CODECS: [Codec; 3] = [Codec::None, Codec::Zstd, Codec::Gzip];

/// Parameters with small sizes, so that little data makes many duplicates and blocks.
pub fn small(codec: Codec) -> Params {
    Params::default().codec(codec).matching(Matching { min: 32, spacing: 16 }).block(2048, 8192)
}

pub fn pack(content: &[u8], params: &Params) -> Vec<u8> {
    let mut archive = Vec::new();
    let summary = pack_sequential(content, &mut archive, params).expect("packs");
    assert_eq!(summary.content_bytes, content.len() as u64);
    assert_eq!(summary.archive_bytes, archive.len() as u64);
    archive
}

pub fn unpack(archive: &[u8]) -> thalweg_dedup::Result<Vec<u8>> {
    let mut content = Vec::new();
    unpack_stream(archive, &mut content, &Limits::default())?;
    Ok(content)
}

/// Deterministic bytes that do not compress.
pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Deterministic text that compresses about as well as natural text.
pub fn text(seed: u64, length: usize) -> Vec<u8> {
    let words = ["river", "bed", "line", "of", "fastest", "flow", "along", "the", "valley", "stream"];
    let mut out = Vec::with_capacity(length + 8);
    for byte in noise(seed, length) {
        if out.len() >= length {
            break;
        }
        out.extend_from_slice(words[byte as usize % words.len()].as_bytes());
        out.push(if byte > 250 { b'\n' } else { b' ' });
    }
    out.truncate(length);
    out
}

/// A reader that returns reads of varying lengths, as a pipe may.
pub struct ShortReads<'a>(pub &'a [u8], pub usize);

impl Read for ShortReads<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.1 = self.1 * 7 % 1009 + 1;
        let count = self.1.min(out.len()).min(self.0.len());
        let (now, rest) = self.0.split_at(count);
        out[..count].copy_from_slice(now);
        self.0 = rest;
        Ok(count)
    }
}
