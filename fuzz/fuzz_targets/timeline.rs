//! Arbitrary text as a timeline of the example's graph: reading it terminates without a panic, and a timeline that is
//! read reads back as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use thalweg_report::{ReportExt, TimelineExt};
use thalweg_trace::{Report, Timeline};

static EXAMPLE: LazyLock<Report> = LazyLock::new(|| {
    Report::from_json(include_str!("../../crates/report/tests/example.json")).expect("the example is a report")
});

fuzz_target!(|bytes: &[u8]| {
    let (text, graph) = (String::from_utf8_lossy(bytes), EXAMPLE.graph());
    if let Ok(timeline) = Timeline::from_json(&text, graph) {
        assert_eq!(Timeline::from_json(&timeline.to_json(graph), graph).as_ref(), Ok(&timeline));
    }
});
