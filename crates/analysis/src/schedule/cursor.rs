//! A position in a schedule.

use super::{Phase, Region};
use thalweg_graph::NodeId;

/// A position in the schedule of a region: its initialisation once, then steady states.
#[derive(Clone)]
pub struct Cursor<'a> {
    region: &'a Region,
    /// The nested phases from the outermost in: the list, the index of the next phase in it, and the number of
    /// repetitions left after this one.
    path: Vec<(&'a [Phase], usize, u64)>,
    /// The next node to fire, and how often.
    firing: Option<(NodeId, u64)>,
    /// Whether the position is in the initialisation.
    initialising: bool,
}

impl<'a> Cursor<'a> {
    /// The start of the schedule.
    pub fn new(region: &'a Region) -> Cursor<'a> {
        let mut cursor =
            Cursor { region, path: vec![(&region.init, 0, 0)], firing: None, initialising: true };
        cursor.advance_phase();
        cursor
    }

    /// The next node to fire, and how often; `None` at the end of a steady state.
    pub fn due(&self) -> Option<(NodeId, u64)> {
        self.firing
    }

    /// Whether the position is in the initialisation.
    pub fn is_initialising(&self) -> bool {
        self.initialising
    }

    /// Starts the next steady state.
    pub fn start_steady_state(&mut self) {
        self.path = vec![(&self.region.steady, 0, 0)];
        self.firing = None;
        self.next_firing();
    }

    /// Records `by` firings of the node, at most those that were due.
    pub fn advance(&mut self, by: u64) {
        self.firing = self.firing.and_then(|(node, left)| (left > by).then(|| (node, left - by)));
        if self.firing.is_none() {
            self.advance_phase();
        }
    }

    /// Advances to the next phase; after the initialisation, to the first one of a steady state.
    fn advance_phase(&mut self) {
        self.next_firing();
        if self.firing.is_none() && std::mem::take(&mut self.initialising) {
            self.start_steady_state();
        }
    }

    /// Advances to the next phase with a firing.
    fn next_firing(&mut self) {
        while let Some((phases, at, left)) = self.path.last_mut() {
            match phases.get(*at) {
                Some(Phase::Fire(node, count)) => {
                    *at += 1;
                    if *count > 0 {
                        self.firing = Some((*node, *count));
                        return;
                    }
                }
                Some(Phase::Repeat(times, inner)) => {
                    *at += 1;
                    if *times > 0 {
                        self.path.push((inner, 0, times - 1));
                    }
                }
                None if *left > 0 => (*at, *left) = (0, *left - 1),
                None => _ = self.path.pop(),
            }
        }
    }
}
