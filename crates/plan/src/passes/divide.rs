//! Segments of a compiled graph: stretches of its units.

use super::balance::balanced;
use crate::{Division, Unit, Units};
use std::ops::Range;
use thalweg_graph::NodeId;

/// Consecutive units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) units: Range<usize>,
    /// Whether each worker has a copy.
    pub(super) copied: bool,
}

/// The segments for this many workers.
pub(super) fn segments(units: &Units, threads: usize) -> Vec<Segment> {
    let all = 0..units.all.len();
    let alone = |units| Segment { units, copied: false };
    let weights: Vec<u128> = units.all.iter().map(|unit| u128::from(unit.cost)).collect();
    match units.division {
        Division::Each => all.map(|unit| alone(unit..unit + 1)).collect(),
        _ if all.is_empty() => Vec::new(),
        Division::Pipeline if threads > 1 => balanced(&weights, threads).map(alone).collect(),
        Division::Copies if threads > 1 => {
            let segments = Copies { units, weights: &weights, threads: threads as u128 }.segments();
            segments.unwrap_or_else(|| vec![alone(all)])
        }
        _ => vec![alone(all)],
    }
}

/// The nodes of some units.
pub(super) fn nodes(units: &[Unit]) -> Vec<NodeId> {
    units.iter().flat_map(|unit| unit.nodes.iter().copied()).collect()
}

/// By node: the set that contains it, if one does.
pub(crate) fn parts(nodes: usize, sets: &[Vec<NodeId>]) -> Vec<Option<usize>> {
    let mut of = vec![None; nodes];
    for (i, set) in sets.iter().enumerate() {
        for node in set.iter().filter(|node| node.index() < nodes) {
            of[node.index()] = Some(i);
        }
    }
    of
}

/// The division [`Division::Copies`].
struct Copies<'a> {
    units: &'a Units,
    weights: &'a [u128],
    threads: u128,
}

impl Copies<'_> {
    fn cost(&self, units: Range<usize>) -> u128 {
        self.weights[units].iter().sum()
    }

    fn all(&self) -> Range<usize> {
        0..self.weights.len()
    }

    /// The segments; `None` if the expected speed-up is too small.
    fn segments(&self) -> Option<Vec<Segment>> {
        let copied = self.copied();
        let alone = self.all().filter(|unit| !copied[*unit]);
        let dearest = alone.map(|unit| self.weights[unit]).max().unwrap_or(0);
        let pieces = self.threads * u128::from(self.units.pieces.max(1));
        let most = self.cost(self.all()).div_ceil(pieces).max(dearest).max(1);
        let mut segments = Vec::new();
        for stretch in stretches(self.all(), |unit| copied[unit]) {
            if !copied[stretch.start] {
                let parts = self.cost(stretch.clone()).div_ceil(most).max(1);
                let cuts = balanced(&self.weights[stretch.clone()], parts as usize);
                let of = |cut: Range<usize>| stretch.start + cut.start..stretch.start + cut.end;
                segments.extend(cuts.map(|cut| Segment { units: of(cut), copied: false }));
            } else if self.units.joins {
                segments.push(Segment { units: stretch, copied: true });
            } else {
                segments.extend(stretch.map(|unit| Segment { units: unit..unit + 1, copied: true }));
            }
        }
        self.gains(&segments).then_some(segments)
    }

    /// By unit: whether it gets copies. What is less than a small part of a worker's share of the work is not worth the
    /// hand-over to all workers and back.
    fn copied(&self) -> Vec<bool> {
        let least = self.cost(self.all()) * u128::from(self.units.least_copied) / (100 * self.threads);
        let mut copied: Vec<bool> = self.units.all.iter().map(|unit| unit.stateless).collect();
        let runs: Vec<_> = match self.units.joins {
            true => stretches(self.all(), |unit| copied[unit]).collect(),
            false => self.all().map(|unit| unit..unit + 1).collect(),
        };
        for run in runs.into_iter().filter(|run| self.cost(run.clone()) < least) {
            copied[run].fill(false);
        }
        copied
    }

    /// The time that a segment needs for items from and to others, and from and to files.
    fn hand_over(&self, segment: &Segment) -> u128 {
        let inside = |unit: Option<usize>| unit.is_some_and(|unit| segment.units.contains(&unit));
        let crossing = self.units.hand_overs.iter().filter(|items| inside(items.from) != inside(items.to));
        crossing.map(|items| u128::from(items.cost)).sum()
    }

    /// Whether the expected speed-up is large enough: one worker's time, by the time of the segment that takes longest
    /// or of all work, that with files included, on all workers.
    fn gains(&self, segments: &[Segment]) -> bool {
        let cost = |segment: &Segment| self.cost(segment.units.clone()) + self.hand_over(segment);
        let longest = segments.iter().filter(|segment| !segment.copied).map(cost).max().unwrap_or(0);
        let files = self.units.hand_overs.iter().filter(|items| items.from.is_none() || items.to.is_none());
        let files: u128 = files.map(|items| u128::from(items.cost)).sum();
        let all = files + segments.iter().map(cost).sum::<u128>();
        let time = longest.max(all.div_ceil(self.threads));
        let whole = self.units.whole.map_or_else(|| self.cost(self.all()), u128::from);
        whole * 100 >= u128::from(self.units.least_gain) * time
    }
}

