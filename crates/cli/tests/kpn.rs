//! The command `thalweg demo kpn`.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::tempdir;

use crate::child::Command;

fn kpn(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command
        .args(["demo", "kpn"])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("starts")
}

/// Each network, with little work, its processes, and its result where that is a count.
const NETWORKS: [(&[&str], &str, Option<u64>); 8] = [
    (&["ping-pong", "--rounds", "20"], "2 processes", Some(20)),
    (&["ping-pong", "--rounds", "20", "--coroutines"], "2 processes", Some(20)),
    (&["ring", "--processes", "30", "--rounds", "4", "--shuffle", "1"], "30 processes", Some(120)),
    (&["pipeline", "--stages", "5", "--messages", "30", "--bytes", "512"], "5 processes", None),
    (&["scatter-gather", "--rounds", "5", "--workers", "7"], "8 processes", None),
    (&["layered", "--messages", "5", "--work", "2000"], "212 processes", None),
    (&["aes", "--bytes", "10K", "--workers", "3", "--counter"], "4 processes", None),
    (&["h264", "--frames", "3", "--workers", "2", "--work", "3000"], "17 processes", None),
];

#[test]
fn all_networks_have_their_results_in_all_ways() {
    let folder = tempdir().unwrap();
    for (network, processes, expected) in NETWORKS {
        let mut results = Vec::new();
        for way in [&[][..], &["--threads", "3", "--policy", "ws-last"], &["--one-to-one"], &["--no-check"]] {
            let output = kpn(folder.path(), &[network, way].concat());
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success() && output.stderr.is_empty(), "{network:?} {way:?}: {output:?}");
            assert!(text.contains(processes), "{text}");
            assert_eq!(text.contains("\nchecked   by a sequential loop"), way != ["--no-check"], "{text}");
            results.extend(text.lines().find_map(|line| line.strip_prefix("result    ")).map(str::to_owned));
        }
        assert!(results.len() == 4 && results.iter().all(|result| *result == results[0]), "{results:?}");
        assert!(expected.is_none_or(|expected| results[0] == expected.to_string()), "{results:?}");
    }
}

#[test]
fn reports_and_plans_are_those_of_the_other_verbs() {
    let folder = tempdir().unwrap();
    let ring = ["ring", "--processes", "20", "--rounds", "3"];
    let files = ["--report", "--save-report", "report.json", "--save-plan", "plan", "--threads", "2"];
    let output = kpn(folder.path(), &[&ring[..], &files].concat());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.starts_with("20 processes, 20 channels\n"), "{output:?}");
    assert!(text.contains("policy auto"), "{text}");
    assert!(fs::read_to_string(folder.path().join("report.json")).unwrap().contains("\"pass"));
    let followed = kpn(folder.path(), &[&ring[..], &["--plan", "plan"]].concat());
    assert!(followed.status.success(), "{followed:?}");
    for more in
        [&["--processes", "1"][..], &["--one-to-one", "--threads", "2"], &["--one-to-one", "--policy", "qes"]]
    {
        assert_eq!(kpn(folder.path(), &[&["ring"], more].concat()).status.code(), Some(2), "{more:?}");
    }
}

#[test]
fn too_many_threads_are_refused() {
    let folder = tempdir().unwrap();
    let most: [(&[&str], &str); 3] = [
        (&["h264", "--workers", "1362"], "4097 processes are more than 4096 threads"),
        (&["aes", "--workers", "4096"], "4097 processes"),
        (&["scatter-gather", "--workers", "4096"], "4097 processes"),
    ];
    for (network, expected) in most {
        let output = kpn(folder.path(), &[network, &["--one-to-one"]].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains(expected), "{network:?}: {message}");
    }
}

/// The stack of a thread that overflows needs address space too.
#[cfg(target_os = "linux")]
#[test]
fn threads_beyond_the_address_space_are_refused() {
    let line = "ulimit -v $0 && exec \"$@\" demo kpn ring --processes 3000 --rounds 2 --one-to-one";
    for kib in ["600000", "1000000", "3000000", "5000000"] {
        let mut command = Command::new("sh");
        let output = command.args(["-c", line, kib, env!("CARGO_BIN_EXE_thalweg")]).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && message.contains("ulimit -v"), "{kib}: {output:?}");
    }
}
