//! The picture as SVG.

use super::layout::{HEAD, HEIGHT, Layout, Point, WIDTH, layout};
use super::picture::{Edge, Picture, Shape, kind};
use crate::advice::Evidence;
use crate::page::escape::{Text, shortened};
use crate::page::put;
use thalweg_graph::{Kind, NodeId};
use thalweg_trace::{Report, units};

/// Characters that fit into a box, of its name and of its other lines.
const NAME: usize = 20;
const LINE: usize = 27;

/// A wait that is shorter than this share of the wall time, or than half of the other end's, colours no edge.
const WAITED: f64 = 0.05;

/// The size of a channel's gauge.
const GAUGE: Point = (34.0, 7.0);

/// Draws a picture. `colours` has the colour of each box on the timeline, if it has one; `bounds` are the nodes that
/// bound the run.
pub(crate) fn draw(
    report: &Report,
    picture: &Picture,
    colours: &[Option<usize>],
    bounds: &[NodeId],
) -> String {
    let layout = layout(picture);
    let (width, height) = layout.size;
    let mut svg = format!(
        "<svg class=\"graph\" role=\"img\" aria-labelledby=\"graph-title graph-text\" width=\"{width:.0}\" \
         height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n<title id=\"graph-title\">The graph</title>\n\
         <desc id=\"graph-text\">{} boxes with the loads of their nodes, and {} edges with the fill levels of their \
         channels. The tables below have the same numbers.</desc>\n",
        picture.shapes.len(),
        picture.edges.len()
    );
    heads(&mut svg);
    let most = picture.edges.iter().map(|edge| edge.items).max().unwrap_or(0);
    for index in 0..picture.edges.len() {
        draw_edge(&mut svg, report, picture, &layout, index, most);
    }
    for (index, (shape, corner)) in picture.shapes.iter().zip(&layout.corners).enumerate() {
        let bound = bounds.iter().any(|node| picture.of[node.index()] as usize == index);
        draw_box(&mut svg, report, shape, *corner, colours[index], bound);
    }
    draw_gauges(&mut svg, picture, &layout);
    svg + "</svg>\n"
}

/// The heads of arrows: a marker cannot take the colour of its line.
fn heads(svg: &mut String) {
    svg.push_str("<defs>");
    for class in ["flow", "room", "items"] {
        put!(
            svg,
            "<marker id=\"head-{class}\" class=\"{class}\" viewBox=\"0 0 10 10\" refX=\"0\" refY=\"5\" \
             markerUnits=\"userSpaceOnUse\" markerWidth=\"{HEAD}\" markerHeight=\"{HEAD}\" orient=\"auto\">\
             <path d=\"M0 0L10 5L0 10z\"/></marker>"
        );
    }
    svg.push_str("</defs>\n");
}

/// Which end of an edge waited for the other, as the class of its colour.
fn waits(report: &Report, edge: &Edge) -> &'static str {
    let channels = edge.channels as f64;
    let (items, room) = (
        Evidence(report).share(edge.consumer_waited) / channels,
        Evidence(report).share(edge.producer_waited) / channels,
    );
    match (items, room) {
        (items, room) if room >= WAITED && room > 2.0 * items => "room",
        (items, room) if items >= WAITED && items > 2.0 * room => "items",
        _ => "flow",
    }
}

/// Draws an edge. The one with the most items has `most` of them.
fn draw_edge(svg: &mut String, report: &Report, picture: &Picture, layout: &Layout, index: usize, most: u64) {
    let (edge, way) = (&picture.edges[index], &layout.ways[index]);
    let class = waits(report, edge);
    let back = if layout.back[index] { " back" } else { "" };
    let part = if most == 0 { 0.0 } else { (1.0 + edge.items as f64).ln() / (1.0 + most as f64).ln() };
    let width = 1.2 + 3.3 * part.powi(3);
    put!(
        svg,
        "<g class=\"edge {class}{back}\"><title>{}</title>",
        Text(&describe_edge(report, picture, edge))
    );
    put!(
        svg,
        "<path stroke-width=\"{width:.1}\" marker-end=\"url(#head-{class})\" d=\"{}\"/></g>\n",
        path(way, layout)
    );
}

