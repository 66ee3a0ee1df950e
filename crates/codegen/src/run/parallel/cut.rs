//! Segments: ranges of consecutive steps that one node of the engine runs.

use std::ops::Range;

/// Steps that are run together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    pub(super) steps: Range<usize>,
    /// Stateless: any number of batches run at a time.
    pub(super) parallel: bool,
    /// Roots that only this segment uses.
    pub(super) own: Vec<usize>,
}

impl Segment {
    pub(super) fn new(steps: Range<usize>, parallel: bool) -> Segment {
        Segment { steps, parallel, own: Vec::new() }
    }
}

/// The properties of steps that the partition depends on.
pub(super) struct Known<'a> {
    /// Of each step: whether it is stateless (`free`), and whether it accesses files (`outside`). Steps that
    /// access files count as stateless and cost nothing.
    pub(super) free: &'a [bool],
    pub(super) outside: &'a [bool],
    /// The cost of a steady state of each step.
    pub(super) costs: &'a [f64],
}

/// The least part of the work for which a stateless run becomes a segment; and the number of pieces for each
/// thread into which a stateful run is cut.
const WORTH: f64 = 0.1;
const PIECES: f64 = 4.0;

impl Known<'_> {
    fn cost(&self, steps: &Range<usize>) -> f64 {
        self.costs[steps.clone()].iter().sum()
    }

    fn all(&self) -> Range<usize> {
        0..self.costs.len()
    }

    /// Whether all steps are stateless or access files.
    pub(super) fn is_free(&self) -> bool {
        self.free.iter().zip(self.outside).all(|(free, outside)| *free || *outside)
    }

    /// Stateless stretches, each for all threads at once; and the other steps in pieces small enough for an
    /// even distribution.
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

    /// Runs of steps with and without state; a stateless run that costs less than `worth` counts as stateful.
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

    /// Cuts neighbours into pieces that cost at most `most`, or are one step that costs more.
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

    /// At most as many segments as threads, with the least possible greatest cost.
    pub(super) fn balanced(&self, threads: usize) -> Vec<Segment> {
        let (mut low, mut high) = (0.0, self.cost(&self.all()));
        for _ in 0..50 {
            let most = (low + high) / 2.0;
            if self.pieces(self.all(), most).len() <= threads { high = most } else { low = most }
        }
        self.pieces(self.all(), high).into_iter().map(|steps| Segment::new(steps, false)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which steps are free and which are outside, by letters: `f`, `o`, and `s` for stateful ones.
    fn steps(kinds: &str) -> (Vec<bool>, Vec<bool>) {
        let are = |kind| kinds.chars().map(|step| step == kind).collect();
        (are('f'), are('o'))
    }

    /// The first and last step of each segment, and a `p` if it is parallel.
    fn shown(segments: &[Segment]) -> String {
        let one = |segment: &Segment| {
            let Range { start, end } = segment.steps;
            format!("{start}-{}{}", end - 1, if segment.parallel { "p" } else { "" })
        };
        segments.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn stretches(kinds: &str, costs: &[f64], threads: usize) -> String {
        let (free, outside) = steps(kinds);
        shown(&Known { free: &free, outside: &outside, costs }.stretches(threads))
    }

    /// The least greatest cost of this many runs of neighbours, by exhaustive search.
    fn least(costs: &[f64], runs: usize) -> f64 {
        if runs == 1 {
            return costs.iter().sum();
        }
        let first = |cut: usize| costs[..cut].iter().sum::<f64>().max(least(&costs[cut..], runs - 1));
        (0..=costs.len()).map(first).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn stateless_steps_and_files_form_one_stretch() {
        assert_eq!(stretches("offo", &[0.0, 5.0, 1.0, 0.0], 2), "0-3p");
        assert_eq!(stretches("oo", &[0.0, 0.0], 2), "0-1p");
    }

    #[test]
    fn a_stateless_stretch_is_a_segment_if_it_costs_enough() {
        assert_eq!(stretches("sfs", &[40.0, 20.0, 40.0], 1), "0-0 1-1p 2-2");
        // A tenth of the work is enough, less is not.
        assert_eq!(stretches("sfs", &[45.0, 10.0, 45.0], 1), "0-0 1-1p 2-2");
        assert_eq!(stretches("sfs", &[46.0, 8.0, 46.0], 1), "0-0 1-1 2-2");
        // Together they cost enough, with the file access between them.
        assert_eq!(stretches("sfofs", &[44.0, 6.0, 0.0, 6.0, 44.0], 1), "0-0 1-3p 4-4");
        // A step that costs nothing joins its neighbour.
        assert_eq!(stretches("sfsss", &[4.0, 0.0, 4.0, 4.0, 4.0], 1), "0-1 2-2 3-3 4-4");
    }

    #[test]
    fn stateful_steps_are_cut_into_four_pieces_for_each_thread() {
        assert_eq!(stretches("ssssssss", &[1.0; 8], 1), "0-1 2-3 4-5 6-7");
        assert_eq!(stretches("ssssssss", &[1.0; 8], 2), "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7");
        // A step that costs more is a piece by itself.
        assert_eq!(stretches("sssss", &[1.0, 1.0, 9.0, 1.0, 1.0], 1), "0-1 2-2 3-4");
    }

    #[test]
    fn a_segment_for_each_filter_runs_one_batch_at_a_time() {
        let (free, outside) = steps("ofso");
        let known = Known { free: &free, outside: &outside, costs: &[1.0; 4] };
        assert_eq!(shown(&known.filters()), "0-0 1-1 2-2 3-3");
        assert!(!known.is_free());
    }

    #[test]
    fn the_greatest_cost_of_balanced_segments_is_minimal() {
        let mut seed = 1_u32;
        for length in 1..9 {
            let costs: Vec<f64> = (0..length)
                .map(|_| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    f64::from(seed >> 28)
                })
                .collect();
            let none = vec![false; length];
            let known = Known { free: &none, outside: &none, costs: &costs };
            for threads in 1..5 {
                let segments = known.balanced(threads);
                assert!(segments.len() <= threads, "{costs:?}: {}", shown(&segments));
                let (first, last) = (segments[0].steps.start, segments[segments.len() - 1].steps.end);
                assert_eq!((first, last), (0, length));
                assert!(segments.windows(2).all(|pair| pair[0].steps.end == pair[1].steps.start));
                let dearest = segments.iter().map(|segment| known.cost(&segment.steps)).fold(0.0, f64::max);
                let least = least(&costs, threads);
                assert!(dearest <= least * (1.0 + 1e-9), "{costs:?} for {threads}: {}", shown(&segments));
            }
        }
    }
}
