//! A picture of the whole run, without a script: each thread is a row of columns of equal time.

use super::{OTHER, Shown, ShownTrack};
use crate::page::escape::{Text, shortened};
use crate::page::put;
use std::collections::BTreeMap;
use std::time::Duration;
use thalweg_trace::{Event, What, units};

/// Columns of a thread.
const COLUMNS: usize = 540;

/// Places in the picture: the width of a column and of the names, and the height of the axis.
const STEP: f64 = 2.0;
const LEFT: f64 = 150.0;
const AXIS: f64 = 22.0;

/// The width of a picture.
pub(super) const WIDTH: f64 = LEFT + COLUMNS as f64 * STEP + 12.0;

/// How rows look.
pub(super) struct Look {
    /// The height of a row, and of its bars.
    pub(super) row: f64,
    pub(super) bar: f64,
    /// The number of heights of a bar. There are few, so that equal neighbours are one shape.
    pub(super) heights: f64,
}

/// Rows of the page: the height of a bar is its share of the column's time.
const PAGE: Look = Look { row: 30.0, bar: 20.0, heights: 10.0 };

/// Growths that are marked on a thread.
const GROWTHS: usize = 50;

/// The time in a column: of the nodes of each colour, stalls among it, of stalls, spinning and parked.
#[derive(Clone, Copy, Default)]
struct Column {
    nodes: [f64; OTHER + 1],
    stall: f64,
    spin: f64,
    park: f64,
}

/// Draws all threads for the page.
pub(super) fn draw(shown: &Shown<'_>) -> String {
    let height = PAGE.height(shown);
    let mut svg = format!(
        "<svg class=\"threads\" role=\"img\" aria-labelledby=\"threads-title\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\">\n<title id=\"threads-title\">{}</title>\n",
        title(shown)
    );
    rows(&mut svg, shown, &PAGE);
    svg + "</svg>\n"
}

/// What the picture shows.
pub(super) fn title(shown: &Shown<'_>) -> String {
    format!("What each thread did over the {} of the run", units::time(Duration::from_nanos(shown.end)))
}

impl Look {
    /// The height of the axis and all rows.
    pub(super) fn height(&self, shown: &Shown<'_>) -> f64 {
        AXIS + self.row * shown.tracks.len() as f64 + 6.0
    }

    /// Bars have the full height: then they are drawn as lines, which take fewer bytes than rectangles.
    fn is_full(&self) -> bool {
        self.heights == 1.0
    }
}

/// Draws the axis and the rows.
pub(super) fn rows(svg: &mut String, shown: &Shown<'_>, look: &Look) {
    axis(svg, shown.end, look.height(shown));
    for (row, track) in shown.tracks.iter().enumerate() {
        draw_track(svg, shown, track, look, AXIS + look.row * row as f64 + 6.0);
    }
}

fn axis(svg: &mut String, end: u64, height: f64) {
    let mut at = 0;
    let step = nice(end);
    while at <= end {
        let x = LEFT + COLUMNS as f64 * STEP * at as f64 / end as f64;
        let label = units::time(Duration::from_nanos(at));
        put!(
            svg,
            "<path class=\"tick\" d=\"M{x:.1} {AXIS}V{height}\"/><text x=\"{:.1}\" y=\"14\">{label}</text>\n",
            x - 4.0
        );
        let Some(next) = at.checked_add(step) else { break };
        // A label at the very end would be cut off.
        at = if next as f64 > 0.96 * end as f64 { break } else { next };
    }
}

/// A round step of time, of which five to ten make up the whole.
fn nice(end: u64) -> u64 {
    let mut step = 1_u64;
    loop {
        for part in [1, 2, 5] {
            let candidate = step.saturating_mul(part);
            if end / candidate <= 10 {
                return candidate;
            }
        }
        step = step.saturating_mul(10);
    }
}

