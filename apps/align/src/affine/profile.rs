//! The scores of a query's letters against each letter, in the order in which the kernel reads them.

use std::ops::Range;
use std::sync::OnceLock;

use crate::Scoring;
use crate::number::{LANES, Number};

/// Scores of a query, by block of columns and letter of the target.
///
/// The kernel computes [`LANES`] cells of a row at once. They are not neighbours: lane `l` has the columns from `l *
/// steps` on, as in Farrar, "Striped Smith-Waterman speeds database searches six times over other SIMD
/// implementations", Bioinformatics 23 (2007).
#[derive(Debug)]
pub(crate) struct Profile {
    /// With 8 bits, for blocks of which all values are below 256. `None` if scores or costs have more bits.
    pub bytes: Option<Vec<Columns<i8>>>,
    /// With more bits, when a block first needs it.
    more: OnceLock<More>,
}

/// Scores with as many bits as the values of any block need, relative to its corner.
#[derive(Debug)]
pub(crate) enum More {
    Narrow(Vec<Columns<i16>>),
    Wide(Vec<Columns<i32>>),
}

/// The scores of the columns of a block.
#[derive(Debug)]
pub(crate) struct Columns<T> {
    /// The number of columns.
    pub count: usize,
    /// The vectors of a row.
    pub steps: usize,
    /// `steps` vectors for each letter. What follows the last column scores [`Number::LOWEST`].
    scores: Vec<[T; LANES]>,
}

impl Profile {
    /// The profile of a query for blocks of `block` columns and rows.
    pub fn new(query: &[u8], scoring: &Scoring, block: usize) -> Profile {
        let bytes = fits_bytes(scoring).then(|| columns(query, scoring, block));
        Profile { bytes, more: OnceLock::new() }
    }

    /// The profile with more bits. The arguments are those of [`Profile::new`].
    pub fn more(&self, query: &[u8], scoring: &Scoring, block: usize) -> &More {
        self.more.get_or_init(|| match is_narrow(scoring, block) {
            true => More::Narrow(columns(query, scoring, block)),
            false => More::Wide(columns(query, scoring, block)),
        })
    }
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
fn is_narrow(scoring: &Scoring, block: usize) -> bool {
    let crate::Gap::Affine { open, extend } = scoring.gap() else { return false };
    let [most, open, extend] = [scoring.most(), *open, *extend].map(i64::from);
    let apart = (2 * block as i64).saturating_mul(most + extend);
    apart.saturating_add(4 * open + 2 * most) < i64::from(i16::MAX)
}

impl<T: Number> Columns<T> {
    fn new(query: &[u8], scoring: &Scoring) -> Columns<T> {
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
