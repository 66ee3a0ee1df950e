//! Compiles arbitrary text as a program, from the lexer to the schedule: it is accepted, or refused with errors that
//! have a place in the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_lang::elaborate::Limits;
use thalweg_lang::{Sources, compile_within};

fuzz_target!(|bytes: &[u8]| {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let sources = Sources::of("fuzz.str", text);
    let limits = Limits { steps: 100_000, words: 1 << 21, streams: 1000, ..Limits::default() };
    for error in compile_within(&sources, &limits).err().unwrap_or_default() {
        assert!(error.render(&sources, false).contains("fuzz.str"));
        let _ = sources.text(error.span);
        error.others.iter().for_each(|(span, _)| drop(sources.text(*span).to_owned()));
    }
});
