//! Coders and decoders: exact results, and round trips through independent implementations.

use crate::run::run;
use thalweg_str::reference::codes::{Code, decode_matches, decode_runs, encode_matches, encode_runs};
use thalweg_str::{Program, generate};

const END: i32 = -1;

#[test]
fn run_length_codes_round_trip() {
    let mut numbers = generate::runs(1, 1000, 40);
    numbers.push(END);
    for longest in [255, 7] {
        let changes = [("LONGEST", longest.to_string())];
        let pairs: Vec<i32> = run("run_length_encode", &changes, &numbers);
        assert_eq!(pairs, encode_runs(&numbers[..1000], longest));
        assert_eq!(decode_runs(&pairs), numbers[..1000]);
        let again: Vec<i32> = run("run_length_decode", &changes, &pairs);
        assert_eq!(again, numbers[..1000]);
    }
}

#[test]
fn lz77_codes_round_trip() {
    let mut text = generate::text(2, 600);
    text.push(END);
    for (window, longest, most) in [(256, 32, 300), (40, 4, 500)] {
        let changes = [("WINDOW", window.to_string()), ("LONGEST", longest.to_string())];
        let triples: Vec<i32> = run("lz77_encode", &changes, &text);
        assert_eq!(decode_matches(&triples, window, longest).unwrap(), text);
        assert!(triples.len() / 3 < most, "{} triples", triples.len() / 3);
        let again: Vec<i32> = run("lz77_decode", &changes, &triples);
        assert_eq!(again, text);
    }
}

#[test]
fn a_match_may_overlap_itself() {
    let text = [5, 5, 5, 5, 5, 5, 5, 6, END];
    let triples: Vec<i32> = run("lz77_encode", &[], &text);
    assert_eq!(triples, [0, 0, 5, 1, 6, 6, 0, 0, END]);
    let again: Vec<i32> = run("lz77_decode", &[], &triples);
    assert_eq!(again, text);
}

#[test]
fn the_decoder_reads_the_code_of_another_coder() {
    let text = generate::text(3, 1000);
    let again: Vec<i32> = run("lz77_decode", &[], &encode_matches(&text, 256, 32));
    assert_eq!(again, text);
}

/// The constant `WEIGHTS` of the program.
fn weights() -> Vec<u32> {
    let text = Program::named("huffman_encode").unwrap().files[1].1;
    let weights = text.split("WEIGHTS = {").nth(1).unwrap().split('}').next().unwrap();
    weights.split(',').map(|weight| weight.trim().parse().unwrap()).collect()
}

/// The Huffman code for the program's weights.
fn huffman() -> Code {
    Code::huffman(&weights())
}

#[test]
fn the_code_is_within_a_bit_of_the_entropy() {
    let weights = weights();
    assert_eq!(weights.len(), 28);
    let total = f64::from(weights.iter().sum::<u32>());
    let parts = || weights.iter().map(|weight| f64::from(*weight) / total);
    let entropy: f64 = parts().map(|part| -part * part.log2()).sum();
    let length: f64 = parts().zip(&huffman().0).map(|(part, code)| part * f64::from(code.0)).sum();
    assert!(entropy <= length && length < entropy + 1.0, "{length} bits, entropy {entropy}");
}

#[test]
fn huffman_codes_round_trip() {
    let mut text = generate::text(4, 600);
    text.push(27);
    let code = huffman();
    let bits: Vec<bool> = run("huffman_encode", &[], &text);
    assert_eq!(bits, code.encode(&text));
    assert_eq!(code.decode(&bits, 27), text);
}

#[test]
fn bits_after_the_end_are_dropped() {
    let mut text = generate::text(5, 300);
    text.push(27);
    let mut bits = huffman().encode(&text);
    bits.extend([false; 7]);
    let again: Vec<i32> = run("huffman_decode", &[], &bits);
    assert_eq!(again, text);
}

#[test]
fn the_channel_passes_all_symbols() {
    let text: Vec<i32> = (0..28).chain([1]).collect();
    let again: Vec<i32> = run("huffman_channel", &[], &text);
    // Symbols after the end are dropped.
    assert_eq!(again, text[..28]);
}
