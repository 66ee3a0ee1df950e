//! Places of boxes and edges, in layers from top to bottom, or from left to right where there are few layers.
//!
//! An edge over several layers gets a lane of its own in each layer between, so it runs beside the boxes.

use super::layers::{back_edges, bounded};
use super::order::Layers;
use super::picture::Picture;

/// The size of a box.
pub(crate) const WIDTH: f64 = 172.0;
pub(crate) const HEIGHT: f64 = 64.0;

/// Boxes in a layer: fewer in a large drawing, where edges need room beside them.
const ACROSS: (usize, usize) = (6, 5);

/// A drawing with more boxes is large.
const LARGE: usize = 40;

/// A graph with at most this many layers is drawn from left to right.
const FLAT: usize = 5;

/// Space between layers, between boxes of a layer, for an edge that passes a layer, and around the picture.
const GAP: (f64, f64) = (60.0, 92.0);
const APART: f64 = 26.0;
const LANE: f64 = 16.0;
const MARGIN: f64 = 14.0;

/// The length of an arrow's head, which follows the end of an edge.
pub(crate) const HEAD: f64 = 9.0;

/// A point.
pub(crate) type Point = (f64, f64);

/// Places in a picture.
pub(crate) struct Layout {
    pub(crate) size: Point,
    /// Whether layers follow each other from left to right.
    pub(crate) flat: bool,
    /// The upper left corner of each box.
    pub(crate) corners: Vec<Point>,
    /// The way of each edge: pairs of points, from layer to layer, in the direction of the data.
    pub(crate) ways: Vec<Vec<Point>>,
    /// The edges that lead against the direction of the layers.
    pub(crate) back: Vec<bool>,
}

/// What each edge passes: its ends and the lanes between, in the order of the layers.
struct Routes {
    layers: Layers,
    /// The places on the way of each edge.
    stops: Vec<Vec<usize>>,
}

/// Gives places to the boxes and edges of a picture.
pub(crate) fn layout(picture: &Picture) -> Layout {
    let count = picture.shapes.len();
    let ends: Vec<(usize, usize)> = picture.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let mut back = back_edges(count, &ends, |edge| picture.edges[edge].feedback);
    let forward: Vec<_> = ends.iter().zip(&back).filter(|(_, back)| !**back).map(|(ends, _)| *ends).collect();
    let across = if count > LARGE { ACROSS.1 } else { ACROSS.0 };
    let layer = bounded(count, &forward, across);
    // A feedback channel need not lead back.
    ends.iter().zip(&mut back).for_each(|((from, to), back)| *back = layer[*from] >= layer[*to]);
    let routes = routes(&ends, &back, &layer);
    place(&routes, &layer, &back, count)
}

fn routes(ends: &[(usize, usize)], back: &[bool], layer: &[usize]) -> Routes {
    let depth = layer.iter().max().map_or(0, |last| last + 1);
    let mut layers = Layers {
        layers: vec![Vec::new(); depth],
        before: vec![Vec::new(); layer.len()],
        behind: vec![Vec::new(); layer.len()],
    };
    layer.iter().enumerate().for_each(|(place, layer)| layers.layers[*layer].push(place));
    let mut stops = Vec::new();
    for ((from, to), back) in ends.iter().zip(back) {
        let (upper, lower) = if *back { (*to, *from) } else { (*from, *to) };
        let mut way = vec![upper];
        for between in layer[upper] + 1..layer[lower] {
            way.push(layers.before.len());
            layers.layers[between].push(layers.before.len());
            layers.before.push(Vec::new());
            layers.behind.push(Vec::new());
        }
        way.push(lower);
        if layer[upper] != layer[lower] {
            for pair in way.windows(2) {
                layers.behind[pair[0]].push(pair[1]);
                layers.before[pair[1]].push(pair[0]);
            }
        }
        stops.push(way);
    }
    layers.order();
    Routes { layers, stops }
}

