//! The programs of the suite that have static rates: native code does what the interpreter does.

mod common;

use common::{Memory, agree_compiled, has_compiler};
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
    let mut native = Vec::new();
    for program in PROGRAMS {
        let compiled = thalweg_lang::compile(&program.sources(&[]).unwrap()).unwrap();
        match source(&compiled, Level::Fused) {
            Ok(_) => {
                let files = Memory { any: Some(ITEMS), ..Memory::default() };
                let seen = agree_compiled(&Arc::new(compiled), program.name, &files, None);
                assert!(seen.written.values().any(|items| !items.is_empty()), "{} writes nothing", program.name);
                native.push(program.name);
            }
            Err(Refusal::Unable(why)) => {
                let known = ["dynamic rates", "sends messages"];
                assert!(known.iter().any(|known| why.contains(known)), "{}: {why}", program.name);
            }
            Err(other) => panic!("{}: {other}", program.name),
        }
    }
    assert!(native.len() >= 12, "only {native:?}");
}
