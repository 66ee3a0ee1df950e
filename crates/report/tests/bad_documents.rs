//! Documents that are no reports: an error with its place for each, and never a panic.

use proptest::prelude::*;
use thalweg_report::{ReadError, ReadErrorKind, ReportExt};
use thalweg_trace::Report;

const DOCUMENT: &str = include_str!("example.json");

fn error(document: &str) -> ReadError {
    Report::from_json(document).expect_err(document)
}

/// The message about the example with its first `from` replaced.
fn after(from: &str, to: &str) -> String {
    assert!(DOCUMENT.contains(from), "{from}");
    error(&DOCUMENT.replacen(from, to, 1)).to_string()
}

#[test]
fn a_document_cut_at_any_byte_is_refused() {
    let whole = DOCUMENT.trim_end().len();
    for length in (0..whole).filter(|length| DOCUMENT.is_char_boundary(*length)) {
        let cut = &DOCUMENT[..length];
        let error = error(cut);
        assert!(matches!(error.kind, ReadErrorKind::Syntax { .. }), "{length}: {error}");
        let last = cut.rsplit('\n').next().unwrap();
        let end = (cut.matches('\n').count() + 1, last.chars().count() + 1);
        assert_eq!((error.line, error.column), end, "{length}: {error}");
    }
    let at = DOCUMENT.find("\"moves\"").unwrap();
    let message = error(&DOCUMENT[..at]).to_string();
    assert!(message.contains(", `nodes[0]`: invalid JSON: expected the name of a field"), "{message}");
    assert!(
        message.ends_with(
            "found the end of the text\n  help: the document is incomplete; copy or write it again"
        )
    );
}

/// The places of all numbers, texts and flags in the example, but not the names of fields.
fn scalars() -> Vec<std::ops::Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < DOCUMENT.len() {
        let rest = &DOCUMENT[at..];
        let length = if let Some(inner) = rest.strip_prefix('"') {
            let mut escaped = false;
            let closes = |c: char| {
                let closes = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                closes
            };
            inner.find(closes).unwrap() + 2
        } else {
            rest.find(|c: char| !c.is_alphanumeric() && c != '.' && c != '-').unwrap()
        };
        if length > 0 && !DOCUMENT[at + length..].starts_with(':') {
            found.push(at..at + length);
        }
        at += length.max(1);
    }
    found
}

#[test]
fn a_scalar_of_another_type_is_refused_at_its_place() {
    let scalars = scalars();
    assert!(scalars.len() > 100);
    let mut accepted = Vec::new();
    for scalar in scalars {
        let line = DOCUMENT[..scalar.start].matches('\n').count() + 1;
        for other in ["null", "-1", "1e999", "\"x\"", "[]", "{}", "0.5", "18446744073709551616"] {
            let mut document = DOCUMENT.to_owned();
            document.replace_range(scalar.clone(), other);
            match Report::from_json(&document) {
                Ok(_) => accepted.push((line, other)),
                Err(error) => {
                    assert!(!error.path.is_empty(), "{error}");
                    // Another name may be right here, and wrong in the entry of its node or channel.
                    assert!(error.line == line || other == "\"x\"", "{error} for {other} on line {line}");
                }
            }
        }
    }
    // Settings may be null, measures any number, and the policy and types any text.
    let lines = |other: &str| accepted.iter().filter(|(_, value)| *value == other).count();
    assert_eq!(lines("null"), 3, "capacity, initial, workers: {accepted:?}");
    let measures = "peak and mean of four channels, two sums of two distributions of three nodes";
    assert_eq!(lines("0.5"), 20, "{measures}: {accepted:?}");
    assert_eq!(lines("18446744073709551616"), 20, "{measures}: {accepted:?}");
    for other in ["-1", "1e999", "[]", "{}"] {
        assert_eq!(lines(other), 0, "{other}: {accepted:?}");
    }
}

