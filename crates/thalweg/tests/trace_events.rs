//! Timelines in the trace event form: every event is checked against what viewers demand of it.
//!
//! The rules are those of the Trace Event Format, and of Perfetto's importer where it demands more:
//! `crates/report/src/json/timeline/mod.rs` has the list.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use thalweg::Options;
use thalweg::embed::graph::{ChannelId, InPort, Item, Link, NodeId, OutPort};
use thalweg::embed::trace::{Ended, Track, What};
use thalweg::graph::{GraphData, Node};
use thalweg::trace::{Event, Timeline, TimelineExt};

/// The phases of events, and the fields that each must have besides `ph`, `pid` and `name`.
const PHASES: &[(&str, &[&str])] =
    &[("M", &["args"]), ("X", &["tid", "ts", "dur"]), ("i", &["tid", "ts", "s"]), ("C", &["ts", "args"])];

/// Checks a document, and returns the number of events by phase.
fn check(text: &str) -> BTreeMap<String, usize> {
    let document: Value = serde_json::from_str(text).expect("JSON");
    let fields: Vec<&String> = document.as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["displayTimeUnit", "otherData", "traceEvents"], "an importer stops at other fields");
    assert!(["ns", "ms"].contains(&document["displayTimeUnit"].as_str().unwrap()));
    assert!(
        document["otherData"].as_object().is_some_and(|data| data.values().all(|value| !value.is_array()))
    );
    let events = document["traceEvents"].as_array().expect("an array");
    let (mut phases, mut names) = (BTreeMap::new(), Names::default());
    let mut slices: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    for event in events {
        let phase = check_fields(event);
        *phases.entry(phase.to_owned()).or_default() += 1;
        match phase {
            "M" => names.add(event),
            "X" => {
                let place = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
                let start = nanos(&event["ts"]);
                slices.entry(place).or_default().push((start, start + nanos(&event["dur"])));
            }
            "i" => assert!(["t", "p", "g"].contains(&event["s"].as_str().unwrap()), "{event}"),
            _ => check_counter(event),
        }
    }
    for (place, slices) in slices {
        assert!(names.threads.contains(&place), "{place:?} has no name");
        check_nesting(place, slices);
    }
    phases
}

/// Checks that an event has the fields of its phase, of the right types, and returns the phase.
fn check_fields(event: &Value) -> &str {
    let phase = event["ph"].as_str().expect("a phase");
    let (_, needed) = PHASES.iter().find(|(known, _)| *known == phase).expect("a known phase");
    for field in needed.iter().chain(&["pid", "name"]) {
        assert!(!event[field].is_null(), "`{field}` is missing: {event}");
    }
    assert!(event["name"].is_string() && event["pid"].as_u64().is_some_and(|pid| pid > 0), "{event}");
    for time in ["ts", "dur"].iter().filter(|time| !event[**time].is_null()) {
        assert!(event[*time].as_f64().is_some_and(|time| time >= 0.0), "`{time}` is no time: {event}");
    }
    let tid = &event["tid"];
    assert!(tid.is_null() || tid.as_u64().is_some_and(|tid| tid > 0 && tid <= u32::MAX.into()), "{event}");
    assert!(event["args"].is_null() || event["args"].is_object(), "{event}");
    assert!(event.as_object().unwrap().values().all(|value| !value.is_array()), "{event}");
    phase
}

/// A counter is a number for each argument, and has no id.
fn check_counter(event: &Value) {
    let series = event["args"].as_object().unwrap();
    assert!(!series.is_empty() && series.values().all(Value::is_number) && event["id"].is_null(), "{event}");
}

#[derive(Default)]
struct Names {
    threads: BTreeSet<(u64, u64)>,
    /// The ids of all threads of all processes: importers name them by this alone.
    ids: BTreeSet<u64>,
}

impl Names {
    fn add(&mut self, event: &Value) {
        let pid = event["pid"].as_u64().unwrap();
        match event["name"].as_str().unwrap() {
            "process_name" => assert!(event["args"]["name"].is_string(), "{event}"),
            "thread_name" => {
                let tid = event["tid"].as_u64().unwrap();
                assert!(event["args"]["name"].is_string() && self.ids.insert(tid), "{event}");
                self.threads.insert((pid, tid));
            }
            "thread_sort_index" => assert!(event["args"]["sort_index"].is_u64(), "{event}"),
            other => panic!("unknown metadata {other}"),
        }
    }
}

/// Complete events of a thread follow each other, or one contains the other.
fn check_nesting(place: (u64, u64), mut slices: Vec<(u64, u64)>) {
    slices.sort_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
    let mut open: Vec<u64> = Vec::new();
    for (start, end) in slices {
        while open.last().is_some_and(|last| *last <= start) {
            open.pop();
        }
        assert!(open.last().is_none_or(|last| end <= *last), "{place:?}: {start}..{end} overlaps another");
        open.push(end);
    }
}