fn describe_edge(report: &Report, picture: &Picture, edge: &Edge) -> String {
    let name = match edge.channels {
        1 => report.graph().channel_name(edge.first),
        n => format!(
            "{n} channels from {} to {}",
            picture.shapes[edge.from].name, picture.shapes[edge.to].name
        ),
    };
    let feedback = if edge.feedback { ", feedback" } else { "" };
    let held = |(items, room): (f64, f64)| format!(", {items:.1} of {room} on average");
    let held = edge.held.map_or(String::new(), held);
    format!(
        "{}: {} items{held}{feedback}; consumer waited {} for items, producer {} for room",
        shortened(&name, 80),
        edge.items,
        units::time(edge.consumer_waited),
        units::time(edge.producer_waited)
    )
}

/// A curve between layers, and a straight line through a layer.
fn path(way: &[Point], layout: &Layout) -> String {
    let Some(first) = way.first() else { return String::new() };
    let mut path = format!("M{:.1} {:.1}", first.0, first.1);
    for (step, pair) in way.windows(2).enumerate() {
        let [(x, y), (to_x, to_y)] = [pair[0], pair[1]];
        if step % 2 == 1 {
            put!(path, "L{to_x:.1} {to_y:.1}");
            continue;
        }
        // The curve leaves and enters along the direction of the layers.
        let (a, b) = if layout.flat {
            let middle = (x + to_x) / 2.0;
            ((middle, y), (middle, to_y))
        } else {
            let middle = (y + to_y) / 2.0;
            ((x, middle), (to_x, middle))
        };
        put!(path, "C{:.1} {:.1} {:.1} {:.1} {to_x:.1} {to_y:.1}", a.0, a.1, b.0, b.1);
    }
    path
}

