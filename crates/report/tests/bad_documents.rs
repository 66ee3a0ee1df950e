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
        assert_eq!(error.kind(), &ReadErrorKind::Incomplete, "{length}: {error}");
        let last = cut.rsplit('\n').next().unwrap();
        let end = (cut.matches('\n').count() + 1, last.chars().count() + 1);
        assert_eq!((error.line(), error.column()), end, "{length}: {error}");
    }
    let at = DOCUMENT.find("\"moves\"").unwrap();
    let message = error(&DOCUMENT[..at]).to_string();
    assert!(
        message.ends_with(
            ", `nodes[0]`: the text ends here\n  help: the document is incomplete; copy or write it again"
        ),
        "{message}"
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
                    assert!(!error.path().is_empty(), "{error}");
                    // Another name may be right here, and wrong in the entry of its node or channel.
                    assert!(error.line() == line || other == "\"x\"", "{error} for {other} on line {line}");
                }
            }
        }
    }
    // Measures may be any number, and the policy and types any text.
    let lines = |other: &str| accepted.iter().filter(|(_, value)| *value == other).count();
    let measures =
        "the mean under way, peak and mean of four channels, two sums of two distributions of three nodes";
    assert_eq!(lines("0.5"), 21, "{measures}: {accepted:?}");
    assert_eq!(lines("18446744073709551616"), 21, "{measures}: {accepted:?}");
    for other in ["null", "-1", "1e999", "[]", "{}"] {
        assert_eq!(lines(other), 0, "{other}: {accepted:?}");
    }
}

/// serde would take the array of an object's values for the object.
#[test]
fn an_array_is_no_object() {
    let mut objects = 0;
    for (i, line) in DOCUMENT.lines().enumerate() {
        let object =
            line.trim().trim_end_matches(',').strip_prefix('{').and_then(|line| line.strip_suffix('}'));
        let Some(object) = object.filter(|object| !object.contains('{')) else { continue };
        let names = object.split('"').skip(1).step_by(2).map(|name| format!("\"{name}\": "));
        let array = names.fold(object.to_owned(), |array, name| array.replacen(&name, "", 1));
        let document = DOCUMENT.replacen(&format!("{{{object}}}"), &format!("[{array}]"), 1);
        let error = Report::from_json(&document).unwrap_err();
        assert_eq!(error.line(), i + 1, "{error}: {array}");
        assert!(error.to_string().contains("invalid type: sequence, expected "), "{error}");
        objects += 1;
    }
    assert!(objects > 10, "{objects}");
}

/// A field that is not there may be left out, but is not null.
#[test]
fn null_is_no_setting() {
    for (field, path) in [("\"workers\": null", "workers"), ("\"first\": null", "inputs[0].first")] {
        let at = if path == "workers" { "\"name\": \"last\"" } else { "\"peek\": 5" };
        let document = DOCUMENT.replacen(at, &format!("{at}, {field}"), 1);
        assert_ne!(document, DOCUMENT);
        let error = Report::from_json(&document).unwrap_err();
        assert!(error.path().ends_with(path) && error.to_string().contains("null"), "{error}");
    }
}

