//! Finds the gliders and other ships that leave a pattern on a plane.
//!
//! Two generations of a plane, `period` apart, prove that it repeats for ever except for ships that leave, if
//! - each cluster of cells of the earlier one is in the later one, or is a *ship*: alone it becomes itself, in another place;
//! - the later one has nothing else but these ships in their new places;
//! - each ship moves away from the rectangle around the rest, and from all other ships that move differently.
//!
//! Cells at a distance of more than two have no common neighbour, so clusters that far apart do not affect each other within
//! a generation. Between the two generations a cluster leaves its rectangle by at most `period / 2` cells, since it has to
//! return; so a distance of `period + 3` keeps two of them apart.

use std::collections::HashSet;

use super::{Life, Pattern, Rule};

type Cell = (i64, i64);

/// The bytes that a ship may take.
const SHIP_BYTES: usize = 1 << 22;

/// The clusters of cells of a generation.
#[derive(Clone, Debug)]
pub(super) struct Clusters {
    rule: Rule,
    clusters: Vec<Vec<Cell>>,
}

/// A rectangle: left, top, right, bottom.
#[derive(Clone, Copy, Debug)]
struct Box4 {
    low: [i64; 2],
    high: [i64; 2],
}

#[derive(Clone, Copy, Debug)]
struct Ship {
    bounds: Box4,
    /// The cells that it moves to the right and down in a period.
    moves: [i64; 2],
}

impl Clusters {
    /// The clusters of a plane: cells of two clusters have a distance of more than two.
    pub fn new(life: &Life) -> Self {
        let cells = life.cells();
        let mut left: HashSet<Cell> = cells.iter().copied().collect();
        let mut clusters = Vec::new();
        for cell in cells {
            if !left.remove(&cell) {
                continue;
            }
            let mut cluster = vec![cell];
            let mut at = 0;
            while let Some((x, y)) = cluster.get(at).copied() {
                for near in (y - 2..=y + 2).flat_map(|y| (x - 2..=x + 2).map(move |x| (x, y))) {
                    if left.remove(&near) {
                        cluster.push(near);
                    }
                }
                at += 1;
            }
            cluster.sort_unstable_by_key(|(x, y)| (*y, *x));
            clusters.push(cluster);
        }
        Clusters { rule: life.rule(), clusters }
    }

    /// The number of ships, if `later` proves that the plane repeats but for ships that leave.
    pub fn ships_that_leave(&self, later: &Life, period: u64) -> Option<usize> {
        let mut unexplained: HashSet<Cell> = later.cells().into_iter().collect();
        let stays = |cluster: &&Vec<Cell>| cluster.iter().all(|(x, y)| later.is_alive(*x, *y));
        let (rest, moving): (Vec<_>, Vec<_>) = self.clusters.iter().partition(stays);
        let mut take = |cell: Cell| unexplained.remove(&cell).then_some(());
        rest.iter().flat_map(|cluster| cluster.iter()).try_for_each(|cell| take(*cell))?;
        let mut ships = Vec::new();
        for cluster in moving {
            let [right, down] = moves(cluster, self.rule, period)?;
            cluster.iter().try_for_each(|(x, y)| take((x + right, y + down)))?;
            ships.push(Ship { bounds: Box4::around(cluster.iter())?, moves: [right, down] });
        }
        let margin = i64::try_from(period).ok()? + 3;
        let rest = Box4::around(rest.into_iter().flatten()).map(|bounds| Ship { bounds, moves: [0, 0] });
        let apart = ships.iter().enumerate().all(|(at, ship)| {
            let others = ships[..at].iter().filter(|other| other.moves != ship.moves);
            others.chain(&rest).all(|other| ship.never_meets(other, margin))
        });
        (unexplained.is_empty() && apart).then_some(ships.len())
    }
}

/// How far a cluster without neighbours moves in a period, if it is then the same.
fn moves(cluster: &[Cell], rule: Rule, period: u64) -> Option<[i64; 2]> {
    let pattern = Pattern::of_cells(cluster, rule);
    let mut alone = Life::plane(&pattern, SHIP_BYTES).ok()?;
    let before = alone.cells();
    alone.run(period).ok()?;
    let after = alone.cells();
    let (first, last) = (before.first()?, after.first()?);
    let (right, down) = (last.0 - first.0, last.1 - first.1);
    let same = before.len() == after.len()
        && before.iter().zip(&after).all(|(a, b)| (a.0 + right, a.1 + down) == (b.0, b.1));
    same.then_some([right, down])
}

impl Box4 {
    fn around<'c>(cells: impl Iterator<Item = &'c Cell>) -> Option<Self> {
        cells.map(|(x, y)| Box4 { low: [*x, *y], high: [*x, *y] }).reduce(|a, b| Box4 {
            low: [a.low[0].min(b.low[0]), a.low[1].min(b.low[1])],
            high: [a.high[0].max(b.high[0]), a.high[1].max(b.high[1])],
        })
    }
}

impl Ship {
    /// Whether the two are apart along an axis and do not approach along it.
    fn never_meets(&self, other: &Ship, margin: i64) -> bool {
        (0..2).any(|axis| {
            let beyond = |a: &Ship, b: &Ship| {
                a.bounds.low[axis] > b.bounds.high[axis] + margin && a.moves[axis] >= b.moves[axis]
            };
            beyond(self, other) || beyond(other, self)
        })
    }
}