fn place(routes: &Routes, layer: &[usize], back: &[bool], count: usize) -> Layout {
    let depth = routes.layers.layers.len();
    let flat = depth <= FLAT;
    let (along, across, gap) = if flat { (WIDTH, HEIGHT, GAP.1) } else { (HEIGHT, WIDTH, GAP.0) };
    let mut centres = routes.layers.centres(|place| if place < count { across + APART } else { LANE });
    let half = |place: usize| if place < count { across / 2.0 } else { LANE / 2.0 };
    let least = centres.iter().enumerate().map(|(place, at)| at - half(place)).fold(f64::INFINITY, f64::min);
    let shift = MARGIN - if least.is_finite() { least } else { 0.0 };
    centres.iter_mut().for_each(|at| *at += shift);
    let most = centres.iter().enumerate().map(|(place, at)| at + half(place)).fold(MARGIN, f64::max);
    let start = |layer: usize| MARGIN + layer as f64 * (along + gap);
    let turn = |(along, across): Point| if flat { (along, across) } else { (across, along) };
    let corners =
        (0..count).map(|place| turn((start(layer[place]), centres[place] - across / 2.0))).collect();
    let ports = ports(routes, &centres, across, count);
    let way = |(edge, stops): (usize, &Vec<usize>)| {
        let (first, last) = (layer[stops[0]], layer[stops[stops.len() - 1]]);
        let mut points = Vec::new();
        for (step, place) in stops.iter().enumerate() {
            let begin = start(first + step);
            match step {
                0 => points.push((begin + along, ports[edge].0)),
                _ if step + 1 == stops.len() => points.push((start(last), ports[edge].1)),
                _ => points.extend([(begin, centres[*place]), (begin + along, centres[*place])]),
            }
        }
        if first == last {
            points = beside(start(first) + along, ports[edge]);
        }
        if back[edge] {
            points.reverse();
        }
        shorten(&mut points);
        points.into_iter().map(turn).collect()
    };
    let ways = routes.stops.iter().enumerate().map(way).collect();
    let length = start(depth) - gap + MARGIN;
    let size = turn((if depth == 0 { 2.0 * MARGIN } else { length }, most + MARGIN));
    Layout { size, flat, corners, ways, back: back.to_vec() }
}

/// The way of an edge between two boxes of one layer, behind both.
fn beside(end: f64, ports: (f64, f64)) -> Vec<Point> {
    vec![
        (end, ports.0),
        (end + 24.0, (ports.0 + ports.1) / 2.0),
        (end + 24.0, (ports.0 + ports.1) / 2.0),
        (end, ports.1),
    ]
}

/// Leaves room for the head at the end of a way.
fn shorten(points: &mut [Point]) {
    let [.., before, end] = points else { return };
    end.0 += if before.0 < end.0 { -HEAD } else { HEAD };
}

/// Where each edge leaves its upper box and enters its lower one, across: edges at one side of a box are apart, in the
/// order of the places that they lead to.
fn ports(routes: &Routes, centres: &[f64], across: f64, count: usize) -> Vec<(f64, f64)> {
    let mut sides: Vec<[Vec<(f64, usize)>; 2]> = vec![[Vec::new(), Vec::new()]; count];
    for (edge, stops) in routes.stops.iter().enumerate() {
        let (first, last) = (stops[0], stops[stops.len() - 1]);
        sides[first][1].push((centres[stops[1]], edge));
        sides[last][0].push((centres[stops[stops.len() - 2]], edge));
    }
    let mut ports = vec![(0.0, 0.0); routes.stops.len()];
    for (place, sides) in sides.iter_mut().enumerate() {
        for (side, edges) in sides.iter_mut().enumerate() {
            edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let step = (0.7 * across / edges.len() as f64).min(24.0);
            for (i, (_, edge)) in edges.iter().enumerate() {
                let at = centres[place] + (i as f64 - (edges.len() - 1) as f64 / 2.0) * step;
                if side == 1 { ports[*edge].0 = at } else { ports[*edge].1 = at }
            }
        }
    }
    ports
}
