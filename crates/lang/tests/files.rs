//! Programs of several files, files with two writers, and native functions.

use crate::common;

use common::run;
use std::sync::Arc;
use thalweg_lang::interpret::{Options, Stop, Surroundings, interpret};
use thalweg_lang::{Sources, compile};

#[test]
fn all_files_share_one_name_space_in_any_order() {
    let mut sources = Sources::new();
    sources.add("show.str", "int->void filter Show { work pop 1 { println(pop() + N); } }");
    sources.add("main.str", "void->void pipeline Main { add Count(); add Show(); }");
    sources.add(
        "count.str",
        "static { int N = 100; } void->int filter Count { int n; work push 1 { push(n++); } }",
    );
    let compiled = compile(&sources).map(Arc::new).unwrap();
    let mut ended = 0;
    let around = Surroundings {
        files: &mut thalweg_lang::files::Disk::default(),
        out: Box::new(std::io::sink()),
        interrupted: Box::new(|| false),
        progress: &mut |done| ended = done,
    };
    interpret(&compiled, Options { iterations: Some(3), repeat_input: false }, around).unwrap();
    assert_eq!(ended, 3);
}

#[test]
fn a_name_declared_in_two_files_is_reported_with_both_places() {
    let mut sources = Sources::new();
    sources.add("one.str", "void->void filter Main { work { } }");
    sources.add("two.str", "void->void filter Main { work { } }");
    let errors = compile(&sources).unwrap_err();
    let text: String = errors.iter().map(|error| error.render(&sources, false)).collect();
    assert!(text.contains("one.str:1:19") && text.contains("two.str:1:19"), "{text}");
}

/// The errors of a program with two writers of files with these names.
fn writers(one: &str, other: &str) -> Vec<String> {
    let text = format!(
        "void->void pipeline Main {{
            add void->int filter {{ work push 1 {{ push(1); }} }};
            add int->void splitjoin {{
                split duplicate;
                add FileWriter<int>(\"{one}\");
                add int->void pipeline {{ add FileWriter<int>(\"{other}\"); }};
                join roundrobin(0);
            }};
        }}"
    );
    let errors = compile(&Sources::of("test.str", &text)).err().unwrap_or_default();
    errors.into_iter().map(|error| format!("{} {}", error.message, error.others.len())).collect()
}

#[test]
fn two_writers_of_one_file_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    std::fs::write(folder.path().join("there"), b"").unwrap();
    std::fs::create_dir(folder.path().join("inner")).unwrap();
    let absolute = |name: &str| format!("{path}/{name}");
    for (one, other) in [
        ("out".into(), "out".into()),
        ("out".into(), "./out".into()),
        ("no/such/folder".into(), "no//such/./folder".into()),
        ("-".into(), "-".into()),
        (absolute("there"), absolute("inner/../there")),
        (absolute("not_there"), absolute("inner/../not_there")),
    ] {
        let errors = writers(&one, &other);
        let expected = format!(
            "`Main.splitjoin.FileWriter` and `Main.splitjoin.pipeline.FileWriter` both write the file `{other}` 1"
        );
        assert_eq!(errors, [expected]);
    }
    assert!(writers("out", "out2").is_empty() && writers("/dev/null", "/dev/null").is_empty());
}

#[test]
fn native_functions_are_declared_and_cannot_be_called() {
    let text = "native Clock { int now(); }
        void->void filter Main { int n; work { n++; println(n); if (n == 2) println(Clock.now()); } }";
    let run = run(text, Some(3), &[]);
    assert_eq!(run.printed, "1\n2\n");
    let Err(Stop::Fault(fault)) = run.end else { panic!("a native function has no code") };
    assert!(
        fault.message.contains("`Main`, in firing 2") && fault.message.contains("now"),
        "{}",
        fault.message
    );
}

#[test]
fn text_that_is_not_utf_8_is_latin_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.str");
    std::fs::write(&path, b"/* caf\xe9 */ void->void filter Main { work { println(\"\xfc\"); } }").unwrap();
    let mut sources = Sources::new();
    sources.read(&path).unwrap();
    let text = &sources.files()[0].text;
    assert!(text.contains("caf\u{e9}"), "{text}");
    assert_eq!(common::lines(text, 1), ["\u{fc}"]);
}
