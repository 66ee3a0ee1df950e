//! Groups of sequences of similar length, which are compared with another sequence at once.

use thalweg::Loop;

use crate::affine::Tables;
use crate::compare::Batch;
use crate::{Compare, Result};

/// Sequences in groups, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    groups: Vec<Vec<usize>>,
    /// What comparing a letter with all sequences costs, in cells of the kernel for one pair.
    cost: usize,
    letters: usize,
}

impl Groups {
    /// Puts sequences into groups, but for those that take less time one by one.
    pub fn new<'a>(sequences: impl Iterator<Item = &'a [u8]>, lanes: usize) -> Groups {
        let mut lengths: Vec<(usize, usize)> = sequences.map(<[u8]>::len).enumerate().collect();
        lengths.sort_by_key(|(_, length)| std::cmp::Reverse(*length));
        let mut rest = &lengths[..];
        let mut made =
            Groups { letters: lengths.iter().map(|(_, length)| length).sum(), ..Groups::default() };
        while let [(_, longest), after @ ..] = rest {
            let (group, others) = rest.split_at(lanes.min(rest.len()));
            let letters = group.iter().map(|(_, length)| length).sum();
            if Tables::pay(*longest, letters) {
                made.groups.push(group.iter().map(|(at, _)| *at).collect());
                made.cost += Tables::cost(*longest);
                rest = others;
            } else {
                made.cost += longest;
                rest = after;
            }
        }
        made
    }

    /// What comparing the sequences with others costs, whose letters in sum are given.
    fn cost(&self, others: usize, letters: usize, threads: usize) -> u128 {
        // If there are fewer groups than threads, some threads have none.
        let items = (self.groups.len() * others).max(1);
        let rounded = items.next_multiple_of(threads);
        self.cost as u128 * letters as u128 * rounded as u128 / items as u128
    }
}

/// The scores of the pairs that are computed in groups, by query and then by target. The others are `None`.
///
/// # Errors
/// The watch stops the computation, or the scores of a pair may exceed 32 bits.
pub(crate) fn scores(batch: &Batch<'_>, how: &Compare) -> Result<Vec<Option<i32>>> {
    let mut scores = vec![None; batch.queries.len() * batch.targets.len()];
    let Some((tables, of_targets)) = batch.groups else { return Ok(scores) };
    let queries: Vec<&[u8]> = batch.queries.iter().map(|query| query.codes()).collect();
    let targets: Vec<&[u8]> = batch.targets.iter().map(|target| &target[..]).collect();
    let of_queries = Groups::new(queries.iter().copied(), tables.lanes());
    let threads = batch.aligner.most_threads();
    let (by_target, by_query) = (
        of_targets.cost(queries.len(), of_queries.letters, threads),
        of_queries.cost(targets.len(), of_targets.letters, threads),
    );
    if by_target.min(by_query) >= of_queries.letters as u128 * of_targets.letters as u128 {
        return Ok(scores);
    }
    let has_targets = by_target <= by_query;
    let (groups, ones, many) = match has_targets {
        true => (&of_targets.groups, &queries, &targets),
        false => (&of_queries.groups, &targets, &queries),
    };
    let pair = |one: usize, other: usize| if has_targets { (one, other) } else { (other, one) };
    let item = |at: usize| {
        let (group, one) = (&groups[at / ones.len()], at % ones.len());
        let sequences: Vec<&[u8]> = group.iter().map(|other| many[*other]).collect();
        for other in &sequences {
            batch.aligner.check(ones[one].len(), other.len())?;
        }
        let found = tables.scores(ones[one], &sequences, batch.watch)?;
        // The cells of the others are counted when their pairs are computed.
        let done =
            sequences.iter().zip(&found).filter(|(_, score)| score.is_some_and(|score| !how.aligns(score)));
        batch.watch.cells(done.map(|(other, _)| (ones[one].len() * other.len()) as u64).sum());
        Ok(found)
    };
    let items = Loop::new().grain(1).members(threads).collect(groups.len() * ones.len(), item);
    for (at, found) in items.into_iter().enumerate() {
        let (group, one) = (&groups[at / ones.len()], at % ones.len());
        for (other, score) in group.iter().zip(found?) {
            let (query, target) = pair(one, *other);
            scores[query * targets.len() + target] = score;
        }
    }
    Ok(scores)
}