fn draw_track(svg: &mut String, shown: &Shown<'_>, track: &ShownTrack<'_>, look: &Look, y: f64) {
    let name = shortened(track.name, 20);
    put!(svg, "<g><text x=\"4\" y=\"{:.1}\">{}</text>", y + look.bar / 2.0 + 4.0, Text(&name));
    let columns = columns(shown, track);
    // For each class, the outline of all its bars.
    let mut outlines: BTreeMap<String, Outline> = BTreeMap::new();
    let per = shown.end as f64 / COLUMNS as f64;
    let mut bar = |class: &str, [from, to]: [usize; 2], [bottom, top]: [u8; 2]| {
        let outline = outlines.entry(class.to_owned()).or_default();
        let [bottom, top] = [bottom, top].map(|height| look.bar * f64::from(height) / look.heights);
        match look.is_full() {
            true => outline.line([from, to], y + look.bar / 2.0),
            false => outline.rectangle([from, to], y + look.bar - top, top - bottom),
        }
    };
    let full = look.heights as u8;
    runs(&columns, |column| column.rest(per), |class, from, to| bar(class, [from, to], [0, full]));
    let nodes = |column: &Column| column.bar(per, look).filter(|(_, nodes, _)| *nodes > 0);
    runs(&columns, nodes, |(colour, nodes, _), from, to| {
        bar(&format!("then-c{colour}"), [from, to], [0, nodes]);
    });
    let stalls = |column: &Column| column.bar(per, look).map(|(_, nodes, all)| [nodes, all]);
    runs(
        &columns,
        |column| stalls(column).filter(|[from, to]| to > from),
        |heights, from, to| {
            bar("then-stall", [from, to], heights);
        },
    );
    // `park` and `spin` come before `then-`, so they are behind.
    for (class, outline) in outlines {
        put!(svg, "<path class=\"{}\" d=\"{}\"/>", class.trim_start_matches("then-"), outline.path);
    }
    if !look.is_full() {
        marks(svg, shown, track, y);
    }
    svg.push_str("</g>\n");
}

/// The bars of one class in a row.
#[derive(Default)]
struct Outline {
    path: String,
    /// The column behind the latest line.
    end: Option<usize>,
}

impl Outline {
    /// Adds a rectangle over these columns.
    fn rectangle(&mut self, [from, to]: [usize; 2], y: f64, tall: f64) {
        let (x, long) = (LEFT + from as f64 * STEP, (to - from) as f64 * STEP);
        put!(self.path, "M{x} {y}h{long}v{tall}h-{long}z");
    }

    /// Adds a line over these columns, behind the lines before it.
    fn line(&mut self, [from, to]: [usize; 2], y: f64) {
        let long = (to - from) as f64 * STEP;
        match self.end {
            None => put!(self.path, "M{} {y}h{long}", LEFT + from as f64 * STEP),
            Some(end) => put!(self.path, "m{} 0h{long}", (from - end) as f64 * STEP),
        }
        self.end = Some(to);
    }
}

/// Calls `emit` for each run of columns with one key.
fn runs<K: PartialEq>(
    columns: &[Column],
    key: impl Fn(&Column) -> Option<K>,
    mut emit: impl FnMut(K, usize, usize),
) {
    let mut open: Option<(K, usize)> = None;
    for at in 0..=columns.len() {
        let key = columns.get(at).and_then(&key);
        if open.as_ref().map(|(key, _)| key) == key.as_ref() {
            continue;
        }
        if let Some((key, from)) = open.take() {
            emit(key, from, at);
        }
        open = key.map(|key| (key, at));
    }
}

impl Column {
    /// The class of what has most of the time without a node.
    fn rest(&self, per: f64) -> Option<&'static str> {
        match () {
            () if self.park > 0.5 * per => Some("park"),
            () if self.spin + self.park > 0.5 * per => Some("spin"),
            () => None,
        }
    }

    /// The colour with the most time, and the heights of all nodes' time without stalls and with them.
    fn bar(&self, per: f64, look: &Look) -> Option<(usize, u8, u8)> {
        let all: f64 = self.nodes.iter().sum();
        let most = (0..self.nodes.len()).max_by(|a, b| self.nodes[*a].total_cmp(&self.nodes[*b]))?;
        let fired = (all - self.stall).max(0.0);
        // Where a bar may have several heights, any time is seen.
        let lowest = |time: f64| f64::from(u8::from(!look.is_full() && time > 0.001 * per));
        let height = |time: f64| (look.heights * time / per).round().clamp(lowest(time), look.heights) as u8;
        (all > 0.001 * per).then(|| (most, height(fired), height(all).max(height(fired))))
    }
}

