//! Branches of split-joins, and weights of joiners that balance.

use super::model::{Composite, Deal, Head, Stream};
use super::ratio::{Ratio, whole};
use super::streams::{MOST, Made};

/// What a joiner takes from a branch.
pub(super) enum Join {
    Nothing,
    /// In proportion to what comes.
    Share(Ratio),
    /// Whatever is asked for.
    Any(u32),
}

/// The branches of a split-join.
#[derive(Default)]
pub(super) struct Branches {
    pub children: Vec<Stream>,
    /// What the splitter gives each.
    pub split: Vec<u32>,
    pub join: Vec<Join>,
}

impl Branches {
    pub fn add(&mut self, child: Stream, weight: u32, out: Option<Ratio>) {
        self.children.push(child);
        self.split.push(weight);
        self.join.push(out.map_or(Join::Any(1), Join::Share));
    }

    /// The split-join, with weights of the joiner that balance; none where they would be large.
    pub fn join(self, duplicate: bool, head: &Head, verbose: bool) -> Option<Made> {
        let share = |join: &Join| if let Join::Share(ratio) = join { Some(*ratio) } else { None };
        let shares: Vec<Ratio> = self.join.iter().filter_map(share).collect();
        let (numbers, by) = whole(&shares);
        let mut numbers = numbers.into_iter();
        let weights = self.join.iter().map(|join| match join {
            Join::Nothing => 0,
            Join::Any(weight) => *weight,
            Join::Share(_) => numbers.next().unwrap_or(0),
        });
        let weights: Vec<u32> = weights.collect();
        if weights.iter().any(|weight| *weight > MOST) || !by.is_small(MOST) {
            return None;
        }
        let taken = if duplicate { 1 } else { self.split.iter().sum() };
        let gain = Ratio::new(weights.iter().sum::<u32>() * by.1, taken * by.0);
        if !gain.is_small(MOST) {
            return None;
        }
        // Where all branches are dynamic, nothing ties the joiner to the splitter.
        let gain = Some(gain).filter(|_| !shares.is_empty());
        let split = if duplicate { Deal::Duplicate } else { Deal::RoundRobin(self.split, verbose) };
        let composite = Composite { head: head.clone(), children: self.children };
        Some((Stream::SplitJoin(composite, split, Deal::RoundRobin(weights, verbose)), gain))
    }
}
