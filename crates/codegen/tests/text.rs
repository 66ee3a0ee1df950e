//! The C of three tiny programs, and what is kept of it.

mod common;

use common::{compiled, has_compiler, interpreted, run_native};
use thalweg_codegen::{Cache, Config, Level, Refusal, build, source};

/// The part of a program's text that is its own.
fn own(text: &str, level: Level) -> String {
    let text = source(&compiled(text), level).unwrap();
    let begin = text.find("\nstruct kept_").unwrap();
    let end = text.find("\nstruct state {").unwrap();
    text[begin..end].to_owned()
}

#[test]
fn state_is_a_variable() {
    insta::assert_snapshot!(own(
        "void->void pipeline Main { add Count(); add Show(); }
         void->int filter Count() { int n; work push 1 { push(n++); } }
         int->void filter Show() { work pop 1 { println(pop()); } }",
        Level::Fused
    ));
}

#[test]
fn what_is_known_is_left_out() {
    insta::assert_snapshot!(own(
        "void->void pipeline Main { add FileReader<float>(\"in\"); add Scale(3, true); add FileWriter<float>(\"out\"); }
         float->float filter Scale(int k, boolean twice) { float[2] by; init { by[0] = 0.5; by[1] = k; }
            work pop 2 push 2 { for (int i = 0; i < 2; i++) if (twice) push(pop() * by[i] * 2); else push(pop()); } }",
        Level::Fused
    ));
}

#[test]
fn a_splitter_is_arithmetic() {
    insta::assert_snapshot!(own(
        "void->void pipeline Main { add FileReader<int>(\"in\"); add Both(); add FileWriter<int>(\"out\"); }
         int->int splitjoin Both { split roundrobin(1, 2); add Negate(); add Sum(); join roundrobin; }
         int->int filter Negate() { work pop 1 push 1 { push(-pop()); } }
         int->int filter Sum() { work pop 2 push 1 { push(pop() + pop()); } }",
        Level::Fused
    ));
}

const PROGRAM: &str = "void->void pipeline Main { add Count(); add Show(); }
    void->int filter Count() { int n; work push 1 { push(n++); } }
    int->void filter Show() { work pop 1 { println(pop()); } }";

#[test]
fn what_was_compiled_is_kept() {
    if !has_compiler("what_was_compiled_is_kept") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let config = Config { cache: Cache::Folder(folder.path().into()), ..Config::default() };
    let compiled = compiled(PROGRAM);
    let meant = interpreted(&compiled, &common::Memory::default(), Some(5));
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    for _ in 0..2 {
        let native = build(&compiled, &config).unwrap();
        assert_eq!(run_native(&native, &common::Memory::default(), Some(5)), meant);
        assert_eq!(files(), 1);
    }
    build(&compiled, &Config { level: Level::Plain, ..config.clone() }).unwrap();
    assert_eq!(files(), 2);
    // What is damaged is made again.
    for file in std::fs::read_dir(folder.path()).unwrap() {
        std::fs::write(file.unwrap().path(), "not a library").unwrap();
    }
    let native = build(&compiled, &config).unwrap();
    assert_eq!(run_native(&native, &common::Memory::default(), Some(5)), meant);
}

#[test]
fn what_cannot_be_native_says_why() {
    let program = "void->void pipeline Main { add Source(); add Show(); }
        void->int filter Source() { work push 1 { push(1); } }
        int->void filter Show() { work pop 1 { string s = \"\"; s = s + pop(); println(s); } }";
    let refusal = source(&compiled(program), Level::Fused).unwrap_err();
    let Refusal::Unable(why) = refusal else { panic!("{refusal}") };
    assert_eq!(why, "`Main.Show`: it keeps texts or portals in variables");
}
