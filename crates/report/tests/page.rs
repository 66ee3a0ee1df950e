//! The page of a report: its structure, its sizes, and that no text of a report becomes markup.

use crate::common::any_report;
use crate::common::html::{Element, parse};
use crate::common::invented;
use proptest::prelude::*;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg_graph::{GraphData, InPort, Item, Link, Node, NodeId, OutPort};
use thalweg_plan::{Plan, Wishes};
use thalweg_report::ReportExt;
use thalweg_trace::{Ended, Event, MemberCounts, Report, Timeline, Track, What};

/// The rectangles of the drawing's boxes: left, top, right and bottom.
fn boxes(page: &[Element]) -> Vec<[f64; 4]> {
    let mut last = None;
    let mut boxes: Vec<[f64; 4]> = Vec::new();
    for rect in page.iter().filter(|element| element.name == "rect" && element.has_class("paper")) {
        let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| rect.number(name));
        // The last of a box's papers is the one in front.
        if last == rect.parent {
            boxes.pop();
        }
        last = rect.parent;
        boxes.push([x, y, x + width, y + height]);
    }
    boxes
}

fn graph(page: &[Element]) -> &Element {
    page.iter().find(|element| element.name == "svg" && element.has_class("graph")).expect("a drawing")
}

/// All text of a page outside of scripts and styles, element by element.
fn text(page: &[Element]) -> String {
    let shown = page.iter().filter(|element| !["script", "style"].contains(&element.name.as_str()));
    shown.map(|element| element.text.clone() + "\n").collect()
}

#[test]
fn a_page_has_all_sections_without_a_script() {
    let mut report = invented::report(12);
    assert!(!text(&parse(&report.to_html())).contains("Loops and task graphs"));
    let mut member = MemberCounts::default();
    (*member.loops_mut(), *member.joins_mut(), *member.accesses_mut(), *member.remote_mut()) =
        (31, 32, 400, 50);
    report.nodes_mut()[3].jobs_mut().get_or_insert_default().add(1, member);
    let page = parse(&report.to_html());
    let heads: Vec<&str> = page.iter().filter(|e| e.name == "h2").map(|e| e.text.as_str()).collect();
    let expected = [
        "What bounded the run",
        "The graph",
        "Where the workers’ time went",
        "Timeline",
        "Nodes",
        "Loops and task graphs",
        "Channels",
        "Channels that grew",
        "The plan",
    ];
    assert_eq!(heads, expected);
    assert_eq!(page.iter().filter(|e| e.name == "h1").count(), 1);
    let text = text(&page);
    for node in report.graph().nodes() {
        assert!(text.contains(node.name()), "{}", node.name());
    }
    for part in
        ["1234 earlier events of worker 1 were overwritten", "policy auto", "100 ms on 4 threads", "Stall"]
    {
        assert!(text.contains(part), "{part}");
    }
    // Each picture says what it shows.
    for (index, svg) in page.iter().enumerate().filter(|(_, e)| e.attribute("role") == Some("img")) {
        let titled = |e: &Element| e.name == "title" && e.parent == Some(index) && !e.text.is_empty();
        assert!(page.iter().any(titled) || svg.has_class("bar"), "{svg:?}");
    }
    assert!(page.iter().filter(|e| e.name == "table").count() >= 4);
    assert_eq!(
        page.iter().filter(|e| e.name == "caption").count(),
        page.iter().filter(|e| e.name == "table").count()
    );
}

