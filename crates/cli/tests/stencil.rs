//! The command `thalweg demo stencil`.

use std::process::Output;

use crate::child::Command;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["demo", "stencil"])
        .args(arguments)
        .output()
        .expect("starts")
}

/// Standard output without the lines that have times.
fn results(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    // More threads than cores are announced.
    let is_silent = said.lines().all(|line| line.starts_with("note: --threads "));
    assert!(output.status.success() && is_silent, "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter(|line| !line.starts_with("time") && !line.starts_with("matrix")).collect()
}

#[test]
fn programs_check_themselves_at_any_number_of_threads() {
    for (arguments, what) in [
        (&["heat", "--scale", "512", "--steps", "100"][..], "theory"),
        (&["fdtd", "--scale", "512", "--steps", "100"], "theory"),
        (&["cg", "--class", "S"], "verified: the report states 8.597177507865e0"),
        (&["mg", "--class", "s"], "verified: the report states 5.307707005734e-5"),
        (&["cg", "--scale", "500"], "no value is known"),
        (&["mg", "--scale", "128"], "no value is known"),
    ] {
        let expected = results(&run(arguments));
        assert!(expected.contains(what), "{expected}");
        for threads in ["1", "3"] {
            assert_eq!(results(&run(&[arguments, &["--threads", threads]].concat())), expected);
        }
    }
}

#[test]
fn problems_that_cannot_be_computed_are_refused() {
    for (arguments, why) in [
        (&["heat", "--scale", "1"][..], "help: choose a larger --scale"),
        (&["cg", "--class", "C", "--memory", "1G"], "the limit is 1 GiB"),
        (&["mg", "--scale", "3"], "help: use 2 or 4"),
        (&["cg", "--class", "D"], "unknown class `D`"),
        (&["fdtd", "--steps", "1"], "1 is not in"),
        (&["heat", "--threads", "0"], "thread"),
        (&["cg", "--class", "S", "--scale", "4"], "cannot be used with"),
    ] {
        let output = run(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        assert!(message.contains(why) && !message.contains("panicked"), "{arguments:?}: {message}");
    }
}
