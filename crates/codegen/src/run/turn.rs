//! A place in a region's schedule.

use thalweg_lang::flat::NodeId;
use thalweg_lang::schedule::{Phase, Region};

/// Where a region is: its initialisation once, and then steady states without end.
pub(super) struct Turn<'a> {
    region: &'a Region,
    /// From the outermost phases to those it is in: which they are, the place among them, and how often
    /// they are still to be done after this.
    way: Vec<(&'a [Phase], usize, u64)>,
    /// The node that is to fire, and how often.
    firing: Option<(NodeId, u64)>,
    /// What is done is the initialisation.
    begins: bool,
}

impl<'a> Turn<'a> {
    /// Before anything is done.
    pub(super) fn new(region: &'a Region) -> Turn<'a> {
        let mut turn = Turn { region, way: vec![(&region.init, 0, 0)], firing: None, begins: true };
        turn.go_on();
        turn
    }

    /// The node that is to fire next, and how often; none where a steady state has ended.
    pub(super) fn next(&self) -> Option<(NodeId, u64)> {
        self.firing
    }

    /// Whether it is still in the initialisation.
    pub(super) fn begins(&self) -> bool {
        self.begins
    }

    /// Begins the next steady state.
    pub(super) fn again(&mut self) {
        self.way = vec![(&self.region.steady, 0, 0)];
        self.firing = None;
        self.find();
    }

    /// The node has fired so many times, no more often than it was to.
    pub(super) fn advance(&mut self, by: u64) {
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
