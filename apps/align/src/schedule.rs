//! How the blocks of a pair are executed.

use thalweg::embed::tasks::MemberCounts;
use thalweg::machine::Places;
use thalweg::tasks::{Colour, SearchSettings, StaticGraph, TaskOptions};

/// How the blocks of a pair are executed by several threads. No schedule changes a result.
///
/// ```
/// use thalweg_align::{Aligner, Gap, Schedule, Scoring};
///
/// let aligner = Aligner::new(Scoring::dna(2, 3, Gap::Affine { open: 5, extend: 2 })?).block(4);
/// let (query, target) = (b"ACGTACGTAC", b"TTACGTCGTACTT");
/// assert_eq!(aligner.clone().schedule(Schedule::Loops).score(query, target)?, 13);
/// assert_eq!(aligner.schedule(Schedule::RandomTasks).score(query, target)?, 13);
/// # Ok::<(), thalweg_align::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schedule {
    /// A parallel loop for each anti-diagonal, in which a thread that is done steals half of what another one has left.
    Loops,
    /// The same loops without stealing: what a thread has begun stays with it.
    StaticLoops,
    /// A graph of tasks: a block waits for its two neighbours alone. A thread prefers blocks of its own rows, of which the
    /// threads have every second, third and so on.
    #[default]
    Tasks,
    /// The same graph, in which a thread steals any block.
    RandomTasks,
}

/// Blocks as a grid of which each needs the one above and the one at the left.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    pub rows: usize,
    pub columns: usize,
    /// The threads that may work at once.
    pub members: usize,
}

impl Blocks {
    /// The most blocks of a graph: a node takes some tens of bytes.
    const MOST: usize = 1 << 24;

    /// Whether there are few enough blocks for a graph.
    pub fn fit_a_graph(&self) -> bool {
        self.rows.saturating_mul(self.columns) <= Blocks::MOST
    }

    /// The graph of the blocks, whose numbers are by rows.
    pub fn graph(&self) -> StaticGraph {
        let (rows, columns) = (self.rows as u32, self.columns as u32);
        let graph = StaticGraph::from_successors(rows * columns, |node, after| {
            let (row, column) = (node / columns, node % columns);
            after.extend((column + 1 < columns).then_some(node + 1));
            after.extend((row + 1 < rows).then_some(node + columns));
        });
        graph.colours(|node| Some(Colour(self.colour((node / columns) as usize) as u32)))
    }

    /// The member that prefers the blocks of a row.
    fn colour(&self, row: usize) -> usize {
        row % self.members
    }

    /// Counts the accesses of a block, as section 5.5.2 of *Locality-aware concurrency platforms* does: to the block and to
    /// those that it needs.
    pub fn count(
        &self,
        (row, column): (usize, usize),
        member: usize,
        domains: &[usize],
        to: &mut MemberCounts,
    ) {
        let domain = |member: usize| domains.get(member).copied().ok_or(member);
        let above = row.checked_sub(1);
        let left = (column > 0).then_some(row);
        for row in [Some(row), above, left].into_iter().flatten() {
            *to.accesses_mut() += 1;
            *to.remote_mut() += u64::from(domain(self.colour(row)) != domain(member));
        }
        *to.nodes_mut() += 1;
    }
}

/// The options of a run of a graph.
pub(crate) fn options(schedule: Schedule, members: usize, places: Option<&Places>) -> TaskOptions {
    let options = TaskOptions::new().members(members);
    let options = match places {
        Some(places) => options.places(places),
        None => options,
    };
    match schedule {
        Schedule::RandomTasks => options.search(SearchSettings::RANDOM),
        _ => options,
    }
}
