//! The section about the nodes: how busy each was, how long its firings took, and what it waited for.

use super::bars::{Part, bar, histogram, legend};
use super::escape::shortened;
use super::graph::kind;
use super::table::{Cell, ROWS, left_out, table};
use crate::advice::Evidence;
use std::cmp::Reverse;
use std::time::Duration;
use thalweg_graph::NodeId;
use thalweg_trace::{Cause, Distribution, Report, units};

/// The classes and names of what a node does.
const PARTS: [(&str, &str); 7] = [
    ("busy", "busy"),
    ("items", "waits for items"),
    ("room", "waits for room"),
    ("merged", "waits for an item on any input"),
    ("window", "waits for its own tickets in flight"),
    ("outside", "waits for an event outside the graph"),
    ("unserved", "waits for a worker"),
];

/// Writes the section.
pub(super) fn section(out: &mut String, report: &Report) {
    out.push_str("<section aria-labelledby=\"nodes\">\n<h2 id=\"nodes\">Nodes</h2>\n");
    legend(out, &PARTS);
    let mut order: Vec<NodeId> = report.graph().node_ids().collect();
    order.sort_by_key(|node| Reverse(report.nodes()[node.index()].busy()));
    let heads = [
        "node",
        "kind",
        "#firings",
        "#busy",
        "#of the run",
        "time of a firing",
        "#mean",
        "#std dev",
        "#99 % below",
        "the run",
        "waits most",
    ];
    table(out, "Nodes, the busiest first", &heads, order.iter().take(ROWS).map(|node| row(report, *node)));
    left_out(out, order.len(), ROWS, "nodes");
    out.push_str(
        "<p class=\"quiet\">The columns of a histogram are powers of two of the time, from short on the left to long on \
         the right. Histogram, deviation and quantile are those of a sample of the firings; the mean is that of all.</p>\n\
         </section>\n",
    );
}

fn row(report: &Report, node: NodeId) -> Vec<Cell> {
    let stats = &report.nodes()[node.index()];
    // A sample: the mean is that of all firings.
    let times = stats.service().map(|service| service.firing()).filter(|times| !times.is_empty());
    let dash = || "-".to_owned();
    let deviation = |times: &Distribution| units::time(Duration::from_nanos(times.variance().sqrt() as u64));
    let high = times.and_then(|times| times.quantile(0.99)).map(units::time);
    vec![
        Cell::Name(report.graph().node(node).name().to_string()),
        Cell::Words(kind(report, node)),
        Cell::Number(stats.firings().to_string()),
        Cell::Number(units::time(stats.busy())),
        Cell::Number(units::percent(Evidence(report).load(node))),
        Cell::Markup(times.map_or(String::new(), histogram)),
        Cell::Number(stats.per_firing().map_or_else(dash, units::time)),
        Cell::Number(times.map_or_else(dash, deviation)),
        Cell::Number(high.unwrap_or_else(dash)),
        Cell::Markup(bar(&parts(report, node))),
        Cell::Words(longest(report, node)),
    ]
}

/// The parts of the run that a node was busy, and that it waited. They are scaled where they exceed the run: those of a
/// parallel node overlap.
fn parts(report: &Report, node: NodeId) -> Vec<Part> {
    let mut shares = [Evidence(report).load(node), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for (cause, time) in report.waits(node) {
        let part = match cause {
            Cause::Items(_) => 1,
            Cause::Room(_) => 2,
            Cause::AnyInput => 3,
            Cause::Window => 4,
            Cause::Outside => 5,
            Cause::Worker => 6,
        };
        shares[part] += Evidence(report).share(time);
    }
    let scale = shares.iter().sum::<f64>().max(1.0);
    let parts = PARTS.into_iter().zip(shares);
    parts
        .map(|((class, label), share)| Part { class, label: label.to_owned(), share: share / scale })
        .collect()
}

/// The longest wait of a node.
fn longest(report: &Report, node: NodeId) -> String {
    let Some((cause, time)) = report.waits(node).into_iter().next() else { return String::new() };
    let cause = cause.describe_with(report.graph(), |name| shortened(name, 32));
    format!("{cause}, {}", units::time(time))
}