#[test]
fn errors_say_the_place_and_both_values() {
    let cases = [
        (
            "\"threads\": 2",
            "\"threads\": 2.0",
            "line 5, column 14, `threads`: expected an integer from 0 to 2^64 - 1, found `2.0`",
        ),
        (
            "\"process\"",
            "\"filter\"",
            "`graph.nodes[3].kind`: expected `sequential`, `parallel` or `process`, found `\"filter\"`",
        ),
        (
            "\"peek\": 5",
            "\"peek\": 1",
            "`graph.nodes[2].inputs[0].peek`: expected at least the pop rate, which is 2, found `1`",
        ),
        (
            "\"pop\": 2",
            "\"pop\": \"two\"",
            "`graph.nodes[2].inputs[0].pop`: expected a number of items, or `dynamic`, found `\"two\"`",
        ),
        (
            "\"last\"",
            "\"read\"",
            "`graph.nodes[3].name`: expected a name that no node before has, found `\"read\"`",
        ),
        (
            "\"from\": [0, 0]",
            "\"from\": [9, 0]",
            "`graph.channels[0].from[0]`: expected the index of one of 4 nodes, found `9`",
        ),
        (
            "\"from\": [0, 0]",
            "\"from\": [0, 1]",
            "`graph.channels[0].from[1]`: expected the index of one of 1 ports, found `1`",
        ),
        (
            "\"from\": [0, 0]",
            "\"from\": [0]",
            "`graph.channels[0].from`: expected a node and a port, found `[0]`",
        ),
        (
            "\"from\": [1, 0]",
            "\"from\": [0, 0]",
            "`graph.channels[1].from`: expected an output without a channel, found `[0, 0]`",
        ),
        (
            "\"to\": [2, 0]",
            "\"to\": [1, 0]",
            "`graph.channels[1].to`: expected an input without a channel, found `[1, 0]`",
        ),
        (
            "\"to\": [2, 0]",
            "\"to\": [3, 0]",
            "`graph.channels[1].to`: expected an input of the output's type `alloc::vec::Vec<u8>`, found the type `(u32, u64)`",
        ),
        (
            "\"node\": \"read\"",
            "\"node\": \"x\\n\"",
            "`nodes[0].node`: expected `read`, the node of the graph with this index, found `\"x\\n\"`",
        ),
        (
            "\"channel\": 2,",
            "\"channel\": 4,",
            "`growths[0].channel`: expected the index of one of 4 channels, found `4`",
        ),
        ("\"limit\": \"items\"", "\"limit\": 1", "`growths[0].limit`: expected a string, found `1`"),
        ("\"spins\": ", "\"spins\": 1, \"spins\": ", "`workers[0].spins`: expected each field once, found `"),
        ("\"spins\": ", "\"Spins\": ", "`workers[0].spins`: the field is missing"),
        (
            "\"item\": \"",
            "\"item\": \"\\u001b",
            "`graph.nodes[0].outputs[0].item`: expected the name of a type, without control characters, found",
        ),
        ("\"thalweg-report\"", "\"other\"", "`format`: expected `thalweg-report`, found `\"other\"`"),
        (
            "\"threads\": 2",
            "\"threads\": 02",
            "line 5, column 15: invalid JSON: expected `,` or `}`, found `2`",
        ),
        (
            "\"threads\": 2",
            "\"threads\": 2, 3",
            "invalid JSON: expected the name of a field, in quotes, found `3`",
        ),
        (
            "\"threads\": 2",
            "\"threads\": \u{1b}",
            "`threads`: invalid JSON: expected a value, found `\\u{1b}`",
        ),
        (
            "\"policy\": \"",
            "\"policy\": \"\n",
            "`policy`: invalid JSON: expected an escape for the control character, found `\\n`",
        ),
    ];
    for (from, to, expected) in cases {
        let message = after(from, to);
        assert!(message.contains(expected), "{to}:\n{message}\n{expected}");
    }
}

