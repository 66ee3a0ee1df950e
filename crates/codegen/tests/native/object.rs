//! Native code stored with its program.

use crate::common::{Memory, compiled, has_compiler, interpreted, run_native};
use thalweg_codegen::{Config, Level, Object, Refusal, object};

const TEXT: &str = "void->void pipeline Main {
    add void->int filter { int n; work push 1 { push(n); n += 3; } };
    add int->void filter { work pop 2 { println(pop() * 2 + \" and \" + pop()); } };
}";

#[test]
fn stored_code_runs_from_memory() {
    if !has_compiler("stored_code_runs_from_memory") {
        return;
    }
    let program = compiled(TEXT);
    for level in [Level::Plain, Level::Fused, Level::Vectors] {
        let made = object(&program, &Config { level, ..Config::default() }, &|| false).unwrap();
        let bytes = made.to_bytes();
        let read = Object::from_bytes(&bytes).unwrap();
        assert_eq!(read, made);
        // Two of them can be loaded at the same time.
        let natives = [read.load(&program).unwrap(), made.load(&program).unwrap()];
        for native in &natives {
            let files = Memory::default();
            assert_eq!(run_native(native, &files, Some(20)), interpreted(&program, &files, Some(20)));
        }
    }
}

#[test]
fn stored_code_does_not_run_another_program() {
    if !has_compiler("stored_code_does_not_run_another_program") {
        return;
    }
    let made = object(&compiled(TEXT), &Config::default(), &|| false).unwrap();
    let other = compiled(&TEXT.replace("n += 3", "n += 4"));
    assert!(matches!(made.load(&other), Err(Refusal::Failed(why)) if why.contains("another program")));
}

#[test]
fn truncated_code_is_rejected() {
    if !has_compiler("truncated_code_is_rejected") {
        return;
    }
    let bytes = object(&compiled(TEXT), &Config::default(), &|| false).unwrap().to_bytes();
    for length in 0..41 {
        assert_eq!(Object::from_bytes(&bytes[..length]), None);
    }
    let mut other = bytes;
    other[0] = 3;
    assert_eq!(Object::from_bytes(&other), None);
}
