//! Interprets a few iterations of a generated program, which is mutated if the first byte is odd.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io;
use std::sync::Arc;
use thalweg_lang::elaborate::Limits;
use thalweg_lang::files::{Files, Layout, Sink, Source};
use thalweg_lang::interpret::{BUDGET, Options, RunLimits, Surroundings, interpret_within};
use thalweg_lang::{Compiled, Sources, compile_within};
use thalweg_lang_testgen::mutate::mutated;
use thalweg_lang_testgen::{Choices, generate};

/// A set of files in which every access fails.
struct NoFiles;

impl Files for NoFiles {
    fn source(&mut self, _name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn sink(&mut self, _name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// Whether the steady state is short and the buffers are small.
fn is_short(compiled: &Compiled) -> bool {
    let firings: u64 = compiled.schedule.regions.iter().flat_map(|region| &region.repetitions).sum();
    let buffers: u64 = compiled.schedule.buffers.iter().flatten().sum();
    firings + buffers < 10_000
}

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let options = thalweg_lang_testgen::Options { files: false, ..Default::default() };
    let mut choices = Choices::of(bytes);
    let text = generate(&mut choices, &options).to_string();
    let valid = choice % 2 == 0;
    let text = if valid { text } else { mutated(&text, &text, &mut choices) };
    let limits = Limits { steps: 100_000, words: 1 << 21, streams: 1000, ..Limits::default() };
    let compiled = match compile_within(&Sources::of("fuzz.str", text), &limits) {
        Ok(compiled) if is_short(&compiled) => Arc::new(compiled),
        Ok(_) => return,
        Err(errors) => return assert!(!valid, "errors in a valid program: {errors:?}"),
    };
    let around = Surroundings {
        files: &mut NoFiles,
        out: Box::new(io::sink()),
        interrupted: Box::new(|| false),
        progress: &mut |_| {},
    };
    let run_limits = RunLimits { steps: 10_000, bytes: BUDGET / 8 };
    let run = Options { iterations: Some(3), repeat_input: false };
    let ended = interpret_within(&compiled, run, run_limits, around);
    assert!(!valid || ended.is_ok(), "a valid program failed: {ended:?}");
});
