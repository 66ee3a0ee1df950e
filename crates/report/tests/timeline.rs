//! Timelines as JSON: round trips, and documents that are no timelines.

use crate::common::{any_graph, any_name, example};
use proptest::collection::vec;
use proptest::prelude::*;
use std::io;
use thalweg_graph::{ChannelId, GraphData, NodeId};
use thalweg_report::{ReadErrorKind, ReportExt, TimelineExt};
use thalweg_trace::{Ended, Event, Timeline, Track, What};

/// A timeline of the example's graph with every kind of event.
fn timeline() -> Timeline {
    let (node, channel) = (NodeId(1), ChannelId(0));
    let activation = |at, ended| Event::new(at, What::Activation { node, firings: 3, ns: 1500, ended });
    let others = [
        What::Steal { node, from: 1 },
        What::Loop { node, steals: 2, ns: 600 },
        What::TaskGraph { node, steals: 0, ns: 650 },
        What::Stall { node, ns: 680 },
        What::Spin { ns: 700 },
        What::Park { ns: u64::MAX - 700 },
        What::Growth { channel, to: 1024 },
        What::Fill { channel, items: 5 },
    ];
    let mut first = vec![activation(0, Ended::Empty(channel)), activation(2500, Ended::Full(ChannelId(1)))];
    first.extend(others.map(|what| Event::new(4001, what)));
    let ends = [Ended::Waiting, Ended::Budget, Ended::Done, Ended::Refused];
    let second = (0..4).map(|i| activation(10_000 * i, ends[i as usize])).collect();
    let idle = track("idle", Vec::new(), 0);
    Timeline::new(vec![track("worker 0", first, 0), track("read \"\n", second, 0), idle])
}

/// A track with these events, after `lost` others.
fn track(name: impl Into<String>, events: Vec<Event>, lost: u64) -> Track {
    let mut track = Track::new(name);
    (*track.events_mut(), *track.lost_mut()) = (events, lost);
    track
}

/// The document of the example. Other programs read such files: a change of them needs another version. With
/// `THALWEG_BLESS=1` in the environment the test writes it anew.
const DOCUMENT: &str = include_str!("timeline.json");

#[test]
fn the_document_of_the_example_is_as_it_was() {
    let text = timeline().to_json(example().graph());
    if std::env::var_os("THALWEG_BLESS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/timeline.json"), &text).unwrap();
    }
    for (line, (written, expected)) in text.lines().zip(DOCUMENT.lines()).enumerate() {
        assert_eq!(written, expected, "line {} of tests/timeline.json", line + 1);
    }
    assert_eq!(text, DOCUMENT);
}

#[test]
fn a_timeline_reads_back() {
    let (graph, timeline) = (example().graph().clone(), timeline());
    assert_eq!(Timeline::from_json(&timeline.to_json(&graph), &graph), Ok(timeline));
    let (none, empty) = (GraphData::new(), Timeline::default());
    assert_eq!(Timeline::from_json(&empty.to_json(&none), &none), Ok(empty));
}

#[test]
fn other_fields_and_events_are_ignored() {
    let (graph, timeline) = (example().graph().clone(), timeline());
    let text = timeline.to_json(&graph);
    let later = text.replace(
        "{\"ph\": \"M\", \"pid\": 2",
        "{\"ph\": \"i\", \"pid\": 1, \"cat\": \"later\", \"args\": {\"later\": 7}},\n{\"ph\": \"M\", \"pid\": 2",
    );
    let later = later.replace("\"firings\"", "\"later\": [[]], \"firings\"");
    assert_ne!(later, text);
    assert_eq!(Timeline::from_json(&later, &graph), Ok(timeline));
}

/// Other programs add events to a file, whose fields have other types.
#[test]
fn events_of_others_may_have_any_fields() {
    let (graph, timeline) = (example().graph().clone(), timeline());
    let text = timeline.to_json(&graph);
    let with = |line: &str| {
        let added = text.replacen("{\"ph\": \"M\"", &format!("{line},\n{{\"ph\": \"M\""), 1);
        assert_ne!(added, text);
        Timeline::from_json(&added, &graph)
    };
    for others in [
        "{\"ph\": \"X\", \"pid\": 77, \"tid\": \"main\", \"ts\": 1e3, \"dur\": null, \"cat\": \"spin\"}",
        "{\"ph\": \"X\", \"pid\": \"browser\", \"cat\": \"activation\"}",
        "{\"ph\": \"C\", \"pid\": 1, \"cat\": [\"a\"], \"args\": {\"node\": \"x\"}}",
        "{\"ph\": \"X\", \"pid\": 1, \"ts\": \"2\", \"cat\": \"later\", \"args\": [1]}",
        "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_labels\", \"args\": {\"events\": \"x\"}}",
        "{\"name\": \"no process\"}",
    ] {
        assert_eq!(with(others), Ok(timeline.clone()), "{others}");
    }
    for (ours, place) in [
        ("{\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"dur\": null, \"cat\": \"spin\"}", "traceEvents[0].dur"),
        (
            "{\"ph\": \"X\", \"pid\": 1, \"cat\": \"steal\", \"args\": {\"node\": \"x\"}}",
            "traceEvents[0].args.node",
        ),
        ("[\"X\", 1]", "traceEvents[0]"),
    ] {
        assert_eq!(with(ours).unwrap_err().path(), place, "{ours}");
    }
}