#[test]
fn a_page_refers_to_nothing_outside() {
    let page = invented::report(12).to_html();
    for outside in ["http:", "https:", "//cdn", "src=", "href=", "@import", "@font-face", "fetch(", "eval("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let urls = page.matches("url(").count();
    assert_eq!(urls, page.matches("url(#head-").count());
}

#[test]
fn hostile_names_stay_names() {
    let hostile = "</script><img src=x onerror=alert(1)>'\"]]>&lt;\u{202e}";
    let mut graph = GraphData::new();
    let bytes = Item::of::<u64>();
    let from = graph.add(Node::sequential(hostile).output(OutPort::new(hostile, bytes)));
    let to = graph.add(Node::sequential(hostile).input(InPort::new(hostile, bytes)));
    graph.connect((from, 0), (to, 0), Link::default()).unwrap();
    let mut report = Report::new(graph, hostile, 1);
    let wishes = Wishes::default().policy(hostile);
    *report.plan_mut() = Some(Arc::new(Plan::new(report.graph(), &wishes)));
    *report.wall_mut() = Duration::from_millis(1);
    *report.nodes_mut()[0].busy_mut() = Duration::from_millis(1);
    let mut track = Track::default();
    *track.name_mut() = hostile.to_owned();
    let what = What::Activation { node: from, firings: 1, ns: 9, ended: Ended::Done };
    track.events_mut().push(Event::new(0, what));
    let mut timeline = Timeline::default();
    timeline.tracks_mut().push(track);
    *report.timeline_mut() = Some(Box::new(timeline));

    let page = report.to_html();
    let elements = parse(&page);
    assert!(elements.iter().all(|element| element.name != "img"));
    assert_eq!(elements.iter().filter(|element| element.name == "script").count(), 2);
    assert!(elements.iter().all(|e| e.attributes.iter().all(|(key, _)| !key.starts_with("on"))));
    assert!(!page.contains('\u{202e}') && !page.contains("<img"));
    assert!(text(&elements).contains("</script><img src=x onerror=alert(1)>"), "the name is shown");
}

#[test]
fn boxes_are_apart_and_inside_the_picture() {
    for nodes in [1, 2, 3, 12, 30, 40, 41, 200, 400, 401, 2_000, 10_000] {
        let page = parse(&invented::report(nodes).to_html());
        let (svg, boxes) = (graph(&page), boxes(&page));
        let (width, height) = (svg.number("width"), svg.number("height"));
        assert!((1..=60).contains(&boxes.len()), "{} boxes for {nodes} nodes", boxes.len());
        assert!(width < 2500.0, "{width} wide for {nodes} nodes");
        for (i, [left, top, right, bottom]) in boxes.iter().enumerate() {
            assert!(*left >= 0.0 && *top >= 0.0 && *right <= width && *bottom <= height, "{nodes} nodes");
            let apart = |b: &[f64; 4]| *left >= b[2] || b[0] >= *right || *top >= b[3] || b[1] >= *bottom;
            assert!(boxes[i + 1..].iter().all(apart), "boxes of {nodes} nodes overlap");
        }
        assert_texts_fit(&page, &boxes);
    }
}

/// The lines of a box end inside it, at the width of the widest usual font.
fn assert_texts_fit(page: &[Element], boxes: &[[f64; 4]]) {
    let texts = page.iter().filter(|e| e.name == "text" && page[e.parent.unwrap()].has_class("box"));
    for text in texts {
        let wide = text.text.chars().count() as f64 * if text.has_class("name") { 7.3 } else { 5.9 };
        let (x, y) = (text.number("x"), text.number("y"));
        let inside = |b: &[f64; 4]| x >= b[0] && x + wide <= b[2] && y > b[1] && y < b[3];
        assert!(boxes.iter().any(inside), "{:?} leaves its box", text.text);
    }
}

/// Straight parts of edges run through layers: none may run through a box.
#[test]
fn edges_run_beside_boxes() {
    for nodes in [12, 2_000] {
        let page = parse(&invented::report(nodes).to_html());
        let boxes = boxes(&page);
        let edges = page.iter().filter(|e| e.name == "path" && page[e.parent.unwrap()].has_class("edge"));
        let mut lines = 0;
        for edge in edges {
            let way = edge.attribute("d").unwrap();
            let numbers =
                |text: &str| -> Vec<f64> { text.split(' ').filter_map(|n| n.parse().ok()).collect() };
            let mut at = vec![0.0, 0.0];
            for part in way.split_inclusive(['M', 'L', 'C']).collect::<Vec<_>>().windows(2) {
                let to = numbers(part[1].trim_end_matches(['M', 'L', 'C']));
                if part[0].ends_with('L') {
                    lines += 1;
                    let middle = ((at[0] + to[0]) / 2.0, (at[1] + to[1]) / 2.0);
                    let through = |b: &[f64; 4]| {
                        middle.0 > b[0] && middle.0 < b[2] && middle.1 > b[1] && middle.1 < b[3]
                    };
                    assert!(!boxes.iter().any(through), "an edge of {nodes} nodes runs through a box");
                }
                at = to[to.len() - 2..].to_vec();
            }
        }
        assert!(lines > 0);
    }
}

/// A hundred times what it takes on a machine without other load, which the example `page_time` prints.
#[test]
fn the_page_of_a_large_graph_is_made_at_once() {
    let report = invented::report(10_000);
    let start = Instant::now();
    let page = report.to_html();
    let took = start.elapsed();
    assert!(!page.is_empty() && took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn pages_of_large_graphs_are_small() {
    for nodes in [10_000, 100_000] {
        let report = invented::report(nodes);
        let page = report.to_html();
        assert!(page.len() < 5_000_000, "{} bytes for {nodes} nodes", page.len());
        let elements = parse(&page);
        let text = text(&elements);
        let nodes = report.graph().nodes().len();
        assert!(text.contains(&format!("{} more nodes are not shown", nodes - 50)));
        assert!(text.contains(&format!("{nodes} nodes in ")));
    }
}

#[test]
fn a_page_of_many_long_events_is_small() {
    let mut report = invented::report(3);
    let mut timeline = Timeline::default();
    for thread in 0..72 {
        let mut track = Track::default();
        *track.name_mut() = format!("thread {thread}");
        let event = |i: u64| {
            let what =
                What::Activation { node: NodeId(0), firings: 1, ns: 900 + i % 99, ended: Ended::Budget };
            Event::new(i * 1000, what)
        };
        *track.events_mut() = (0..6_000).map(event).collect();
        timeline.tracks_mut().push(track);
    }
    *report.timeline_mut() = Some(Box::new(timeline));
    let page = report.to_html();
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    let text = text(&parse(&page));
    assert!(
        text.contains("shortest events are not in this picture")
            && text.contains("8 more threads are not shown")
    );
}

/// Threads that do something else in each column of the picture, and stall in between.
fn stalling(threads: u32) -> Report {
    let mut report = invented::report(12);
    let mut timeline = Timeline::default();
    let column = report.wall().as_nanos() as u64 / 540;
    for thread in 0..threads {
        let mut track = Track::new(format!("worker {thread}"));
        let event = |i: u64| {
            let (node, at) = (NodeId((i as u32 + thread) % 12), i * column);
            let what = What::Activation { node, firings: 1, ns: column, ended: Ended::Budget };
            let stall = Event::new(at + column / 10, What::Stall { node, ns: column * 8 / 10 });
            i.is_multiple_of(2).then_some(stall).into_iter().chain([Event::new(at, what)])
        };
        *track.events_mut() = (0..540).flat_map(event).collect();
        timeline.tracks_mut().push(track);
    }
    *report.timeline_mut() = Some(Box::new(timeline));
    report
}

#[test]
fn the_page_shows_stalls() {
    let page = parse(&stalling(40).to_html());
    let rows = |class: &str| {
        let is_row = |e: &&Element| e.name == "path" && page[e.parent.unwrap()].name == "g";
        page.iter().filter(is_row).filter(|e| e.has_class(class)).count()
    };
    assert_eq!([rows("stall"), rows("park")], [40, 0]);
    let text = text(&page);
    assert!(text.contains("stall: a firing waits for its ticket"), "{text}");
    let page = invented::report(12).to_html();
    assert!(!page.contains("a firing waits"), "without stalls there is no key");
}

/// Each column of the picture has another colour than its neighbours: the most bytes that a row can have.
#[test]
fn a_timeline_of_forty_threads_is_a_small_picture() {
    let svg = stalling(40).timeline_svg().unwrap();
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
    let elements = parse(&format!("<!doctype html>{svg}"));
    assert!(elements[0].name == "svg" && elements[0].attribute("xmlns").is_some());
    let has = |name: &str, text: &str| elements.iter().any(|e| e.name == name && e.text == text);
    assert!((0..40).all(|thread| has("text", &format!("worker {thread}"))));
    assert!(has("text", "stall: a firing waits for its ticket") && has("text", "encode"));
    let stalls: Vec<_> = elements.iter().filter(|e| e.has_class("stall")).collect();
    // Four fifths of every other column of each row, and the key.
    let lines = |e: &Element| e.attribute("d").unwrap().matches('h').count();
    assert_eq!((stalls.len(), lines(stalls[0]).abs_diff(216) <= 2, lines(stalls[40])), (41, true, 1));
    assert_eq!(Report::default().timeline_svg(), None);
}

/// Workers of one name between the same neighbours share a box, with the lowest and highest load in it.
#[test]
fn nodes_of_one_name_share_a_box() {
    let report = invented::report(200);
    let page = parse(&report.to_html());
    let names: Vec<&str> =
        page.iter().filter(|e| e.name == "text" && e.has_class("name")).map(|e| e.text.as_str()).collect();
    assert!(names.contains(&"parse ×32") && names.contains(&"clock"), "{names:?}");
    assert!(text(&page).contains("1.5 – 93 %"));
}

#[test]
fn reports_without_measurements_have_pages() {
    for report in [Report::default(), Report::new(GraphData::new(), "auto", 1), invented::report(0)] {
        parse(&report.to_html());
    }
    let mut short = invented::report(12);
    (*short.nodes_mut(), *short.channels_mut()) = (Vec::new(), Vec::new());
    let text = text(&parse(&short.to_html()));
    assert!(text.contains("No time was measured"));
}

#[test]
fn a_file_is_written_completely_or_not_at_all() {
    let folder = std::env::temp_dir().join(format!("thalweg-page-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (report, path) = (invented::report(3), folder.join("page.html"));
    fs::write(&path, "before").unwrap();
    report.write_html(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), report.to_html());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
        report.write_html(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o604);
    }
    assert!(report.write_html(folder.join("missing").join("page.html")).is_err());
    assert!(report.write_html(folder.join("..")).is_err());
    // A folder in the place of the file: it is refused, and nothing is left behind.
    fs::create_dir(folder.join("taken")).unwrap();
    fs::write(folder.join("taken").join("file"), "").unwrap();
    assert!(report.write_html(folder.join("taken")).is_err());
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["page.html", "taken"]);
    fs::remove_dir_all(&folder).unwrap();
}

proptest! {
    #[test]
    fn any_report_has_a_page(report in any_report()) {
        let page = parse(&report.to_html());
        prop_assert_eq!(page.iter().filter(|element| element.name == "script").count(), 0);
    }
}
