//! SVG output.

use super::blocks::{Blocks, Role};
use super::labels::{enqueued, shape};
use super::layout::{Area, LINE_HEIGHT, Layout, layout, lines};
use crate::flat::{ChannelId, Flat, NodeId};
use crate::tree::Tree;

const STYLE: &str = "  <style>
    text { font: 13px monospace; text-anchor: middle; fill: #222 }
    .name { text-anchor: start; fill: #667 }
    .composite { fill: #6688aa; fill-opacity: 0.06; stroke: #99aabb }
    .filter { fill: #ffffff; stroke: #335577 }
    .end { fill: #eef2f6; stroke: #335577 }
    .channel { fill: none; stroke: #222; marker-end: url(#arrow) }
    .dynamic { stroke-dasharray: 5 4 }
    .back { stroke: #aa4422 }
    .enqueued { fill: #aa4422; stroke: #ffffff; stroke-width: 4px; paint-order: stroke }
  </style>
  <marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">
    <path d=\"M0 0 L8 4 L0 8 z\"/>
  </marker>
";

/// The graph as SVG.
pub(super) fn svg(tree: &Tree, flat: &Flat, blocks: &Blocks) -> String {
    let layout = layout(tree, flat, blocks);
    let whole = layout.areas[0];
    let (width, height) = (whole.width + 20, whole.height + 20);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"-10 -10 {width} {height}\">\n{STYLE}"
    );
    for (place, area) in layout.areas.iter().enumerate() {
        svg += &match blocks.all[place].node {
            Some(_) => {
                node(*area, &lines(tree, flat, blocks, place), blocks.all[place].role, layout.upwards[place])
            }
            None => composite(*area, blocks, place),
        };
    }
    for id in flat.graph.channel_ids() {
        svg += &channel(flat, blocks, &layout, id);
    }
    svg + "</svg>\n"
}

fn composite(area: Area, blocks: &Blocks, place: usize) -> String {
    let name = blocks.all[place].stream.map_or("", |stream| &stream.name);
    let Area { x, y, width, height } = area;
    format!(
        "  <rect class=\"composite\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>\n  \
         <text class=\"name\" x=\"{}\" y=\"{}\">{}</text>\n",
        x + 8,
        y + LINE_HEIGHT,
        escaped(name)
    )
}

fn node(area: Area, lines: &[String], role: Role, upwards: bool) -> String {
    let Area { x, y, width, height } = area;
    let mut svg = match role {
        Role::Split | Role::Join => trapezium(area, (role == Role::Split) != upwards),
        _ => {
            format!("  <rect class=\"filter\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\n")
        }
    };
    for (number, line) in lines.iter().enumerate() {
        let (x, y) = (x + width / 2, y + LINE_HEIGHT * (number as i64 + 1));
        svg += &format!("  <text x=\"{x}\" y=\"{y}\">{}</text>\n", escaped(line));
    }
    svg
}

/// A splitter or joiner; its wide side has the several channels.
fn trapezium(area: Area, wide_below: bool) -> String {
    let Area { x, y, width, height } = area;
    let (above, below) = if wide_below { (8, 0) } else { (0, 8) };
    let corners =
        [(x + above, y), (x + width - above, y), (x + width - below, y + height), (x + below, y + height)];
    let points: Vec<String> = corners.iter().map(|(x, y)| format!("{x},{y}")).collect();
    format!("  <polygon class=\"end\" points=\"{}\"/>\n", points.join(" "))
}

fn channel(flat: &Flat, blocks: &Blocks, layout: &Layout, id: ChannelId) -> String {
    let channel = flat.channel(id);
    let block = |node: NodeId| blocks.of_node[node.0 as usize];
    let (Some(from), Some(to)) = (block(channel.from().0), block(channel.to().0)) else {
        return String::new();
    };
    let outputs = flat.node(channel.from().0).outputs().len();
    let inputs = flat.node(channel.to().0).inputs().len();
    // A block drawn from bottom to top has its outputs at the top and its inputs at the bottom.
    let start = port(layout.areas[from], !layout.upwards[from], channel.from().1, outputs);
    let end = port(layout.areas[to], layout.upwards[to], channel.to().1, inputs);
    let out = if layout.upwards[from] { -1 } else { 1 };
    let into = if layout.upwards[to] { 1 } else { -1 };
    let against = out == -into && (end.1 - start.1) * out < 0;
    let side = against.then(|| {
        let around = layout.areas[blocks.all[to].parent];
        around.x + around.width
    });
    let mut classes = String::from("channel");
    if flat.is_dynamic(id) {
        classes += " dynamic";
    }
    if channel.link().feedback() {
        classes += " back";
    }
    let (curve, middle) = curve(start, out, end, into, side);
    let mut svg = format!(
        "  <path class=\"{classes}\" d=\"{curve}\"><title>{}</title></path>\n",
        escaped(&shape(flat.shape(id)))
    );
    if let Some(labels) = enqueued(flat, id) {
        svg += &format!(
            "  <text class=\"enqueued\" x=\"{}\" y=\"{}\">{labels}</text>\n",
            middle.0,
            middle.1 - 4
        );
    }
    svg
}

/// The position of a port on the lower or upper side.
fn port(area: Area, below: bool, port: usize, ports: usize) -> (i64, i64) {
    let x = area.x + area.width * (port as i64 + 1) / (ports as i64 + 1);
    (x, if below { area.y + area.height } else { area.y })
}

/// A curve with vertical ends, and its middle. If the direct curve would cross the blocks that it joins, it passes
/// by `side`.
fn curve(start: (i64, i64), out: i64, end: (i64, i64), into: i64, side: Option<i64>) -> (String, (i64, i64)) {
    let bend = ((end.1 - start.1).abs() / 2).clamp(22, 48);
    let bow = |x: i64| side.map_or(x, |side| side + (side - x) / 3);
    let first = (bow(start.0), start.1 + out * bend);
    let second = (bow(end.0), end.1 + into * bend);
    let at = |a: i64, b: i64, c: i64, d: i64| (a + 3 * b + 3 * c + d) / 8;
    let middle = (at(start.0, first.0, second.0, end.0), at(start.1, first.1, second.1, end.1));
    let point = |(x, y): (i64, i64)| format!("{x} {y}");
    let curve = format!("M{} C{}, {}, {}", point(start), point(first), point(second), point(end));
    (curve, middle)
}

/// Text with XML characters escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            c if c.is_control() => escaped.push(char::REPLACEMENT_CHARACTER),
            c => escaped.push(c),
        }
    }
    escaped
}