/// The longest stretches of equal values.
fn stretches(all: Range<usize>, of: impl Fn(usize) -> bool) -> impl Iterator<Item = Range<usize>> {
    let (mut from, end) = (all.start, all.end);
    std::iter::from_fn(move || {
        let start = from;
        from = (start..end).find(|at| of(*at) != of(start)).unwrap_or(end);
        (start < end).then_some(start..from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HandOver;

    /// Units of these costs; `f` for units without state.
    fn units(division: Division, of: &[(u64, char)]) -> Units {
        let unit = |(node, (cost, kind)): (usize, &(u64, char))| Unit {
            nodes: vec![NodeId(node as u32)],
            cost: *cost,
            stateless: *kind == 'f',
        };
        let all = of.iter().enumerate().map(unit).collect();
        Units::new(all, division)
    }

    /// The first and last unit of each segment, and a `*` if it has copies.
    fn shown(units: &Units, threads: usize) -> String {
        let one = |Segment { units, copied }: &Segment| {
            format!("{}-{}{}", units.start, units.end - 1, if *copied { "*" } else { "" })
        };
        segments(units, threads).iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn copies(of: &[(u64, char)]) -> String {
        shown(&units(Division::Copies, of), 2)
    }

    fn joined(of: &[(u64, char)], pieces: u64) -> String {
        shown(&Units { joins: true, pieces, ..units(Division::Copies, of) }, 2)
    }

    #[test]
    fn stateless_units_get_copies_where_they_are_much_of_the_work() {
        assert_eq!(copies(&[(34, 'f'), (40, 'f'), (22, 's'), (4, 'f')]), "0-0* 1-1* 2-3");
        assert_eq!(copies(&[(30, 'f'), (60, 's'), (60, 's')]), "0-0* 1-1 2-2");
        assert_eq!(copies(&[(50, 's'), (1, 'f'), (49, 's')]), "0-0 1-2");
    }

    #[test]
    fn neighbours_without_state_share_copies() {
        assert_eq!(joined(&[(1, 'f'), (2, 'f'), (90, 's'), (20, 'f')], 4), "0-1 2-2 3-3*");
        assert_eq!(joined(&[(0, 'f'), (0, 'f')], 4), "0-1*");
        assert_eq!(
            joined(&[(10, 's'), (10, 's'), (10, 's'), (10, 's'), (40, 'f')], 4),
            "0-0 1-1 2-2 3-3 4-4*"
        );
    }

    #[test]
    fn no_piece_is_cut_below_the_dearest_unit() {
        assert_eq!(joined(&[(50, 's'), (10, 's'), (10, 's'), (10, 's'), (20, 's')], 4), "0-0 1-4");
    }

    #[test]
    fn a_small_gain_leaves_the_whole() {
        let gain = |least_gain| Units { least_gain, ..units(Division::Copies, &[(80, 's'), (20, 's')]) };
        assert_eq!(shown(&gain(125), 2), "0-0 1-1");
        assert_eq!(shown(&gain(126), 2), "0-1");
        let between = vec![HandOver { from: Some(0), to: Some(1), cost: 20 }];
        assert_eq!(shown(&Units { hand_overs: between.clone(), ..gain(100) }, 2), "0-0 1-1");
        assert_eq!(shown(&Units { hand_overs: between, ..gain(101) }, 2), "0-1");
        // The second unit writes: 120 of 180 in all, of which another thread does 40.
        let written = vec![HandOver { from: Some(1), to: None, cost: 40 }];
        assert_eq!(shown(&Units { hand_overs: written.clone(), ..gain(111) }, 2), "0-0 1-1");
        assert_eq!(shown(&Units { hand_overs: written, ..gain(112) }, 2), "0-1");
    }

    #[test]
    fn the_gain_is_over_the_time_of_the_whole() {
        let whole =
            |whole| Units { whole, least_gain: 100, ..units(Division::Copies, &[(50, 's'), (50, 's')]) };
        assert_eq!(shown(&whole(None), 2), "0-0 1-1");
        assert_eq!(shown(&whole(Some(50)), 2), "0-0 1-1");
        assert_eq!(shown(&whole(Some(49)), 2), "0-1");
    }

    #[test]
    fn other_divisions() {
        let of = [(1, 'f'), (1, 's'), (2, 's')];
        assert_eq!(shown(&units(Division::Pipeline, &of), 2), "0-1 2-2");
        assert_eq!(shown(&units(Division::Pipeline, &of), 1), "0-2");
        assert_eq!(shown(&units(Division::Each, &of), 1), "0-0 1-1 2-2");
        assert_eq!(shown(&units(Division::Whole, &of), 4), "0-2");
        assert_eq!(shown(&units(Division::Copies, &of), 1), "0-2");
        assert_eq!(shown(&units(Division::Copies, &[]), 2), "");
    }
}
