//! Constructs the streams of arbitrary text that parses as a program: with small limits this terminates without a
//! panic, in streams that can be printed, or in errors that have a place in the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_lang::elaborate::{Limits, elaborate_within};
use thalweg_lang::{Sources, parse, resolve, tree};

fuzz_target!(|bytes: &[u8]| {
    let sources = Sources::of("fuzz.str", String::from_utf8_lossy(bytes));
    let (parsed, errors) = parse(&sources);
    if !errors.is_empty() {
        return;
    }
    let Ok(program) = resolve::resolve(&parsed) else { return };
    let limits = Limits { steps: 100_000, words: 800_000, streams: 1000, depth: 100 };
    match elaborate_within(&program, &limits) {
        Ok(made) => drop(tree::describe(&made, &program)),
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                let _ = sources.text(error.span);
            }
        }
    }
});
