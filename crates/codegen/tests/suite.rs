//! The programs of the suite: native code does what the interpreter does.
//!
//! At the highest level, as compiling takes most of the time; at all with `THALWEG_LEVELS=all`.

mod common;

use common::{LEVELS, Memory, agree_at, has_compiler};
use std::sync::Arc;
use thalweg_codegen::{Level, Refusal, source};
use thalweg_str::PROGRAMS;

/// Items in each file that is read: some steady states of each program, and a rest.
const ITEMS: usize = 9001;

#[test]
fn the_suite_agrees() {
    if !has_compiler("the_suite_agrees") {
        return;
    }
    let all = std::env::var("THALWEG_LEVELS").is_ok_and(|levels| levels == "all");
    let levels = if all { &LEVELS[..] } else { &[Level::Vectors] };
    let mut native = Vec::new();
    for program in PROGRAMS {
        let compiled = thalweg_lang::compile(&program.sources(&[]).unwrap()).unwrap();
        match source(&compiled, Level::Fused) {
            Ok(_) => {
                let files = Memory { any: Some(ITEMS), ..Memory::default() };
                let seen = agree_at(levels, &Arc::new(compiled), program.name, &files, None);
                assert!(
                    seen.end.is_err() || seen.written.values().any(|items| !items.is_empty()),
                    "{} writes nothing",
                    program.name
                );
                native.push(program.name);
            }
            Err(Refusal::Unable(why)) => {
                let known = ["sends messages"];
                assert!(known.iter().any(|known| why.contains(known)), "{}: {why}", program.name);
            }
            Err(other) => panic!("{}: {other}", program.name),
        }
    }
    assert!(native.len() >= 12, "only {native:?}");
}