#[test]
fn errors_say_the_place_and_both_values() {
    let cases = [
        (
            "\"threads\": 2",
            "\"threads\": 2.0",
            "line 5, column 14, `threads`: invalid type: floating point `2.0`, expected usize",
        ),
        (
            "\"process\"",
            "\"filter\"",
            "`graph.nodes[3].kind`: unknown variant `filter`, expected one of `sequential`, `parallel`, `process`",
        ),
        (
            "\"peek\": 5",
            "\"peek\": 1",
            "`graph.nodes[2].inputs[0].peek`: expected at least the pop rate, which is 2, found `1`",
        ),
        (
            "\"pop\": 2",
            "\"pop\": \"two\"",
            "`graph.nodes[2].inputs[0].pop`: expected a number of items, or `dynamic`",
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
            "`graph.channels[0].from`: invalid length 1, expected a tuple of size 2",
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
        (
            "\"limit\": \"items\"",
            "\"limit\": \"all\"",
            "`growths[0].limit`: unknown variant `all`, expected `items` or `bytes`",
        ),
        (
            "\"nodes\": [0]",
            "\"nodes\": [2]",
            "`program.units.all[0].nodes[0]`: expected the index of one of 2 nodes, found `2`",
        ),
        (
            "\"units\": [1, 2]",
            "\"units\": [0, 2]",
            "`program.bodies[1].units`: expected a range of units within [1, 2], found `[0, 2]`",
        ),
        (
            "\"least_gain\": 135",
            "\"least_gain\": 18446744073709551615",
            "`program.units.least_gain`: expected at most 1048576, found `18446744073709551615`",
        ),
        (
            "\"cost\": 3}",
            "\"cost\": 18446744073709551615}",
            "`program.units.hand_overs[0].cost`: expected at most 4611686018427387904, found",
        ),
        (
            "\"units\": [1, 2]",
            "\"units\": [2, 1]",
            "`program.bodies[1].units`: expected a range of units within [1, 2], found `[2, 1]`",
        ),
        (
            "\"node\": 2",
            "\"node\": 4",
            "`program.bodies[1].node`: expected the index of one of 4 nodes, found `4`",
        ),
        ("nodes 2 channels 1\\n", "nodes 2\\n", "`program.plan`: expected the text of a plan, found"),
        ("\"spins\": ", "\"spins\": 1, \"spins\": ", "`workers[0]`: duplicate field `spins`"),
        ("\"spins\": ", "\"Spins\": ", "`workers[0]`: missing field `spins`"),
        (
            "\"item\": \"",
            "\"item\": \"\\u001b",
            "`graph.nodes[0].outputs[0].item`: expected the name of a type, without control characters, found",
        ),
        ("\"thalweg-report\"", "\"other\"", "`format`: expected `thalweg-report`, found `\"other\"`"),
        ("\"threads\": 2", "\"threads\": 02", "line 5, column 15, `threads`: invalid JSON: invalid number"),
        ("\"threads\": 2", "\"threads\": 2, 3", "line 5, column 17: invalid JSON: key must be a string"),
        ("\"threads\": 2", "\"threads\": \u{1b}", "`threads`: invalid JSON: expected value"),
        (
            "\"policy\": \"",
            "\"policy\": \"\n",
            "`policy`: invalid JSON: control character (\\u0000-\\u001F) found while parsing a string",
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
    assert_eq!(version("5").kind(), &ReadErrorKind::Version { found: 5, supported: 4 });
    assert_eq!(
        version("5").to_string(),
        "line 1, column 41, `version`: unsupported version: the file has version 5, this thalweg reads version \
         4\n  help: read it with a thalweg as new as the one that wrote it"
    );
    assert_eq!(
        version("3").to_string(),
        "line 1, column 41, `version`: unsupported version: the file has version 3, this thalweg reads version \
         4\n  help: repeat the run and save its results again"
    );
    for wrong in ["\"4\"", "4.5", "-3", "1e999", "null"] {
        let error = version(wrong);
        assert_eq!((error.path(), error.line()), ("version", 1), "{error}");
        let whole = DOCUMENT.replacen("\"version\": 4", &format!("\"version\": {wrong}"), 1);
        assert_eq!((Report::from_json(&whole).unwrap_err().path(), error.line()), ("version", 1));
    }
    assert!(version("4").to_string().ends_with(": missing field `policy`"));
}

#[test]
fn other_texts_are_refused() {
    for (text, expected) in [
        ("[1, 2]", "line 1, column 1: invalid type: sequence, expected the object of a file of thalweg"),
        ("7", "line 1, column 1: invalid type: integer `7`, expected the object of a file of thalweg"),
        ("{}", "line 1, column 1: missing field `format`"),
        (
            "100 ms on 2 threads",
            "line 1, column 1: invalid type: integer `100`, expected the object of a file of",
        ),
        ("", "line 1, column 1: the text ends here"),
    ] {
        let message = error(text).to_string();
        assert!(message.starts_with(expected), "{text}: {message}");
    }
    for text in
        ["\u{feff}\u{feff}{}", "nul1", "{]", "{\"a\": 1,}", "{\"a\" 1}", "-x", "1.x", "1ex", ".5", "\"\\x\""]
    {
        assert!(matches!(error(text).kind(), &ReadErrorKind::Syntax(_)), "{text}: {}", error(text));
    }
    assert!(matches!(error(&format!("{DOCUMENT} {{}}")).kind(), &ReadErrorKind::Syntax(_)));
    for text in ["nul", "{\"a\": [1,", "{\"a\"", "\"", "\"\\"] {
        assert_eq!(error(text).kind(), &ReadErrorKind::Incomplete, "{text}");
    }
}

/// Whatever is deep, the reader's stack is not.
#[test]
fn deep_nesting_does_no_harm() {
    for open in ["[", "{\"a\":"] {
        assert!(Report::from_json(&open.repeat(1_000_000)).is_err());
        let deep =
            DOCUMENT.replacen("\"threads\": 2", &format!("\"threads\": {}", open.repeat(1_000_000)), 1);
        assert!(error(&deep).to_string().len() < 300);
    }
    let ignored = format!("{{\"deep\": {}{}, ", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Report::from_json(&DOCUMENT.replacen('{', &ignored, 1)).is_ok());
    let weights = format!("\"split\": {}{}, \"inputs\": [], ", "[".repeat(1000), "]".repeat(1000));
    let message = after("\"inputs\": [], ", &weights);
    assert!(message.contains("invalid JSON: recursion limit exceeded"), "{message}");
}

/// A message is short and harmless, whatever the document has.
#[test]
fn messages_are_bounded() {
    let long = "\u{1b}x".repeat(100_000);
    let text = serde_json::to_string(&long).unwrap();
    for (from, with) in [("2,", &text), ("\"parallel\"", &text), ("\"searches\"", &text), ("\"read\"", &text)]
    {
        let message = after(from, with);
        assert!(message.len() < 500 && !message.contains('\u{1b}'), "{} for {from}", message.len());
    }
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
    assert_eq!((error.path(), error.line()), ("nodes[1].node", node));
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
    // A report need not have a plan, and any number of growths is right; so it is with parts of a program.
    let free = [
        "\"plan\": \"thal",
        "\"dilation\": 40",
        "\"limit\": \"items\"",
        "\"to\": [1, 0]",
        "\"whole\": 39",
        "\"cost\": 3",
        "\"units\": [0, 1]",
    ];
    assert!(accepted.iter().zip(free).all(|(line, part)| line.contains(part)), "{accepted:?}");
    assert_eq!(accepted.len(), free.len(), "{accepted:?}");
}

/// Each is a change of the first distribution, and what the error says.
#[test]
fn contradictory_distributions_are_refused() {
    let buckets = "\"buckets\": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3]";
    let many = format!("\"buckets\": [{}3]", "0, ".repeat(41));
    let cases = [
        (buckets, many.as_str(), "`: expected at most 41 buckets, found 42"),
        (buckets, "\"buckets\": [4, 0]", "`: expected a last bucket that is not empty, found 0"),
        (buckets, "\"buckets\": [4, -1]", ".buckets[1]`: invalid value: integer `-1`, expected u64"),
        (buckets, "\"buckets\": {}", ".buckets`: invalid type: map, expected a sequence"),
        (
            "\"samples\": 2",
            "\"samples\": 5",
            "`: expected from 1 to 4 samples, the sum of the buckets, found 5",
        ),
        (
            "\"samples\": 2",
            "\"samples\": 0",
            "`: expected from 1 to 4 samples, the sum of the buckets, found 0",
        ),
        ("\"sum_ns\": ", "\"sum_ns\": -", "`: expected sums that are finite, from 0, found -"),
        (
            "\"squares_ns2\": ",
            "\"squares_ns2\": 9e999, \"rest\": ",
            ".squares_ns2`: invalid JSON: number out of range",
        ),
        ("\"samples\": 2", "\"counts\": 2", "`: missing field `samples`"),
    ];
    for (from, to, expected) in cases {
        let message = after(from, to);
        assert!(message.contains(&format!("`nodes[0].service.activation{expected}")), "{to}:\n{message}");
    }
    let message = after(", \"firing\": {", ", \"Firing\": {");
    assert!(message.ends_with("`nodes[0].service`: missing field `firing`"), "{message}");
    let none = |sum| {
        let empty = format!("{{\"samples\": 0, \"sum_ns\": {sum}, \"squares_ns2\": 0.0, \"buckets\": []}}");
        let start = DOCUMENT.find("{\"samples\"").unwrap();
        let end = start + DOCUMENT[start..].find('}').unwrap() + 1;
        Report::from_json(&format!("{}{empty}{}", &DOCUMENT[..start], &DOCUMENT[end..]))
    };
    assert!(none("0.0").is_ok());
    let error = none("1.5").unwrap_err().to_string();
    assert!(error.ends_with("expected sums that are 0, since nothing was measured, found 1.5"), "{error}");
}

/// Saturated counts are no contradiction.
#[test]
fn saturated_distributions_read_back() {
    let full = format!("\"sum_ns\": 7.0, \"squares_ns2\": 9.0, \"buckets\": [{0}, 0, 3]", u64::MAX);
    let start = DOCUMENT.find("\"sum_ns\": ").unwrap();
    let end = start + DOCUMENT[start..].find('}').unwrap();
    let document = format!("{}{full}{}", &DOCUMENT[..start], &DOCUMENT[end..]);
    let report = Report::from_json(&document).unwrap();
    assert_eq!(report.nodes()[0].service().unwrap().activation().count(), u64::MAX);
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
