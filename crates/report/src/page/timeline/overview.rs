//! A picture of the whole run, without a script: each thread is a row of columns of equal time.

use super::columns::{COLUMNS, Column, STEPS, columns, one_part_each};
use super::{Shown, ShownTrack};
use crate::page::escape::{Text, shortened};
use crate::page::put;
use std::collections::BTreeMap;
use std::time::Duration;
use thalweg_trace::{What, units};

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
    /// A column is one part at full height: then bars are drawn as lines, which take fewer bytes than rectangles. Otherwise the
    /// height of a bar is its share of the column's time.
    pub(super) is_full: bool,
}

/// Rows of the page.
const PAGE: Look = Look { row: 30.0, bar: 20.0, is_full: false };

/// Growths that are marked on a thread.
const GROWTHS: usize = 50;

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
    let per = shown.end as f64 / COLUMNS as f64;
    match look.is_full {
        true => lines(svg, &columns, per, y + look.bar / 2.0),
        false => bars(svg, &columns, per, (y, look.bar)),
    }
    if !look.is_full {
        marks(svg, shown, track, y);
    }
    svg.push_str("</g>\n");
}

/// Draws each column as one part.
fn lines(svg: &mut String, columns: &[Column], per: f64, y: f64) {
    let mut outlines: BTreeMap<String, Outline> = BTreeMap::new();
    runs(one_part_each(columns, per), |class, place| outlines.entry(class).or_default().line(place, y));
    for (class, outline) in outlines {
        put!(svg, "<path class=\"{class}\" d=\"{}\"/>", outline.path);
    }
}

/// Draws each column as bars: what the thread did without a node, the node that had most of the time, and stalls above it.
fn bars(svg: &mut String, columns: &[Column], per: f64, (y, full): (f64, f64)) {
    // For each class, the outline of all its bars.
    let mut outlines: BTreeMap<String, Outline> = BTreeMap::new();
    let mut bar = |class: String, place, [bottom, top]: [u8; 2]| {
        let [bottom, top] = [bottom, top].map(|tenths| full * f64::from(tenths) / STEPS);
        outlines.entry(class).or_default().rectangle(place, y + full - top, top - bottom);
    };
    let rest = columns.iter().map(|column| column.rest(per));
    runs(rest, |class, place| bar(class.to_owned(), place, [0, STEPS as u8]));
    let tenths = || columns.iter().map(|column| column.bar(per));
    let nodes = tenths().map(|bar| bar.map(|(colour, [fired, _])| (colour, fired)).filter(|bar| bar.1 > 0));
    runs(nodes, |(colour, fired), place| bar(format!("then-c{colour}"), place, [0, fired]));
    let stalls = tenths().map(|bar| bar.map(|(_, tenths)| tenths).filter(|[fired, all]| all > fired));
    runs(stalls, |tenths, place| bar("then-stall".to_owned(), place, tenths));
    // `park` and `spin` come before `then-`, so they are behind.
    for (class, outline) in outlines {
        put!(svg, "<path class=\"{}\" d=\"{}\"/>", class.trim_start_matches("then-"), outline.path);
    }
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

/// Calls `emit` for each run of columns with one key, with its first column and the one behind it.
fn runs<K: PartialEq>(keys: impl Iterator<Item = Option<K>>, mut emit: impl FnMut(K, [usize; 2])) {
    let mut open: Option<(K, usize)> = None;
    for (at, key) in keys.chain([None]).enumerate() {
        if open.as_ref().map(|(key, _)| key) == key.as_ref() {
            continue;
        }
        if let Some((key, from)) = open.take() {
            emit(key, [from, at]);
        }
        open = key.map(|key| (key, at));
    }
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
    use super::nice;

    #[test]
    fn steps_are_round() {
        assert_eq!([1, 10, 11, 99, 1234, u64::MAX].map(nice)[..5], [1, 1, 2, 10, 200]);
    }
}
