//! The section about the threads: what each did, and when. `overview` draws the whole run, for the page and for a document of
//! its own (`svg`), from `columns`; `data` has the events for the script, which draws any part of it.

mod columns;
mod data;
mod overview;
mod script;
mod svg;

pub(super) use svg::svg;

use super::escape::{Text, shortened};
use super::graph::Picture;
use super::{COLOURS, put};
use std::borrow::Cow;
use thalweg_graph::NodeId;
use thalweg_trace::{Event, Report, Timeline, Track, What};

/// The maximum number of threads that the page shows, of those with events.
const TRACKS: usize = 64;

/// The colour of nodes that have none of their own.
const OTHER: usize = COLOURS;

/// The data that both pictures share.
struct Shown<'a> {
    tracks: Vec<ShownTrack<'a>>,
    report: &'a Report,
    picture: &'a Picture,
    colours: &'a [Option<usize>],
    /// The end of the run, in nanoseconds. Above 0.
    end: u64,
}

/// A track whose events do not overlap, except for the parts of activations: a spin ends where the thread parks.
struct ShownTrack<'a> {
    name: &'a str,
    lost: u64,
    events: Cow<'a, [Event]>,
}

impl<'a> Shown<'a> {
    fn new(
        report: &'a Report,
        timeline: &'a Timeline,
        picture: &'a Picture,
        colours: &'a [Option<usize>],
    ) -> Shown<'a> {
        let tracks: Vec<ShownTrack<'_>> = timeline
            .tracks()
            .iter()
            .filter(|track| !track.events().is_empty() || track.lost() > 0)
            .take(TRACKS)
            .map(ShownTrack::new)
            .collect();
        let ends = tracks.iter().flat_map(|track| track.events.iter()).map(Event::end);
        let wall = u64::try_from(report.wall().as_nanos()).unwrap_or(u64::MAX);
        let end = ends.max().unwrap_or(0).max(wall).max(1);
        Shown { tracks, report, picture, colours, end }
    }

    fn colour(&self, node: NodeId) -> usize {
        self.picture.of.get(node.index()).and_then(|shape| self.colours[*shape as usize]).unwrap_or(OTHER)
    }

    fn name(&self, node: NodeId) -> String {
        let node = self.report.graph().nodes().get(node.index());
        node.map_or("a node that the graph lacks".to_owned(), |node| shortened(node.name(), 60))
    }
}

/// Writes the section.
pub(super) fn section(
    out: &mut String,
    report: &Report,
    timeline: &Timeline,
    picture: &Picture,
    colours: &[Option<usize>],
) {
    out.push_str("<section aria-labelledby=\"timeline\">\n<h2 id=\"timeline\">Timeline</h2>\n");
    let shown = Shown::new(report, timeline, picture, colours);
    let entries = legend(&shown);
    let entries: Vec<_> = entries.iter().map(|(class, label)| (class.as_str(), label.as_str())).collect();
    super::bars::legend(out, &entries);
    put!(out, "<div class=\"scroll\">\n{}</div>\n", overview::draw(&shown));
    notes(out, timeline, &shown);
    script::write(out, &shown);
    out.push_str("</section>\n");
}

impl<'a> ShownTrack<'a> {
    fn new(track: &'a Track) -> ShownTrack<'a> {
        let mut events = Cow::Borrowed(track.events());
        for (index, event) in track.events().iter().enumerate() {
            if let Some(ns) = spun(&track.events()[..index], event) {
                *events.to_mut()[index].what_mut() = What::Spin { ns };
            }
        }
        ShownTrack { name: track.name(), lost: track.lost(), events }
    }
}

/// For how long a spin lasted before the thread parked in it. `None` if the event is none with a park in it. `before`
/// has the events that ended before it.
fn spun(before: &[Event], event: &Event) -> Option<u64> {
    let What::Spin { .. } = event.what() else { return None };
    let inside = before.iter().rev().take_while(|inner| inner.end() > event.at());
    let parks = inside.filter(|inner| matches!(inner.what(), What::Park { .. }) && inner.at() >= event.at());
    parks.last().map(|park| park.at() - event.at())
}

/// What the colours mean: classes, each with its meaning.
fn legend(shown: &Shown<'_>) -> Vec<(String, String)> {
    let mut entries: Vec<(String, String)> = Vec::new();
    for shape in shown.picture.busiest() {
        if let Some(colour) = shown.colours[shape] {
            entries.push((format!("c{colour}"), shortened(&shown.picture.shapes[shape].name, 30)));
        }
    }
    if shown.picture.shapes.len() > COLOURS {
        entries.push((format!("c{OTHER}"), "other nodes".to_owned()));
    }
    let is_stall = |event: &Event| matches!(event.what(), What::Stall { .. });
    if shown.tracks.iter().any(|track| track.events.iter().any(is_stall)) {
        entries.push(("stall".to_owned(), "stall: a firing waits for its ticket".to_owned()));
    }
    entries.push(("spin".to_owned(), "spinning".to_owned()));
    entries.push(("park".to_owned(), "parked".to_owned()));
    entries
}

/// Says what the pictures leave out.
fn notes(out: &mut String, timeline: &Timeline, shown: &Shown<'_>) {
    out.push_str(
        "<p class=\"quiet\">The height of a bar is the share of the time in nodes, its colour the node that had most of \
         it; the time for which the thread stalled stands on top. A tick above a row is a steal of a node, a triangle a growth. Where the picture is enlarged, a line below a bar is \
         the thread’s part in a loop or a task graph of the node.</p>\n",
    );
    let lost: Vec<&ShownTrack<'_>> = shown.tracks.iter().filter(|track| track.lost > 0).collect();
    if !lost.is_empty() {
        let all = lost.iter().fold(0_u64, |sum, track| sum.saturating_add(track.lost));
        let names: Vec<String> = lost.iter().take(4).map(|track| shortened(track.name, 30)).collect();
        let more = if lost.len() > 4 { format!(" and {} more", lost.len() - 4) } else { String::new() };
        let names = names.join(", ") + &more;
        put!(
            out,
            "<p class=\"quiet\">{all} earlier events of {} were overwritten: a thread keeps its latest ones.</p>\n",
            Text(&names)
        );
    }
    let empty =
        timeline.tracks().iter().filter(|track| track.events().is_empty() && track.lost() == 0).count();
    let more = timeline.tracks().len() - shown.tracks.len() - empty;
    if more > 0 {
        put!(out, "<p class=\"quiet\">{more} more threads are not shown.</p>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents of earlier versions have parks inside of spins.
    #[test]
    fn a_spin_ends_where_the_thread_parks() {
        let event = |at, what| Event::new(at, what);
        let mut track = Track::new("worker 0");
        let park = |at| event(at, What::Park { ns: 10 });
        *track.events_mut() = vec![park(20), park(40), event(5, What::Spin { ns: 45 }), park(60)];
        let lengths = |track: &Track| -> Vec<u64> {
            ShownTrack::new(track).events.iter().map(|event| event.what().ns()).collect()
        };
        assert_eq!(lengths(&track), [10, 10, 15, 10]);
        *track.events_mut() =
            vec![event(5, What::Spin { ns: 15 }), park(20), event(30, What::Spin { ns: 7 })];
        assert_eq!(lengths(&track), [15, 10, 7]);
    }
}
