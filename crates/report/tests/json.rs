//! Reports as JSON: what is written, and that it reads back as it was.

use crate::common::{any_report, example};
use proptest::prelude::*;
use std::time::Duration;
use thalweg_graph::GraphData;
use thalweg_report::ReportExt;
use thalweg_trace::{Report, WorkerReport};

/// The document of the example. Other programs read such files: a change of them needs another version. With
/// `THALWEG_BLESS=1` in the environment the test writes it anew.
const DOCUMENT: &str = include_str!("example.json");

#[test]
fn the_document_of_the_example_is_as_it_was() {
    let text = example().to_json();
    if std::env::var_os("THALWEG_BLESS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/example.json"), &text).unwrap();
    }
    for (line, (written, expected)) in text.lines().zip(DOCUMENT.lines()).enumerate() {
        assert_eq!(written, expected, "line {} of tests/example.json", line + 1);
    }
    assert_eq!(text, DOCUMENT);
}

#[test]
fn the_example_reads_back_as_it_was() {
    assert_eq!(Report::from_json(DOCUMENT).unwrap(), example());
}

#[test]
fn an_empty_report_reads_back() {
    let report = Report::default();
    assert!(report.to_json().contains("\"workers\": [],\n"));
    assert_eq!(Report::from_json(&report.to_json()).unwrap(), report);
}

#[test]
fn layout_and_order_are_free() {
    let squeezed: String = DOCUMENT.lines().map(str::trim_start).collect();
    assert_eq!(Report::from_json(&squeezed).unwrap(), example());
    let header = "\"format\": \"thalweg-report\",\n  \"version\": 4,\n";
    let mut moved = DOCUMENT.replace(header, "").trim_end().trim_end_matches('}').trim_end().to_owned();
    moved += &format!(",{}\r\n\t}}", header.trim_end_matches([',', '\n']));
    assert_eq!(Report::from_json(&moved).unwrap(), example());
}

#[test]
fn fields_of_later_writers_are_ignored() {
    let later = DOCUMENT.replace('{', "{\"later\": [1, {\"null\": null}, 2e9, [], true], ");
    assert_eq!(Report::from_json(&later).unwrap(), example());
}

#[test]
fn settings_may_be_false() {
    let settings = "\"blocking\": false, \"name\": \"last\"";
    let spelled = DOCUMENT.replace("\"name\": \"last\"", settings);
    assert_ne!(spelled, DOCUMENT);
    assert_eq!(Report::from_json(&spelled).unwrap(), example());
}

#[test]
fn escapes_of_other_writers_are_read() {
    let policy = |text: &str| {
        let document = DOCUMENT.replace("\"prs:C=1000\"", &format!("\"{text}\""));
        Report::from_json(&document).map(|report| report.policy().to_owned())
    };
    assert_eq!(policy(r#"\"\\\/\b\f\n\r\tA\u00e9\ud83D\uDE00é😀"#).unwrap(), "\"\\/\u{8}\u{c}\n\r\tAé😀é😀");
    for half in [r"\ud83d", r"\ud83dx", r"\ud83d\n", r"\ude00", r"\ud83d\ud83d", r"\u12g4", r"\u+123", r"\x"]
    {
        let error = policy(half).unwrap_err();
        assert_eq!((error.line(), error.path()), (4, "policy"), "{half}: {error}");
    }
}

/// A terminal shows a document without obeying any of it.
#[test]
fn control_characters_are_escaped() {
    let report = Report::new(GraphData::new(), "a\u{1b}[1m\u{9b}\u{7f}", 0);
    assert!(report.to_json().chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn what_a_report_must_not_have_is_refused() {
    let refused = |change: fn(&mut Report)| {
        let mut report = example();
        change(&mut report);
        Report::from_json(&report.to_json()).unwrap_err().to_string()
    };
    let place = |error: &str| error.split_once(": ").unwrap().1.to_owned();
    let error = refused(|report| *report.channels_mut()[1].mean_mut() = Some(f64::NAN));
    assert_eq!(place(&error), "invalid type: null, expected f64");
    let error = refused(|report| report.workers_mut().push(WorkerReport::default()));
    assert_eq!(place(&error), "expected 2 entries, one for each thread, found 3 entries");
    let error = refused(|report| _ = report.nodes_mut().pop());
    assert_eq!(place(&error), "expected 4 entries, one for each node of the graph, found 3 entries");
    let error = refused(|report| report.channels_mut().clear());
    assert_eq!(place(&error), "expected 4 entries, one for each channel of the graph, found 0 entries");
}

#[test]
fn a_time_of_centuries_is_cut() {
    let mut report = Report::default();
    *report.wall_mut() = Duration::MAX;
    let wall = Report::from_json(&report.to_json()).unwrap().wall();
    assert_eq!(wall, Duration::from_nanos(u64::MAX));
}

proptest! {
    #[test]
    fn reports_read_back_as_they_were(report in any_report()) {
        let text = report.to_json();
        let again = Report::from_json(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&again, &report);
        prop_assert_eq!(again.to_json(), text);
        prop_assert_eq!(again.to_string(), report.to_string());
    }
}

/// Zero is an occupancy too: one that was not sampled is absent in each form of the report.
#[test]
fn an_occupancy_without_samples_is_absent() {
    let mut report = example();
    let sampled = (report.to_json(), report.to_html().matches("class=\"level\"").count());
    for channel in report.channels_mut() {
        assert!(channel.mean().is_some());
        (*channel.mean_mut(), *channel.peak_mut()) = (None, None);
    }
    let json = report.to_json();
    assert!(sampled.0.contains("\"mean\"") && sampled.0.contains("\"peak\""));
    assert!(!json.contains("\"mean\"") && !json.contains("\"peak\""), "{json}");
    assert_eq!(Report::from_json(&json).as_ref(), Ok(&report));
    let html = report.to_html();
    assert_eq!((sampled.1, html.matches("class=\"level\"").count()), (report.channels().len(), 0));
    assert!(!html.contains("on average"), "{html}");
}