#[test]
fn another_version_is_refused_before_all_else() {
    let version = |version: &str| error(&format!(r#"{{"format": "thalweg-report", "version": {version}}}"#));
    assert_eq!(version("3").kind, ReadErrorKind::Version { found: 3, supported: 2 });
    assert_eq!(
        version("3").to_string(),
        "line 1, column 41, `version`: unsupported version: the file has version 3, this thalweg reads version \
         2\n  help: read it with a thalweg as new as the one that wrote it"
    );
    assert_eq!(
        version("1").to_string(),
        "line 1, column 41, `version`: unsupported version: the file has version 1, this thalweg reads version \
         2\n  help: repeat the run and save its results again"
    );
    assert!(version("\"2\"").to_string().contains("`version`: expected an integer"));
    assert_eq!(version("2").path, "graph");
}

#[test]
fn other_texts_are_refused() {
    assert_eq!(error("[1, 2]").to_string(), "line 1, column 1: expected an object, found `[1, 2]`");
    assert!(error("{}").to_string().ends_with("`format`: the field is missing"));
    assert!(
        error("100 ms on 2 threads")
            .to_string()
            .contains("column 5: invalid JSON: expected the end of the text")
    );
    assert!(
        error("").to_string().starts_with("line 1, column 1: invalid JSON: expected a value, found the end")
    );
    for text in
        ["\u{feff}\u{feff}{}", "nul", "{]", "[1,]", "{\"a\" 1}", "-", "1.", "1e", ".5", "\"", "\"\\", "{} {}"]
    {
        assert!(matches!(error(text).kind, ReadErrorKind::Syntax { .. }), "{text}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    for open in ["[", "{\"a\":"] {
        let error = error(&open.repeat(100_000));
        assert!(
            error.to_string().contains("expected at most 64 arrays and objects inside each other"),
            "{error}"
        );
    }
    let deep = format!("{{\"deep\": {}{}, ", "[".repeat(63), "]".repeat(63));
    assert!(Report::from_json(&DOCUMENT.replacen('{', &deep, 1)).is_ok());
}

/// The process keeps the names of types, so a document must not have any number of them.
#[test]
fn names_of_types_are_limited() {
    let type_name = "T".repeat(11 << 20);
    let message = after("alloc::vec::Vec<u8>", &type_name);
    assert!(message.contains("`graph.nodes[0].outputs[0].item`: expected at most 10 MiB of names of types"));
    assert!(message.len() < 300);
}

#[test]
fn two_entries_in_another_order_are_refused() {
    let mut lines: Vec<&str> = DOCUMENT.lines().collect();
    let node = lines.iter().position(|line| line.contains("\"node\": \"count\"")).unwrap();
    lines.swap(node, node - 1);
    let error = error(&lines.join("\n"));
    assert_eq!((error.path.as_str(), error.line), ("nodes[1].node", node));
}

#[test]
fn a_document_without_any_one_line_is_refused() {
    let count = DOCUMENT.lines().count();
    let accepted: Vec<&str> = (0..count)
        .filter(|gap| {
            let lines = DOCUMENT.lines().enumerate().filter(|(line, _)| line != gap);
            Report::from_json(&lines.map(|(_, line)| line).collect::<Vec<_>>().join("\n")).is_ok()
        })
        .map(|gap| DOCUMENT.lines().nth(gap).unwrap().trim())
        .collect();
    // A report need not have a plan, and any number of growths is right.
    assert_eq!(accepted.len(), 2, "{accepted:?}");
    assert!(accepted[0].starts_with("\"plan\""));
    assert!(accepted[1].contains("\"limit\": \"items\""));
}

/// Each is a change of the first distribution, the path of its error, and what the error says.
#[test]
fn contradictory_distributions_are_refused() {
    let buckets = "\"buckets\": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3]";
    let many = format!("\"buckets\": [{}3]", "0, ".repeat(41));
    let cases = [
        (buckets, many.as_str(), "buckets`: expected at most 41 buckets, found 42 buckets"),
        (
            buckets,
            "\"buckets\": [4, 0]",
            "buckets`: expected a last bucket that is not empty, found `[4, 0]`",
        ),
        (buckets, "\"buckets\": [3]", "count`: expected the sum of the buckets, which is 3, found `4`"),
        (buckets, "\"buckets\": [4, -1]", "buckets[1]`: expected an integer from 0 to 2^64 - 1, found `-1`"),
        (buckets, "\"buckets\": {}", "buckets`: expected an array, found `{}`"),
        (
            "\"samples\": 2",
            "\"samples\": 5",
            "samples`: expected an integer from 1 to the count, which is 4, found `5`",
        ),
        (
            "\"samples\": 2",
            "\"samples\": 0",
            "samples`: expected an integer from 1 to the count, which is 4, found `0`",
        ),
        ("\"sum_ns\": ", "\"sum_ns\": -", "sum_ns`: expected a finite number from 0, found `-"),
        (
            "\"squares_ns2\": ",
            "\"squares_ns2\": 9e999, \"rest\": ",
            "squares_ns2`: expected a finite number from 0, found `9e999`",
        ),
        ("\"samples\": 2", "\"counts\": 2", "samples`: the field is missing"),
    ];
    for (from, to, expected) in cases {
        let message = after(from, to);
        assert!(message.contains(&format!("`nodes[0].activation.{expected}")), "{to}:\n{message}");
    }
    let message = after(", \"firing\": {", ", \"Firing\": {");
    assert!(message.ends_with("`nodes[0].firing`: the field is missing"), "{message}");
    let none = |sum| {
        let empty = format!(
            "{{\"samples\": 0, \"count\": 0, \"sum_ns\": {sum}, \"squares_ns2\": 0.0, \"buckets\": []}}"
        );
        let start = DOCUMENT.find("{\"samples\"").unwrap();
        let end = start + DOCUMENT[start..].find('}').unwrap() + 1;
        Report::from_json(&format!("{}{empty}{}", &DOCUMENT[..start], &DOCUMENT[end..]))
    };
    assert!(none("0.0").is_ok());
    assert!(
        none("1.5").unwrap_err().to_string().ends_with("expected 0, since nothing was measured, found `1.5`")
    );
}

/// Saturated counts are no contradiction.
#[test]
fn saturated_distributions_read_back() {
    let full =
        format!("\"count\": {0}, \"sum_ns\": 7.0, \"squares_ns2\": 9.0, \"buckets\": [{0}, 0, 3]", u64::MAX);
    let start = DOCUMENT.find("\"count\": ").unwrap();
    let end = start + DOCUMENT[start..].find('}').unwrap();
    let document = format!("{}{full}{}", &DOCUMENT[..start], &DOCUMENT[end..]);
    let report = Report::from_json(&document).unwrap();
    assert_eq!(report.nodes[0].service.as_ref().unwrap().activation.count(), u64::MAX);
    assert_eq!(Report::from_json(&report.to_json()).unwrap(), report);
}

/// A thousand damages of single bytes, the same in each run.
#[test]
fn no_changed_byte_panics() {
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut accepted = 0;
    for _ in 0..1000 {
        let mut bytes = DOCUMENT.as_bytes().to_vec();
        let at = below(bytes.len());
        let others = b"{}[]\",:0123456789.eE+-\\ntu /\x7f\x1b";
        bytes[at] = others[below(others.len())];
        let Ok(report) = Report::from_json(std::str::from_utf8(&bytes).unwrap()) else { continue };
        accepted += 1;
        assert_eq!(Report::from_json(&report.to_json()), Ok(report));
    }
    assert!(accepted > 50, "{accepted}");
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = Report::from_json(&text);
    }

    #[test]
    fn no_damage_panics(start in 0..DOCUMENT.len(), length in 0..40_usize, text in r#"[\[\]{}",:0-9a-z\\ -]{0,6}"#) {
        let mut document = DOCUMENT.to_owned();
        document.replace_range(start..(start + length).min(DOCUMENT.len()), &text);
        // What is accepted must be fit to print, and to write.
        if let Ok(report) = Report::from_json(&document) {
            prop_assert_eq!(Report::from_json(&report.to_json()), Ok(report.clone()));
            prop_assert!(!report.to_string().is_empty());
        }
    }
}