fn draw_box(
    svg: &mut String,
    report: &Report,
    shape: &Shape,
    corner: Point,
    colour: Option<usize>,
    bound: bool,
) {
    let (x, y) = corner;
    let node = report.graph().node(shape.first);
    let corners = if node.kind() == Kind::Process { 14 } else { 4 };
    let dedicated = if Evidence(report).has_own_thread(shape.first) { " dedicated" } else { "" };
    let bound_class = if bound { " bound" } else { "" };
    let mean = Evidence(report).share(shape.busy) / shape.nodes as f64;
    put!(
        svg,
        "<g class=\"box{dedicated}{bound_class}\"><title>{}</title>",
        Text(&describe_box(report, shape))
    );
    let behind = if shape.nodes > 1 { 2 } else { usize::from(node.kind() == Kind::Parallel) };
    for step in (1..=behind).rev() {
        let (x, y) = (x + 4.0 * step as f64, y - 4.0 * step as f64);
        put!(
            svg,
            "<rect class=\"paper\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"{corners}\"/>"
        );
    }
    put!(
        svg,
        "<rect class=\"paper\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"{corners}\"/>"
    );
    put!(
        svg,
        "<rect class=\"tint\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"{corners}\" \
         fill-opacity=\"{:.2}\"/>",
        0.4 * mean.clamp(0.0, 1.0)
    );
    if let Some(colour) = colour {
        put!(
            svg,
            "<rect class=\"c{colour}\" x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\" rx=\"2\"/>",
            x + 9.0,
            y + 9.0
        );
    }
    let name_at = if colour.is_some() { 22.0 } else { 10.0 };
    put!(
        svg,
        "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        x + name_at,
        y + 17.0,
        Text(&title(shape, colour))
    );
    put!(svg, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", x + 10.0, y + 33.0, Text(&load(report, shape)));
    put!(
        svg,
        "<text class=\"quiet\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        x + 10.0,
        y + 48.0,
        Text(&kinds(report, shape))
    );
    let room = WIDTH - 20.0;
    put!(
        svg,
        "<rect class=\"track\" x=\"{:.1}\" y=\"{:.1}\" width=\"{room}\" height=\"4\" rx=\"2\"/>",
        x + 10.0,
        y + 54.0
    );
    let full = room * mean.clamp(0.0, 1.0);
    put!(
        svg,
        "<rect class=\"load\" x=\"{:.1}\" y=\"{:.1}\" width=\"{full:.1}\" height=\"4\" rx=\"2\"/>",
        x + 10.0,
        y + 54.0
    );
    if shape.nodes > 1 {
        let most = x + 10.0 + (room - 2.0) * shape.loads.1.clamp(0.0, 1.0);
        put!(svg, "<rect class=\"most\" x=\"{most:.1}\" y=\"{:.1}\" width=\"2\" height=\"8\"/>", y + 52.0);
    }
    svg.push_str("</g>\n");
}

fn title(shape: &Shape, colour: Option<usize>) -> String {
    let room = if colour.is_some() { NAME - 2 } else { NAME };
    if shape.nodes == 1 {
        return shortened(&shape.name, room);
    }
    let count = format!(" ×{}", shape.nodes);
    shortened(&shape.name, room - count.chars().count()) + &count
}

fn load(report: &Report, shape: &Shape) -> String {
    let mean = Evidence(report).share(shape.busy) / shape.nodes as f64;
    let percent = |share: f64| format!("{:.*}", usize::from(share < 0.0995), 100.0 * share);
    if shape.nodes == 1 {
        return format!("busy {} % of the run", percent(mean));
    }
    let (least, most) = shape.loads;
    format!("{} – {} %, mean {} %", percent(least), percent(most), percent(mean))
}

fn kinds(report: &Report, shape: &Shape) -> String {
    let inside = if shape.nodes == 1 && shape.inside > 0 { ", loop" } else { "" };
    shortened(&(kind(report, shape.first) + inside), LINE)
}

fn describe_box(report: &Report, shape: &Shape) -> String {
    let name = shortened(&shape.name, 80);
    let busy = units::time(shape.busy);
    if shape.nodes == 1 {
        return format!("{name}: {}, busy {busy}", kind(report, shape.first));
    }
    let inside = match shape.inside {
        0 => String::new(),
        n => format!(", {n} channels between them"),
    };
    format!("{name}: {} nodes, busy {busy} together{inside}", shape.nodes)
}

/// The fill levels of the channels, each on its edge where it covers no other.
fn draw_gauges(svg: &mut String, picture: &Picture, layout: &Layout) {
    let mut taken: Vec<Point> = Vec::new();
    for (edge, way) in picture.edges.iter().zip(&layout.ways) {
        let [from, to, ..] = way[..] else { continue };
        let free = |at: &Point| {
            taken
                .iter()
                .all(|other| (at.0 - other.0).abs() > GAUGE.0 + 6.0 || (at.1 - other.1).abs() > GAUGE.1 + 4.0)
        };
        let Some((items, room)) = edge.held else { continue };
        let place = [0.5, 0.3, 0.7].into_iter().map(|part| on_curve(from, to, part, layout.flat)).find(free);
        let Some((x, y)) = place else { continue };
        taken.push((x, y));
        let full = if room > 0.0 { (items / room).clamp(0.0, 1.0) } else { 0.0 };
        let (left, top) = (x - GAUGE.0 / 2.0, y - GAUGE.1 / 2.0);
        put!(
            svg,
            "<rect class=\"gauge\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{}\" height=\"{}\" rx=\"2\"/>\
             <rect class=\"fill\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{}\"/>\n",
            GAUGE.0,
            GAUGE.1,
            left + 1.0,
            top + 1.0,
            (GAUGE.0 - 2.0) * full,
            GAUGE.1 - 2.0
        );
    }
}

/// The point of an edge's first curve at this part of its way.
fn on_curve(from: Point, to: Point, part: f64, flat: bool) -> Point {
    let (t, s) = (part, 1.0 - part);
    let blend = |a: f64, b: f64, c: f64, d: f64| {
        s.powi(3) * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t.powi(3) * d
    };
    let straight = |a: f64, b: f64| blend(a, (a + b) / 2.0, (a + b) / 2.0, b);
    let bent = |a: f64, b: f64| blend(a, a, b, b);
    if flat {
        (straight(from.0, to.0), bent(from.1, to.1))
    } else {
        (bent(from.0, to.0), straight(from.1, to.1))
    }
}
