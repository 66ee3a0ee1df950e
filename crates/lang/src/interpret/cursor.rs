//! A place in a schedule.

use crate::flat::NodeId;
use crate::schedule::{Phase, Region};

/// Where a region is: its initialisation once, and then steady states without end.
pub(super) struct Cursor<'a> {
    region: &'a Region,
    /// From the outermost phases to those it is in: which they are, the place among them, and how often
    /// they are still to be done after this.
    way: Vec<(&'a [Phase], usize, u64)>,
    /// The node that is to fire, and how often.
    firing: Option<(NodeId, u64)>,
    /// What is done is the initialisation.
    begins: bool,
}

impl<'a> Cursor<'a> {
    /// Before anything is done.
    pub(super) fn new(region: &'a Region) -> Cursor<'a> {
        let mut cursor = Cursor { region, way: vec![(&region.init, 0, 0)], firing: None, begins: true };
        cursor.go_on();
        cursor
    }

    /// The node that is to fire next; none where a steady state has ended.
    pub(super) fn node(&self) -> Option<NodeId> {
        self.firing.map(|(node, _)| node)
    }

    /// Begins the next steady state.
    pub(super) fn again(&mut self) {
        self.way = vec![(&self.region.steady, 0, 0)];
        self.find();
    }

    /// The node has fired.
    pub(super) fn advance(&mut self) {
        self.firing = self.firing.and_then(|(node, left)| (left > 1).then(|| (node, left - 1)));
        if self.firing.is_none() {
            self.go_on();
        }
    }

    /// Goes on to the next phase, the first one of a steady state after the initialisation.
    fn go_on(&mut self) {
        self.find();
        if self.firing.is_none() && std::mem::take(&mut self.begins) {
            self.again();
        }
    }

    /// Goes on to the next phase in which somebody fires.
    fn find(&mut self) {
        while let Some((phases, at, left)) = self.way.last_mut() {
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
                        self.way.push((inner, 0, times - 1));
                    }
                }
                None if *left > 0 => (*at, *left) = (0, *left - 1),
                None => _ = self.way.pop(),
            }
        }
    }
}
