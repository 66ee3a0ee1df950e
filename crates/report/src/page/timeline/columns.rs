//! The time of a thread in columns of equal time.

use super::{OTHER, Shown, ShownTrack};
use thalweg_trace::{Event, What};

/// Columns of a thread.
pub(super) const COLUMNS: usize = 540;

/// Heights of bars are multiples of one tenth, so that equal neighbours are one shape.
pub(super) const STEPS: f64 = 10.0;

/// Colours, stall, spinning, parked, and time without an event.
const PARTS: usize = OTHER + 5;

/// The time in a column: of the nodes of each colour without stalls, of stalls, spinning and parked.
#[derive(Clone, Copy, Default)]
pub(super) struct Column {
    nodes: [f64; OTHER + 1],
    stall: f64,
    spin: f64,
    park: f64,
}

impl Column {
    /// The class of what has most of the time without a node.
    pub(super) fn rest(&self, per: f64) -> Option<&'static str> {
        match () {
            () if self.park > 0.5 * per => Some("park"),
            () if self.spin + self.park > 0.5 * per => Some("spin"),
            () => None,
        }
    }

    /// The colour with the most time, and the tenths of the column that all nodes have without stalls, and with them.
    pub(super) fn bar(&self, per: f64) -> Option<(usize, [u8; 2])> {
        let fired: f64 = self.nodes.iter().map(|time| time.max(0.0)).sum();
        let most = (0..self.nodes.len()).max_by(|a, b| self.nodes[*a].total_cmp(&self.nodes[*b]))?;
        // Any time is seen.
        let tenths = |time: f64| {
            let least = f64::from(u8::from(time > 0.001 * per));
            (STEPS * time / per).round().clamp(least, STEPS) as u8
        };
        let all = fired + self.stall;
        (all > 0.001 * per).then(|| (most, [tenths(fired), tenths(all)]))
    }

    /// The times of all parts.
    fn times(&self, per: f64) -> [f64; PARTS] {
        let mut times = [0.0; PARTS];
        times[..=OTHER].copy_from_slice(&self.nodes);
        times[OTHER + 1..PARTS - 1].copy_from_slice(&[self.stall, self.spin, self.park]);
        times[PARTS - 1] = per - times.iter().sum::<f64>();
        times
    }
}

/// The class of one part for each column, such that a row has a part in as many columns as its time makes up: what one column
/// does not show, the next ones that have it make up for.
pub(super) fn one_part_each(columns: &[Column], per: f64) -> impl Iterator<Item = Option<String>> {
    let mut owed = [0.0; PARTS];
    columns.iter().map(move |column| {
        let times = column.times(per);
        owed.iter_mut().zip(times).for_each(|(owed, time)| *owed += time);
        let present = (0..PARTS).filter(|part| times[*part] > 0.001 * per);
        let most = present.max_by(|a, b| owed[*a].total_cmp(&owed[*b]))?;
        owed[most] -= per;
        class(most)
    })
}

/// The class of a part; `None` for time without an event.
fn class(part: usize) -> Option<String> {
    match part.checked_sub(OTHER + 1) {
        None => Some(format!("c{part}")),
        Some(other) => ["stall", "spin", "park"].get(other).map(|class| (*class).to_owned()),
    }
}

/// The columns of a thread.
pub(super) fn columns(shown: &Shown<'_>, track: &ShownTrack<'_>) -> Vec<Column> {
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
                // A part of an activation.
                What::Stall { node, .. } => {
                    column.nodes[shown.colour(node)] -= part;
                    column.stall += part;
                }
                What::Spin { .. } => column.spin += part,
                _ => column.park += part,
            }
        }
    }
    columns
}

/// The events with a length that are in no other one, and stalls: a loop of an activation is part of that. They are in order of
/// their ends, so an event that contains others comes after them.
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

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_graph::NodeId;
    use thalweg_trace::Ended;

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

    /// A column of 100 ns, in which a node has 80 with its stall.
    fn stalled(stall: f64) -> Column {
        let mut column = Column { stall, ..Column::default() };
        column.nodes[3] = 80.0 - stall;
        column
    }

    #[test]
    fn stall_stands_on_the_time_of_nodes() {
        let bars = [0.0, 30.0, 79.0].map(|stall| stalled(stall).bar(100.0));
        assert_eq!(bars, [Some((3, [8, 8])), Some((3, [5, 8])), Some((3, [1, 8]))]);
        assert_eq!(Column::default().bar(100.0), None);
    }

    #[test]
    fn a_row_of_single_parts_has_their_shares() {
        let columns = [[stalled(30.0); 10], [Column { park: 100.0, ..Column::default() }; 10]].concat();
        let parts: Vec<_> = one_part_each(&columns, 100.0).collect();
        let count = |class: Option<&str>| parts.iter().filter(|part| part.as_deref() == class).count();
        assert_eq!([Some("c3"), Some("stall"), Some("park"), None].map(count), [5, 3, 10, 2]);
        assert!(parts[10..].iter().all(|part| part.as_deref() == Some("park")));
    }
}
