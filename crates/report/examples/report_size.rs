//! The size of a report, in memory and as text: prints the bytes of each node and channel, and the time to write and to
//! read them. Then the same of a timeline with as many events.
//!
//! `cargo run --release -p thalweg-report --example report_size -- 1000000`
//!
//! The graph is a chain of N nodes, and so of N - 1 channels. All counts, waits and service times are measured, as in a
//! run of about a second.

use peak_alloc::PeakAlloc;
use std::hint::black_box;
use std::time::{Duration, Instant};
use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort, Rate};
use thalweg_report::{ReportExt, TimelineExt};
use thalweg_trace::{Ended, Event, Report, Service, Timeline, Track, What};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn main() {
    let count = std::env::args().nth(1).map_or(100_000, |text| text.parse().expect("the number of nodes"));
    let before = MEMORY.current_usage();
    let graph = chain(count);
    let of_graph = MEMORY.current_usage() - before;
    let report = measured(graph);
    let of_report = MEMORY.current_usage() - before;
    let each = |bytes: usize| bytes as f64 / count as f64;
    println!("{count} nodes, {} channels", report.channels().len());
    println!("memory of the graph:  {:6.0} bytes for each node and its channel", each(of_graph));
    println!("memory of the report: {:6.0}, graph included", each(of_report));

    let (text, took) = timed(|| report.to_json());
    println!("text of the report:   {:6.0}, written in {:.2} s", each(text.len()), took.as_secs_f64());
    let held = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let (again, took) = timed(|| Report::from_json(&text).expect("a report"));
    let peak = MEMORY.peak_usage() - held;
    println!("reading it:           {:6.0} at most, in {:.2} s", each(peak), took.as_secs_f64());
    println!("memory of what is read:{:5.0}", each(MEMORY.current_usage() - held));
    assert!(again == report, "the report reads back as it was");
    drop((text, again));
    show_timeline(report.graph());
}

/// Prints the sizes of a timeline with an event for each node.
fn show_timeline(graph: &GraphData) {
    let count = graph.nodes().len();
    let each = |bytes: usize| bytes as f64 / count as f64;
    let before = MEMORY.current_usage();
    let timeline = timeline(graph);
    println!("memory of the timeline:{:5.0} bytes for each event", each(MEMORY.current_usage() - before));
    MEMORY.reset_peak_usage();
    let held = MEMORY.current_usage();
    let (written, took) = timed(|| timeline.write_json(graph, &mut std::io::sink()));
    written.expect("the sink takes all");
    println!(
        "writing it:           {:6.0} at most, in {:.2} s",
        each(MEMORY.peak_usage() - held),
        took.as_secs_f64()
    );
    let text = timeline.to_json(graph);
    println!("text of the timeline: {:6.0}", each(text.len()));
    MEMORY.reset_peak_usage();
    let held = MEMORY.current_usage();
    let (again, took) = timed(|| Timeline::from_json(&text, graph).expect("a timeline"));
    println!(
        "reading it:           {:6.0} at most, in {:.2} s",
        each(MEMORY.peak_usage() - held),
        took.as_secs_f64()
    );
    assert!(again == timeline, "the timeline reads back as it was");
}

/// Two workers that activate the nodes in turns, each of which waits for its input.
fn timeline(graph: &GraphData) -> Timeline {
    let mut tracks = vec![Track::new("worker 0"), Track::new("worker 1")];
    let ends = graph.channel_ids().map(Ended::Empty).chain([Ended::Done]);
    for (i, (node, ended)) in graph.node_ids().zip(ends).enumerate() {
        let what = What::Activation { node, firings: 64, ns: 5_432, ended };
        tracks[i % 2].events_mut().push(Event::new(1_234_567 + 6_000 * i as u64, what));
    }
    Timeline::new(tracks)
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let done = black_box(work());
    (done, start.elapsed())
}

/// A chain of nodes with static rates.
fn chain(count: usize) -> GraphData {
    let (mut graph, item) = (GraphData::new(), Item::of::<u64>());
    let mut last = None;
    for i in 0..count {
        let mut node = Node::sequential("stage");
        if i > 0 {
            node = node.input(InPort::new("in", item).with_pop(Rate::Static(1)));
        }
        if i + 1 < count {
            node = node.output(OutPort::new("out", item).with_push(Rate::Static(1)));
        }
        let node = graph.add(node);
        if let Some(last) = last.replace(node) {
            graph.connect((last, 0), (node, 0), Link::default()).expect("free ports of one type");
        }
    }
    graph
}

/// A report of this graph with numbers of the usual size.
fn measured(graph: GraphData) -> Report {
    let mut report = Report::new(graph, "auto", 2);
    *report.wall_mut() = Duration::from_secs(1);
    for (i, node) in report.nodes_mut().iter_mut().enumerate() {
        (*node.firings_mut(), *node.activations_mut(), *node.busy_mut()) =
            (20_000, 300, Duration::from_nanos(2_345_678));
        *node.other_waits_mut().worker_mut() = Duration::from_nanos(987_654_321);
        let mut service = Service::default();
        for (ns, weight) in [(5_000.0, 200), (9_000.0, 90), (70_000.0, 10)] {
            service.activation_mut().record(ns + i as f64, weight);
            service.firing_mut().record(ns / 66.0, weight * 66);
        }
        *node.service_mut() = Some(Box::new(service));
    }
    for channel in report.channels_mut() {
        (*channel.items_mut(), *channel.bytes_mut(), *channel.capacity_mut()) = (20_000, 160_000, 1024);
        (*channel.peak_mut(), *channel.mean_mut()) = (Some(800.0), Some(511.25));
        *channel.consumer_waited_mut() = Duration::from_nanos(3_456_789);
        *channel.producer_waited_mut() = Duration::from_nanos(4_567_890);
    }
    report
}
