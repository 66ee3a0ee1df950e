//! Branches of splitjoins, with balanced joiner weights.

use super::model::{Composite, Head, Stream, Weights};
use super::ratio::{Ratio, whole};
use super::streams::{MAX_RATIO, StreamWithGain};

/// The joiner's share of a branch.
pub(super) enum Join {
    Nothing,
    /// In proportion to the branch's output.
    Share(Ratio),
    /// Any weight.
    Any(u32),
}

/// The branches of a split-join.
#[derive(Default)]
pub(super) struct Branches {
    pub children: Vec<Stream>,
    /// The splitter weight of each branch.
    pub split: Vec<u32>,
    pub join: Vec<Join>,
}

impl Branches {
    pub fn add(&mut self, child: Stream, weight: u32, out: Option<Ratio>) {
        self.children.push(child);
        self.split.push(weight);
        self.join.push(out.map_or(Join::Any(1), Join::Share));
    }

    /// Builds the splitjoin with balanced joiner weights; `None` if they are too large.
    pub fn build(self, duplicate: bool, head: &Head, verbose: bool) -> Option<StreamWithGain> {
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
        if weights.iter().any(|weight| *weight > MAX_RATIO) || !by.is_small(MAX_RATIO) {
            return None;
        }
        let taken = if duplicate { 1 } else { self.split.iter().sum() };
        let gain = Ratio::new(weights.iter().sum::<u32>() * by.1, taken * by.0);
        if !gain.is_small(MAX_RATIO) {
            return None;
        }
        // If all branches are dynamic, the joiner does not depend on the splitter.
        let gain = Some(gain).filter(|_| !shares.is_empty());
        let split = if duplicate { Weights::Duplicate } else { Weights::RoundRobin(self.split, verbose) };
        let composite = Composite { head: head.clone(), children: self.children };
        Some((Stream::SplitJoin(composite, split, Weights::RoundRobin(weights, verbose)), gain))
    }
}