#[test]
fn errors_say_the_place_and_both_values() {
    let graph = example().graph().clone();
    let text = timeline().to_json(&graph);
    let cases = [
        (
            "\"thalweg-timeline\"",
            "\"thalweg-report\"",
            "otherData.format`: expected `thalweg-timeline`, found `\"thalweg-report\"`",
        ),
        (
            "\"version\": 1",
            "\"version\": 2",
            "unsupported version: the file has version 2, this thalweg reads version 1\n  help: read it with a thalweg as new as",
        ),
        (
            "\"nodes\": 4",
            "\"nodes\": 5",
            "otherData.nodes`: expected 4, as many nodes as the graph has, found `5`",
        ),
        (
            "\"channels\": 4",
            "\"channels\": 3",
            "otherData.channels`: expected 4, as many channels as the graph has, found `3`",
        ),
        (
            "\"threads\": 3",
            "\"threads\": 4",
            "traceEvents`: expected the names of 4 threads, found the names of 3",
        ),
        ("\"events\": 10,", "\"events\": 8,", "traceEvents`: expected 8 events of `worker 0`, found 10"),
        (
            "\"tid\": 2, \"name\"",
            "\"tid\": 9, \"name\"",
            "traceEvents[3].tid`: expected 2, the id of the next thread, found `9`",
        ),
        (
            "\"tid\": 1, \"ts\"",
            "\"tid\": 9, \"ts\"",
            "traceEvents[7].tid`: expected the id of a thread named before, found `9`",
        ),
        (
            "\"tid\": 1, \"ts\"",
            "\"tid\": 0, \"ts\"",
            "traceEvents[7].tid`: expected the id of a thread named before, found `0`",
        ),
        (
            "\"ts\": 2.500",
            "\"ts\": 2.5001",
            "ts`: expected a time in microseconds, with at most three decimals, found `2.5001`",
        ),
        (
            "\"ts\": 2.500",
            "\"ts\": -1",
            "ts`: expected a time in microseconds, with at most three decimals, found `-1`",
        ),
        ("\"dur\": 0.700", "\"dur\": 18446744073709551.616", "dur`: expected a time in microseconds"),
        (
            "\"node\": 1",
            "\"node\": 4",
            "traceEvents[7].args.node`: expected the index of one of 4 nodes, found `4`",
        ),
        (
            "\"node\": 1",
            "\"node\": 0",
            "traceEvents[7].name`: expected `read`, the node of the graph with this index, found",
        ),
        (
            "\"name\": \"steal ",
            "\"name\": \"stole ",
            "name`: expected `steal either \"a\" or b`, the node of the graph with this index, found",
        ),
        (
            "\"channel\": 0",
            "\"channel\": 4",
            "args.channel`: expected the index of one of 4 channels, found `4`",
        ),
        (
            "\"ended\": \"empty ",
            "\"ended\": \"emptied ",
            "traceEvents[7]`: expected an end `empty`, `full`, `waiting`, `budget`, `done` or `refused`, found",
        ),
        (
            "\"firings\": 3",
            "\"firings\": 4294967296",
            "traceEvents[7].args.firings`: invalid value: integer `4294967296`, expected u32",
        ),
        ("\"dur\": 0.700, ", "", "`: missing field `dur`"),
        ("\"lost\": 0}}", "\"lost\": -1}}", "args.lost`: invalid value: integer `-1`, expected u64"),
        ("\"displayTimeUnit\"", "displayTimeUnit", "line 2, column 3: invalid JSON: key must be a string"),
    ];
    for (from, to, expected) in cases {
        assert!(text.contains(from), "{from}");
        let error = Timeline::from_json(&text.replacen(from, to, 1), &graph).unwrap_err().to_string();
        assert!(error.contains(expected), "{to}:\n{error}\n{expected}");
    }
    let report = Timeline::from_json(&example().to_json(), &graph).unwrap_err();
    assert_eq!(report.kind(), &ReadErrorKind::Content("missing field `otherData`".to_owned()));
}

