//! Comparing by several processes: process 0 divides the pairs into shares, and joins what is found of them.

use std::ops::{ControlFlow, Range};

use serde::{Deserialize, Serialize};
use thalweg::Options;
use thalweg_cluster::{Cluster, Error};

use crate::compare::BATCH;
use crate::wavefront::Watch;
use crate::{Aligner, Compare, Found, Gap, Sequence, compare};

/// Minimum updates of cells of a share that could have more: some milliseconds of computation.
const MIN_UPDATES: u128 = 1 << 26;

/// Shares for each process, at least, if they have [`MIN_UPDATES`]: a process that ends last computes few of them alone.
const SHARES: u128 = 16;

/// Maximum number of pairs of a share with several queries or a part of the targets. What is found of them is in memory at once.
const MAX_PAIRS: usize = BATCH.0;

/// What is compared: all queries with all targets.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a> {
    /// Computes scores and alignments.
    pub aligner: &'a Aligner,
    /// The sequences to look for.
    pub queries: &'a [Sequence],
    /// The sequences to look in.
    pub targets: &'a [Sequence],
}

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Compares all queries with all targets by the processes of a cluster, each with all threads of its aligner, and calls
/// `sink` in process 0 with what is reported of each query, in order: as [`compare`] does, whatever the number of processes.
/// `sink` ends the run early by [`ControlFlow::Break`]. Returns whether this is process 0.
///
/// `pairs` is called while the run goes on, so that it may use a [shared](Cluster::shared) value: in process 0 first, and in
/// the others only if it has succeeded there. All processes must have the same sequences and scores and the same `how`: what these
/// follow from belongs in the [job](Cluster::job).
/// `watch` is asked in each process whether the run is to stop, and counts the cells of all processes in process 0.
///
/// # Errors
/// `pairs`, `compare` or `sink` fails in a process, a watch stops the computation, or a process could not be reached.
pub fn compare_on<'env>(
    cluster: &Cluster,
    pairs: impl Fn() -> Result<Pairs<'env>, Cause> + Send + Sync,
    how: &Compare,
    watch: &dyn Watch,
    mut sink: impl FnMut(Found) -> Result<ControlFlow<()>, Cause> + Send,
) -> Result<bool, Error> {
    let processes = cluster.processes();
    let shares = || -> Box<dyn Iterator<Item = Result<Share, Cause>> + Send> {
        match pairs() {
            Ok(pairs) => Box::new(Shares::new(pairs, processes).map(Ok)),
            Err(cause) => Box::new(std::iter::once(Err(cause))),
        }
    };
    let compare_share = |share: Share| -> Result<Part, Cause> {
        let watch = Stops { watch, cluster };
        match share.compare(pairs()?, how, &watch) {
            // Nothing becomes of it.
            Err(crate::Error::Stopped) if cluster.is_ending() => Ok(Part::default()),
            part => Ok(part?),
        }
    };
    let (mut joined, best) = (None, how.best);
    let write = move |part: Part| -> Result<ControlFlow<()>, Cause> {
        watch.cells(part.cells);
        for found in part.found {
            let found = match joined.take() {
                None => found,
                Some(before) => join(before, found, best),
            };
            if !part.is_whole {
                joined = Some(found);
            } else if sink(found)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    };
    let compared = cluster
        .clone()
        .batch(1)
        .try_from_iter(std::iter::once(()).flat_map(|()| shares()))
        .try_par_map(compare_share)
        .named("align")
        .end(|parts| parts.for_each(write))
        // The threads are those of the aligner.
        .run_with(&Options::new().threads(1))?;
    Ok(compared.is_some())
}

/// Pairs that one process compares: some queries with all targets, or one with some.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Share {
    queries: Range<usize>,
    targets: Range<usize>,
}

/// What is found of a share.
#[derive(Default, Serialize, Deserialize)]
struct Part {
    found: Vec<Found>,
    /// Nothing follows of its queries.
    is_whole: bool,
    cells: u64,
}

impl Share {
    fn compare(self, pairs: Pairs<'_>, how: &Compare, watch: &dyn Watch) -> crate::Result<Part> {
        let is_whole = self.targets.end == pairs.targets.len();
        let (queries, targets) = (&pairs.queries[self.queries.clone()], &pairs.targets[self.targets.clone()]);
        let mut found = Vec::new();
        compare(pairs.aligner, queries, targets, how, watch, |of| {
            found.push(of);
            Ok(())
        })?;
        for of in &mut found {
            of.query += self.queries.start;
            of.hits.iter_mut().for_each(|hit| hit.target += self.targets.start);
        }
        let letters = |all: &[Sequence]| all.iter().map(|one| one.letters.len() as u64).sum::<u64>();
        Ok(Part { found, is_whole, cells: letters(queries).saturating_mul(letters(targets)) })
    }
}

/// What is reported of a query and some targets, and of the same query and targets behind these.
fn join(mut before: Found, more: Found, best: bool) -> Found {
    before.hits.extend(more.hits);
    if best && let [first, second] = &before.hits[..] {
        // Of equal scores the first counts.
        let worse = usize::from(first.score >= second.score);
        before.hits.remove(worse);
    }
    before
}