/// A time of the file, which is in microseconds.
fn nanos(time: &Value) -> u64 {
    (time.as_f64().unwrap() * 1000.0).round() as u64
}

/// A chain of four nodes, the first of which has a name that needs escapes.
fn chain() -> GraphData {
    let (mut graph, item) = (GraphData::new(), Item::of::<u64>());
    let names = ["read \"a\"\n\u{1b}", "map", "pack", "write"];
    let nodes = names.map(|name| {
        let node = Node::sequential(name);
        let node = if name == "map" || name == "pack" || name == "write" {
            node.input(InPort::new("in", item))
        } else {
            node
        };
        graph.add(if name == "write" { node } else { node.output(OutPort::new("out", item)) })
    });
    for pair in nodes.windows(2) {
        graph.connect((pair[0], 0), (pair[1], 0), Link::default()).unwrap();
    }
    graph
}

/// A random timeline that threads can have: each does one thing at a time, and a node is activated by one at a time.
fn any_timeline(seed: u64) -> Timeline {
    let mut state = seed;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut timeline = Timeline::default();
    let threads = 1 + below(4) as u32;
    for thread in 0..threads {
        let (mut at, mut track) = (below(1000), Track::new(format!("worker {thread}")));
        *track.lost_mut() = below(3);
        for _ in 0..below(200) {
            let (node, channel) = (NodeId(below(4) as u32), ChannelId(below(3) as u32));
            let ns = below(5000);
            let ended =
                [Ended::Empty(channel), Ended::Full(channel), Ended::Waiting, Ended::Budget, Ended::Done];
            let what = match below(9) {
                0 => What::Steal { node, from: below(4) as u32 },
                1 => What::Spin { ns },
                2 => What::Park { ns },
                3 => What::Growth { channel, to: below(1000) as usize },
                4 => What::Fill { channel, items: below(1000) as u32 },
                _ => What::Activation { node, firings: 7, ns, ended: ended[below(5) as usize] },
            };
            track.events_mut().push(Event::new(at, what));
            at += what.length().as_nanos() as u64 + below(3) * 100;
        }
        timeline.tracks_mut().push(track);
    }
    timeline
}

#[test]
fn every_event_has_what_viewers_demand() {
    let (graph, mut all) = (chain(), BTreeMap::<String, usize>::new());
    for seed in 0..100 {
        let timeline = any_timeline(seed);
        let text = timeline.to_json(&graph);
        for (phase, count) in check(&text) {
            *all.entry(phase).or_default() += count;
        }
        assert_eq!(Timeline::from_json(&text, &graph), Ok(timeline));
    }
    assert!(PHASES.iter().all(|(phase, _)| all.get(*phase).is_some_and(|count| *count > 100)), "{all:?}");
    assert!(check(&Timeline::default().to_json(&GraphData::new())).len() == 1);
}

/// What the engine records can be shown too, whether it is all or the latest events.
#[test]
fn a_run_has_a_timeline_that_viewers_take() {
    for events in [1 << 16, 100] {
        let sum = thalweg::from_iter(0..20_000_u64)
            .named("read")
            .par_map(|n| n ^ 7)
            .named("map")
            .fold(0, u64::wrapping_add);
        let options = Options::new().threads(2).capacity(64).timeline(events);
        let report = sum.run_with(&options).unwrap().into_report();
        let timeline = report.timeline().expect("a timeline");
        let text = timeline.to_json(report.graph());
        let phases = check(&text);
        assert!(phases["X"] > 10, "{phases:?}");
        assert_eq!(Timeline::from_json(&text, report.graph()).as_ref(), Ok(timeline));
    }
}

/// Planted mistakes: the check can fail.
#[test]
fn the_check_refuses_what_viewers_do() {
    let track = |events: Vec<(u64, u64)>| {
        let mut track = Track::new("worker");
        track.events_mut().extend(events.into_iter().map(|(at, ns)| Event::new(at, What::Spin { ns })));
        track
    };
    let mut timeline = Timeline::default();
    timeline.tracks_mut().push(track(vec![(0, 100), (100, 50), (100, 20), (200, 0)]));
    let good = timeline.to_json(&GraphData::new());
    check(&good);
    timeline.tracks_mut().push(track(vec![(0, 100), (50, 100)]));
    let bad = [
        timeline.to_json(&GraphData::new()),
        good.replacen("\"ph\": \"X\"", "\"ph\": \"Y\"", 1),
        good.replacen("\"dur\": 0.050, ", "", 1),
        good.replacen("\"ts\": 0.200", "\"ts\": -0.200", 1),
        good.replacen("\"tid\": 1, \"ts\"", "\"tid\": 2, \"ts\"", 1),
        good.replacen("\"args\": {}", "\"args\": []", 1),
        good.replacen("\"otherData\"", "\"more\": 1, \"otherData\"", 1),
    ];
    for text in bad {
        assert_ne!(text, good);
        assert!(std::panic::catch_unwind(|| check(&text)).is_err(), "{text}");
    }
}
