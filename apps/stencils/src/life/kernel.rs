//! The next generation of one row, 64 cells at a time: bit `i` of a word is a cell, and counts of neighbours are added as
//! bits of several words.
//!
//! A row has one more word on each side, whose cells are the neighbours of the row's ends.

use super::Rule;

/// The number of living cells among three cells of a row (itself, west, east) for 64 cells, as a two-bit number.
#[derive(Clone, Copy)]
struct Three {
    ones: u64,
    twos: u64,
}

impl Three {
    #[inline(always)]
    fn new(west: u64, here: u64, east: u64) -> Self {
        let (west, east) = (here << 1 | west >> 63, here >> 1 | east << 63);
        let either = west ^ east;
        Three { ones: either ^ here, twos: west & east | either & here }
    }
}

/// The number of living cells among nine cells (itself and its neighbours) for 64 cells, as a four-bit number.
#[derive(Clone, Copy)]
struct Nine {
    ones: u64,
    twos: u64,
    fours: u64,
    eights: u64,
}

impl Nine {
    #[inline(always)]
    fn new(above: Three, here: Three, below: Three) -> Self {
        let either = above.ones ^ here.ones;
        let ones = either ^ below.ones;
        let carry = above.ones & here.ones | either & below.ones;
        // Four words of weight two: at most one of the two halves has a sum of two where the others' sums are odd.
        let (left, left_carry) = (above.twos ^ here.twos, above.twos & here.twos);
        let (right, right_carry) = (below.twos ^ carry, below.twos & carry);
        Nine {
            ones,
            twos: left ^ right,
            fours: left_carry ^ right_carry | left & right,
            eights: left_carry & right_carry,
        }
    }
}

/// Three rows of the old generation, each with its words of neighbours, and one of the new generation without.
struct Rows<'a> {
    above: &'a [u64],
    here: &'a [u64],
    below: &'a [u64],
}

/// Computes a row of the next generation from three rows of this one: the row above, the row itself and the row below.
/// Bit `i` of word `w` is cell `64 (w - 1) + i` of an old row, which has one more word on each side, and cell `64 w + i` of
/// the new row.
///
/// # Panics
/// If a row of this generation is not two words longer than `new`, at least.
pub fn next_row(rule: Rule, above: &[u64], here: &[u64], below: &[u64], new: &mut [u64]) {
    let rows = Rows { above, here, below };
    if rule == Rule::CONWAY {
        // Three of nine, or four of nine with the cell itself.
        rows.fill(new, |nine, cell| !(nine.ones ^ nine.twos) & (nine.fours ^ nine.ones) & (cell | nine.ones));
    } else {
        let table = Table::new(rule);
        rows.fill(new, |nine, cell| table.lives(nine, cell));
    }
}

impl Rows<'_> {
    #[inline(always)]
    fn fill(&self, new: &mut [u64], lives: impl Fn(Nine, u64) -> u64) {
        let count = new.len();
        // Slices of equal length let the compiler drop the bounds checks and vectorise the loop.
        let [above, here, below] = [self.above, self.here, self.below].map(|row| {
            let row = &row[..count + 2];
            [&row[..count], &row[1..=count], &row[2..]]
        });
        let three = |row: [&[u64]; 3], i: usize| Three::new(row[0][i], row[1][i], row[2][i]);
        for i in 0..count {
            let nine = Nine::new(three(above, i), three(here, i), three(below, i));
            new[i] = lives(nine, here[1][i]);
        }
    }
}

/// A rule as words: for each sum of nine cells, all ones if the cell lives.
struct Table {
    dead: [u64; 10],
    alive: [u64; 10],
}

impl Table {
    fn new(rule: Rule) -> Self {
        let word = |lives: bool| if lives { u64::MAX } else { 0 };
        let mut table = Table { dead: [0; 10], alive: [0; 10] };
        for neighbours in 0..9 {
            table.dead[neighbours] = word(rule.lives(false, neighbours as u32));
            table.alive[neighbours + 1] = word(rule.lives(true, neighbours as u32));
        }
        table
    }

    #[inline(always)]
    fn lives(&self, nine: Nine, cell: u64) -> u64 {
        let bits = [nine.ones, nine.twos, nine.fours, nine.eights];
        let mut lives = 0;
        for sum in 0..10 {
            let mut equal = u64::MAX;
            for (at, bit) in bits.into_iter().enumerate() {
                equal &= if sum >> at & 1 == 1 { bit } else { !bit };
            }
            lives |= equal & (cell & self.alive[sum] | !cell & self.dead[sum]);
        }
        lives
    }
}