/// Stops as another watch does, and when the run ends. It counts nothing.
struct Stops<'a> {
    watch: &'a dyn Watch,
    cluster: &'a Cluster,
}

impl Watch for Stops<'_> {
    fn stopped(&self) -> bool {
        self.watch.stopped() || self.cluster.is_ending()
    }
}

/// Divides all pairs into shares of about equal work, in the order of what is reported.
struct Shares<'a> {
    pairs: Pairs<'a>,
    /// The lengths of the targets, added, and their squares.
    letters: (u128, u128),
    /// The work of a share.
    work: u128,
    /// The first query that is not in a share, and the first such target of it.
    next: (usize, usize),
}

impl<'a> Shares<'a> {
    fn new(pairs: Pairs<'a>, processes: usize) -> Shares<'a> {
        let sum = |power| pairs.targets.iter().map(|one| (one.letters.len() as u128).pow(power)).sum();
        let mut shares = Shares { pairs, letters: (sum(1), sum(2)), work: 0, next: (0, 0) };
        let all: u128 = pairs.queries.iter().map(|query| shares.with_all(query)).sum();
        shares.work = (all / (SHARES * processes as u128)).max(MIN_UPDATES);
        shares
    }

    /// The work of a query with all targets: see [`Aligner::work`].
    fn with_all(&self, query: &Sequence) -> u128 {
        let (query, (letters, squares)) = (query.letters.len() as u128, self.letters);
        match self.pairs.aligner.scoring().gap() {
            Gap::Affine { .. } => query * letters,
            Gap::Cost(_) => (query * query * letters + query * squares) / 2,
        }
    }

    /// The work of a query with one target.
    fn with_one(&self, query: &Sequence, target: &Sequence) -> u128 {
        self.pairs.aligner.work(query.letters.len(), target.letters.len()).updates
    }
}

/// How many of these have at most this work and number, but at least one if there are any.
fn count(works: impl Iterator<Item = u128>, most: usize, work: u128) -> usize {
    let mut sum = 0u128;
    let fits = |(at, more): &(usize, u128)| {
        sum = sum.saturating_add(*more);
        *at == 0 || (*at < most && sum <= work)
    };
    works.enumerate().take_while(fits).count()
}

impl Iterator for Shares<'_> {
    type Item = Share;

    fn next(&mut self) -> Option<Share> {
        let Pairs { queries, targets, .. } = self.pairs;
        let (query, target) = self.next;
        let one = queries.get(query)?;
        let is_divided = target > 0 || targets.len() > MAX_PAIRS || self.with_all(one) > self.work;
        if is_divided {
            let works = targets[target..].iter().map(|target| self.with_one(one, target));
            let end = target + count(works, MAX_PAIRS, self.work);
            self.next = if end == targets.len() { (query + 1, 0) } else { (query, end) };
            return Some(Share { queries: query..query + 1, targets: target..end });
        }
        let works = queries[query..].iter().map(|query| self.with_all(query));
        let end = query + count(works, MAX_PAIRS / targets.len().max(1), self.work);
        self.next = (end, 0);
        Some(Share { queries: query..end, targets: 0..targets.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scoring;

    fn sequences(lengths: &[usize]) -> Vec<Sequence> {
        let sequence = |length: &usize| Sequence { letters: vec![b'A'; *length], ..Sequence::default() };
        lengths.iter().map(sequence).collect()
    }

    fn shares(queries: &[usize], targets: &[usize], processes: usize) -> Vec<Share> {
        let aligner = Aligner::new(Scoring::dna(2, 3, Gap::Affine { open: 5, extend: 2 }).unwrap());
        let (queries, targets) = (sequences(queries), sequences(targets));
        let pairs = Pairs { aligner: &aligner, queries: &queries, targets: &targets };
        Shares::new(pairs, processes).collect()
    }

    #[test]
    fn shares_have_all_pairs_once_and_in_order() {
        let many = [7; 5000];
        let long = [40_000, 10, 0, 40_000, 30_000];
        for (queries, targets, count) in [
            (&[][..], &[5][..], 0..=0),
            (&[5, 0, 9], &[], 1..=1),
            (&[5, 0, 9], &[0, 4], 1..=1),
            (&many, &[5], 2..=2),
            (&[5, 6], &many, 4..=4),
            (&long, &long, 13..=13),
            (&[1 << 20], &[1 << 20], 1..=1),
        ] {
            let shares = shares(queries, targets, 2);
            assert!(count.contains(&shares.len()), "{} {} {}", queries.len(), targets.len(), shares.len());
            let mut next = (0, 0);
            for Share { queries: some, targets: of } in shares {
                assert_eq!((some.start, of.start), next);
                assert!(some.end > some.start && (some.len() == 1 || of.len() == targets.len()));
                next = if of.end == targets.len() { (some.end, 0) } else { (some.start, of.end) };
            }
            assert_eq!(next, (queries.len(), 0));
        }
    }
}
