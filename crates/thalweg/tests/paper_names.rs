//! No report names a paper or its system: each line must be plain to a user that has read none. Names of policies are the
//! user's words, and reports repeat the one that the user chose, as the policy of the run.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::watchdog::watch;
use thalweg::embed::policy::registry;
use thalweg::trace::{Comparison, ReportExt, TimelineExt};
use thalweg::{Graph, Options, Report};

/// Systems of papers, and the first authors of papers without one.
const NAMES: [&str; 7] = ["danbi", "nornir", "ampipe", "nabbit", "streamit", "navarro", "vrba"];

/// Policies whose names are abbreviations of a paper.
const POLICIES: [&str; 5] = ["qes", "pss", "prs", "ws-cur", "ws-last"];

/// The characters between `policy` and its name in a report, quotes and markup included.
const NEAR: usize = 24;

/// The first name of a paper in a text of a run under `policy`, with its surroundings.
fn named(text: &str, policy: &str) -> Option<String> {
    let text = text.to_lowercase();
    let part = |from: usize, to: usize| String::from_utf8_lossy(&text.as_bytes()[from..to.min(text.len())]);
    let around = |at: usize| part(at.saturating_sub(40), at + 60).into_owned();
    if let Some(at) = NAMES.iter().find_map(|name| text.find(name)) {
        return Some(around(at));
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    for name in POLICIES {
        for (at, _) in text.match_indices(name) {
            let (before, after) = (&text[..at], &text[at + name.len()..]);
            let is_word = !before.ends_with(is_part) && !after.starts_with(is_part);
            let near = part(at.saturating_sub(NEAR), at);
            if is_word && !(name == policy && near.contains("policy")) {
                return Some(around(at));
            }
        }
    }
    None
}

/// A chain with a slow node, and a loop whose channels are small.
fn run(options: &Options) -> Report {
    let graph = Graph::new();
    let numbers = graph.source(0..300u64).named("read").capacity(2);
    let (even, odd) = numbers.partition(|n| n % 2 == 0);
    let slow = even.par_map(|n| {
        std::thread::sleep(Duration::from_micros(50));
        n
    });
    let rounds = odd.par_iterate(4, |n| match n {
        0..100 => std::ops::ControlFlow::Break(n),
        _ => std::ops::ControlFlow::Continue(n / 2),
    });
    let limited = slow.concat(rounds).in_flight(8, |items| items.par_filter_map(Some));
    limited.windows(4, 2, |items| items.iter().sum::<u64>()).for_each(drop).named("write");
    let run = watch(format!("{options:?}"), || graph.run_with(options));
    run.expect("the run ends").into_report()
}

/// All that a user can read of a report: what it is, and the text.
fn texts(report: &Report) -> Vec<(&'static str, String)> {
    let timeline = report.timeline().expect("the run has recorded one");
    let mut texts = vec![
        ("report", report.to_string()),
        ("advice", report.advice()),
        ("plan", report.plan_text()),
        ("JSON", report.to_json()),
        ("page", report.to_html()),
        ("timeline", timeline.to_json(report.graph())),
        ("picture", report.timeline_svg().expect("a picture of it")),
    ];
    texts.extend(report.findings().iter().map(|finding| ("finding", finding.to_string())));
    // A run of which no model is made says so.
    let prediction = report.prediction();
    texts.push((
        "prediction",
        prediction.map_or_else(|no| no.to_string(), |prediction| prediction.to_string()),
    ));
    let grid = report.predict(&"threads=1..3 capacity=1,64".parse().expect("a grid"));
    texts.push(("table", grid.map_or_else(|no| no.to_string(), |table| table.to_string())));
    texts
}

/// A run whose report has a prediction.
fn chain(options: &Options) -> Report {
    let work = |n| {
        std::thread::sleep(Duration::from_micros(20));
        n
    };
    let items = thalweg::from_iter(0..300u64).par_map(work).map(work);
    let output = items.for_each(drop);
    watch(format!("{options:?}"), || output.run_with(options)).expect("the run ends").into_report()
}

#[test]
fn reports_name_no_paper() {
    let options = Options::new().threads(2).timeline(10_000);
    let other = chain(&options);
    assert!(other.prediction().is_ok(), "{other}");
    for policy in registry::names() {
        let options = options.clone().policy(policy);
        let tickets = options.clone().wait_for_tickets();
        for report in [chain(&options), chain(&tickets), run(&options)] {
            let compared = ("comparison", Comparison::new(&other, &report).to_string());
            for (what, text) in texts(&report).into_iter().chain([compared]) {
                assert_eq!(named(&text, policy), None, "{what}, policy {policy}");
            }
        }
    }
}

/// Not all findings and messages occur in the runs above: no line of the crates that write them names a paper, but for
/// comments.
#[test]
fn texts_of_reports_name_no_paper() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files: Vec<PathBuf> =
        ["report", "trace", "plan", "queueing", "runtime"].map(|name| crates.join(name).join("src")).into();
    let mut lines = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
            lines += 1;
            let named = NAMES.iter().find(|name| line.to_lowercase().contains(*name));
            assert_eq!(named, None, "{}: {line}", path.display());
        }
    }
    assert!(lines > 20_000, "{lines} lines");
}

#[test]
fn names_are_found() {
    assert_eq!(named("2 threads, policy qes", "qes"), None);
    assert_eq!(named("a process and an address", "auto"), None);
    assert!(named("2 threads, policy qes", "auto").is_some());
    assert!(named("as under qes", "qes").is_some());
    assert!(named("DANBI's Figure 4", "auto").is_some());
}
