//! Segments: runs of neighbouring steps that one node of the engine does.

use std::ops::Range;

/// Steps that are done together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    pub(super) steps: Range<usize>,
    /// Without state: any number of batches at a time.
    pub(super) parallel: bool,
    /// Roots that nobody else comes to.
    pub(super) own: Vec<usize>,
}

impl Segment {
    pub(super) fn new(steps: Range<usize>, parallel: bool) -> Segment {
        Segment { steps, parallel, own: Vec::new() }
    }
}

/// What is known of steps when they are dealt out.
pub(super) struct Known<'a> {
    /// Of each step: whether it has no state. Those of the ends are both, and cost nothing.
    pub(super) free: &'a [bool],
    pub(super) outside: &'a [bool],
    /// What a steady state costs of each.
    pub(super) costs: &'a [f64],
}

/// Parts of the work that a run of steps without state is worth a node of its own for, and that one with
/// state is cut into, for each thread.
const WORTH: f64 = 0.1;
const PIECES: f64 = 4.0;

impl Known<'_> {
    fn cost(&self, steps: &Range<usize>) -> f64 {
        self.costs[steps.clone()].iter().sum()
    }

    fn all(&self) -> Range<usize> {
        0..self.costs.len()
    }

    /// Whether all steps begin anew with each batch.
    pub(super) fn is_free(&self) -> bool {
        self.free.iter().zip(self.outside).all(|(free, outside)| *free || *outside)
    }

    /// Stretches without state for all threads at once, and the others in pieces small enough to be dealt
    /// out evenly.
    pub(super) fn stretches(&self, threads: usize) -> Vec<Segment> {
        if self.is_free() {
            return vec![Segment::new(self.all(), true)];
        }
        let total = self.cost(&self.all());
        let mut segments = Vec::new();
        for (steps, free) in self.runs(total * WORTH) {
            if free {
                segments.push(Segment::new(steps, true));
            } else {
                let most = total / (threads as f64 * PIECES);
                segments.extend(self.pieces(steps, most).into_iter().map(|steps| Segment::new(steps, false)));
            }
        }
        segments
    }

    /// Runs of steps with and without state, of which those without are worth so much.
    fn runs(&self, worth: f64) -> Vec<(Range<usize>, bool)> {
        let mut runs: Vec<(Range<usize>, bool)> = Vec::new();
        let mut push = |steps: Range<usize>, free: bool| match runs.last_mut() {
            Some((last, was)) if *was == free => last.end = steps.end,
            _ => runs.push((steps, free)),
        };
        let is_free = |step: usize| self.free[step] || self.outside[step];
        let mut from = 0;
        while from < self.costs.len() {
            let free = is_free(from);
            let to = (from..self.costs.len()).find(|step| is_free(*step) != free).unwrap_or(self.costs.len());
            push(from..to, free && self.cost(&(from..to)) >= worth);
            from = to;
        }
        runs
    }

    /// Neighbours that together cost no more than so much, or one that costs more.
    fn pieces(&self, steps: Range<usize>, most: f64) -> Vec<Range<usize>> {
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for step in steps {
            match pieces.last_mut() {
                Some(last) if self.cost(&(last.start..step + 1)) <= most => last.end = step + 1,
                _ => pieces.push(step..step + 1),
            }
        }
        pieces
    }

    /// A segment for each filter.
    pub(super) fn filters(&self) -> Vec<Segment> {
        self.all().map(|step| Segment::new(step..step + 1, false)).collect()
    }

    /// As many segments as threads, the dearest of which is as cheap as can be.
    pub(super) fn balanced(&self, threads: usize) -> Vec<Segment> {
        let (mut low, mut high) = (0.0, self.cost(&self.all()));
        for _ in 0..50 {
            let most = (low + high) / 2.0;
            if self.pieces(self.all(), most).len() <= threads { high = most } else { low = most }
        }
        self.pieces(self.all(), high).into_iter().map(|steps| Segment::new(steps, false)).collect()
    }
}