fn columns(shown: &Shown<'_>, track: &ShownTrack<'_>) -> Vec<Column> {
    let mut columns = vec![Column::default(); COLUMNS];
    let per = shown.end as f64 / COLUMNS as f64;
    for event in outermost(&track.events) {
        let (from, long) = (event.at() as f64, event.what().ns() as f64);
        let first = ((from / per) as usize).min(COLUMNS - 1);
        let last = (((from + long) / per) as usize).min(COLUMNS - 1);
        for (column, at) in columns[first..=last].iter_mut().zip(first..) {
            let (begin, end) = (from.max(at as f64 * per), (from + long).min((at + 1) as f64 * per));
            let part = (end - begin).max(0.0);
            match event.what() {
                What::Activation { node, .. } | What::Loop { node, .. } | What::TaskGraph { node, .. } => {
                    column.nodes[shown.colour(node)] += part;
                }
                // A part of an activation, whose time the node has too.
                What::Stall { .. } => column.stall += part,
                What::Spin { .. } => column.spin += part,
                _ => column.park += part,
            }
        }
    }
    columns
}

/// The events with a length that are in no other one: a loop of an activation is part of that. They are in order of their
/// ends, so an event that contains others comes after them.
fn outermost(events: &[Event]) -> impl Iterator<Item = &Event> {
    let mut began = u64::MAX;
    events.iter().rev().filter(move |event| {
        let is_part = matches!(event.what(), What::Loop { .. } | What::TaskGraph { .. });
        let counts = event.what().ns() > 0 && !(is_part && event.at() >= began);
        if counts {
            began = began.min(event.at());
        }
        counts
    })
}

/// Steals as ticks and growths as triangles. Steals of one column are one tick.
fn marks(svg: &mut String, shown: &Shown<'_>, track: &ShownTrack<'_>, y: f64) {
    let column = |at: u64| ((at as f64 / shown.end as f64 * COLUMNS as f64) as usize).min(COLUMNS - 1);
    let (mut ticks, mut last, mut growths) = (String::new(), None, 0);
    for event in track.events.iter() {
        let x = LEFT + column(event.at()) as f64 * STEP;
        match event.what() {
            What::Steal { .. } if last != Some(column(event.at())) => {
                last = Some(column(event.at()));
                put!(ticks, "M{x} {}h1v4h-1z", y - 5.0);
            }
            What::Growth { channel, to } if growths < GROWTHS => {
                growths += 1;
                let known = channel.index() < shown.report.graph().channels().len();
                let name =
                    if known { shown.report.graph().channel_name(channel) } else { "a channel".to_owned() };
                put!(
                    svg,
                    "<path class=\"mark-growth\" d=\"M{x} {}l5 -8h-10z\"><title>{} grew to {to}</title></path>",
                    y + 3.0,
                    Text(&shortened(&name, 80))
                );
            }
            _ => {}
        }
    }
    if !ticks.is_empty() {
        put!(svg, "<path class=\"mark-steal\" d=\"{ticks}\"/>");
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Look, PAGE, nice, outermost};
    use thalweg_graph::NodeId;
    use thalweg_trace::{Ended, Event, What};

    #[test]
    fn parts_of_activations_are_not_counted_twice() {
        let node = NodeId(0);
        let part = |at, ns| Event::new(at, What::Loop { node, steals: 0, ns });
        let activation =
            |at, ns| Event::new(at, What::Activation { node, firings: 1, ns, ended: Ended::Done });
        let graph = Event::new(60, What::TaskGraph { node, steals: 0, ns: 30 });
        // A loop of an activation, one that the thread has joined, and one in a task graph.
        let events = [part(10, 5), activation(0, 20), part(20, 10), part(65, 5), graph];
        let starts: Vec<u64> = outermost(&events).map(|event| event.at()).collect();
        assert_eq!(starts, [60, 20, 0]);
    }

    /// Of a column of 100 ns that a node has.
    #[test]
    fn stall_stands_on_the_time_of_nodes() {
        let bar = |stall, look: &Look| {
            let mut column = Column { stall, ..Column::default() };
            column.nodes[3] = 80.0;
            column.bar(100.0, look)
        };
        let full = Look { row: 12.0, bar: 10.0, heights: 1.0 };
        assert_eq!(
            [0.0, 30.0, 79.0].map(|stall| bar(stall, &PAGE)),
            [Some((3, 8, 8)), Some((3, 5, 8)), Some((3, 1, 8))]
        );
        assert_eq!([29.0, 31.0].map(|stall| bar(stall, &full)), [Some((3, 1, 1)), Some((3, 0, 1))]);
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([1, 10, 11, 99, 1234, u64::MAX].map(nice)[..5], [1, 1, 2, 10, 200]);
    }
}
