//! The command `thalweg demo danbi`.

use std::process::Output;

use crate::child::Command;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(["demo", "danbi"]).args(arguments).output().expect("starts")
}

/// Standard output without the line that has a time.
fn results(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter(|line| !line.starts_with("time")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_program_has_the_sequential_result_at_any_number_of_threads() {
    for program in ["filter-bank", "fm-radio", "fft2", "tde", "merge-sort", "rg", "srad"] {
        let expected = results(&[program, "--scale", "0", "--check", "--threads", "1"]);
        assert!(expected.starts_with(&format!("problem   {program}, ")), "{expected}");
        assert!(expected.ends_with("check     the sequential program has the same result\n"), "{expected}");
        let more = results(&[program, "--scale", "0", "--threads", "3", "--policy", "prs"]);
        assert!(expected.starts_with(&more) && more.contains("checksum  "), "{more}");
        assert_ne!(results(&[program, "--scale", "0", "--seed", "2"]), more);
    }
}

#[test]
fn the_graph_is_in_the_report() {
    let output = run(&["merge-sort", "--scale", "0", "--report"]);
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(report.contains("split") && report.contains("merge"), "{report}");
}

#[test]
fn inputs_that_are_too_large_are_refused_before_they_are_made() {
    for (arguments, why) in [
        (&["tde", "--scale", "1"][..], "help: choose a smaller --scale, or raise --memory"),
        (&["fft2", "--memory", "1MB"], "the limit is 1 MiB"),
        (&["fft2", "--scale", "-1"], "expected a number from 0 to 1000"),
        (&["fft2", "--scale", "nan"], "expected a number from 0 to 1000"),
        (&["fft3"], "filter-bank"),
        (&["fft2", "--dilate", "2"], "time dilated 2 times: at least "),
    ] {
        let output = run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(why), "{arguments:?}: {said}");
    }
}
