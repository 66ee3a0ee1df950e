//! All queries with all targets.

use thalweg::Loop;

use crate::affine::{Tables, memory_of_lanes};
use crate::aligner::Query;
use crate::groups::{self, Groups};
use crate::wavefront::{Watch, Wavefront};
use crate::{Aligner, Alignment, Error, Gap, Result, Sequence, Work};

/// The pairs and the letters of queries after which a batch ends.
pub(crate) const BATCH: (usize, usize) = (4096, 1 << 20);

/// Which pairs are reported, and what of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compare {
    /// Only the target with the highest score of each query; of several, the first.
    pub best: bool,
    /// Only pairs with at least this score. Pairs with score 0 are never reported.
    pub least: i32,
    /// Whether alignments are computed, besides scores.
    pub align: bool,
}

impl Compare {
    /// The least score that is reported.
    fn least(&self) -> i32 {
        self.least.max(1)
    }

    /// Whether a pair with this score is aligned when all pairs are compared.
    pub(crate) fn aligns(&self, score: i32) -> bool {
        self.align && !self.best && score >= self.least()
    }

    /// Whether few pairs may be aligned, so that all scores are computed before.
    fn scores_first(&self) -> bool {
        !self.align || self.best || self.least > 1
    }
}

/// A pair that is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Hit {
    /// The number of the target.
    pub target: usize,
    /// The score.
    pub score: i32,
    /// The alignment, if it is computed.
    pub alignment: Option<Alignment>,
}

/// The pairs of a query that are reported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cluster", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Found {
    /// The number of the query.
    pub query: usize,
    /// The pairs, by target.
    pub hits: Vec<Hit>,
}

/// What all pairs take: cells and updates in sum, and an upper bound of the memory at a time.
pub fn work(aligner: &Aligner, compare: &Compare, queries: &[Sequence], targets: &[Sequence]) -> Work {
    let length = |sequence: &Sequence| sequence.letters.len();
    let sum = |all: &[Sequence], power| all.iter().map(|one| (length(one) as u128).pow(power)).sum::<u128>();
    let longest = |all: &[Sequence]| all.iter().map(length).max().unwrap_or(0);
    let cells = sum(queries, 1) * sum(targets, 1);
    let (query, target) = (longest(queries), longest(targets));
    let affine = matches!(aligner.scoring().gap(), Gap::Affine { .. });
    let updates = match affine {
        true => cells,
        false => (sum(queries, 2) * sum(targets, 1) + sum(queries, 1) * sum(targets, 2)) / 2,
    };
    // A batch of queries has profiles: a number of up to 4 bytes for each letter and code, or a byte with a margin around the
    // letters that is up to five times as large, or both.
    let letters = (sum(queries, 1) as u64).min((BATCH.1 + query) as u64);
    let profiles = if affine { 10 * letters * aligner.scoring().codes() as u64 } else { 0 };
    let pair = match affine && !compare.align {
        true => 16 * (query + target) as u64 + aligner.graph_memory(query, target),
        false => aligner.work(query, target).memory,
    };
    let at_once = aligner.most_threads().min(queries.len().saturating_mul(targets.len())) as u64;
    let lanes = memory_of_lanes(query, target).max(memory_of_lanes(target, query));
    let pair = if affine { pair.max(lanes) } else { pair };
    let memory = pair.saturating_mul(at_once).saturating_add(profiles + sum(targets, 1) as u64 + letters);
    Work { cells, updates, memory }
}

/// Aligns all queries with all targets, and calls `sink` with what is reported of each query, in order.
///
/// Pairs are taken in batches. Where sequences of similar length are many, their scores are computed in vectors with a lane for
/// each. Of the other pairs, one that has a large part of the cells is computed by all threads, block by block; what is left is divided among the
/// threads. The result does not depend on it.
///
/// # Errors
/// `watch` stops the computation, the scores of a pair may exceed 32 bits, or `sink` fails.
pub fn compare(
    aligner: &Aligner,
    queries: &[Sequence],
    targets: &[Sequence],
    compare: &Compare,
    watch: &dyn Watch,
    mut sink: impl FnMut(Found) -> Result<()>,
) -> Result<()> {
    let codes = |sequence: &Sequence| aligner.scoring().alphabet().codes(&sequence.letters);
    let settings = Loop::new().members(aligner.most_threads());
    let target_codes: Vec<_> = settings.collect(targets.len(), |at| codes(&targets[at]));
    let tables = Tables::new(aligner.scoring()).filter(|_| compare.scores_first());
    let groups = tables.map(|tables| {
        let groups = Groups::new(target_codes.iter().map(|codes| &codes[..]), tables.lanes());
        (tables, groups)
    });
    let mut next = 0;
    while next < queries.len() {
        let count = batch(&queries[next..], targets.len());
        let batch = Batch {
            aligner,
            queries: queries[next..next + count].iter().map(|query| Query::new(codes(query))).collect(),
            targets: &target_codes,
            groups: groups.as_ref().map(|(tables, groups)| (tables, groups)),
            watch,
        };
        for (at, hits) in batch.hits(compare)?.into_iter().enumerate() {
            sink(Found { query: next + at, hits })?;
        }
        next += count;
    }
    Ok(())
}

