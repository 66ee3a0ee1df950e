//! Faults planted in real runs: the findings and the page name them.
//!
//! Nodes work by sleeping, so their shares of the run do not depend on other load of the machine.

use crate::support;

use std::time::Duration;
use support::watchdog::watch;
use thalweg::embed::graph::NodeId;
use thalweg::trace::{Cause, Finding, FindingKind, ReportExt};
use thalweg::{Graph, Options, Report, input, output};

fn work() {
    std::thread::sleep(Duration::from_micros(100));
}

/// The nodes with these names.
fn nodes(report: &Report, names: &[&str]) -> Vec<NodeId> {
    let id = |name: &&str| report.graph().node_ids().find(|id| report.graph().node(*id).name() == *name);
    let mut ids: Vec<NodeId> = names.iter().map(|name| id(name).expect("a node of this name")).collect();
    ids.sort_unstable();
    ids
}

/// The finding of this kind, whose words the page and the printed report have too.
fn find(report: &Report, kind: FindingKind) -> Finding {
    let found = report.findings().into_iter().find(|finding| finding.kind() == kind);
    let found = found.unwrap_or_else(|| panic!("no {kind:?} in\n{report}"));
    assert!(report.advice().contains(found.what()), "{report}");
    // Markup stands for the backticks and the `>` of names.
    let words =
        |text: &str| text.replace(['`', '>'], " ").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let page = report.to_html().replace("<code>", " ").replace("</code>", " ").replace("&gt;", " ");
    let (page, what) = (words(&page).join(" "), words(found.what()).join(" "));
    // The first letter is a capital there, and a comma may follow a name.
    let (page, what) = (page.replace(" ,", ","), what.replace(" ,", ","));
    assert!(page.contains(&what[1..]), "{what}");
    found
}

/// `read -> parse -> index -> write`, of which `index` is slow.
#[test]
fn a_planted_bottleneck_is_named() {
    let report = watch("bottleneck", || {
        let chain = thalweg::from_iter(0..400_u64)
            .named("read")
            .capacity(8)
            .map(|n| n + 1)
            .named("parse")
            .capacity(8);
        let chain = chain.map(|n| {
            work();
            n
        });
        let chain = chain.named("index").capacity(8).for_each(|_| {}).named("write");
        chain.run_with(&Options::new().threads(2)).unwrap().into_report()
    });
    let finding = find(&report, FindingKind::SerialBound);
    let index = nodes(&report, &["index"])[0];
    assert_eq!(finding.nodes(), [index]);
    assert!(report.to_html().contains("box bound"), "the drawing marks the node");
    // The producer waits for room before the slow node, and the consumer for its items. Other load of the machine adds
    // waits for a worker.
    let longest = |name: &str| {
        let waits = report.waits(nodes(&report, &[name])[0]);
        waits.into_iter().map(|(cause, _)| cause).find(|cause| *cause != Cause::Worker)
    };
    let node = report.graph().node(index);
    assert_eq!(longest("parse"), Some(Cause::Room(node.inputs()[0].channel().unwrap())));
    assert_eq!(longest("write"), Some(Cause::Items(node.outputs()[0].channel().unwrap())));
    let planted = [FindingKind::GrownCycle, FindingKind::StarvedLoop, FindingKind::LittleRoom];
    assert!(
        report.findings().iter().all(|finding| !planted.contains(&finding.kind())),
        "{}",
        report.advice()
    );
}

/// `hoard` keeps a hundred items while `meet` needs one from each of `fan`'s outputs: four items of room are too few.
#[test]
fn a_near_miss_of_a_deadlock_is_named() {
    let report = watch("near miss", || {
        let graph = Graph::new();
        let (a, b) = graph.source(0..1000_u64).kernel("fan", (output("a"), output("b"))).sequential(
            |items, (a, b)| {
                let item = items.pop();
                a.push(item);
                b.push(item);
            },
        );
        let mut kept = Vec::new();
        let late = graph.kernel("hoard", input("in", a), output("out")).sequential(move |items, out| {
            kept.push(items.pop());
            if kept.len() == 100 {
                out.extend(kept.drain(..));
            }
        });
        let ins = (input("late", late), input("soon", b));
        let sums =
            graph.kernel("meet", ins, output("out")).sequential(|(a, b), out| out.push(a.pop() + b.pop()));
        sums.for_each(|_| {});
        graph.run_with(&Options::new().threads(2).capacity(4)).unwrap().report().clone()
    });
    let finding = find(&report, FindingKind::GrownCycle);
    assert_eq!(finding.nodes(), nodes(&report, &["fan", "hoard", "meet"]));
    let names: Vec<String> = finding.channels().iter().map(|id| report.graph().channel_name(*id)).collect();
    assert!(names.contains(&"fan.b -> meet.soon".to_owned()), "{names:?}");
    assert!(finding.help().contains("capacity("), "{finding}");
}

/// A loop of two nodes with one item: they take turns.
#[test]
fn a_starving_loop_is_named() {
    let report = watch("starving", || {
        let graph = Graph::new();
        let (end, back) = graph.feedback([0_u64]);
        let ins = (input("new", graph.source(0..300_u64).named("numbers")), input("back", back));
        let met = graph.kernel("meet", ins, output("out")).sequential(|(new, back), out| {
            work();
            out.push(new.pop() + back.pop());
        });
        let outs = (output("out"), output("back"));
        let (out, round) = graph.kernel("part", input("in", met), outs).sequential(|items, (out, back)| {
            work();
            let item = items.pop();
            out.push(item);
            back.push(item);
        });
        round.feed(end);
        out.for_each(|_| {}).named("write");
        graph.run_with(&Options::new().threads(2)).unwrap().report().clone()
    });
    let finding = find(&report, FindingKind::StarvedLoop);
    assert_eq!(finding.nodes(), nodes(&report, &["meet", "part"]));
    assert!(finding.help().contains("`part.back -> meet.back` more initial items"), "{finding}");
}
