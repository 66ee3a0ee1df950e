//! The scores of a query's letters against each letter, in the order in which the kernels read them, and the choice of the kernel.

use std::ops::Range;
use std::sync::OnceLock;

use super::kernel::sweep;
use super::{Inflow, Strips};
use crate::Scoring;
use crate::number::{LANES, Number};

/// The least columns of a block in strips, whose memory and time have a part that does not depend on columns. (Only the last
/// block of a row may have fewer.)
///
/// The number of rows has no limit: striped vectors take less time for fewer than about 80 rows, by up to a third, but only if
/// several targets share their scores, which take longer to make than strips.
const LEAST_COLUMNS: usize = 64;

/// Scores of a query, by block of columns and letter of the target.
#[derive(Debug)]
pub(crate) struct Profile {
    /// `None` if scores or costs have more than 8 bits.
    bytes: Option<Bytes>,
    /// With more bits, when a block first needs it.
    more: OnceLock<More>,
}

/// Scores of 8 bits.
#[derive(Debug)]
enum Bytes {
    Strips(Vec<Strips>),
    /// Where there are no strips.
    Columns(Vec<Columns<i8>>),
}

/// Scores with as many bits as the values of any block need, relative to its corner.
#[derive(Debug)]
enum More {
    Narrow(Vec<Columns<i16>>),
    Wide(Vec<Columns<i32>>),
}

/// The scores of the columns of a block.
///
/// The kernel computes [`LANES`] cells of a row at once. They are not neighbours: lane `l` has the columns from `l *
/// steps` on, as in Farrar, "Striped Smith-Waterman speeds database searches six times over other SIMD
/// implementations", Bioinformatics 23 (2007).
#[derive(Debug)]
pub(crate) struct Columns<T> {
    /// The number of columns.
    pub count: usize,
    /// The vectors of a row.
    pub steps: usize,
    /// `steps` vectors for each letter. What follows the last column scores [`Number::LOWEST`].
    scores: Vec<[T; LANES]>,
}

/// A block: its column of blocks, the letters of its rows, and the costs of opening and extending a gap.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    pub column: usize,
    pub target: &'a [u8],
    pub costs: (i32, i32),
}

impl Profile {
    /// The profile of a query for blocks of `block` columns and rows.
    pub fn new(query: &[u8], scoring: &Scoring, block: usize) -> Profile {
        let bytes = fits_bytes(scoring).then(|| match strips(query, scoring, block) {
            Some(strips) => Bytes::Strips(strips),
            None => Bytes::Columns(columns(query, scoring, block)),
        });
        Profile { bytes, more: OnceLock::new() }
    }

    /// Computes a block with 8 bits, of which all values that enter it are below 256: see [`sweep`]. The best score is 255 if
    /// one may not fit. `None` if scores or costs do not.
    pub fn sweep_bytes(&self, block: Block<'_>, inflow: &mut Inflow) -> Option<i32> {
        let Block { column, target, costs } = block;
        Some(match self.bytes.as_ref()? {
            Bytes::Strips(strips) => strips[column].sweep::<i8>(target, costs, inflow),
            Bytes::Columns(columns) => sweep(&columns[column], target, costs, inflow),
        })
    }

    /// Computes a block with as many bits as its values may have: see [`sweep`]. The other arguments are those of
    /// [`Profile::new`].
    pub fn sweep_any(
        &self,
        block: Block<'_>,
        inflow: &mut Inflow,
        (query, scoring, size): (&[u8], &Scoring, usize),
    ) -> i32 {
        let Block { column, target, costs } = block;
        let is_narrow = is_narrow(scoring, size);
        if let (Some(Bytes::Strips(strips)), true) = (&self.bytes, is_narrow) {
            return strips[column].sweep::<i16>(target, costs, inflow);
        }
        let more = self.more.get_or_init(|| match is_narrow {
            true => More::Narrow(columns(query, scoring, size)),
            false => More::Wide(columns(query, scoring, size)),
        });
        match more {
            More::Narrow(columns) => sweep(&columns[column], target, costs, inflow),
            More::Wide(columns) => sweep(&columns[column], target, costs, inflow),
        }
    }
}

/// `None` if the processor does not have the instructions, or columns are too few for them to pay.
fn strips(query: &[u8], scoring: &Scoring, block: usize) -> Option<Vec<Strips>> {
    let are_wide = block.min(query.len()) >= LEAST_COLUMNS;
    let strips = || query.chunks(block).map(|query| Strips::new(query, scoring)).collect();
    if are_wide { strips() } else { None }
}

fn columns<T: Number>(query: &[u8], scoring: &Scoring, block: usize) -> Vec<Columns<T>> {
    query.chunks(block).map(|query| Columns::new(query, scoring)).collect()
}

/// Whether all scores and costs are numbers of 8 bits, and blocks are worth a try.
pub(super) fn fits_bytes(scoring: &Scoring) -> bool {
    let crate::Gap::Affine { open, extend } = scoring.gap() else { return false };
    let codes = 0..scoring.codes() as u8;
    let fits = |value: i32| (-127..=64).contains(&value);
    codes.clone().all(|a| codes.clone().all(|b| fits(scoring.of_codes(a, b)))) && fits(*open) && fits(*extend)
}

/// Whether the values of a block, relative to its corner, fit into 16 bits.
///
/// Two cells of a block and its borders that are `d` columns apart in a row differ by at most `d * (most + extend) +
/// open`: in one direction a gap joins them; in the other, an alignment to the right cell without its last `d` columns
/// ends above the left cell, and a gap joins these two. The same holds in a column. `E` and `F` are at most another
/// `open` below `H`, and intermediate results another score or cost away.
pub(super) fn is_narrow(scoring: &Scoring, block: usize) -> bool {
    let crate::Gap::Affine { open, extend } = scoring.gap() else { return false };
    let [most, open, extend] = [scoring.most(), *open, *extend].map(i64::from);
    let apart = (2 * block as i64).saturating_mul(most + extend);
    apart.saturating_add(4 * open + 2 * most) < i64::from(i16::MAX)
}

impl<T: Number> Columns<T> {
    pub(super) fn new(query: &[u8], scoring: &Scoring) -> Columns<T> {
        let steps = query.len().div_ceil(LANES);
        let mut scores = vec![[T::LOWEST; LANES]; steps * scoring.codes()];
        for (code, scores) in scores.chunks_mut(steps).enumerate() {
            for (column, letter) in query.iter().enumerate() {
                let score = scoring.of_codes(*letter, code as u8);
                scores[column % steps][column / steps] = T::difference(score);
            }
        }
        Columns { count: query.len(), steps, scores }
    }

    /// The scores against a letter of the target.
    pub fn of(&self, letter: u8) -> &[[T; LANES]] {
        let range: Range<usize> = usize::from(letter) * self.steps..(usize::from(letter) + 1) * self.steps;
        &self.scores[range]
    }
}
