//! An alignment of parts of two sequences.

use std::ops::Range;

use crate::Scoring;

/// A column of an alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
pub enum Step {
    /// A letter of each sequence, equal or not.
    Pair,
    /// A letter of the query, and a gap in the target.
    Insertion,
    /// A letter of the target, and a gap in the query.
    Deletion,
}

/// A local alignment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Alignment {
    /// The score, above 0.
    pub score: i32,
    /// The letters of the query that are aligned.
    pub query: Range<usize>,
    /// The letters of the target that are aligned.
    pub target: Range<usize>,
    /// The columns, from left to right, as runs of equal steps. Two runs of the same gap follow each other where the
    /// gap cost makes two gaps cheaper than one.
    pub steps: Vec<(Step, usize)>,
}

impl Alignment {
    /// The columns, from left to right.
    pub fn columns(&self) -> impl Iterator<Item = Step> {
        self.steps.iter().flat_map(|(step, count)| std::iter::repeat_n(*step, *count))
    }

    /// The number of columns.
    pub fn length(&self) -> usize {
        self.steps.iter().map(|(_, count)| count).sum()
    }

    /// The letters of each column, with `None` for a gap. The sequences must be those that were aligned.
    pub fn letters<'a>(
        &'a self,
        query: &'a [u8],
        target: &'a [u8],
    ) -> impl Iterator<Item = (Option<u8>, Option<u8>)> + 'a {
        let mut query = query[self.query.clone()].iter().copied();
        let mut target = target[self.target.clone()].iter().copied();
        self.columns().map(move |step| match step {
            Step::Pair => (query.next(), target.next()),
            Step::Insertion => (query.next(), None),
            Step::Deletion => (None, target.next()),
        })
    }

    /// The columns of two equal letters.
    pub fn identities(&self, query: &[u8], target: &[u8]) -> usize {
        self.letters(query, target).filter(|(a, b)| a.is_some() && a == b).count()
    }

    /// The score, computed from the columns.
    pub fn rescore(&self, query: &[u8], target: &[u8], scoring: &Scoring) -> i64 {
        let pairs = self.letters(query, target).filter_map(|(a, b)| Some(i64::from(scoring.score(a?, b?))));
        let gaps = self.steps.iter().filter(|(step, _)| *step != Step::Pair);
        pairs.sum::<i64>() - gaps.map(|(_, count)| i64::from(scoring.gap().cost(*count))).sum::<i64>()
    }
}

/// An alignment that is found from its end to its begin.
pub(crate) struct Path {
    end: (usize, usize),
    /// The letters passed, of the target and of the query.
    passed: (usize, usize),
    steps: Vec<(Step, usize)>,
}

impl Path {
    /// A path that ends before these letters of the target and of the query.
    pub fn ending(target: usize, query: usize) -> Path {
        Path { end: (target, query), passed: (0, 0), steps: Vec::new() }
    }

    /// Adds a column at the left, to the run of equal ones.
    pub fn push(&mut self, step: Step) {
        match self.steps.last_mut() {
            Some((last, run)) if *last == step => {
                *run += 1;
                self.pass(step, 1);
            }
            _ => self.push_run(step, 1),
        }
    }

    /// Adds a run of its own at the left.
    pub fn push_run(&mut self, step: Step, count: usize) {
        self.steps.push((step, count));
        self.pass(step, count);
    }

    fn pass(&mut self, step: Step, count: usize) {
        self.passed.0 += if step == Step::Insertion { 0 } else { count };
        self.passed.1 += if step == Step::Deletion { 0 } else { count };
    }

    pub fn finish(mut self, score: i32) -> Alignment {
        self.steps.reverse();
        Alignment {
            score,
            query: self.end.1 - self.passed.1..self.end.1,
            target: self.end.0 - self.passed.0..self.end.0,
            steps: self.steps,
        }
    }
}
