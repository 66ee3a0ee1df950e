//! Arbitrary content round-trips, with small blocks and a small window.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_dedup::{Limits, Matching, Params, pack_sequential, unpack_stream};

fuzz_target!(|content: &[u8]| {
    let matching = Matching { min: 32, spacing: 16 };
    let params = Params::default().matching(matching).block(512, 2048).window(4096);
    let mut archive = Vec::new();
    pack_sequential(content, &mut archive, &params).expect("packs");
    let mut back = Vec::new();
    unpack_stream(&archive[..], &mut back, &Limits::default()).expect("unpacks");
    assert_eq!(back, content);
});
