//! A byte order mark at the beginning of a text changes nothing, whichever text it is.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::tempdir;

use crate::child::Command;

const SUMS: &str = "void->void pipeline Sums {
    add FileReader<int>(\"numbers\"); add int->int filter { work pop 2 push 1 { push(pop() + pop()); } };
    add FileWriter<int>(\"-\");
}";

const TABLE: &str = "void->void pipeline Table {
    add void->int filter {
        int[3] table;
        init { table = init_array_1D_int(\"table\", 3); }
        work push 1 { push(table[2]); }
    };
    add FileWriter<int>(\"-\");
}";

fn thalweg(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(line.split(' ')).current_dir(folder).stdin(Stdio::null());
    command.env("XDG_CACHE_HOME", folder.join("cache")).output().expect("starts")
}

/// What a run prints, without the line of a pattern's times. It must succeed without a message.
fn stdout(folder: &Path, line: &str) -> String {
    let output = thalweg(folder, line);
    assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| !line.starts_with("time ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_text_may_begin_with_a_byte_order_mark() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let machine = stdout(folder, "machine");
    for (name, text) in [
        ("q.fa", ">q1\nTTGACCGA\n"),
        ("links", "0 1\n1 2\n"),
        ("links.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"),
        ("glider.rle", "x = 3, y = 3\nbo$2bo$3o!\n"),
        ("here.machine", &machine),
        ("words", "the cat the\n"),
        ("numbers", "1 2 3 4\n"),
        ("table", "7 8 9\n"),
        ("sums.str", SUMS),
        ("table.str", TABLE),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let saved = thalweg(
        folder,
        "demo wordcount words --save-plan plan --save-report report.json --timeline timeline.json",
    );
    assert!(saved.status.success(), "{saved:?}");
    for (name, line) in [
        ("q.fa", "align q.fa q.fa"),
        ("links", "demo pagerank -q links"),
        ("links.mtx", "demo pagerank -q links.mtx"),
        ("glider.rle", "demo life glider.rle -g 4"),
        ("here.machine", "machine --machine here.machine"),
        ("words", "demo wordcount words"),
        ("plan", "demo wordcount words --plan plan"),
        ("report.json", "show report.json"),
        ("report.json", "graph report.json"),
        ("timeline.json", "show report.json timeline.json -o -"),
        ("numbers", "run sums.str --text"),
        ("numbers", "run sums.str --text --engine interpreter"),
        ("table", "run table.str --text -i 2"),
        ("sums.str", "run sums.str --text"),
    ] {
        let expected = stdout(folder, line);
        assert!(!expected.is_empty(), "{line}");
        let text = fs::read_to_string(folder.join(name)).unwrap();
        fs::write(folder.join(name), format!("\u{feff}{text}")).unwrap();
        assert_eq!(stdout(folder, line), expected, "{line}");
        fs::write(folder.join(name), text).unwrap();
    }
    // A plan with a mark is one, and so may be replaced.
    let plan = fs::read_to_string(folder.join("plan")).unwrap();
    fs::write(folder.join("plan"), format!("\u{feff}{plan}")).unwrap();
    assert!(thalweg(folder, "demo wordcount words --save-plan plan").status.success());
}
