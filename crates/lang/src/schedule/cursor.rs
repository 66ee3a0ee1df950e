//! A place in a schedule.

use super::{Phase, Region};
use crate::flat::NodeId;

/// Where a region is: its initialisation once, and then steady states without end.
#[derive(Clone)]
pub struct Cursor<'a> {
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
    pub fn new(region: &'a Region) -> Cursor<'a> {
        let mut cursor = Cursor { region, way: vec![(&region.init, 0, 0)], firing: None, begins: true };
        cursor.go_on();
        cursor
    }

    /// The node that is to fire next, and how often; none where a steady state has ended.
    pub fn due(&self) -> Option<(NodeId, u64)> {
        self.firing
    }

    /// Whether it is still in the initialisation.
    pub fn begins(&self) -> bool {
        self.begins
    }

    /// Begins the next steady state.
    pub fn again(&mut self) {
        self.way = vec![(&self.region.steady, 0, 0)];
        self.firing = None;
        self.find();
    }

    /// The node has fired so many times, no more often than it was to.
    pub fn advance(&mut self, by: u64) {
        self.firing = self.firing.and_then(|(node, left)| (left > by).then(|| (node, left - by)));
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