/// The graph of another run has other names, or too few of them.
#[test]
fn a_timeline_of_another_graph_can_be_written_but_not_read() {
    let text = timeline().to_json(&GraphData::new());
    assert!(text.contains("\"name\": \"node 1\"") && text.contains("room in channel 1"), "{text}");
    assert!(Timeline::from_json(&text, &GraphData::new()).is_err());
    assert!(Timeline::from_json(&text, example().graph()).is_err());
}

/// Waits are shown from where on no event is lost, and the file says so.
#[test]
fn what_is_lost_is_said() {
    let mut timeline = timeline();
    *timeline.tracks_mut()[1].lost_mut() = 7;
    let text = timeline.to_json(example().graph());
    assert!(text.contains("\"events\": 14,\n    \"lost\": 7,\n    \"complete_from_ns\": 1500\n"), "{text}");
    assert!(text.contains("\"events\": 4, \"lost\": 7}"), "{text}");
}

/// The text goes out in pieces, and an error of the output comes back.
#[test]
fn the_text_is_written_in_pieces() {
    struct Pieces(Vec<usize>);
    impl io::Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (graph, mut timeline) = (example().graph().clone(), timeline());
    *timeline.tracks_mut()[0].events_mut() = timeline.tracks()[0].events().repeat(1000);
    let mut pieces = Pieces(Vec::new());
    timeline.write_json(&graph, &mut pieces).unwrap();
    assert_eq!(pieces.0.iter().sum::<usize>(), timeline.to_json(&graph).len());
    assert!(pieces.0.len() > 10 && pieces.0.iter().all(|length| *length < 70_000), "{:?}", pieces.0);
    assert!(timeline.write_json(&graph, &mut io::Cursor::new(&mut [0; 100][..])).is_err());
}

#[test]
fn no_changed_byte_panics() {
    let graph = example().graph().clone();
    let text = timeline().to_json(&graph);
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for _ in 0..1000 {
        let mut bytes = text.as_bytes().to_vec();
        let (at, others) = (below(bytes.len()), b"{}[]\",:0123456789.eE+-\\ntu /\x7f");
        bytes[at] = others[below(others.len())];
        let Ok(timeline) = Timeline::from_json(std::str::from_utf8(&bytes).unwrap(), &graph) else {
            continue;
        };
        assert_eq!(Timeline::from_json(&timeline.to_json(&graph), &graph), Ok(timeline));
    }
}

fn any_event(nodes: usize, channels: usize) -> impl Strategy<Value = Event> {
    let ended =
        prop_oneof![Just(Ended::Waiting), Just(Ended::Budget), Just(Ended::Done), Just(Ended::Refused)];
    let numbers = (any::<[u64; 2]>(), any::<[u32; 3]>(), any::<usize>(), 0..11_u8);
    (numbers, ended).prop_map(move |(([at, ns], [firings, id, from], to, kind), ended)| {
        let at = if from % 2 == 0 { at } else { at % 1_000_000 };
        let ns = if id % 2 == 0 { ns } else { ns % 1_000_000 };
        // An event of a node or channel that the graph lacks becomes one without.
        let (Some(node), channel) =
            ((id as usize).checked_rem(nodes), (firings as usize).checked_rem(channels))
        else {
            return Event::new(at, What::Spin { ns });
        };
        let (node, channel) = (NodeId(node as u32), channel.map(|channel| ChannelId(channel as u32)));
        let what = match (kind, channel) {
            (0, Some(channel)) => What::Activation { node, firings, ns, ended: Ended::Empty(channel) },
            (1, Some(channel)) => What::Activation { node, firings, ns, ended: Ended::Full(channel) },
            (2, Some(channel)) => What::Growth { channel, to },
            (3, Some(channel)) => What::Fill { channel, items: firings },
            (4, _) => What::Steal { node, from },
            (5, _) => What::Park { ns },
            (6, _) => What::Spin { ns },
            (7, _) => What::Loop { node, steals: from, ns },
            (8, _) => What::TaskGraph { node, steals: from, ns },
            (9, _) => What::Stall { node, ns },
            _ => What::Activation { node, firings, ns, ended },
        };
        Event::new(at, what)
    })
}

fn any_timeline() -> impl Strategy<Value = (GraphData, Timeline)> {
    any_graph().prop_flat_map(|graph| {
        let event = any_event(graph.nodes().len(), graph.channels().len());
        let tracks = (any_name(), vec(event, 0..12), any::<u64>());
        let tracks = vec(tracks.prop_map(|(name, events, lost)| track(name, events, lost)), 0..4);
        tracks.prop_map(move |tracks| (graph.clone(), Timeline::new(tracks)))
    })
}

proptest! {
    #[test]
    fn timelines_read_back_as_they_were((graph, timeline) in any_timeline()) {
        let text = timeline.to_json(&graph);
        let again = Timeline::from_json(&text, &graph)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&again, &timeline);
        prop_assert_eq!(again.to_json(&graph), text);
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = Timeline::from_json(&text, example().graph());
    }
}
