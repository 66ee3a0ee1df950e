//! Compiled libraries are found again, and unusable files are rebuilt.

use crate::common::{Memory, compiled, has_compiler, interpreted, is_long, run_native};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use thalweg_codegen::{Cache, Compiler, Config, Level, build};
use thalweg_lang::Compiled;
use thalweg_lang::tree::Code;
use thalweg_str::PROGRAMS;

const TEXT: &str = "void->void pipeline Main {
    add void->int filter { int n; work push 1 { push(n); n += 3; } };
    add int->void filter { work pop 1 { println(pop()); } };
}";

/// Checks a program, with its library stored in a folder.
fn runs(program: &Arc<Compiled>, folder: &Path, level: Level) {
    let config = Config { level, cache: Cache::Folder(folder.into()), compiler: None };
    let native = build(program, &config).unwrap();
    let files = Memory::default();
    assert_eq!(run_native(&native, &files, Some(20)), interpreted(program, &files, Some(20)));
}

/// Files with an ending, and when each was written.
fn kept(folder: &Path, ending: &str) -> Vec<(std::path::PathBuf, SystemTime)> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|is| is == ending))
        .map(|path| (path.clone(), path.metadata().unwrap().modified().unwrap()))
        .collect();
    paths.sort();
    paths
}

#[test]
fn a_program_is_compiled_once_and_each_level_by_itself() {
    if !has_compiler("a_program_is_compiled_once_and_each_level_by_itself") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(TEXT);
    for count in 1..=2 {
        let level = [Level::Plain, Level::Vectors][count - 1];
        runs(&program, folder.path(), level);
        let before = [kept(folder.path(), "so"), kept(folder.path(), "key")];
        assert_eq!(before.each_ref().map(Vec::len), [count, count]);
        runs(&program, folder.path(), level);
        assert_eq!([kept(folder.path(), "so"), kept(folder.path(), "key")], before);
    }
}

#[test]
fn an_equivalent_text_uses_the_same_library() {
    if !has_compiler("an_equivalent_text_uses_the_same_library") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    runs(&compiled(TEXT), folder.path(), Level::Vectors);
    let library = kept(folder.path(), "so");
    runs(&compiled(&format!("// So it begins.\n{TEXT}")), folder.path(), Level::Vectors);
    assert_eq!(kept(folder.path(), "so"), library);
    assert_eq!(kept(folder.path(), "key").len(), 2);
    runs(&compiled(&TEXT.replace("n += 3", "n += 4")), folder.path(), Level::Vectors);
    assert_eq!(kept(folder.path(), "so").len(), 2);
}

#[test]
fn damaged_files_are_rebuilt() {
    if !has_compiler("damaged_files_are_rebuilt") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(TEXT);
    runs(&program, folder.path(), Level::Vectors);
    for ending in ["so", "key"] {
        let [(path, _)] = &kept(folder.path(), ending)[..] else { panic!("one file") };
        let right = std::fs::read(path).unwrap();
        let mut changed = right.clone();
        changed[right.len() / 2] ^= 1;
        let cut = &right[..right.len() / 2];
        for wrong in [&b""[..], b"../somewhere", "0".repeat(32).as_bytes(), cut, &changed] {
            std::fs::remove_file(path).unwrap();
            std::fs::write(path, wrong).unwrap();
            runs(&program, folder.path(), Level::Vectors);
            assert_eq!(std::fs::read(path).unwrap(), right);
        }
        std::fs::remove_file(path).unwrap();
        runs(&program, folder.path(), Level::Vectors);
        assert!(path.exists());
    }
}

/// A plan from known outlines must fit the code that was planned without them.
#[test]
fn cached_programs_of_the_suite_do_the_same() {
    if !has_compiler("cached_programs_of_the_suite_do_the_same") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        level: Level::Vectors,
        cache: Cache::Folder(folder.path().into()),
        compiler: Compiler::find().map(|compiler| compiler.flag("-O0")),
    };
    let mut blocks = 0;
    // The cache does not depend on the program.
    for program in PROGRAMS.iter().step_by(if is_long() { 1 } else { 3 }) {
        let compiled = Arc::new(thalweg_lang::compile(&program.sources(&[]).unwrap()).unwrap());
        let reads = compiled.tree.filters.iter().any(|filter| matches!(filter.code, Code::FileReader(_)));
        let run = || {
            let native = build(&compiled, &config).unwrap();
            let files = Memory { any: Some(9001), ..Memory::default() };
            run_native(&native, &files, (!reads).then_some(40))
        };
        assert_eq!(run(), run(), "{}", program.name);
    }
    for (path, _) in kept(folder.path(), "key") {
        let text = std::fs::read_to_string(path).unwrap();
        blocks += text.lines().filter(|line| line.contains(' ')).count();
    }
    assert!(blocks > 0, "no program has blocks with known outlines");
}
