//! The programs of the suite: native code does what the interpreter does, and a saved plan leads to the same run.
//!
//! At the highest level, as compiling takes most of the time; at all levels with `THALWEG_LONG=1`.

use crate::common::plans::replays;
use crate::common::{LEVELS, Memory, Seen, agree_and, compiler, has_compiler, is_long};
use std::sync::Arc;
use thalweg_codegen::{Level, Native};
use thalweg_lang::tree::Code;
use thalweg_str::PROGRAMS;

/// Items in each file that is read: some steady states of each program, and a remainder.
const ITEMS: usize = 9001;

/// Steady states of programs that read nothing.
const STATES: u64 = 40;

#[test]
fn the_suite_agrees() {
    if !has_compiler("the_suite_agrees") {
        return;
    }
    let levels = if is_long() { &LEVELS[..] } else { &[Level::Vectors] };
    for program in PROGRAMS {
        let compiled = thalweg_lang::compile(&program.sources(&[]).unwrap()).unwrap();
        let files = Memory { any: Some(ITEMS), ..Memory::default() };
        let reads = compiled.tree.filters.iter().any(|filter| matches!(filter.code, Code::FileReader(_)));
        let iterations = (!reads).then_some(STATES);
        let replayed = |native: &Native, (files, iterations): &(Memory, Option<u64>), meant: &Seen| {
            replays(native, files, *iterations, meant, program.name);
        };
        let runs = [(files, iterations)];
        let seen =
            agree_and(levels, &compiler, &Arc::new(compiled), program.name, &runs, &replayed).remove(0);
        let writes = seen.written.values().any(|items| !items.is_empty()) || !seen.printed.is_empty();
        assert!(seen.end.is_err() || writes, "{} writes nothing", program.name);
    }
}