/// The number of queries of the next batch.
fn batch(queries: &[Sequence], targets: usize) -> usize {
    let mut letters = 0;
    let fits = |(at, query): &(usize, &Sequence)| {
        let begins = *at == 0 || (at * targets < BATCH.0 && letters < BATCH.1);
        letters += query.letters.len();
        begins
    };
    queries.iter().enumerate().take_while(fits).count()
}

/// Queries that are compared with all targets at a time.
pub(crate) struct Batch<'a> {
    pub aligner: &'a Aligner,
    pub queries: Vec<Query>,
    pub targets: &'a [Vec<u8>],
    /// The targets in groups, if scores are computed so.
    pub groups: Option<(&'a Tables, &'a Groups)>,
    pub watch: &'a dyn Watch,
}

/// A query of the batch, a target, and the least score.
type Pair = (usize, usize, i32);

impl Batch<'_> {
    /// What is reported of each query.
    fn hits(&self, compare: &Compare) -> Result<Vec<Vec<Hit>>> {
        let targets = self.targets.len();
        let scores = groups::scores(self, compare)?;
        let pair = |at: usize| (at / targets, at % targets, compare.least());
        let is_open = |score: &Option<i32>| score.is_none_or(|score| compare.aligns(score));
        let open: Vec<Pair> = (0..scores.len()).filter(|at| is_open(&scores[*at])).map(pair).collect();
        let mut found = self.run(&open, compare.align && !compare.best)?.into_iter();
        let mut hits: Vec<Vec<Hit>> = self.queries.iter().map(|_| Vec::new()).collect();
        for (at, score) in scores.into_iter().enumerate() {
            let (query, target, least) = pair(at);
            let hits = &mut hits[query];
            let hit = match score {
                Some(score) if !compare.aligns(score) => {
                    (score >= least).then_some(Hit { target, score, alignment: None })
                }
                _ => found.next().flatten(),
            };
            match hit {
                Some(hit) if compare.best && hits.first().is_some_and(|best| best.score >= hit.score) => {}
                Some(hit) if compare.best => *hits = vec![hit],
                hit => hits.extend(hit),
            }
        }
        if compare.best && compare.align {
            let best = hits.iter().enumerate();
            let best: Vec<Pair> =
                best.flat_map(|(query, hits)| hits.iter().map(move |hit| (query, hit.target, 1))).collect();
            for ((query, ..), hit) in best.iter().zip(self.run(&best, true)?) {
                hits[*query] = hit.into_iter().collect();
            }
        }
        Ok(hits)
    }

    /// Computes the pairs, of which those below their least score are `None`.
    fn run(&self, pairs: &[Pair], align: bool) -> Result<Vec<Option<Hit>>> {
        let cells = |(query, target, _): &Pair| {
            self.aligner.work(self.queries[*query].len(), self.targets[*target].len()).updates
        };
        let all: u128 = pairs.iter().map(cells).sum();
        let threads = self.aligner.most_threads();
        // Divided among the threads, a larger pair would keep one of them busy after the others have ended.
        let is_large =
            |pair: &&Pair| threads > 1 && cells(pair) * 4 * threads as u128 > all && cells(pair) > 1 << 20;
        let together: Vec<&Pair> = pairs.iter().filter(|pair| !is_large(pair)).collect();
        let wide = self.aligner.wavefront(self.watch);
        let one = Wavefront { threads: 1, ..wide };
        let settings = Loop::new().members(threads);
        let mut found =
            settings.collect(together.len(), |at| self.pair(together[at], align, one)).into_iter();
        let next = |pair: &Pair| match is_large(&pair) {
            true => self.pair(pair, align, wide),
            false => found.next().unwrap_or(Ok(None)),
        };
        pairs.iter().map(next).collect()
    }

    fn pair(
        &self,
        (query, target, least): &Pair,
        align: bool,
        wavefront: Wavefront<'_>,
    ) -> Result<Option<Hit>> {
        if self.watch.stopped() {
            return Err(Error::Stopped);
        }
        let codes = &self.targets[*target];
        let hit = |score, alignment| Hit { target: *target, score, alignment };
        if align {
            let found = self.aligner.align_codes(&self.queries[*query], codes, *least, wavefront)?;
            return Ok(found.map(|alignment| hit(alignment.score, Some(alignment))));
        }
        let score = self.aligner.score_codes(&self.queries[*query], codes, wavefront)?;
        Ok((score >= *least).then(|| hit(score, None)))
    }
}
