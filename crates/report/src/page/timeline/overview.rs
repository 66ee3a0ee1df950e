//! A picture of the whole run, without a script: each thread in columns of equal time.

use super::{OTHER, Shown, ShownTrack};
use crate::page::escape::{Text, shortened};
use crate::page::put;
use std::collections::BTreeMap;
use std::time::Duration;
use thalweg_trace::{Event, What, units};

/// Columns of a thread.
const COLUMNS: usize = 540;

/// Places in the picture: the width of a column, of the names, and the heights of a row and of its bar.
const STEP: f64 = 2.0;
const LEFT: f64 = 150.0;
const ROW: f64 = 30.0;
const BAR: f64 = 20.0;
const AXIS: f64 = 22.0;

/// Heights of bars are multiples of one tenth, so that equal neighbours are one shape.
const STEPS: f64 = 10.0;

/// Growths that are marked on a thread.
const GROWTHS: usize = 50;

/// The time in a column: of each colour, spinning and parked.
#[derive(Clone, Copy, Default)]
struct Column {
    nodes: [f64; OTHER + 1],
    spin: f64,
    park: f64,
}

/// Draws all threads.
pub(super) fn draw(shown: &Shown<'_>) -> String {
    let (width, height) = (LEFT + COLUMNS as f64 * STEP + 12.0, AXIS + ROW * shown.tracks.len() as f64 + 6.0);
    let mut svg = format!(
        "<svg class=\"threads\" role=\"img\" aria-labelledby=\"threads-title\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<title id=\"threads-title\">What each thread did over the {} of the run\
         </title>\n",
        units::time(Duration::from_nanos(shown.end))
    );
    axis(&mut svg, shown.end, height);
    for (row, track) in shown.tracks.iter().enumerate() {
        draw_track(&mut svg, shown, track, AXIS + ROW * row as f64 + 6.0);
    }
    svg + "</svg>\n"
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

fn draw_track(svg: &mut String, shown: &Shown<'_>, track: &ShownTrack<'_>, y: f64) {
    let name = shortened(track.name, 20);
    put!(svg, "<g><text x=\"4\" y=\"{:.1}\">{}</text>", y + 14.0, Text(&name));
    let columns = columns(shown, track);
    // For each class, the outline of all its bars.
    let mut paths: BTreeMap<String, String> = BTreeMap::new();
    let per = shown.end as f64 / COLUMNS as f64;
    let rest = |column: &Column| match () {
        () if column.park > 0.5 * per => Some("park"),
        () if column.spin + column.park > 0.5 * per => Some("spin"),
        () => None,
    };
    runs(&columns, rest, |class, from, to| {
        bar(paths.entry(class.to_owned()).or_default(), from, to, y, BAR);
    });
    runs(
        &columns,
        |column| column.bar(per),
        |(colour, tall), from, to| {
            let tall = BAR * f64::from(tall) / STEPS;
            bar(paths.entry(format!("then-c{colour}")).or_default(), from, to, y + BAR - tall, tall);
        },
    );
    // `park` and `spin` come before `then-`, so they are behind.
    for (class, path) in paths {
        put!(svg, "<path class=\"{}\" d=\"{path}\"/>", class.trim_start_matches("then-"));
    }
    marks(svg, shown, track, y);
    svg.push_str("</g>\n");
}

fn bar(path: &mut String, from: usize, to: usize, y: f64, tall: f64) {
    put!(
        path,
        "M{} {y}h{}v{tall}h-{}z",
        LEFT + from as f64 * STEP,
        (to - from) as f64 * STEP,
        (to - from) as f64 * STEP
    );
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
    /// The colour with the most time, and the tenths of the column that all nodes have.
    fn bar(&self, per: f64) -> Option<(usize, u8)> {
        let all: f64 = self.nodes.iter().sum();
        let most = (0..self.nodes.len()).max_by(|a, b| self.nodes[*a].total_cmp(&self.nodes[*b]))?;
        let tenths = (STEPS * all / per).round().clamp(1.0, STEPS);
        (all > 0.001 * per).then_some((most, tenths as u8))
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
    use super::{nice, outermost};
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

    #[test]
    fn steps_are_round() {
        assert_eq!([1, 10, 11, 99, 1234, u64::MAX].map(nice)[..5], [1, 1, 2, 10, 200]);
    }
}
